// Which tasks start again for a failure, and whether they do so in a new epoch.
//
// Functions of what is stored and seen; they change nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/am/decide/failure.h"
#include "core/model/task_index.h"
#include "core/policy/outcome.h"
#include "core/policy/restart_scope.h"

namespace tfyarn::am {

[[nodiscard]] policy::RestartScope ScopeOf(const AmCore& core, const Failure& failure);
/// Of a task that has lost its container while a cluster spec has its address.
[[nodiscard]] policy::RestartScope ScopeOfLost(const AmCore& core, TaskIndex task);
void AddScope(const AmCore& core, const Failure& failure, RestartTasks& tasks);
/// The tasks as a list, in order.
[[nodiscard]] std::vector<TaskIndex> ListOf(const AmCore& core, const RestartTasks& tasks);
/// The task's restart alone needs another cluster spec.
[[nodiscard]] bool ChangesSpec(const AmCore& core, const Failure& failure);
template <class Tasks>
[[nodiscard]] std::ptrdiff_t CountTraining(const AmCore& core, const Tasks& tasks) {
  return std::count_if(tasks.begin(), tasks.end(),
                       [&](TaskIndex task) { return core.tasks.record(task).training; });
}
/// What ended so, and is no part of the gang. What still runs goes on.
void AddBeside(const AmCore& core, policy::Outcome outcome, RestartTasks& tasks);

}  // namespace tfyarn::am
