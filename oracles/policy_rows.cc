#include "oracles/policy_rows.h"

#include <algorithm>
#include <array>

#include "core/model/describe.h"
#include "core/model/parse_number.h"

namespace tfyarn::oracles {
namespace {

constexpr std::array kDefaultRows = {
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{.name = "stopped-by-us", .ends = Of(kKilledByUs)},
    Row{.name = "no-gang", .ends = kNoGang, .action = kFail},
    Row{"sidecar", Who::kSidecar, kFailure, When::kAlways, kRestartTask, Pays::kNoBudget, kIgnore},
    Row{"drained-oom", Who::kDrained, Of(kOom)},
    Row{"drained", Who::kDrained, kFailure, When::kAlways, kRestartTask, Pays::kByClass, kTally},
    Row{.name = "oom", .ends = Of(kOom), .action = kFail},
    Row{"restart-gang", Who::kAnyone, kFailure, When::kMultiWorker, kRestartGang, Pays::kByClass},
    Row{"restart-one", Who::kAnyone, kFailure, When::kIndependent, kRestartTask, Pays::kByClass,
        kTally},
    Row{"restart-task", Who::kAnyone, kFailure, When::kAlways, kRestartTask, Pays::kByClass},
};
// `fail (or restart-gang)` is written kFail, paid by the user.
constexpr std::array kTonyRows = {
    Row{"untracked-ended", Who::kService, Of(kKilledByUs), When::kAlways, kIgnore},
    Row{"sidecar-ended", Who::kSidecar, Of(kKilledByUs), When::kAlways, kIgnore},
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{.name = "killed-by-am", .ends = Of(kKilledByUs)},
    Row{"chief-failed", Who::kChief, kFailure, When::kAlways, kFail, Pays::kUser},
    Row{"stop-on-failure", Who::kAnyone, kFailure, When::kStopOnFailure, kFail, Pays::kUser},
    Row{"fail-on-worker-failure", Who::kAnyone, kFailure, When::kFailOnWorkerFailure, kFail,
        Pays::kUser},
    Row{"untracked-failed", Who::kService},
    Row{"waived-failed-late", Who::kAnyone, kFailure, When::kWaivedAndAllEnded, kIgnore},
    Row{"waived-failed", Who::kAnyone, kFailure, When::kWaived, kFail, Pays::kUser},
    Row{"starting-failed", Who::kAnyone, kFailure, When::kNeverRegistered, kFail, Pays::kUser},
    Row{"sidecar-failed", Who::kSidecar, kFailure, When::kAlways, kIgnore},
    Row{.name = "tracked-failed"},
};
constexpr Classes kRaised = Of(kUserPermanent, kUserRetryable);
constexpr std::array kTfYarnRows = {
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{"killed-by-api", Who::kAnyone, Of(kKilledByUs), When::kAlways, kIgnore},
    Row{"tensorboard-error", Who::kTensorboard, kRaised | Of(kPortConflict), When::kAlways,
        kIgnore},
    Row{"raised-late", Who::kTracked, kRaised, When::kLate},
    Row{"container-failed", Who::kAnyone, kFailure, When::kAlways, kFail, Pays::kUser},
};
constexpr Classes kPodFailed =
    Of(kPreempted, kNodeLost, kNodeBad, kLaunchError, kHeartbeatLost, kTimeout, kAmLost);
constexpr std::array kTfjobRows = {
    Row{.name = "stopped-by-us", .ends = Of(kKilledByUs)},
    Row{.name = "no-gang", .ends = kNoGang, .action = kFail},
    Row{"sidecar", Who::kSidecar, kEveryEnd, When::kAlways, kIgnore},
    Row{"always-recreated", Who::kAnyone, kPodFailed, When::kRestartAlways, kRestartTask,
        Pays::kUser},
    Row{"always", Who::kAnyone, kEveryEnd, When::kRestartAlways, kRestartTask,
        Pays::kUserBelowLimit},
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{"on-failure-recreated", Who::kAnyone, kPodFailed, When::kRestartOnFailure, kRestartTask,
        Pays::kUser},
    Row{"on-failure", Who::kAnyone, kFailure, When::kRestartOnFailure, kRestartTask,
        Pays::kUserBelowLimit},
    Row{"exit-code-permanent", Who::kAnyone, kFailure, When::kExitCodePermanent, kFail},
    Row{"exit-code-retryable", Who::kAnyone, kFailure, When::kRestartExitCode, kRestartTask,
        Pays::kUser},
    Row{.name = "replica-failed"},
};
constexpr Classes kContainerGone =
    Of(kPreempted, kNodeLost, kNodeBad, kLaunchError, kHeartbeatLost, kAmLost);
constexpr std::array kSliderTfRows = {
    Row{.name = "finished", .ends = Of(kOk)},
    Row{.name = "stopped-by-us", .ends = Of(kKilledByUs)},
    Row{.name = "no-gang", .ends = kNoGang, .action = kFail},
    Row{"container-lost", Who::kAnyone, kContainerGone, When::kAlways, kRestartTask,
        Pays::kUserOfType, kFail, true},
    Row{"restarted-in-place", Who::kAnyone, kFailure, When::kAlways, kRestartTask,
        Pays::kInContainer},
    Row{"instance-replaced", Who::kAnyone, kFailure, When::kAlways, kRestartTask, Pays::kUserOfType,
        kFail, true},
};
constexpr Classes kTransient = Of(kKilledExternal, kKilledByUs, kPreempted, kNodeLost, kNodeBad,
                                  kPortConflict, kLaunchError, kHeartbeatLost, kAmLost);
constexpr std::array kFrameworkLauncherRows = {
    Row{"sidecar", Who::kSidecar, kEveryEnd, When::kAlways, kIgnore},
    Row{.name = "no-gang", .ends = kNoGang, .action = kFail},
    Row{"retried-always", Who::kAnyone, Of(kOk), When::kRetriedAlways, kRestartTask,
        Pays::kUserOfTask},
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{"transient", Who::kAnyone, kTransient, When::kFancy, kRestartTask, Pays::kNoBudget},
    Row{"transient-code", Who::kAnyone, Of(kUserRetryable), When::kFancyTransientCode, kRestartTask,
        Pays::kNoBudget},
    Row{"non-transient", Who::kAnyone, Of(kOom), When::kFancy},
    Row{"non-transient-code", Who::kAnyone, Of(kSignalCrash, kUnknown),
        When::kFancyNonTransientCode},
    Row{"retried", Who::kAnyone, kEveryEnd & ~Of(kOk) & ~kNoGang, When::kAlways, kRestartTask,
        Pays::kUserOfTask, kTally},
};
constexpr std::array kHboxRows = {
    Row{.name = "ended-ok", .ends = Of(kOk)},
    Row{.name = "stopped-by-us", .ends = Of(kKilledByUs)},
    Row{.name = "no-gang", .ends = kNoGang, .action = kFail},
    Row{"sidecar", Who::kSidecar, kFailure, When::kAlways, kIgnore},
    Row{"evaluator-failed", Who::kDrained, kFailure, When::kAlways, kIgnore},
    Row{"counted-in-horovod", Who::kAnyone, kFailure, When::kHorovod},
    Row{"counted-alone", Who::kAnyone, kFailure, When::kIndependent},
    Row{.name = "container-failed", .action = kFail},
};

}  // namespace

std::span<const Row> RowsOf(Policy policy) {
  switch (policy) {
    case Policy::kDefault:
      return kDefaultRows;
    case Policy::kTony:
      return kTonyRows;
    case Policy::kTfYarn:
      return kTfYarnRows;
    case Policy::kTfjob:
      return kTfjobRows;
    case Policy::kSliderTf:
      return kSliderTfRows;
    case Policy::kFrameworkLauncher:
      return kFrameworkLauncherRows;
    case Policy::kHbox:
      return kHboxRows;
  }
  return {};
}

Classes ClassOfCode(std::int32_t code) {
  switch (code) {
    case 0:
      return Of(kOk);
    case 75:
    case 138:
    case 154:
    case 193:
      return Of(kUserRetryable);
    case 132:
    case 134:
    case 135:
    case 136:
    case 139:
      return Of(kSignalCrash);
    case 130:
    case 137:
    case 143:
      return Of(kKilledExternal);
    default:
      return Of(code >= 1 && code <= 127 ? kUserPermanent : kUnknown);
  }
}

/// Of a container's status; `ran`: a process of the user's had begun in it.
Classes ClassOfContainer(std::int32_t status, bool released, bool ran) {
  // What YARN gives as its own reason was faster than our order.
  const bool own_reason = status < container_exit::kAborted && status > container_exit::kInvalid &&
                          status != container_exit::kKilledByAppMaster &&
                          status != container_exit::kKilledAfterAppCompletion;
  if (released) return Of(kKilledByUs) | (own_reason ? ClassOfContainer(status, false, ran) : 0);
  switch (status) {
    case container_exit::kKilledExceededVmem:
    case container_exit::kKilledExceededPmem:
      return Of(kOom);
    case container_exit::kKilledByAppMaster:
    case container_exit::kKilledAfterAppCompletion:
      return Of(kKilledByUs);
    case container_exit::kAborted:
      return Of(kNodeLost, kAmLost, kLaunchError) | (ran ? 0 : Of(kKilledByUs));
    case container_exit::kPreempted:
    case container_exit::kKilledByResourceManager:
    case container_exit::kKilledByContainerScheduler:
      return Of(kPreempted);
    case container_exit::kDisksFailed:
      return Of(kNodeBad);
    case container_exit::kKilledForExcessLogs:
      return Of(kUserPermanent);
    case container_exit::kInvalid:
      return Of(kLaunchError);
    case agent_exit::kNoPort:
      return Of(kPortConflict, kLaunchError);
    case agent_exit::kRefused:
    case agent_exit::kAmLost:
      return Of(kAmLost);
    case 154:
      return Of(kKilledExternal) | (ran ? 0 : Of(kLaunchError));
    case 0:
      return Of(kUnknown) | (ran ? 0 : Of(kLaunchError));
    default:
      return ClassOfCode(status) | (ran ? 0 : Of(kLaunchError));
  }
}

std::string Text(Classes classes) {
  std::string text;
  for (unsigned bit = 0; bit <= static_cast<unsigned>(kUnknown); ++bit) {
    if ((classes >> bit & 1) != 0)
      text += (text.empty() ? "" : " or ") + std::string(KebabName(static_cast<ExitClass>(bit)));
  }
  return text;
}

std::optional<Policy> PolicyNamed(const std::string& name) {
  if (name == "default") return Policy::kDefault;
  if (name == "tony") return Policy::kTony;
  if (name == "tf-yarn") return Policy::kTfYarn;
  if (name == "tfjob") return Policy::kTfjob;
  if (name == "slider-tf") return Policy::kSliderTf;
  if (name == "framework-launcher") return Policy::kFrameworkLauncher;
  if (name == "hbox") return Policy::kHbox;
  return std::nullopt;
}

std::string OptionOf(const JobSpec& spec, const std::string& name) {
  const auto found = spec.policy.options.find(name);
  return found == spec.policy.options.end() ? "" : found->second;
}

std::string OptionOf(const JobSpec& spec, const std::string& name, const std::string& type) {
  const std::string one = OptionOf(spec, name + "." + type);
  return one.empty() ? OptionOf(spec, name) : one;
}

std::optional<std::int64_t> NumberOf(const JobSpec& spec, const std::string& name,
                                     const std::string& type,
                                     std::optional<std::int64_t> standard) {
  const std::string given = OptionOf(spec, name, type);
  return given.empty() ? standard : ParseNumber<std::int64_t>(given);
}

bool Lists(const JobSpec& spec, const std::string& option, std::string_view type,
           std::string_view standard) {
  if (spec.policy.options.count(option) == 0) return type == standard;
  const std::string text = OptionOf(spec, option);
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(", []", begin), text.size());
    if (std::string_view(text).substr(begin, end - begin) == type) return true;
    begin = end + 1;
  }
  return false;
}

TaskClass RoleOf(const JobSpec& spec, Policy policy, const TaskTypeSpec& type) {
  if (type.task_class) return *type.task_class;
  const std::string& name = type.name;
  switch (policy) {
    case Policy::kDefault:
    case Policy::kHbox:
      if (name == "ps") return TaskClass::kService;
      if (name == "evaluator") return TaskClass::kDrained;
      return name == "tensorboard" ? TaskClass::kSidecar : TaskClass::kTracked;
    case Policy::kTony:
      if (Lists(spec, "untracked", name, spec.framework == Framework::kHorovod ? "driver" : "ps"))
        return TaskClass::kService;
      return Lists(spec, "sidecar", name, "tensorboard") ? TaskClass::kSidecar
                                                         : TaskClass::kTracked;
    case Policy::kTfYarn:
      return name == "ps" || name == "tensorboard" ? TaskClass::kService : TaskClass::kTracked;
    case Policy::kTfjob:
      return name == "tensorboard" ? TaskClass::kSidecar : TaskClass::kTracked;
    case Policy::kSliderTf:
    case Policy::kFrameworkLauncher:
      if (name == "ps") return TaskClass::kService;
      return name == "tensorboard" ? TaskClass::kSidecar : TaskClass::kTracked;
  }
  return TaskClass::kTracked;
}

}  // namespace tfyarn::oracles
