// The invariant `verdict`: what the AM decided is what its policy says about the exits that were
// recorded by then.
//
// The policy's tables are the product's (core/policy/engine.h); the counting of tasks is done again
// here, from the trace, and what counts as a success must have been one for the process's parent on
// its node. What this finds is an AM that lost, doubled or misread an exit; whether the tables
// themselves are right is for their own tests. Verdicts that no exit leads to (a deadline,
// an infeasible gang, missing evidence) are left to those who asked.
#include <algorithm>
#include <set>
#include <utility>

#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/job_view.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

class RecordedView : public policy::JobView {
 public:
  RecordedView(const JobSpec& spec, const policy::Engine& policy,
               const std::map<TaskId, TaskBook>& tasks)
      : spec_(spec), tasks_(tasks) {
    for (const TaskTypeSpec& type : spec.tasks) {
      types_.push_back({.name = type.name,
                        .task_class = policy.ClassOf(type.name),
                        .instances = type.instances});
    }
  }

  /// Types that a dependency with `do: ignore` may no longer wait for: what it waited on is there.
  /// When its time was over is not known here.
  void WaiveIgnored() {
    for (const Dependency& rule : spec_.depends) {
      if (rule.action != DependencyAction::kIgnore || !HasReached(rule)) continue;
      for (policy::TypeCounts& type : types_) type.waived = type.waived || type.name == rule.task;
    }
  }

  /// Ends of these are not for good: a restart is due.
  void StartAgain(std::set<TaskId> tasks) { start_again_ = std::move(tasks); }
  /// Ends of these neither help nor harm.
  void Ignore(std::set<TaskId> tasks) { ignored_ = std::move(tasks); }

  void Count() {
    for (policy::TypeCounts& type : types_) type.running = type.ok = type.failed = type.ignored = 0;
    for (std::size_t type = 0; type < types_.size(); ++type) {
      for (std::int32_t index = 0; index < types_[type].instances; ++index) {
        const policy::TaskFacts facts = FactsOf(type, index);
        if (facts.running) ++types_[type].running;
        if (!facts.ended) continue;
        const bool ignored = ignored_.count({types_[type].name, index}) > 0;
        ++(ignored ? types_[type].ignored : facts.ok ? types_[type].ok : types_[type].failed);
      }
    }
  }

  [[nodiscard]] const std::vector<policy::TypeCounts>& types() const override { return types_; }

  [[nodiscard]] policy::TaskFacts FactsOf(std::size_t type, std::int32_t index) const override {
    const auto task = tasks_.find(TaskId{.type = spec_.tasks[type].name, .index = index});
    if (task == tasks_.end()) return {};
    const bool ended =
        task->second.ended && !task->second.restarts && start_again_.count(task->first) == 0;
    return {.ended = ended,
            .ok = ended && task->second.exit_class == ExitClass::kOk,
            .running = task->second.running};
  }

 private:
  [[nodiscard]] bool HasReached(const Dependency& rule) const {
    for (const policy::TypeCounts& type : types_) {
      if (type.name != rule.after) continue;
      switch (rule.state) {
        case DependencyState::kRunning:
          return true;  // It may have run before it ended.
        case DependencyState::kEnded:
          return type.all_ended();
        case DependencyState::kSucceeded:
          return type.ok == type.instances;
      }
    }
    return false;
  }

  const JobSpec& spec_;
  const std::map<TaskId, TaskBook>& tasks_;
  std::vector<policy::TypeCounts> types_;
  std::set<TaskId> start_again_, ignored_;
};

/// True unless restarts were certainly left when it ended: the payments recorded within the window
/// are fewer than allowed, and so are those for this task since it last ran, or because it hung.
bool MayBeSpent(const policy::Decision& decision, const ApplicationBook& application,
                const TaskId& id, const TaskBook& task) {
  // Of a task's own restarts, and of the rows behind this one, the trace does not tell enough.
  if (decision.allowance.counted != policy::Counted::kPaid || !decision.next.empty()) return true;
  if (!decision.allowance.restarts) return false;
  // An AM that died may have stored payments that it never announced: of a task, and of its peers.
  const std::size_t gone = application.attempts.empty() ? 0 : application.attempts.size() - 1;
  const auto hidden = static_cast<std::int64_t>(2 * gone);
  std::int64_t paid = hidden;
  for (const std::deque<Payment>* payments :
       {&application.paid_user, &application.paid_infrastructure}) {
    const bool is_it = (payments == &application.paid_user) == (decision.pays == Budget::kUser);
    if (!is_it) continue;
    for (const Payment& payment : *payments) {
      paid += !decision.allowance.window ||
                      task.ended_at - payment.told <= *decision.allowance.window + kDecisionTakes
                  ? 1
                  : 0;
    }
  }
  const auto hung = application.hung_paid.find(id);
  const std::int64_t in_a_row =
      std::max(task.paid_in_a_row, hung == application.hung_paid.end() ? 0 : hung->second) + hidden;
  return std::max(paid, in_a_row) >= *decision.allowance.restarts;
}

/// What the recorded exits ask for, one by one.
struct Asked {
  bool failure =
      false;  ///< Some exit alone fails the job: by its row, or because no restart may be left.
  std::set<TaskId> start_again;  ///< A restart is due, and certainly left.
  std::set<TaskId> ignored;
};

/// Its agent had registered with an AM that is gone. Only the order to start its process, which is
/// stored, tells the next AM so.
bool RegistrationIsForgotten(const ApplicationBook& application, const TaskId& id,
                             const TaskBook& task) {
  const auto process = application.processes.find(id);
  const bool ran = process != application.processes.end() && process->second.starts > 0;
  return task.registered && !ran && !application.attempts.empty() &&
         task.registered_with < application.attempts.back().attempt;
}

/// What the policy may say: the payer may depend on a peer of the job that its last error names.
std::vector<policy::Decision> DecisionsOn(const policy::Engine& policy, const policy::JobView& view,
                                          const ApplicationBook& application, const TaskId& id,
                                          const TaskBook& task) {
  policy::ExitView end{.task = id,
                       .exit_class = task.exit_class,
                       .exit = task.exit,
                       .ever_registered = task.registered};
  std::vector<policy::Decision> decisions = {policy.OnExit(end, view)};
  end.peer_unreachable = task.unreachable_peer;
  if (task.unreachable_peer) decisions.push_back(policy.OnExit(end, view));
  if (RegistrationIsForgotten(application, id, task)) {
    TF_PROBE("checkers/registration-is-forgotten");
    end.ever_registered = false;
    decisions.push_back(policy.OnExit(end, view));
  }
  return decisions;
}

Asked AskedBy(const policy::Engine& policy, const ApplicationBook& application,
              const policy::JobView& view) {
  Asked asked;
  for (const auto& [id, task] : application.tasks) {
    if (!task.ended || task.restarts) continue;
    bool restarts = true;
    for (const policy::Decision& decision : DecisionsOn(policy, view, application, id, task)) {
      // A task that has the most memory it may have fails the job instead.
      if (decision.action == ExitAction::kFail || decision.action == ExitAction::kRaiseMemory)
        asked.failure = true;
      if (decision.action == ExitAction::kIgnore) asked.ignored.insert(id);
      const bool restart = policy::IsRestart(decision.action);
      const bool spent =
          restart && (policy.name() != "default" || MayBeSpent(decision, application, id, task));
      if (spent) asked.failure = asked.failure || decision.when_spent == ExitAction::kFail;
      restarts = restarts && restart && !spent;
    }
    if (restarts) asked.start_again.insert(id);
  }
  return asked;
}

/// What the policy makes of the recorded exits.
struct Says {
  bool success = false;
  bool failure = false;
};

Says SaysOf(const policy::Engine& policy, const ApplicationBook& application, RecordedView& view) {
  const Asked asked = AskedBy(policy, application, view);
  view.StartAgain(asked.start_again);
  view.Ignore(asked.ignored);
  view.Count();
  const std::optional<policy::Verdict> judged = policy.Judge(view);
  return {.success = judged && judged->status == JobStatus::kSucceeded,
          .failure = asked.failure || (judged && judged->status == JobStatus::kFailed)};
}

/// The same where a type that `depends` may no longer wait for counts for nothing.
Says SaysWithWaived(const policy::Engine& policy, const ApplicationBook& application,
                    RecordedView& view) {
  view.StartAgain({});
  view.Ignore({});
  view.Count();
  view.WaiveIgnored();
  return SaysOf(policy, application, view);
}

void Forget(TaskBook& task) {
  task.ended = false;
  task.running = true;
}

/// Had the job failed by what had ended by then?
bool FailedBy(const policy::Engine& policy, const JobSpec& spec, ApplicationBook application,
              const Cause& cause, Instant then, std::uint64_t by_then) {
  for (auto& [id, task] : application.tasks) {
    if (task.amended_at > then || task.amended_as > by_then) {
      task.exit = task.first.exit;
      task.exit_class = task.first.exit_class;
    }
    if (task.ended && (task.ended_at > then || task.ended_as > by_then)) Forget(task);
  }
  // A row may fail the job for it, although a restart for another one, of which the AM had heard in
  // the same breath, would have taken it along.
  const auto first = application.tasks.find(cause.task);
  if (first != application.tasks.end() && first->second.ended_at == cause.at &&
      first->second.ended_at >= first->second.restart_cause_at)
    first->second.restarts = false;
  RecordedView view(spec, policy, application.tasks);
  view.Count();
  return SaysOf(policy, application, view).failure ||
         SaysWithWaived(policy, application, view).failure;
}

/// A verdict is announced once it is stored, which may take a while, and what ends meanwhile
/// changes nothing: had the job failed when its cause ended, or by what ended next? Where no
/// recorded end has the time of the cause, any end may be the next.
bool FailedThen(const policy::Engine& policy, const JobSpec& spec,
                const ApplicationBook& application, const Cause& cause) {
  const auto first = application.tasks.find(cause.task);
  const bool known = first != application.tasks.end() && first->second.ended_at == cause.at;
  const std::uint64_t by_then = known ? first->second.ended_as : application.ends;
  if (FailedBy(policy, spec, application, cause, cause.at, by_then)) return true;
  return std::any_of(application.tasks.begin(), application.tasks.end(), [&](const auto& entry) {
    const TaskBook& task = entry.second;
    return task.ended && (!known || task.ended_as > by_then) &&
           FailedBy(policy, spec, application, cause, task.ended_at, task.ended_as);
  });
}

/// A task that had ended for good by one account stays so: another account that comes later changes
/// what is told of it.
ApplicationBook ByFirstAccounts(ApplicationBook application) {
  for (auto& [id, task] : application.tasks) {
    if (!task.ended || task.amended_as == 0 || task.amended_at <= task.ended_at) continue;
    task.exit = task.first.exit;
    task.exit_class = task.first.exit_class;
  }
  return application;
}

/// Its end was recorded by an earlier ApplicationMaster than the last one.
bool IsOfEarlierAm(const ApplicationBook& application, const TaskBook& task) {
  return task.ended && task.am_attempts < application.attempts.size();
}

/// The ApplicationMaster may know nothing of ends that the one before it could not write down, but
/// for the cause.
ApplicationBook AsTheLastAmHeard(ApplicationBook application, const TaskId& cause) {
  for (auto& [id, task] : application.tasks) {
    if (id != cause && IsOfEarlierAm(application, task)) Forget(task);
  }
  return application;
}

/// The same where that one could write down all ends but those of one task.
std::vector<ApplicationBook> WithoutOneEnd(const ApplicationBook& application,
                                           const TaskId& cause) {
  std::vector<ApplicationBook> books;
  for (const auto& [id, task] : application.tasks) {
    if (id == cause || !IsOfEarlierAm(application, task)) continue;
    books.push_back(application);
    Forget(books.back().tasks.at(id));
  }
  return books;
}

/// A verdict is announced once it is stored: had the job succeeded before the last of its tasks
/// ended?
bool SucceededThen(const policy::Engine& policy, const JobSpec& spec,
                   const ApplicationBook& application) {
  return std::any_of(application.tasks.begin(), application.tasks.end(), [&](const auto& entry) {
    if (!entry.second.ended) return false;
    ApplicationBook book = application;
    for (auto& [id, task] : book.tasks) {
      if (task.ended && task.ended_as > entry.second.ended_as) Forget(task);
    }
    RecordedView view(spec, policy, book.tasks);
    view.Count();
    return SaysOf(policy, book, view).success || SaysWithWaived(policy, book, view).success;
  });
}

/// A success that is recorded while a restart is decided, or before it was carried out, still
/// counts: the process that the restart would have stopped was faster.
bool SucceededBeforeRestart(const policy::Engine& policy, const JobSpec& spec,
                            ApplicationBook application) {
  for (auto& [id, task] : application.tasks) {
    if (task.ended && task.exit_class == ExitClass::kOk && task.ended_at >= task.restart_cause_at)
      task.restarts = false;
  }
  RecordedView view(spec, policy, application.tasks);
  view.Count();
  return SaysOf(policy, application, view).success;
}

}  // namespace

bool Checkers::Books::IsItsTask(const JobBook& job, const TaskId& task) {
  if (job.spec == nullptr) return true;
  const TaskTypeSpec* type = job.spec->FindType(task.type);
  if (type != nullptr && task.index >= 0 && task.index < type->instances) return true;
  if (Checks(Invariant::kVerdict))
    Report(Invariant::kVerdict,
           NameOf(job) + ": the AM names " + ToString(task) + ", which is no task of the job");
  return false;
}

void Checkers::Books::RecordAttempt(JobBook& job, const TaskAttemptStarted& started) {
  job.last_event = now_;
  if (!IsItsTask(job, started.task)) return;
  TaskBook& task = Acting(job).tasks[started.task];
  task = {.attempt = started.process.attempt, .running = true, .registered = true};
  task.am_attempts = Acting(job).attempts.size();
}

void Checkers::Books::HearsOfExit(JobBook& job, const AgentToAm& message, std::int32_t am_attempt) {
  const auto* ends = std::get_if<ProcessEnded>(&message);
  const auto* registers = std::get_if<RegisterAgent>(&message);
  const bool of_an_end = ends != nullptr || (registers != nullptr && registers->ended);
  if (!of_an_end) return;
  const TaskAttempt attempt = ends != nullptr ? ends->process.attempt : registers->ended->attempt;
  std::map<TaskId, ProcessBook>& processes = Acting(job).processes;
  const auto process = processes.find(FenceOf(message).task);
  if (process != processes.end() && process->second.attempt == attempt)
    process->second.told = std::max(process->second.told, am_attempt);
}

/// An AM does not believe an agent that it refuses: it has given the container up.
void Checkers::Books::RefusesWordOf(JobBook& job, const AgentRefused& refused) {
  const auto process = Acting(job).processes.find(refused.fence.task);
  if (process != Acting(job).processes.end()) process->second.told = 0;
}

// verdict, first half: what the AM records as a success was one on its node, and the reverse.
void Checkers::Books::CheckExit(JobBook& job, const TaskAttemptEnded& ended,
                                std::int32_t am_attempt) {
  const bool ok = ended.exit_class == ExitClass::kOk;
  const bool failed = ended.exit_class == ExitClass::kUserPermanent ||
                      ended.exit_class == ExitClass::kUserRetryable;
  if ((!ok && !failed) || !Checks(Invariant::kVerdict)) return;
  const std::map<TaskId, ProcessBook>& processes = Acting(job).processes;
  const auto process = processes.find(ended.task);
  const bool known = process != processes.end() && process->second.attempt == ended.process.attempt;
  // An AM that lives on beside its successor hears of a process late: another one has ended since.
  const bool later = process != processes.end() && process->second.attempt > ended.process.attempt;
  if (known ? (*process->second.exit == 0) == ok : failed || later) return;
  // Of an end that no agent has told this AM of, the container's exit status is all that it knows,
  // which is another report: the agent of a process that succeeded may be killed, too.
  const ContainerBook* container = ContainerOf(ended.container);
  if (failed && process->second.told != am_attempt && container != nullptr && ended.exit &&
      container->exit_told == ended.exit) {
    TF_PROBE("checkers/exit-of-the-container");
    return;
  }
  Report(Invariant::kVerdict,
         NameOf(job) + ": attempt " + std::to_string(ended.process.attempt.value) + " of " +
             ToString(ended.task) + " counts as " + KebabName(ended.exit_class) +
             ", but its process " +
             (known ? "ended with " + std::to_string(*process->second.exit) : "has not ended"));
}

void Checkers::Books::RecordAttempt(JobBook& job, const TaskAttemptEnded& ended,
                                    std::int32_t am_attempt) {
  job.last_event = now_;
  if (!IsItsTask(job, ended.task)) return;
  CheckExit(job, ended, am_attempt);
  // TonY counts the worker as failed and goes on; the chief may wait for that worker for ever.
  if (job.spec != nullptr && job.spec->policy.name == "tony" &&
      ended.exit_class != ExitClass::kOk) {
    const TaskRole role = RoleOf(*job.spec, ended.task.type);
    job.may_stand_still |= role == TaskRole::kWorker || role == TaskRole::kMember;
  }
  TaskBook& task = Acting(job).tasks[ended.task];
  // Another ApplicationMaster has not heard what the one before it had, nor of an attempt that that
  // one could not write down.
  const std::size_t am_attempts = Acting(job).attempts.size();
  if (task.attempt && ended.process.attempt < *task.attempt && task.am_attempts == am_attempts)
    return;  // A late account of an earlier attempt.
  const bool amends = task.attempt == ended.process.attempt && task.ended &&
                      task.container == ended.container && task.am_attempts == am_attempts &&
                      task.recorded_by == am_attempt;
  // A restart may be decided on before the process has ended that it stops: then a failure is not
  // for good. A success is that was faster.
  const bool stopped_for_it = task.restarts && !task.ended &&
                              task.attempt == ended.process.attempt &&
                              ended.exit_class != ExitClass::kOk;
  task.attempt = ended.process.attempt;
  task.container = ended.container;
  task.running = false;
  (amends ? task.amended_at : task.ended_at) = now_;
  (amends ? task.amended_as : task.ended_as) = ++Acting(job).ends;
  if (amends) {
    task.first = {task.exit, task.exit_class};
  } else {
    task.amended_at = {};
    task.amended_as = 0;
  }
  task.am_attempts = am_attempts;
  task.recorded_by = am_attempt;
  task.unreachable_peer =
      ended.diagnostics.find("failed to connect to all addresses") != std::string::npos;
  task.ended = true;
  task.restarts = (amends && task.restarts) || stopped_for_it;
  task.exit = ended.exit;
  task.exit_class = ended.exit_class;
}

void Checkers::Books::CheckVerdict(JobBook& job, const ApplicationBook& application,
                                   const VerdictReached& verdict) {
  // What an AM knew that took the journal back from a later one that had died is not in one book.
  if (job.spec == nullptr || !on(Invariant::kVerdict) || application.taken_back) return;
  const Expected<policy::Engine> policy = policy::Engine::Make(*job.spec);
  if (!policy) return;  // The AM refuses such a job with that very reason.
  RecordedView view(*job.spec, *policy, application.tasks);
  view.Count();
  const Says plain = SaysOf(*policy, application, view);
  const Says waived = SaysWithWaived(*policy, application, view);
  const bool says_success = plain.success || waived.success;
  const bool says_failure = plain.failure || waived.failure;
  Checks(Invariant::kVerdict);
  const auto wrong = [&](const std::string& why) {
    Report(Invariant::kVerdict, NameOf(job) + ": the verdict is " + KebabName(verdict.status) +
                                    " (" + verdict.rule + "), but " + why);
  };
  switch (verdict.status) {
    case JobStatus::kSucceeded:
      // An on_exit row may say `succeed` for an exit that the expression does not count.
      if (!says_success && job.spec->on_exit.empty() &&
          !SucceededThen(*policy, *job.spec, application) &&
          !SucceededBeforeRestart(*policy, *job.spec, application))
        wrong("by the recorded exits the job has not succeeded");
      return;
    case JobStatus::kFailed: {
      // Of `depends` the cause is an exit that the policy had tallied: it fails who waited for it.
      const bool by_dependency = verdict.rule.rfind("depends/", 0) == 0;
      const bool by_exit = verdict.cause && verdict.cause->exit && !by_dependency;
      // What a row starts again for an exit of 0 has failed when its budget is spent.
      const std::vector<ExitRule>& rows = job.spec->on_exit;
      const bool by_row = by_exit && verdict.cause->exit == 0 &&
                          std::any_of(rows.begin(), rows.end(), [](const ExitRule& row) {
                            return policy::IsRestart(row.action);
                          });
      const auto failed_by = [&](const ApplicationBook& book) {
        return FailedThen(*policy, *job.spec, book, *verdict.cause) ||
               FailedBy(*policy, *job.spec, book, *verdict.cause, now_, book.ends);
      };
      if (!by_exit || by_row || says_failure || failed_by(application) ||
          failed_by(ByFirstAccounts(application)) ||
          failed_by(AsTheLastAmHeard(application, verdict.cause->task)))
        return;
      const std::vector<ApplicationBook> less = WithoutOneEnd(application, verdict.cause->task);
      if (std::none_of(less.begin(), less.end(), failed_by))
        wrong("no recorded exit fails the job");
      return;
    }
    case JobStatus::kKilled:
      if (!job.kill_wanted) wrong("nobody asked for it");
      return;
    case JobStatus::kUnfinished:
      wrong("that is no verdict");
      return;
  }
}

}  // namespace tfyarn::sim
