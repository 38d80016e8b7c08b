// The reference model: which rows may decide an end, and whether the end must be answered.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/model/text.h"
#include "oracles/verdict_model.h"

namespace tfyarn::oracles {
namespace {

bool IsFor(const JobSpec& spec, const Task& task, Who who) {
  switch (who) {
    case Who::kAnyone:
      return true;
    case Who::kChief:
      return task.chief;
    case Who::kService:
      return task.role == TaskClass::kService;
    case Who::kDrained:
      return task.role == TaskClass::kDrained;
    case Who::kSidecar:
      return task.role == TaskClass::kSidecar;
    case Who::kTracked:
      return task.role == TaskClass::kTracked;
    case Who::kTensorboard:
      return task.id.type == "tensorboard" && spec.FindType("tensorboard") != nullptr;
  }
  return false;
}

}  // namespace

/// The last error of a process that found a peer's port closed: which one, of those that train
/// together.
std::optional<TaskId> UnreachedBy(const Job& job, const Task& task) {
  if (!task.in_gang) return std::nullopt;
  const auto names = [&](const std::string& words, const TaskId& id) {
    const std::size_t error = words.find("failed to connect to all addresses");
    if (error == std::string::npos) return false;
    const std::string target =
        "remote target /job:" + id.type + "/replica:0/task:" + std::to_string(id.index);
    const std::size_t at = words.find(target, error);
    const std::size_t end = at + target.size();
    return at != std::string::npos && end < words.size() &&
           std::string_view("0123456789").find(words[end]) == std::string_view::npos;
  };
  for (const auto& [id, peer] : job.tasks) {
    if (id == task.id || !peer.in_gang) continue;
    for (const Account& account : task.accounts) {
      if (account.told != 0 && !account.spent && names(account.last_words, id)) return id;
    }
  }
  return std::nullopt;
}

bool CouldNotReach(const Job& job, const Task& task) {
  return UnreachedBy(job, task).has_value();
}

/// The peer that it could not reach had started again with it or after it: that peer's end is the
/// cause, and its restart is free. Empty also where that is open.
std::optional<TaskId> ReferenceVerdict::Model::ExcusedBy(const Job& job, const Task& task) const {
  const bool reads_it = job.policy == Policy::kDefault && job.spec->on_exit.empty() &&
                        job.spec->strategy == Strategy::kParameterServer && job.hidden == 0;
  const std::optional<TaskId> id = reads_it ? UnreachedBy(job, task) : std::nullopt;
  const Account* best = BestOf(job, task);
  if (!id || best == nullptr || best->source != Source::kAgent) return std::nullopt;
  if ((best->classes & ~Of(kUserPermanent, kUserRetryable, kSignalCrash, kUnknown)) != 0)
    return std::nullopt;
  // A failure that waits for its cause takes this one along.
  const bool alone = std::none_of(job.tasks.begin(), job.tasks.end(), [&](const auto& other) {
    return other.first != task.id && other.second.in_gang && HasFailed(other.second);
  });
  const Task& peer = job.tasks.at(*id);
  const bool ended = std::any_of(peer.accounts.begin(), peer.accounts.end(),
                                 [](const Account& end) { return end.IsOpen(); });
  // What befell it later did not keep the task from it.
  const bool restarted = peer.IsOrderedAgain() && !ended && peer.settled_at <= best->told_at;
  const bool starting =
      task.ordered && task.ordered_when <= peer.ordered_when &&
      best->told_at - task.ordered_when < job.spec->deadlines.start - kClocksDiffer;
  const bool first = peer.excused.empty() && !peer.may_have_excused && !peer.was_excused &&
                     !peer.may_have_been_excused;
  return alone && restarted && starting && first ? id : std::nullopt;
}

/// The AM has heard of an end of its that was none too well.
bool HasFailed(const Task& task) {
  return std::any_of(task.accounts.begin(), task.accounts.end(), [](const Account& account) {
    return account.IsOpen() && account.classes != Of(kOk);
  });
}

/// The tasks that may join the restart for `cause` because another one has failed, too: that one,
/// and its own restart unit.
std::set<TaskId> ReferenceVerdict::Model::Companions(const Job& job, const TaskId& cause) const {
  std::set<TaskId> companions;
  for (const auto& entry : job.tasks) {
    const TaskId& failed = entry.first;
    const Task& task = entry.second;
    const bool silent = (MayBe(job, task) & Of(kHeartbeatLost)) != 0;
    const bool stalls = task.stalled != 0 && job.spec->watch && IsRestart(job.spec->watch->action);
    if (failed == cause || !(HasFailed(task) || silent || stalls)) continue;
    bool gang = stalls && job.spec->watch->action == kRestartGang;
    bool type = stalls && job.spec->watch->action == kRestartType;
    const auto join = [&](ExitClass cls, std::optional<std::int32_t> exit) {
      for (const Option& option : Options(job, task, cls, exit, Tri::kNo)) {
        gang |= option.session || option.action == kRestartGang;
        type |= option.action == kRestartType;
      }
    };
    if (silent) join(kHeartbeatLost, {});
    for (const Account& account : task.accounts) {
      for (unsigned bit = 0; bit <= static_cast<unsigned>(kUnknown); ++bit) {
        if (account.IsOpen() && (account.classes >> bit & 1) != 0)
          join(static_cast<ExitClass>(bit), account.exit);
      }
    }
    const bool chief = task.in_gang && job.spec->strategy == Strategy::kParameterServer &&
                       (failed.type == "ps" || Lost(job, task, kUnknown) != Tri::kNo);
    for (const auto& [id, other] : job.tasks) {
      if (id == failed || (gang && other.in_gang) || (type && id.type == failed.type) ||
          (chief && other.chief))
        companions.insert(id);
    }
  }
  return companions;
}

Tri ReferenceVerdict::Model::Holds(const Job& job, const Task& task, When when,
                                   std::optional<std::int32_t> exit) const {
  const JobSpec& spec = *job.spec;
  const auto policy_is = [&](std::string_view wanted) {
    return OptionOf(spec, "restart_policy", task.id.type) == wanted;
  };
  const bool fancy = OptionOf(spec, "fancy_retry_policy", task.id.type) == "true";
  const auto exit_is = [&](auto... codes) { return exit && (... || (*exit == codes)); };
  switch (when) {
    case When::kAlways:
      return Tri::kYes;
    case When::kMultiWorker:
      return Sure(spec.strategy == Strategy::kMultiWorker);
    case When::kIndependent:
      return Sure(spec.strategy == Strategy::kIndependent);
    case When::kStopOnFailure:
      return Sure(Lists(spec, "stop_on_failure", task.id.type, "ps"));
    case When::kFailOnWorkerFailure:
      return Sure(OptionOf(spec, "fail_on_worker_failure") == "true");
    case When::kWaived:
    case When::kWaivedAndAllEnded:
      return std::any_of(spec.depends.begin(), spec.depends.end(),
                         [&](const Dependency& rule) {
                           return rule.task == task.id.type && rule.within &&
                                  rule.action == DependencyAction::kIgnore;
                         })
                 ? Tri::kMaybe
                 : Tri::kNo;
    case When::kNeverRegistered:
      return task.registered ? (task.spawned ? Tri::kNo : Tri::kMaybe) : Tri::kMaybe;
    case When::kLate:
      return Sure(OptionOf(spec, "propagate") == "late");
    case When::kRestartAlways:
      return Sure(policy_is("Always"));
    case When::kRestartOnFailure:
      return Sure(policy_is("OnFailure"));
    case When::kRestartExitCode:
      return Sure(policy_is("ExitCode"));
    case When::kExitCodePermanent:
      return Sure(policy_is("ExitCode") && exit && *exit >= 1 && *exit <= 127);
    case When::kFancy:
      return Sure(fancy);
    case When::kFancyTransientCode:
      return Sure(fancy && exit_is(154, 193));
    case When::kFancyNonTransientCode:
      return Sure(fancy && exit_is(132, 135, 136, 139, 141, 194));
    case When::kRetriedAlways:
      return Sure(OptionOf(spec, "max_retry_count", task.id.type) == "always");
    case When::kHorovod:
      return Sure(spec.framework == Framework::kHorovod);
  }
  return Tri::kNo;
}

/// The rows that may decide an end of this class: the rows of `on_exit`, what `watch` says of a
/// stall, the policy's. More than one where it is open whether a condition holds.
std::vector<Option> ReferenceVerdict::Model::Options(const Job& job, const Task& task,
                                                     ExitClass cls,
                                                     std::optional<std::int32_t> exit,
                                                     Tri succeeded) const {
  const JobSpec& spec = *job.spec;
  // A container that fails with 1 before a process ran may be one: a row's `exit` is a process's.
  if (cls == kLaunchError) exit.reset();
  // A good end starts again only where a row of `on_exit` says so, and nothing does so for ever.
  const bool user = job.policy != Policy::kDefault || (Of(cls) & kUserPays) != 0 || cls == kOk;
  const Budget by_class = user ? Budget::kUser : Budget::kInfrastructure;
  std::vector<Budget> class_pays = {by_class};
  if (job.policy == Policy::kDefault && spec.strategy == Strategy::kParameterServer &&
      CouldNotReach(job, task))
    class_pays = {Budget::kInfrastructure};
  const bool marked = cls == kPreempted && job.notice != 0 && !task.runs;
  if (marked) class_pays.push_back(Budget::kNone);
  std::vector<Option> options;
  for (std::size_t i = 0; succeeded != Tri::kYes && i < spec.on_exit.size(); ++i) {
    const ExitRule& rule = spec.on_exit[i];
    const auto has = [](const auto& list, const auto& value) {
      return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    const bool any_failure = rule.classes.empty() && rule.exits.empty();
    if ((!rule.task_type.empty() && rule.task_type != task.id.type) || !has(rule.classes, cls) ||
        (!rule.exits.empty() && !(exit && has(rule.exits, *exit))) ||
        (any_failure && (Of(cls) & kFailure) == 0))
      continue;
    Option option{.name = fmt::format("on_exit/{}", i), .action = rule.action};
    option.payers = class_pays;
    if (rule.action == kRaiseMemory && job.policy == Policy::kDefault)
      option.payers = {Budget::kInfrastructure};
    if (rule.pays) option.payers = {*rule.pays};
    if (rule.pays && *rule.pays != Budget::kNone && job.policy != Policy::kDefault)
      option.payers = {Budget::kUser};
    if (task.role == TaskClass::kDrained) option.then = kTally;
    if (task.role == TaskClass::kSidecar) option.then = kIgnore;
    options.push_back(std::move(option));
    if (succeeded == Tri::kNo) return options;
    break;
  }
  if (cls == kTimeout && spec.watch)
    options.push_back({.name = "watch", .action = spec.watch->action, .payers = class_pays});
  // What ends after the verdict is decided changes nothing.
  if (succeeded != Tri::kNo) options.push_back({.name = "after success", .action = kTally});
  if (succeeded == Tri::kYes) return options;
  for (const Row& row : RowsOf(job.policy)) {
    if ((row.ends & Of(cls)) == 0 || !IsFor(spec, task, row.who)) continue;
    const Tri holds = Holds(job, task, row.when, exit);
    if (holds == Tri::kNo) continue;
    Option option{.name = fmt::format("{}/{}", spec.policy.name, row.name), .action = row.action};
    option.session = row.action == kFail && row.pays == Pays::kUser;
    option.pays = row.pays;
    option.then = row.then;
    option.elsewhere = row.elsewhere;
    const bool free = row.pays == Pays::kNoBudget || row.pays == Pays::kInContainer;
    option.payers = row.pays == Pays::kByClass ? class_pays
                    : free                     ? std::vector{Budget::kNone}
                                               : std::vector{Budget::kUser};
    if (marked && row.pays != Pays::kByClass && !free) option.payers.push_back(Budget::kNone);
    if (row.pays == Pays::kInContainer) {  // What is spent leads to the next row.
      option.then = kRestartTask;
      const bool may_be_spent = IsSpent(job, task.id, option, Budget::kNone, false);
      if (!IsSpent(job, task.id, option, Budget::kNone, true)) options.push_back(std::move(option));
      if (!may_be_spent) break;
      continue;
    }
    options.push_back(std::move(option));
    if (holds == Tri::kYes) break;
  }
  return options;
}

/// The end may be one for good: no restart that is left answers it.
bool ReferenceVerdict::Model::Counts(const Job& job, const Task& task,
                                     const Account& account) const {
  for (unsigned bit = 0; bit <= static_cast<unsigned>(kUnknown); ++bit) {
    if ((account.classes >> bit & 1) == 0) continue;
    for (const Option& option :
         Options(job, task, static_cast<ExitClass>(bit), account.exit, Tri::kNo)) {
      if (!IsRestart(option.action) || MayBeExhausted(job, task, option)) return true;
    }
  }
  return false;
}

/// The rows that decide a hang of the task surely start it again or fail the job. What may only be
/// counted, its restarts being spent, concerns no other task.
bool ReferenceVerdict::Model::AnswersHang(const Job& job, const Task& task) const {
  std::vector<Option> options = Options(job, task, kTimeout, {}, Tri::kNo);
  // Once YARN has said that it takes containers, its end may count as preempted.
  if (job.notice != 0) {
    const std::vector<Option> taken = Options(job, task, kPreempted, {}, Tri::kNo);
    options.insert(options.end(), taken.begin(), taken.end());
  }
  return std::all_of(options.begin(), options.end(), [&](const Option& option) {
    // `watch` decides what it has found itself.
    if (option.name == "watch" && task.stalled == 0) return true;
    const bool counts = option.then == kTally || option.then == kIgnore;
    if (IsRestart(option.action)) return !counts || !MayBeExhausted(job, task, option);
    return option.action == kFail;
  });
}

/// A row may say that the job has succeeded with it.
bool ReferenceVerdict::Model::EndsInSuccess(const Job& job, const Task& task,
                                            const Account& account) const {
  for (unsigned bit = 0; bit <= static_cast<unsigned>(kUnknown); ++bit) {
    if ((account.classes >> bit & 1) == 0) continue;
    const std::vector<Option> options =
        Options(job, task, static_cast<ExitClass>(bit), account.exit, Tri::kNo);
    if (std::any_of(options.begin(), options.end(),
                    [](const Option& option) { return option.action == kSucceed; }))
      return true;
  }
  return false;
}

/// Nothing ran in it under an AM before, and this one wants another: it has given it back, or the
/// RM had no such container any more.
bool WasGivenUp(const Job& job, const Task& task, const ContainerId& container) {
  return container.application_attempt.attempt < job.am_attempt && task.ran_in != container &&
         (job.released.count(container) > 0 || (job.registered && job.kept.count(container) == 0));
}

/// It tells of a container whose task is to start again already.
bool StartsAgainAlready(const Job& job, const Task& task, const Account& account) {
  // Also one that an earlier AM wrote down as ordered, and died before it was.
  const bool before_it_began = !task.spawned && !task.ordered && task.restarts > 0;
  // Nor does a task end with a container that was given back before a process ran in it, as one is
  // of a gang that waits.
  const bool given_back =
      task.ran_in != account.container && job.released.count(account.container) > 0;
  return !account.attempt && (account.answered || task.IsSettled() || before_it_began ||
                              given_back || WasGivenUp(job, task, account.container));
}

/// Whatever its class, the end leads to a restart or to a verdict. What was given up for its
/// silence was decided on then: a better account only corrects the record.
bool ReferenceVerdict::Model::MustAct(const Job& job, const Task& task,
                                      const Account& account) const {
  const auto must = [&](ExitClass cls, std::optional<std::int32_t> exit) {
    const std::vector<Option> options = Options(job, task, cls, exit, Succeeded(job));
    return std::all_of(options.begin(), options.end(), [&](const Option& option) {
      const bool acts = option.session || IsRestart(option.action) || option.action == kFail ||
                        option.action == kSucceed;
      return acts && (option.then == kFail || !MayBeExhausted(job, task, option));
    });
  };
  for (unsigned bit = 0; bit <= static_cast<unsigned>(kUnknown); ++bit) {
    if ((account.classes >> bit & 1) != 0 && !must(static_cast<ExitClass>(bit), account.exit))
      return false;
  }
  if (task.was_silent && !must(kHeartbeatLost, {})) return false;
  return account.classes != 0;
}

/// `restart-type`: all tasks of the type start again. What has not run is replaced without them; of
/// what an AM has ordered to start, or stored that it would, it may not know.
void ReferenceVerdict::Model::AddWithType(const Job& job, const Task& task,
                                          std::vector<std::set<TaskId>>& units) {
  std::vector<std::set<TaskId>> whole = units;
  for (std::set<TaskId>& unit : whole) {
    for (const auto& [id, other] : job.tasks) {
      if (id.type == task.id.type) unit.insert(id);
    }
  }
  const bool ran = task.ran_in == task.container;
  const bool ordered = task.MayNeverStart() || task.perhaps_ordered;
  if (ran) units.clear();
  if (ran || ordered) units.insert(units.end(), whole.begin(), whole.end());
}

}  // namespace tfyarn::oracles
