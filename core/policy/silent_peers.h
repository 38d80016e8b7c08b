// Which tasks a victim's last error names as the ones that fell silent, or cannot be reached.
//
// TensorFlow's coordination service knows who of a collective stopped sending heartbeats, and every
// survivor writes it on its stderr before it ends:
//
//   ... The following tasks are unhealthy (stopped sending heartbeats):
//   /job:worker/replica:0/task:1
//   The tasks have crashed. ...
//
// Source: coordination_service.cc of TensorFlow 2.21. Other words are no evidence: a task that is
// named because a connection to it broke may have ended for the same reason as its accuser.
//
// Under parameter-server the chief hands out work over connections that its servers keep, and ends
// with the error of one that was refused:
//
//   ....errors_impl.UnavailableError: failed to connect to all addresses; last error: ...
//   Additional GRPC error information from remote target /job:ps/replica:0/task:0/device:CPU:0 ...
//   Additional GRPC error information from remote target /job:worker/replica:0/task:1 ...
//
// The first target is the one that refused, those after it passed the error on.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/ids.h"

namespace tfyarn::policy {

/// In the order of the text, each once; at most 16. `text` may be cut anywhere and contain
/// anything.
[[nodiscard]] std::vector<TaskId> SilentPeersIn(std::string_view text);

/// The task to which no connection could be made, by the last error that the text tells of; nullopt
/// when that is another one. `text` as above.
[[nodiscard]] std::optional<TaskId> UnreachablePeerIn(std::string_view text);

}  // namespace tfyarn::policy
