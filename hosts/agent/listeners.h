// Which process listens on a TCP port of this machine: none, one of ours, or a stranger's.
//
// The kernel says which sockets listen (listening_sockets.h), /proc/PID/fd whose they are. All of
// it can change while it is read: a stranger is only accused when a second reading, with the
// processes of that moment, says so too. A process that may not be looked into (it gave up being
// dumpable) could own any socket, so it counts as a possible owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tfyarn::agent_host {

enum class Listener {
  kNobody,
  kOurs,      ///< Every socket that listens there is held by one of the processes.
  kStranger,  ///< At least one is not. Beside ours too: the kernel gives it a part of the
              ///< connections.
  kUnknown,   ///< One is not seen to be ours, but not all of our processes can be looked into.
};

/// The processes of one's own, asked for when needed: ProcessTree::Members, for example.
using PidSource = std::function<std::vector<pid_t>()>;

/// `port`: 1..65535, on any local address. `ours` is asked only when a process listens; then it
/// costs about 1 microsecond for each open descriptor of theirs.
[[nodiscard]] Listener WhoListens(std::int32_t port, const PidSource& ours);

/// The ports on which the processes listen, in order.
[[nodiscard]] std::vector<std::int32_t> PortsOf(const PidSource& ours);

}  // namespace tfyarn::agent_host
