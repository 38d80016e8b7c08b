// Which process listens on a task's port, as text for users.
#pragma once

#include <string>

#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/ids.h"

namespace tfyarn {

/// "worker:1 does not listen on its port 41233": no full stop; "" where it listens as it should.
[[nodiscard]] std::string PortUseInBrief(const TaskId& task, const PortUse& use, std::int32_t port);
/// The same with how long, and what to look at.
[[nodiscard]] std::string PortUseInWords(const PortUseFound& found);

}  // namespace tfyarn
