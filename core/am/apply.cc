// How each entry of the journal changes the ledger.
#include <algorithm>

#include "core/am/ledger.h"
#include "core/model/probe.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {
namespace {

// kubelet's CrashLoopBackOff rests from the first restart on, for 10 s to 5 min. Here a few
// restarts are free of it.
constexpr std::int32_t kWithoutRest = 3;
constexpr Duration kFirstRest = 1s;
constexpr Duration kLongestRest = 5min;

/// A process that hangs later had run well for longer than the window.
Duration HangsSoon(const JobSpec& job) {
  return job.retries.window + (job.watch ? job.watch->stalled : Duration{});
}

bool HangsAgain(const TaskLedger& task, const JobSpec& job, Duration ran) {
  return task.hung_in_a_row > 0 && ran <= HangsSoon(job);
}

class Applier {
 public:
  Applier(const JobSpec& job, const TaskTable& tasks, Ledger& ledger)
      : job_(job), tasks_(tasks), ledger_(ledger) {}

  void operator()(const journal::AttemptStarted&) const {}

  void operator()(const journal::AgentsLaunched& entry) const {
    for (const journal::JournaledAgent& agent : entry.agents) {
      const auto task = tasks_.Find(agent.task);
      if (!task) continue;
      TaskLedger& of = ledger_.of(*task);
      LaunchedAgent& latest = ledger_.agents[task->value];
      latest = {.launched = true,
                .at_spec = latest.at_spec,
                .incarnation = agent.incarnation,
                .nonce = agent.nonce,
                .container = agent.container,
                .node = agent.node};
      of.alive = of.replaced = false;
      of.launched_at = entry.at;
      ledger_.budgets.TookContainer(*task);
    }
  }

  void operator()(const journal::EpochBegan& entry) const {
    ledger_.spec = Share(entry.spec);
    ledger_.gave_all_back = false;
    // Where all start together, who is not ordered now waits by `depends` and follows with this
    // spec.
    const bool together = job_.strategy != Strategy::kIndependent;
    for (LaunchedAgent& agent : ledger_.agents) {
      if (agent.launched) agent.at_spec = agent.incarnation;
    }
    for (TaskLedger& of : ledger_.tasks) of.with_epoch = of.with_epoch && !together;
    for (const journal::JournaledProcess& process : entry.processes) {
      TaskLedger* of = Order(process, entry.spec.epoch, entry.at);
      if (of == nullptr) continue;
      of->with_epoch = false;
      of->outcome = policy::Outcome::kOpen;
    }
  }

  void operator()(const journal::ProcessesOrdered& entry) const {
    for (const journal::JournaledProcess& process : entry.processes)
      (void)Order(process, entry.epoch, entry.at);
  }

  void operator()(const journal::AllRunning& entry) const {
    if (!ledger_.all_running) ledger_.all_running = entry.at;
  }

  void operator()(const journal::RestartPaid& entry) const {
    ++ledger_.restarts_decided;
    Count(entry);
    const bool first = IsFirstCause(entry.rule);
    if (const auto payer = tasks_.Find(entry.cause.task)) {
      TaskLedger& of = ledger_.of(*payer);
      const Duration ran = entry.cause.at - of.ordered_at;
      if (entry.budget != Budget::kNone) CountPaid(of, entry.cause.exit_class, ran);
      if (first && IsItsOwn(entry.cause)) Rest(of, ran, entry.at);
      const auto past = ledger_.past_ends.find(*payer);
      const bool known = past != ledger_.past_ends.end() && past->second.cause.at == entry.cause.at;
      // The cause of an excuse is an end of before, and the process that excuses lives on.
      if (!known && !entry.excused_by) Remember(*payer, entry.cause);
    }
    if (entry.has_victims) ledger_.last_cause = {.cause = entry.cause, .decided = entry.at};
    if (entry.excused_by) {
      if (const auto peer = tasks_.Find(entry.excused_by->task))
        ledger_.of(*peer).blamed = entry.excused_by->attempt;
    }
    for (const TaskId& id : entry.tasks) StartAgain(id, entry);
    for (const TaskId& id : entry.replaced) {
      if (const auto task = tasks_.Find(id)) ledger_.of(*task).replaced = true;
    }
  }

  void operator()(const journal::TaskEnded& entry) const {
    const auto task = tasks_.Find(entry.task);
    if (!task) return;
    ledger_.of(*task).alive = false;
    ledger_.of(*task).outcome = entry.outcome;
    ledger_.of(*task).ended_at = entry.at;
    Forget(entry.task);
    // A task that was stopped for another's sake is no cause.
    if (entry.outcome != policy::Outcome::kFailed || ledger_.first_tallied) return;
    ledger_.first_tallied = {.cause = {.task = entry.task,
                                       .exit = entry.exit,
                                       .exit_class = entry.exit_class,
                                       .node = entry.node,
                                       .at = entry.at,
                                       .detail = entry.detail},
                             .unpaid_by = entry.unpaid_by,
                             .restarts = entry.restarts};
  }

  void operator()(const journal::TypeWaived& entry) const {
    ledger_.waived.insert(entry.task_type);
  }

  void operator()(const journal::DependencyRan& entry) const {
    ledger_.ran.try_emplace(entry.row, entry.at);
  }

  void operator()(const journal::MemoryRaised& entry) const {
    const auto task = tasks_.Find(entry.task);
    if (!task) return;
    ledger_.of(*task).memory_mb = entry.memory_mb;
    ledger_.of(*task).memory_raised_for = entry.attempt;
  }

  void operator()(const journal::VerdictDecided& entry) const {
    if (!ledger_.verdict) ledger_.verdict = entry;
  }

  void operator()(const journal::FailureSeen& entry) const {
    const auto known =
        std::find_if(ledger_.undecided.begin(), ledger_.undecided.end(),
                     [&](const journal::FailureSeen& seen) { return seen.task == entry.task; });
    if (known != ledger_.undecided.end()) {
      *known = entry;  // It has lost its container since. Which came first may decide.
    } else {
      ledger_.undecided.push_back(entry);
    }
  }

  void operator()(const journal::HostsKeptOff& entry) const {
    ledger_.kept_off = {entry.hosts.begin(), entry.hosts.end()};
  }

  void operator()(const journal::GaveBack& entry) const {
    ledger_.gave_all_back = entry.all;
    for (const TaskId& id : entry.tasks) {
      if (const auto task = tasks_.Find(id)) GiveBack(*task);
    }
    // Nor has any other the container that its agent was launched in: it was lost before.
    for (std::uint32_t i = 0; entry.all && i < ledger_.tasks.size(); ++i) {
      const TaskLedger& of = ledger_.tasks[i];
      const bool held = ledger_.agents[i].launched && !of.replaced;
      if (held && of.outcome == policy::Outcome::kOpen) GiveBack(TaskIndex(i));
    }
  }

 private:
  /// A process of it is ordered to start. Null: the job has no such task.
  TaskLedger* Order(const journal::JournaledProcess& process, Epoch epoch, StoredTime at) const {
    const auto task = tasks_.Find(process.task);
    if (!task) return nullptr;
    TaskLedger& of = ledger_.of(*task);
    of.attempt = process.attempt;
    of.epoch = epoch;
    of.spec = ledger_.spec;
    of.ordered_at = at;
    of.ordered = of.alive = true;
    of.restarting = of.replaced = false;
    of.paid_in_a_row = 0;
    of.rests_until.reset();
    Forget(process.task);
    return &of;
  }

  /// What happened to it is decided on, or over.
  void Forget(const TaskId& failed) const {
    std::erase_if(ledger_.undecided,
                  [&](const journal::FailureSeen& seen) { return seen.task == failed; });
  }

  void Count(const journal::RestartPaid& entry) const {
    policy::CountedRestart counted{
        .paid = entry.budget, .cause = tasks_.Find(entry.cause.task), .tasks = {}, .at = entry.at};
    counted.tasks.reserve(entry.tasks.size());
    for (const TaskId& id : entry.tasks) {
      if (const auto task = tasks_.Find(id)) counted.tasks.push_back(*task);
    }
    ledger_.budgets.Count(counted);
  }

  void CountPaid(TaskLedger& of, ExitClass exit_class, Duration ran) const {
    ++of.paid_in_a_row;
    if (exit_class != ExitClass::kTimeout) {
      of.hung_in_a_row = 0;
      return;
    }
    if (HangsAgain(of, job_, ran)) TF_PROBE("ledger/hangs-again");
    of.hung_in_a_row = HangsAgain(of, job_, ran) ? of.hung_in_a_row + 1 : 1;
  }

  /// One that ends again and again as soon as it runs gets pauses: each start costs journal, node
  /// and log what a working one costs. What infrastructure did needs none: it would be the
  /// program's loss twice.
  static void Rest(TaskLedger& of, Duration ran, StoredTime decided) {
    of.ended_early = ran < kShortLife ? of.ended_early + 1 : 0;
    if (of.ended_early <= kWithoutRest) return;
    const std::int32_t doublings = std::min(of.ended_early - kWithoutRest - 1, 10);
    of.rests_until = decided + std::min<Duration>(kLongestRest, kFirstRest * (1LL << doublings));
  }

  void StartAgain(const TaskId& id, const journal::RestartPaid& entry) const {
    Forget(id);
    const auto task = tasks_.Find(id);
    if (!task) return;
    TaskLedger& of = ledger_.of(*task);
    of.restarts += static_cast<std::int32_t>(entry.processes && of.ordered);
    of.start_decided = entry.at;
    of.restarting = true;
    of.with_epoch = of.with_epoch || entry.epoch_rises;
    of.outcome = policy::Outcome::kOpen;
    if (ledger_.first_tallied && ledger_.first_tallied->cause.task == id)
      ledger_.first_tallied.reset();
    if (!of.ordered) return;
    // With a victim that was excused its peer may start again, too: that is an end of its own.
    if (id != entry.cause.task || entry.excused_by) Remember(*task, entry.cause);
    if (entry.excused_by) of.excused = of.attempt;
  }

  /// Only under parameter-server is a task asked why it could not be reached.
  void Remember(TaskIndex task, const journal::JournaledCause& cause) const {
    if (job_.strategy != Strategy::kParameterServer) return;
    ledger_.past_ends[task] = {.attempt = ledger_.of(task).attempt, .cause = cause};
  }

  void GiveBack(TaskIndex task) const {
    TaskLedger& of = ledger_.of(task);
    of.restarting = of.replaced = true;
    of.with_epoch = of.with_epoch || tasks_.record(task).training;
  }

  const JobSpec& job_;
  const TaskTable& tasks_;
  Ledger& ledger_;
};

}  // namespace

void Apply(const journal::JournalEntry& entry, const JobSpec& job, const TaskTable& tasks,
           Ledger& ledger) {
  std::visit(Applier(job, tasks, ledger), entry);
}

bool IsFirstCause(std::string_view rule) {
  return !rule.ends_with(kVictim) && rule != kReplacedRule;
}

bool IsItsOwn(const journal::JournaledCause& cause) {
  // Who sent the signal is not known, nor why it hung: it may be the program itself.
  return cause.exit_class == ExitClass::kOk || cause.exit_class == ExitClass::kKilledExternal ||
         cause.exit_class == ExitClass::kTimeout ||
         policy::DefaultBudget(cause.exit_class) == Budget::kUser;
}

std::int32_t PaidInARow(const TaskLedger& task, const JobSpec& job, ExitClass exit_class,
                        Duration ran) {
  const bool hangs_again = exit_class == ExitClass::kTimeout && HangsAgain(task, job, ran);
  return std::max(task.paid_in_a_row, hangs_again ? task.hung_in_a_row : 0);
}

}  // namespace tfyarn::am
