// Which processes start again with a task, as a table over strategy and role.
#include "core/policy/restart_scope.h"

#include <array>

#include "core/model/check.h"
#include "core/policy/job_view.h"

namespace tfyarn::policy {
namespace {

/// What starts again when a training task does, its container alive or lost.
struct UnitRow {
  Strategy strategy = Strategy::kIndependent;
  std::string_view task_type;  ///< "" = any other; the first matching row counts.
  RestartScope alive;
  RestartScope lost;
};

constexpr RestartScope kAlone = {};
constexpr RestartScope kWithChief = {.chief = true};
constexpr RestartScope kGang = {.gang = true, .epoch_rises = true};

constexpr RestartScope Elsewhere(RestartScope scope) {
  scope.epoch_rises = true;
  return scope;
}

constexpr std::array<UnitRow, 6> kUnits = {{
    // The coordinator alone knows the addresses; workers and servers take a new cluster from it.
    {Strategy::kParameterServer, "chief", kAlone, Elsewhere(kAlone)},
    {Strategy::kParameterServer, "master", kAlone, Elsewhere(kAlone)},
    // The coordinator cannot go on without a ps: it ends with 1 within seconds.
    {Strategy::kParameterServer, "ps", kWithChief, Elsewhere(kWithChief)},
    {Strategy::kParameterServer, "", kAlone, Elsewhere(kWithChief)},
    // All members of a collective must hold the same spec.
    {Strategy::kMultiWorker, "", kAlone, kGang},
    {Strategy::kIndependent, "", kAlone, Elsewhere(kAlone)},
}};

const UnitRow& RowFor(Strategy strategy, std::string_view task_type) {
  for (const UnitRow& row : kUnits) {
    if (row.strategy == strategy && (row.task_type.empty() || row.task_type == task_type))
      return row;
  }
  TF_CHECK(false);  // Every strategy has a row for any type.
}

}  // namespace

RestartScope RestartSet(Strategy strategy, ExitAction action, std::string_view task_type,
                        TaskClass task_class, bool container_alive) {
  const bool leaves_others = task_class == TaskClass::kDrained || task_class == TaskClass::kSidecar;
  const bool asks_for_gang = action == ExitAction::kRestartGang && !leaves_others;
  // What trains needs no address of what does not train.
  if (!IsTraining(task_class, task_type) && !asks_for_gang) {
    RestartScope scope = container_alive ? kAlone : Elsewhere(kAlone);
    scope.same_type = action == ExitAction::kRestartType && !leaves_others;
    return scope;
  }
  const UnitRow& row = RowFor(strategy, task_type);
  RestartScope scope = container_alive ? row.alive : row.lost;
  switch (action) {
    case ExitAction::kRestartTask:
    case ExitAction::kRaiseMemory:
      return scope;
    case ExitAction::kRestartType:
      // In a new epoch, in which a collective starts whole.
      if (strategy == Strategy::kMultiWorker) scope = kGang;
      scope.same_type = true;
      return scope;
    case ExitAction::kRestartGang:
      return kGang;
    case ExitAction::kIgnore:
    case ExitAction::kTally:
    case ExitAction::kFail:
    case ExitAction::kSucceed:
      break;
  }
  TF_CHECK(false);  // Asked only for restarts.
}

}  // namespace tfyarn::policy
