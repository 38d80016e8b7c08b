#include "core/am/decide/scope.h"

#include <algorithm>

#include "core/model/probe.h"

namespace tfyarn::am {

policy::RestartScope ScopeOf(const AmCore& core, const Failure& failure) {
  // A stolen port is a new address as much as a new container is.
  const bool same_address = failure.container_alive && !failure.decision.other_container &&
                            failure.end.record.exit_class != ExitClass::kPortConflict;
  const TaskSnapshot& shown = core.tasks.shown(failure.end.task);
  policy::RestartScope scope = policy::RestartSet(core.job->strategy, failure.decision.action,
                                                  shown.task.type, shown.task_class, same_address);
  if (failure.decision.session) scope.gang = scope.epoch_rises = true;
  return scope;
}

policy::RestartScope ScopeOfLost(const AmCore& core, TaskIndex task) {
  const TaskSnapshot& shown = core.tasks.shown(task);
  return policy::RestartSet(core.job->strategy, ExitAction::kRestartTask, shown.task.type,
                            shown.task_class, false);
}

void AddScope(const AmCore& core, const Failure& failure, RestartTasks& tasks) {
  tasks.some.insert(failure.end.task);
  tasks.gang = tasks.gang || failure.scope.gang;
  if (failure.scope.same_type) {
    TF_PROBE("failover/with-its-type");
    const auto [first, count] = core.tasks.RangeOf(core.tasks.record(failure.end.task).type);
    for (std::uint32_t i = first; i < first + count; ++i) tasks.some.insert(TaskIndex(i));
  }
  if (!failure.scope.chief) return;
  TF_PROBE("failover/with-its-chief");
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    if (core.tasks.record(TaskIndex(i)).chief) tasks.some.insert(TaskIndex(i));
  }
}

std::vector<TaskIndex> ListOf(const AmCore& core, const RestartTasks& tasks) {
  std::vector<TaskIndex> list(tasks.some.begin(), tasks.some.end());
  if (!tasks.gang) return list;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (core.tasks.record(task).training && !tasks.some.contains(task)) list.push_back(task);
  }
  std::sort(list.begin(), list.end());
  return list;
}

bool ChangesSpec(const AmCore& core, const Failure& failure) {
  return failure.scope.epoch_rises && core.tasks.record(failure.end.task).training;
}

/// What is no part of the gang and still runs goes on, and what ended well or may fail stays; what
/// was counted as failed has its next try, too.
void AddBeside(const AmCore& core, policy::Outcome outcome, RestartTasks& tasks) {
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskRecord& record = core.tasks.record(TaskIndex(i));
    if (record.training || record.outcome != outcome) continue;
    TF_PROBE("failover/session-with-what-failed-beside");
    tasks.some.insert(TaskIndex(i));
  }
}

}  // namespace tfyarn::am
