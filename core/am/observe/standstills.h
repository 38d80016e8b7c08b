// Which processes stand still, as their agents see it, and which have until a moment ago.
#pragma once

#include <map>
#include <set>

#include "core/model/channel.h"
#include "core/model/ids.h"
#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

class TaskTable;

/// A process that runs again after it stood still.
struct Woken {
  TaskAttempt attempt;
  Instant at{};
};

class Standstills {
 public:
  /// What is to be seen of a task's living process has changed. True: it stands still.
  bool OnSigns(Instant now, const TaskTable& tasks, TaskIndex task);
  /// Its agent tells this AM attempt that the process stood still under an earlier one.
  void OnStood(Instant now, TaskIndex task, TaskAttempt attempt, Duration ago);
  /// Training tasks whose living process stands still.
  [[nodiscard]] std::set<TaskIndex> Of(const TaskTable& tasks) const;
  [[nodiscard]] const std::map<TaskIndex, Woken>& woken() const { return woken_; }

 private:
  std::set<TaskIndex> standing_;  // told of a standstill; may have ended since
  std::map<TaskIndex, Woken> woken_;
};

}  // namespace tfyarn::am
