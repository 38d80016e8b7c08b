#include "core/policy/exit_classifier.h"

#include <algorithm>
#include <string_view>

#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::policy {
namespace {

// Texts of ContainerStatus.diagnostics with which the RM says why a container has -100. Source:
// hadoop-yarn-server-resourcemanager SchedulerUtils.java (RELEASED_CONTAINER, EXPIRED_CONTAINER,
// COMPLETED_APPLICATION).
constexpr std::string_view kReleased = "released by application";
constexpr std::string_view kExpired = "expired since it was unused";
constexpr std::string_view kAttemptEnded = "of a completed application";

bool Says(const ExitEvidence& evidence, std::string_view text) {
  return evidence.diagnostics.find(text) != std::string::npos;
}

/// A -100 is a lost node unless the AM gave the container back.
bool IsGivenBack(const ExitEvidence& evidence) {
  return evidence.yarn_exit == container_exit::kAborted && !evidence.node_lost &&
         (evidence.we_stopped || Says(evidence, kReleased));
}

/// YARN's codes for containers that we, or the end of the application, took away.
bool IsTakenAway(const ExitEvidence& evidence) {
  return evidence.yarn_exit == container_exit::kKilledByAppMaster ||
         evidence.yarn_exit == container_exit::kKilledAfterAppCompletion || IsGivenBack(evidence);
}

/// The class of a reason that YARN itself gives for ending a container; nullopt when it gives none.
std::optional<ExitClass> PlatformReason(const ExitEvidence& evidence) {
  if (evidence.node_lost) return ExitClass::kNodeLost;
  if (evidence.marked) return ExitClass::kPreempted;
  if (!evidence.yarn_exit) return std::nullopt;
  switch (*evidence.yarn_exit) {
    case container_exit::kAborted:
      if (IsGivenBack(evidence)) {
        TF_PROBE("exit/given-back");
        return std::nullopt;
      }
      // Of the containers of an AM that failed YARN keeps those alone whose node has reported them
      // running.
      if (Says(evidence, kAttemptEnded)) return ExitClass::kAmLost;
      // The node has not reported for so long that the RM takes the container for never started.
      if (Says(evidence, kExpired)) return ExitClass::kLaunchError;
      return ExitClass::kNodeLost;
    case container_exit::kDisksFailed:
      return ExitClass::kNodeBad;
    case container_exit::kPreempted:
    case container_exit::kKilledByResourceManager:
    case container_exit::kKilledByContainerScheduler:
      return ExitClass::kPreempted;
    case container_exit::kKilledExceededVmem:
    case container_exit::kKilledExceededPmem:
      TF_PROBE("exit/killed-for-its-memory");
      return ExitClass::kOom;
    case container_exit::kKilledForExcessLogs:
      return ExitClass::kUserPermanent;
    default:
      return std::nullopt;
  }
}

/// What the agent said, or what its NM said in its place before there was an agent.
std::optional<ExitRecord> AgentAccount(const ExitEvidence& evidence,
                                       const std::vector<std::int32_t>& retryable) {
  std::optional<std::int32_t> exit;
  if (evidence.process) exit = evidence.process->status();
  const auto record = [&](ExitClass c) {
    return ExitRecord{.exit_class = c, .exit = exit, .source = ExitSource::kAgent};
  };
  if (!evidence.launch_error.empty()) {
    return ExitRecord{
        .exit_class = ExitClass::kLaunchError, .exit = std::nullopt, .source = ExitSource::kAgent};
  }
  if (evidence.port_conflict) return record(ExitClass::kPortConflict);
  if (evidence.am_lost) {
    TF_PROBE("exit/am-lost");
    return record(ExitClass::kAmLost);
  }
  if (!evidence.process || evidence.process->stopped_by_agent) return std::nullopt;
  if (evidence.process->out_of_memory) {
    TF_PROBE("exit/proof-of-memory");
    return record(ExitClass::kOom);
  }
  return record(ClassOfStatus(*exit, retryable));
}

/// Of a container that a signal killed while its NodeManager was away; which one is not known.
/// Source: ContainerExecutor.java, ExitCode.LOST; docs/fakes.md.
constexpr std::int32_t kLost = 154;

/// The container's own exit status, when no report says more. Its 0 is the agent's, not proof of
/// the process's success.
ExitClass ClassOfContainer(std::int32_t code, const std::vector<std::int32_t>& retryable) {
  if (code == container_exit::kInvalid) return ExitClass::kLaunchError;
  // A container's codes are the agent's: a user's 122 is in the agent's report, not here.
  if (code == agent_exit::kAmLost || code == agent_exit::kRefused) return ExitClass::kAmLost;
  if (code == agent_exit::kNoPort) return ExitClass::kPortConflict;
  if (code == kLost) return ExitClass::kKilledExternal;
  if (code <= 0) return ExitClass::kUnknown;
  return ClassOfStatus(code, retryable);
}

}  // namespace

const std::vector<std::int32_t>& DefaultRetryableCodes() {
  static const std::vector<std::int32_t> codes = {75, 138, 154, 193};
  return codes;
}

ExitClass ClassOfStatus(std::int32_t status, const std::vector<std::int32_t>& retryable) {
  if (status == 0) return ExitClass::kOk;
  if (std::find(retryable.begin(), retryable.end(), status) != retryable.end())
    return ExitClass::kUserRetryable;
  if (status >= 1 && status <= 127) return ExitClass::kUserPermanent;
  switch (status) {
    case 132:
    case 134:
    case 135:
    case 136:
    case 139:
      return ExitClass::kSignalCrash;
    case 130:
    case 137:
    case 143:
      return ExitClass::kKilledExternal;
    default:
      return ExitClass::kUnknown;
  }
}

ExitRecord Classify(const ExitEvidence& evidence, const std::vector<std::int32_t>& retryable) {
  const std::optional<ExitRecord> agent = AgentAccount(evidence, retryable);
  const bool stopped_by_agent = evidence.process && evidence.process->stopped_by_agent;
  std::optional<std::int32_t> process_exit;
  if (evidence.process) process_exit = evidence.process->status();

  // Stops after silence or after a deadline only clean up. And a process that ended by itself
  // before our order reached it was not ended by us.
  const bool cleaning_up = evidence.timed_out || (evidence.silent && !evidence.we_stopped);
  if (!agent && !cleaning_up && (evidence.we_stopped || stopped_by_agent)) {
    return {.exit_class = ExitClass::kKilledByUs,
            .exit = process_exit ? process_exit : evidence.yarn_exit,
            .source = ExitSource::kOurOrder};
  }
  if (const auto reason = PlatformReason(evidence)) {
    return {.exit_class = *reason, .exit = evidence.yarn_exit, .source = ExitSource::kPlatform};
  }
  if (agent) return *agent;
  if (evidence.timed_out) {
    return {
        .exit_class = ExitClass::kTimeout, .exit = process_exit, .source = ExitSource::kDeadline};
  }
  // Cleaning up after a silent agent makes YARN say "killed by the AM": that is our echo, not a
  // reason.
  if (evidence.silent && (!evidence.yarn_exit || stopped_by_agent || IsTakenAway(evidence))) {
    TF_PROBE("exit/silence");
    return {.exit_class = ExitClass::kHeartbeatLost,
            .exit = std::nullopt,
            .source = ExitSource::kSilence};
  }
  if (IsTakenAway(evidence)) {
    return {.exit_class = ExitClass::kKilledByUs,
            .exit = evidence.yarn_exit,
            .source = ExitSource::kOurOrder};
  }
  TF_PROBE("exit/container-status-only");
  TF_CHECK(evidence.yarn_exit.has_value());
  return {.exit_class = ClassOfContainer(*evidence.yarn_exit, retryable),
          .exit = evidence.yarn_exit,
          .source = ExitSource::kYarnStatus};
}

bool IsBetter(const ExitRecord& known, const ExitRecord& later, bool decided) {
  if (decided && known.exit_class == ExitClass::kOk) return false;
  return later.source < known.source && !(later == known);
}

Budget DefaultBudget(ExitClass exit_class) {
  switch (exit_class) {
    case ExitClass::kOk:
    case ExitClass::kKilledByUs:
    case ExitClass::kGangTimeout:
    case ExitClass::kInfeasible:
      return Budget::kNone;
    case ExitClass::kUserPermanent:
    case ExitClass::kUserRetryable:
    case ExitClass::kOom:
    case ExitClass::kSignalCrash:
    case ExitClass::kUnknown:
      return Budget::kUser;
    case ExitClass::kKilledExternal:
    case ExitClass::kPreempted:
    case ExitClass::kNodeLost:
    case ExitClass::kNodeBad:
    case ExitClass::kPortConflict:
    case ExitClass::kLaunchError:
    case ExitClass::kHeartbeatLost:
    case ExitClass::kTimeout:
    case ExitClass::kAmLost:
      return Budget::kInfrastructure;
  }
  return Budget::kUser;
}

bool PeerMayHaveCaused(ExitClass exit_class) {
  switch (exit_class) {
    case ExitClass::kUserPermanent:
    case ExitClass::kUserRetryable:
    case ExitClass::kSignalCrash:
    case ExitClass::kUnknown:
      return true;
    case ExitClass::kOk:
    case ExitClass::kOom:
    case ExitClass::kKilledExternal:
    case ExitClass::kKilledByUs:
    case ExitClass::kPreempted:
    case ExitClass::kNodeLost:
    case ExitClass::kNodeBad:
    case ExitClass::kPortConflict:
    case ExitClass::kLaunchError:
    case ExitClass::kHeartbeatLost:
    case ExitClass::kTimeout:
    case ExitClass::kAmLost:
    case ExitClass::kGangTimeout:
    case ExitClass::kInfeasible:
      return false;
  }
  return false;
}

}  // namespace tfyarn::policy
