// rule-matches-cause: what a verdict and a restart name (rule, task, exit, exit class, node, payer)
// fits together, and fits what nodes and the RM have shown.
//
// Read from docs/policies.md, its tables of names and its prose; nothing here is asked of the
// product's engine, and nothing decides whose failure it was (that is reference-verdict's).
#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/model/exit.h"
#include "core/model/text.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

using Classes = std::uint32_t;

constexpr Classes One(ExitClass exit_class) {
  return Classes{1} << static_cast<unsigned>(exit_class);
}
constexpr Classes kAnyClass = ~Classes{0};
constexpr Classes kNoGang = One(ExitClass::kGangTimeout) | One(ExitClass::kInfeasible);
constexpr Classes kFailures =
    kAnyClass & ~(kNoGang | One(ExitClass::kOk) | One(ExitClass::kKilledByUs));
constexpr Classes kUserPays = One(ExitClass::kUserPermanent) | One(ExitClass::kUserRetryable) |
                              One(ExitClass::kOom) | One(ExitClass::kSignalCrash) |
                              One(ExitClass::kUnknown);

/// A rule that may end a job: how, and for which class of its cause.
struct RuleRow {
  std::string_view policy;  ///< "" = any: rules that no policy decides.
  std::string_view name;
  JobStatus status;
  Classes causes;
};

/// Verdicts of success have no cause.
constexpr std::array kRules = {
    RuleRow{"default", "success", JobStatus::kSucceeded, 0},
    RuleRow{"default", "success-impossible", JobStatus::kFailed, kAnyClass},
    RuleRow{"default", "tracked-ended", JobStatus::kFailed, kAnyClass},
    RuleRow{"default", "no-gang", JobStatus::kFailed, kNoGang},
    RuleRow{"default", "oom", JobStatus::kFailed, One(ExitClass::kOom)},
    RuleRow{"tony", "success", JobStatus::kSucceeded, 0},
    RuleRow{"tony", "success-impossible", JobStatus::kFailed, kAnyClass},
    RuleRow{"tony", "tracked-ended", JobStatus::kFailed, kAnyClass},
    RuleRow{"tony", "all-ok", JobStatus::kSucceeded, 0},
    RuleRow{"tony", "some-failed", JobStatus::kSucceeded, 0},
    RuleRow{"tony", "untracked-failed", JobStatus::kFailed, kAnyClass},
    RuleRow{"tony", "worker-failure", JobStatus::kFailed, kAnyClass},
    RuleRow{"tony", "all-failed", JobStatus::kFailed, kAnyClass},
    RuleRow{"tony", "chief-failed", JobStatus::kFailed, kFailures},
    RuleRow{"tony", "stop-on-failure", JobStatus::kFailed, kFailures},
    RuleRow{"tony", "fail-on-worker-failure", JobStatus::kFailed, kFailures},
    RuleRow{"tony", "waived-failed", JobStatus::kFailed, kFailures},
    RuleRow{"tony", "starting-failed", JobStatus::kFailed, kFailures},
    RuleRow{"tf-yarn", "success", JobStatus::kSucceeded, 0},
    RuleRow{"tf-yarn", "success-impossible", JobStatus::kFailed, kAnyClass},
    RuleRow{"tf-yarn", "tracked-ended", JobStatus::kFailed, kAnyClass},
    RuleRow{"tf-yarn", "services-ended", JobStatus::kSucceeded, 0},
    RuleRow{"tf-yarn", "raised", JobStatus::kFailed, kAnyClass},
    RuleRow{"tf-yarn", "nothing-left", JobStatus::kFailed, kAnyClass},
    RuleRow{"tf-yarn", "container-failed", JobStatus::kFailed, kFailures},
    RuleRow{"tfjob", "success", JobStatus::kSucceeded, 0},
    RuleRow{"tfjob", "success-impossible", JobStatus::kFailed, kAnyClass},
    RuleRow{"tfjob", "tracked-ended", JobStatus::kFailed, kAnyClass},
    RuleRow{"tfjob", "chief-succeeded", JobStatus::kSucceeded, 0},
    RuleRow{"tfjob", "workers-succeeded", JobStatus::kSucceeded, 0},
    RuleRow{"tfjob", "worker0-succeeded", JobStatus::kSucceeded, 0},
    RuleRow{"tfjob", "replica-failed", JobStatus::kFailed, kAnyClass},
    RuleRow{"tfjob", "nothing-left", JobStatus::kFailed, kAnyClass},
    RuleRow{"tfjob", "no-gang", JobStatus::kFailed, kNoGang},
    RuleRow{"tfjob", "exit-code-permanent", JobStatus::kFailed, kFailures},
    RuleRow{"tfjob", "backoff-limit", JobStatus::kFailed, kFailures | One(ExitClass::kOk)},
    RuleRow{"", "gang/deadline", JobStatus::kFailed, One(ExitClass::kGangTimeout)},
    RuleRow{"", "gang/infeasible", JobStatus::kFailed, One(ExitClass::kInfeasible)},
    RuleRow{"", "gang/ask-refused", JobStatus::kFailed, kNoGang},
    RuleRow{"", "policy/invalid", JobStatus::kFailed, kNoGang},
    RuleRow{"", "deadlines/start", JobStatus::kFailed, One(ExitClass::kTimeout)},
    RuleRow{"", "deadlines/run", JobStatus::kFailed, One(ExitClass::kTimeout)},
    RuleRow{"", "finish/evidence-missing", JobStatus::kFailed, kAnyClass},
    RuleRow{"", "finish/evidence-unknown", JobStatus::kFailed, kAnyClass},
};

/// Whether this file has a second reading of the policy's tables.
bool IsReadHere(std::string_view policy) {
  return std::any_of(kRules.begin(), kRules.end(),
                     [&](const RuleRow& row) { return row.policy == policy; });
}

/// Classes that an end with this number may have; of a process 0 to 255, of a container others too.
Classes ClassesOf(std::int32_t exit) {
  // Whatever the number: our own order, the RM's notice, the agent's or the kernel's proof, a
  // deadline that passed.
  Classes may = One(ExitClass::kKilledByUs) | One(ExitClass::kPreempted) | One(ExitClass::kOom) |
                One(ExitClass::kPortConflict) | One(ExitClass::kLaunchError) |
                One(ExitClass::kTimeout) | One(ExitClass::kHeartbeatLost) |
                One(ExitClass::kAmLost) | One(ExitClass::kNodeLost);
  switch (exit) {
    case 0:
      return may | One(ExitClass::kOk) | One(ExitClass::kUnknown);
    case 75:
    case 138:
    case 193:
      return may | One(ExitClass::kUserRetryable);
    case 154:
      return may | One(ExitClass::kUserRetryable) | One(ExitClass::kKilledExternal);
    case 132:
    case 134:
    case 135:
    case 136:
    case 139:
      return may | One(ExitClass::kSignalCrash);
    case 130:
    case 137:
    case 143:
      return may | One(ExitClass::kKilledExternal);
    case container_exit::kDisksFailed:
      return may | One(ExitClass::kNodeBad);
    case container_exit::kKilledForExcessLogs:
      return may | One(ExitClass::kUserPermanent);
    default:
      return may |
             (exit >= 1 && exit <= 127 ? One(ExitClass::kUserPermanent) : One(ExitClass::kUnknown));
  }
}

bool IsFailure(ExitClass exit_class) {
  return exit_class != ExitClass::kOk && exit_class != ExitClass::kKilledByUs;
}

bool Fits(const ExitRule& rule, const Cause& cause) {
  if (!rule.task_type.empty() && rule.task_type != cause.task.type) return false;
  if (rule.classes.empty() && rule.exits.empty()) return IsFailure(cause.exit_class);
  const auto among = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  if (!among(rule.classes, cause.exit_class)) return false;
  return rule.exits.empty() || (cause.exit && among(rule.exits, *cause.exit));
}

/// The number behind `prefix`; nullopt when the rule does not begin so.
std::optional<std::size_t> NumberedBy(std::string_view rule, std::string_view prefix) {
  if (!rule.starts_with(prefix)) return std::nullopt;
  return static_cast<std::size_t>(
      std::strtoul(std::string(rule.substr(prefix.size())).c_str(), nullptr, 10));
}

std::string Mismatch(JobStatus says, JobStatus is) {
  return says == is ? "" : "which makes a job " + KebabName(says);
}

/// What is wrong with a rule of the job's own rows; nullopt: it is none.
std::optional<std::string> OwnRowMismatch(const JobSpec& job, const VerdictReached& verdict) {
  if (const auto row = NumberedBy(verdict.rule, "on_exit/")) {
    if (*row >= job.on_exit.size()) return "but the job has no such row";
    const ExitRule& rule = job.on_exit[*row];
    if (rule.action == ExitAction::kSucceed) return Mismatch(JobStatus::kSucceeded, verdict.status);
    if (rule.action != ExitAction::kFail && rule.action != ExitAction::kRaiseMemory)
      return "which ends no job";
    if (!verdict.cause || !Fits(rule, *verdict.cause)) return "whose conditions its cause has not";
    return Mismatch(JobStatus::kFailed, verdict.status);
  }
  if (const auto row = NumberedBy(verdict.rule, "depends/")) {
    if (*row >= job.depends.size()) return "but the job has no such row";
    if (job.depends[*row].action != DependencyAction::kFail) return "which says `do: ignore`";
    return Mismatch(JobStatus::kFailed, verdict.status);
  }
  if (verdict.rule != "watch") return std::nullopt;
  if (!job.watch) return "but nothing is watched";
  if (job.watch->action == ExitAction::kSucceed)
    return Mismatch(JobStatus::kSucceeded, verdict.status);
  if (!verdict.cause || verdict.cause->exit_class != ExitClass::kTimeout)
    return "but its cause is no standstill";
  return Mismatch(JobStatus::kFailed, verdict.status);
}

std::string RuleMismatch(const JobSpec& job, const VerdictReached& verdict) {
  if (const auto own = OwnRowMismatch(job, verdict)) return *own;
  const std::string prefix = job.policy.name + "/";
  std::string_view name = verdict.rule;
  const bool of_policy = name.starts_with(prefix);
  if (of_policy) name.remove_prefix(prefix.size());
  constexpr std::string_view kExhausted = "-exhausted";
  if (of_policy && name.ends_with(kExhausted)) {
    name.remove_suffix(kExhausted.size());
    if (!verdict.cause || KebabName(verdict.cause->exit_class) != name)
      return "but its cause is of another class";
    return Mismatch(JobStatus::kFailed, verdict.status);
  }
  const auto row = std::find_if(kRules.begin(), kRules.end(), [&](const RuleRow& one) {
    return one.name == name && one.policy == (of_policy ? job.policy.name : "");
  });
  if (row == kRules.end() && of_policy && !IsReadHere(job.policy.name)) return "";
  if (row == kRules.end()) return "and there is no such rule";
  if (row->status != verdict.status) return Mismatch(row->status, verdict.status);
  if (name.starts_with("finish/") && job.finish.require_paths.empty())
    return "but no evidence is required";
  if (row->causes == 0 || row->causes == kAnyClass) return "";
  if (!verdict.cause || (row->causes & One(verdict.cause->exit_class)) == 0)
    return "but its cause is of another class";
  return "";
}

}  // namespace

/// What is wrong with a cause by what nodes and the RM have shown; empty: nothing.
std::string Checkers::Books::CauseMismatch(const JobBook& job, const ApplicationBook& application,
                                           const Cause& cause) const {
  if (cause.task.type.empty()) return "";
  const TaskTypeSpec* type = job.spec->FindType(cause.task.type);
  if (type == nullptr || cause.task.index < 0 || cause.task.index >= type->instances)
    return ToString(cause.task) + " is no task of the job";
  if (cause.at > now_ && !application.clocks_differ) return "its cause is to come";
  const Evidence& evidence = application.evidence;
  if (!cause.node.empty() && evidence.hosts.count(cause.node) == 0)
    return "the job has held no container on " + cause.node;
  const auto seen = evidence.exits.find(cause.task);
  const bool of_process =
      cause.exit && seen != evidence.exits.end() && seen->second.count(*cause.exit) > 0;
  if (cause.exit && !of_process && evidence.container_exits.count(*cause.exit) == 0)
    return "no process of " + ToString(cause.task) + " and no container has ended with " +
           std::to_string(*cause.exit);
  if (cause.exit && (ClassesOf(*cause.exit) & One(cause.exit_class)) == 0)
    return std::to_string(*cause.exit) + " is not " + KebabName(cause.exit_class);
  const auto shown = [&](std::initializer_list<std::int32_t> statuses) {
    return std::any_of(statuses.begin(), statuses.end(), [&](std::int32_t status) {
      return evidence.container_exits.count(status) > 0;
    });
  };
  if (cause.exit_class == ExitClass::kOom && evidence.out_of_memory.count(cause.task) == 0 &&
      !shown({container_exit::kKilledExceededVmem, container_exit::kKilledExceededPmem}))
    return "nothing has shown that " + ToString(cause.task) + " had too little memory";
  if (cause.exit_class == ExitClass::kPreempted && !evidence.notice &&
      !shown({container_exit::kPreempted, container_exit::kKilledByResourceManager,
              container_exit::kKilledByContainerScheduler}))
    return "the RM has taken no container away";
  return "";
}

void Checkers::Books::CheckRule(const JobBook& job, const ApplicationBook& application,
                                const VerdictReached& verdict) {
  if (job.spec == nullptr || verdict.status == JobStatus::kKilled) return;
  if (!Checks(Invariant::kRuleMatchesCause)) return;
  std::string wrong = RuleMismatch(*job.spec, verdict);
  if (wrong.empty() && verdict.cause) {
    wrong = CauseMismatch(job, application, *verdict.cause);
    if (!wrong.empty()) wrong = "but " + wrong;
  }
  if (wrong.empty()) return;
  Report(Invariant::kRuleMatchesCause, NameOf(job) + ": the verdict is " +
                                           KebabName(verdict.status) + " by " + verdict.rule +
                                           ", " + wrong);
}

// The payer follows from the class, or from the first row of on_exit that fits. That a restart is
// free (a victim, a notice) is not judged here.
void Checkers::Books::CheckPayer(const JobBook& job, const ApplicationBook& application,
                                 const RestartDecided& decision) {
  if (job.spec == nullptr || !Checks(Invariant::kRuleMatchesCause)) return;
  const Cause& cause = decision.cause;
  const auto wrong = [&](const std::string& why) {
    Report(Invariant::kRuleMatchesCause, NameOf(job) + ": the restart for " + ToString(cause.task) +
                                             " (" + KebabName(cause.exit_class) + ") is paid by " +
                                             KebabName(decision.paid) + ", " + why);
  };
  const std::string mismatch = CauseMismatch(job, application, cause);
  if (!mismatch.empty()) return wrong("but " + mismatch);
  if (decision.paid == Budget::kNone) return;
  if (job.spec->policy.name != "default") {
    if (decision.paid != Budget::kUser) wrong("but this policy counts everything on user");
    return;
  }
  for (const ExitRule& rule : job.spec->on_exit) {
    if (!Fits(rule, cause)) continue;
    const bool raises = rule.action == ExitAction::kRaiseMemory;
    if (!rule.pays && !raises) break;
    const Budget pays = rule.pays.value_or(Budget::kInfrastructure);
    if (pays != decision.paid) wrong("but its row of on_exit says " + KebabName(pays));
    return;
  }
  if (!IsFailure(cause.exit_class)) return;
  const bool user = (kUserPays & One(cause.exit_class)) != 0;
  // A process that could not reach a peer is not the user's failure.
  if (user && job.spec->strategy == Strategy::kParameterServer) return;
  if (user != (decision.paid == Budget::kUser)) wrong("but its class says otherwise");
}

}  // namespace tfyarn::sim
