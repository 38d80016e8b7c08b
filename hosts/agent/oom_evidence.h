// Whether the kernel ended a task for want of memory: evidence, not a guess from exit code 137.
//
// The kernel says so nowhere near the process; it counts. The counters are read before the task
// starts and compared after its end, the best one that there is; those below it are not asked:
//  1. of the task's own control group: it counts only the task, so any rise is proof;
//  2. of the control group that we are in (YARN's, where the cluster uses them): others may share
//  it;
//  3. of the whole machine (/proc/vmstat, since Linux 4.13): another container's process that was
//     killed for its memory, while a third process sent SIGKILL to ours, looks the same.
// For 2 and 3 the task must have ended by a SIGKILL that was not ours, or with 137, by which a
// shell reports that of its child. What the evidence cannot show: a task that the kernel never
// killed because an allocation failed (it ends by its own doing), or one that YARN killed for its
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hosts/agent/process_tree.h"
#include "hosts/agent/task_cgroup.h"

namespace tfyarn::agent_host {

/// Values of the counters at one moment; nullopt where there is no such counter.
struct OomCounters {
  std::optional<std::uint64_t> task;     ///< 1.
  std::optional<std::uint64_t> own;      ///< 2.
  std::optional<std::uint64_t> machine;  ///< 3.
};
/// `cgroup`: of the task; may be null.
[[nodiscard]] OomCounters ReadOomCounters(const TaskCgroup* cgroup);

/// What shows that memory ended the task, in words for people; nullopt: nothing does.
[[nodiscard]] std::optional<std::string> FindOomEvidence(const OomCounters& before,
                                                         const OomCounters& after,
                                                         const TreeExit& exit);

}  // namespace tfyarn::agent_host
