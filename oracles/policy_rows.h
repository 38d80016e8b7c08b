// The tables of docs/policies.md as data, read from the document and from nothing else: the classes
// of ends, the rows of each policy and its roles of task types. What they lead to is the model's
// (reference_verdict.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/exit.h"
#include "core/model/job_spec.h"

namespace tfyarn::oracles {

using enum ExitClass;

// ---------------------------------------------------------------- classes of ends

using Classes = std::uint32_t;  // A set of them.
template <class... Class>
constexpr Classes Of(Class... classes) {
  return ((Classes{1} << static_cast<unsigned>(classes)) | ...);
}
constexpr Classes kEveryEnd = (Of(kUnknown) << 1) - 1;
constexpr Classes kFailure = kEveryEnd & ~Of(kOk, kKilledByUs);
constexpr Classes kNoGang = Of(kGangTimeout, kInfeasible);
constexpr Classes kUserPays = Of(kUserPermanent, kUserRetryable, kOom, kSignalCrash, kUnknown);
constexpr Classes kCloudPays = kFailure & ~kUserPays & ~kNoGang;
/// Ends that no peer can bring about.
constexpr Classes kOwnFate = kCloudPays | Of(kOom);

/// Of a process's exit code.
[[nodiscard]] Classes ClassOfCode(std::int32_t code);
/// Of a container's status; `ran`: a process of the user's had begun in it.
[[nodiscard]] Classes ClassOfContainer(std::int32_t status, bool released, bool ran);
/// "oom or killed-external".
[[nodiscard]] std::string Text(Classes classes);

// ---------------------------------------------------------------- the tables of docs/policies.md

enum class Policy { kDefault, kTony, kTfYarn, kTfjob, kSliderTf, kFrameworkLauncher, kHbox };
enum class Who { kAnyone, kChief, kService, kDrained, kSidecar, kTracked, kTensorboard };
enum class When {
  kAlways,
  kMultiWorker,
  kIndependent,
  kStopOnFailure,
  kFailOnWorkerFailure,
  kWaivedAndAllEnded,
  kWaived,
  kNeverRegistered,
  kLate,
  kRestartAlways,
  kRestartOnFailure,
  kRestartExitCode,
  kExitCodePermanent,
  kFancy,                  ///< fancy_retry_policy = true, ...
  kFancyTransientCode,     ///< ... and an exit that its manual calls transient, ...
  kFancyNonTransientCode,  ///< ... or non-transient.
  kRetriedAlways,          ///< max_retry_count = always.
  kHorovod,
};
/// What a restart is counted on, and who pays for it.
enum class Pays {
  kNothing,
  kByClass,
  kNoBudget,
  kUser,
  kUserBelowLimit,
  kUserOfTask,   ///< max_retry_count of each task.
  kUserOfType,   ///< container_failure_threshold within 6h of each task type.
  kInContainer,  ///< No budget, restarts_in_container in one container; then the next row.
};

struct Row {
  std::string_view name;
  Who who = Who::kAnyone;
  Classes ends = kFailure;
  When when = When::kAlways;
  ExitAction action = ExitAction::kTally;
  Pays pays = Pays::kNothing;
  ExitAction then = ExitAction::kFail;  ///< Once the budget is spent.
  bool elsewhere = false;               ///< In another container.
};
using enum ExitAction;

/// The first table of the policy, in its order. `fail (or restart-gang)` is kFail paid by the user.
[[nodiscard]] std::span<const Row> RowsOf(Policy policy);
/// nullopt: its tables are not here, and the model says nothing of jobs that it decides.
[[nodiscard]] std::optional<Policy> PolicyNamed(const std::string& name);
/// As written; "" when it is not given.
[[nodiscard]] std::string OptionOf(const JobSpec& spec, const std::string& name);
/// Of an option that may be given for each task type: that of `type`, else the job's.
[[nodiscard]] std::string OptionOf(const JobSpec& spec, const std::string& name,
                                   const std::string& type);
/// A number of those for each task type; nullopt: no limit, or none is given and none is standard.
[[nodiscard]] std::optional<std::int64_t> NumberOf(const JobSpec& spec, const std::string& name,
                                                   const std::string& type,
                                                   std::optional<std::int64_t> standard);
/// Whether the types in an option have `type`; it is `standard` when the option is not given.
[[nodiscard]] bool Lists(const JobSpec& spec, const std::string& option, std::string_view type,
                         std::string_view standard);
/// The policy's table of task types; a class in the job wins.
[[nodiscard]] TaskClass RoleOf(const JobSpec& spec, Policy policy, const TaskTypeSpec& type);

}  // namespace tfyarn::oracles
