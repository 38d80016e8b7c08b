// What one simulated process does by itself: the first matching row of `behavior`, with its laws
// drawn, or the default of its role. Only the script; when and beside whom it is played is the
// workload's.
//
// Reading of a row. `after` counts from the process's start (the end of its start delay); a process
// whose training is done before ends then, and one of a job without training at `after`. Without
// `after`, a hang, a signal or a non-zero exit happens at the start, and `exit: 0` when training is
// done, as a process without a row that ends by itself does. `runs` replaces training: the process
// works for that long, needs no peer, and then ends with `exit` (default 0) or by `signal`.
// `forever` never ends by itself, but still trains. `writes` exist once it has ended with 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/scenario.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "core/trace/record.h"

namespace tfyarn::sim {

constexpr std::int32_t kSigkill = 9;

/// What a task is to its job's training.
enum class TaskRole {
  kMember,     ///< multi-worker: every one is needed.
  kSolo,       ///< independent: trains alone.
  kChief,      ///< parameter-server: drives the training.
  kPs,         ///< parameter-server: holds the variables; runs until stopped.
  kWorker,     ///< parameter-server: at least one is needed; runs until stopped where there is a
               ///< chief.
  kServer,     ///< Serves and is no part of the training; runs until stopped.
  kEvaluator,  ///< Ends by itself a little after training is done.
  kSidecar,    ///< tensorboard and its kin: never ends by itself.
};

[[nodiscard]] TaskRole RoleOf(const JobSpec& job, std::string_view task_type);
/// It takes part in the training, and its peers know it by the cluster spec.
[[nodiscard]] bool Trains(const JobSpec& job, const TaskId& task);
/// True when the job has a task that drives parameter-server training: a chief or master.
[[nodiscard]] bool HasChief(const JobSpec& job);

struct ProcessScript {
  Duration start{};                     ///< From spawn until it takes part.
  std::optional<Duration> event_after;  ///< From its start until `exit` or `hang` happens.
  ProcessExit exit;                     ///< With event_after and not hang.
  bool hang = false;
  std::optional<Duration> runs;     ///< Works alone for so long, then exits with done_exit.
  std::optional<Duration> listens;  ///< From its start until it listens; with a row that says so.
  bool ends_when_done = false;      ///< Exits with done_exit when training is done.
  std::int32_t done_exit = 0;
  const config::BehaviorRow* row = nullptr;  ///< nullptr: none matched.
};

/// The script of a task's `attempt`-th process. `job` must outlive it.
[[nodiscard]] ProcessScript ScriptFor(const config::JobConfig& job, trace::JobIndex index,
                                      std::uint64_t seed, const TaskId& task, TaskAttempt attempt);

/// What SIGTERM does to it.
struct TermScript {
  bool ignore = false;
  bool checkpoint = false;
  Duration after{};
  ProcessExit exit;
};
[[nodiscard]] TermScript TermScriptFor(const ProcessScript& script, trace::JobIndex index,
                                       std::uint64_t seed, const TaskId& task, TaskAttempt attempt);

/// True when the task never trains with others, whichever attempt it is: the first row that matches
/// every attempt says `runs`. An attempt for which another row comes first trains alone.
[[nodiscard]] bool NeverTrains(const config::JobConfig& job, const TaskId& task);

}  // namespace tfyarn::sim
