// Which processes of a task SIGTERM is for.
//
// A program that saves its work has a handler for SIGTERM; the shell it was started from, and the
// other end of its pipe (`python3 train.py | tee log`), have none. SIGTERM to the whole group kills
// the shell at once, which looks like the task's end, and `tee`, at whose pipe the program then
// fails while it saves. So a task whose root has no handler is told by process: the programs that
// have one and what is below them, and the shells above them; a process beside them lives on, and
// ends when nothing comes any more. A root that has a handler is told together with its group, as a
// terminal would: it decides by itself when it ends, and what its children do until then.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {

struct TermPlan {
  /// To the root's group, and to no process by itself: the root has a handler, or no process has.
  bool whole_group = true;
  std::vector<pid_t> told;           ///< Else to these, in this order: those with a handler first.
  std::vector<ProcessInfo> saving;   ///< Of those, who has a handler: may outlive the root.
  std::vector<ProcessInfo> passive;  ///< Of the root's group, not told.
};

/// `members`: of the tree, the root among them. `catches`: whether one has a handler; asked once
/// for each. In other groups only a program is told that has a handler and none above it that could
/// pass SIGTERM on (`timeout` takes a group of its own).
[[nodiscard]] TermPlan PlanTerm(pid_t root, const std::vector<ProcessInfo>& members,
                                const std::function<bool(pid_t)>& catches);

/// From the kernel; false for a process that is gone, or belongs to another user.
[[nodiscard]] bool HasHandlerForTerm(pid_t pid);

}  // namespace tfyarn::agent_host
