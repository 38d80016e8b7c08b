// Where the processes of a container put temporary files: a directory in its work directory, which
// the NodeManager removes with the container, also when nothing of the agent is left to do so.
//
// A work directory of YARN has 130 characters and more, and the name of a socket at most 107
// (Linux, unix(7)): Python's multiprocessing makes sockets in TMPDIR, and fails there. /proc has a
// short name for the same place, as long as the agent runs, which no process of its task outlives.
#pragma once

#include <string>

#include "core/model/error.h"

namespace tfyarn::agent_host {

/// `directory`: below the work directory of this process, and relative to it; made for this user
/// alone where it is not there. Returns a path of a few characters more. Errors: kUnavailable.
[[nodiscard]] Expected<std::string> MakeTemporaryDirectory(const std::string& directory);

}  // namespace tfyarn::agent_host
