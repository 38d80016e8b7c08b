#include "core/am/observe/standstills.h"

#include "core/am/task_table.h"

namespace tfyarn::am {

bool Standstills::OnSigns(Instant now, const TaskTable& tasks, TaskIndex task) {
  if (tasks.record(task).standstill != Standstill::kNone) {
    standing_.insert(task);
    return true;
  }
  if (standing_.erase(task) > 0)
    woken_.insert_or_assign(task, Woken{.attempt = tasks.ProcessOf(task).attempt, .at = now});
  return false;
}

void Standstills::OnStood(Instant now, TaskIndex task, TaskAttempt attempt, Duration ago) {
  woken_.insert_or_assign(task, Woken{.attempt = attempt, .at = now - ago});
}

std::set<TaskIndex> Standstills::Of(const TaskTable& tasks) const {
  std::set<TaskIndex> standing;
  for (const TaskIndex task : standing_) {
    const TaskRecord& record = tasks.record(task);
    if (record.training && record.standstill != Standstill::kNone && tasks.ProcessAlive(task))
      standing.insert(task);
  }
  return standing;
}

}  // namespace tfyarn::am
