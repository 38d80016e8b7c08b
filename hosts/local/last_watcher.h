// Ends the processes of a run when those that should do so are gone.
//
// An agent ends what its task has started, `tfyarn run` what its agents leave behind, each as a
// subreaper (hosts/agent/subreaper.h). If all of them are killed together, a process that took a
// session of its own would be init's child, which ends nothing. So `tfyarn run` is two
// processes: the one that the user starts waits, passes signals on, and is the last subreaper; its
// child does the work. Whichever of them is left ends everything. Only a kill of both together with
// AM and agents leaves processes behind; the one that waits does not have our name (comm), so
// `pkill tfyarn` does not reach it.
#pragma once

#include <functional>

#include "core/model/time.h"

namespace tfyarn::hosts {

/// Runs `work` in a child of this process, which must have one thread, and returns its exit code:
/// what `work` returned, or 128 and the signal that ended it. Nothing that descends from this
/// process is left then, but what SIGKILL does not end within seconds. `work` runs in a process
/// group of its own: SIGINT, SIGTERM and SIGHUP come to it from here, once, and SIGTERM when this
/// process is killed. Errors: where no child can be made, `work` runs in this process.
[[nodiscard]] int RunWatched(const std::function<int()>& work);

/// Kills what descends from this process, a subreaper, until nothing is left or `patience` is over.
/// AMs and agents, who end their tasks in good order when they have lost their parent, are left
/// alone for `grace`, with what is below them.
void EndDescendants(Duration grace, Duration patience);

}  // namespace tfyarn::hosts
