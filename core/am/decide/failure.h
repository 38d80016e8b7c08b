// One failure, as it waits for its cause.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/am/am_core.h"
#include "core/model/task_index.h"
#include "core/model/time.h"
#include "core/policy/decision.h"
#include "core/policy/restart_scope.h"

namespace tfyarn::am {

/// One failure that asks for a restart.
struct Failure {
  AttemptEnd end;
  bool container_alive = false;  ///< A new process can be started where the old one was.
  /// What the policy said when it was reported. By that other processes were told to end, which a
  /// better account does not undo; but while it waits for its cause, a better account may change
  /// class, payer and cause.
  policy::Decision decision;
  policy::RestartScope scope;
};

/// Which tasks start again.
struct RestartTasks {
  bool gang = false;         ///< Every training task.
  std::set<TaskIndex> some;  ///< And these.
};

/// Failures that wait for their cause.
struct BlameWindow {
  Instant begun;
  Instant decides_at;             ///< At the latest.
  std::vector<Failure> failures;  ///< In the order in which they came.
  RestartTasks stopped;
  std::optional<TaskIndex> named;  ///< By a victim, as the one that fell silent.
};

}  // namespace tfyarn::am
