// Which processes start again with a task.
#pragma once

#include <string_view>

#include "core/model/job_spec.h"

namespace tfyarn::policy {

/// Which processes start again with a task. `self` always does.
struct RestartScope {
  bool same_type = false;    ///< Every task of the type.
  bool chief = false;        ///< The chief (and master) too.
  bool gang = false;         ///< Every training task: tracked and service.
  bool epoch_rises = false;  ///< Also where the task starts alone.
};

/// The unit that `action` (kRestartTask, kRestartType, kRestartGang, kRaiseMemory) means for a task
/// under `strategy`.
///
/// Rows (container alive / lost): parameter-server: worker alone / and chief; ps and chief / the
/// same; chief alone / alone. multi-worker: kRestartTask alone, because it was asked for by name /
/// the gang, as all must hold one spec. independent: alone / alone. What does not train (an
/// evaluator, TensorBoard): alone, or with its type. Drained and sidecar tasks: alone, whatever the
/// action. kRestartGang is the gang. The epoch rises when more than one process
/// starts again, or the address changes because the container is lost. kRaiseMemory always needs
/// another container: pass container_alive = false.
[[nodiscard]] RestartScope RestartSet(Strategy strategy, ExitAction action,
                                      std::string_view task_type, TaskClass task_class,
                                      bool container_alive);

}  // namespace tfyarn::policy
