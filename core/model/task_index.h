// A task as a position in the AM's tables: dense, in the order of JobSpec::tasks and then by index.
#pragma once

#include <cstdint>

#include "core/model/ids.h"

namespace tfyarn {

using TaskIndex = StrongInt<struct TaskIndexTag, std::uint32_t>;

}  // namespace tfyarn
