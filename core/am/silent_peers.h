// Which tasks a victim's last words name as the ones that fell silent.
//
// TensorFlow's coordination service knows who of a collective stopped sending heartbeats, and every
// survivor writes it on its stderr before it ends:
//
//   ... The following tasks are unhealthy (stopped sending heartbeats):
//   /job:worker/replica:0/task:1
//   The tasks have crashed. ...
//
// Source: coordination_service.cc of TensorFlow 2.21. Other words are no evidence: a task that is
// named because a connection to it broke may have ended for the same reason as who says so.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/ids.h"

namespace tfyarn::am {

/// In the order of the text, each once; at most 16. `text` may be cut anywhere and contain
/// anything.
[[nodiscard]] std::vector<TaskId> SilentPeersIn(std::string_view text);

}  // namespace tfyarn::am
