#include "core/am/decide/failover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/blame.h"

namespace tfyarn::am {
namespace {

/// `in_a_row`: of one task, since a process of its last ran, and too far apart to count otherwise.
std::string SpentText(const policy::Decision& decision, bool in_a_row) {
  if (decision.allowance.restarts.value_or(0) == 0) {
    return fmt::format("{}; {} allows no restart for it", decision.why, decision.limited_by);
  }
  const std::int32_t restarts = *decision.allowance.restarts;
  std::string when;
  if (in_a_row) {
    when = " in a row, of which none ran or each hung,";
  } else if (decision.allowance.window) {
    when = " within " + ToString(*decision.allowance.window);
  }
  return fmt::format("{}; {} {}{} {} used up", decision.why, restarts,
                     restarts == 1 ? "restart" : "restarts", when, restarts == 1 ? "is" : "are");
}

policy::Tried WhatWasTried(const policy::Decision& decision) {
  return {.unpaid = decision.limited_by, .restarts = decision.allowance.restarts.value_or(0)};
}

bool ClosesWhenSpent(const policy::Decision& decision) {
  return decision.when_spent == ExitAction::kIgnore || decision.when_spent == ExitAction::kTally;
}

policy::Outcome OutcomeWhenSpent(const policy::Decision& decision) {
  return decision.when_spent == ExitAction::kIgnore ? policy::Outcome::kIgnored
                                                    : policy::Outcome::kFailed;
}

}  // namespace

// ---------------------------------------------------------------- what was reported

void Failover::OnEnd(const AttemptEnd& end, bool container_alive) {
  if (end.record.exit_class == ExitClass::kKilledByUs) return OnStopped(end, container_alive);
  if (parts_.core.finishing) {
    parts_.core.tasks.SetOutcome(end.task, policy::Outcome::kIgnored);
    parts_.attempts.Decided(end.task, {});
    return parts_.finish.OnProcessEnded(end.task);
  }
  if (parts_.core.tasks.record(end.task).start != StartMode::kNone) {
    TF_PROBE("failover/ends-while-it-starts-again");
    return Absorb(end, container_alive);
  }
  Act({.end = end, .container_alive = container_alive, .decision = AskPolicy(end), .scope = {}});
}

void Failover::Absorb(const AttemptEnd& end, bool container_alive) {
  AmCore& core = parts_.core;
  const TaskIndex task = end.task;
  // The process that the restart would have stopped was faster. If it was the job's success,
  // nothing starts again.
  if (end.record.exit_class == ExitClass::kOk && AskPolicy(end).action == ExitAction::kTally &&
      DecidesByOk(task)) {
    TF_PROBE("failover/success-overtakes-a-restart");
    return CloseTask(end, policy::Outcome::kOk);
  }
  parts_.attempts.Decided(task, core.out.last());
  if (!container_alive) {
    TF_PROBE("failover/absorbed-with-its-container");
    return ReplaceBeforeStart(end, true, nullptr);
  }
  parts_.epochs.TryStartAlone(task);
}

std::optional<policy::Verdict> Failover::JudgeWith(const std::vector<TaskIndex>& tasks,
                                                   policy::Outcome outcome) {
  TaskTable& table = parts_.core.tasks;
  std::vector<std::pair<TaskIndex, policy::Outcome>> were;
  for (const TaskIndex task : tasks) {
    const policy::Outcome was = table.record(task).outcome;
    if (was == outcome) continue;
    were.emplace_back(task, was);
    table.SetOutcome(task, outcome);
  }
  auto verdict = parts_.core.policy->Judge(table);
  for (const auto& [task, was] : were) table.SetOutcome(task, was);
  return verdict;
}

bool Failover::DecidesByOk(TaskIndex task) {
  const auto verdict = JudgeWith({task}, policy::Outcome::kOk);
  return verdict && verdict->status == JobStatus::kSucceeded;
}

void Failover::OnStopped(const AttemptEnd& end, bool container_alive) {
  AmCore& core = parts_.core;
  if (core.finishing) {
    core.tasks.SetOutcome(end.task, policy::Outcome::kFailed);
    parts_.attempts.Decided(end.task, {});
    return parts_.finish.OnProcessEnded(end.task);
  }
  if (window_) {
    TF_PROBE("failover/stopped-in-the-blame-window");
    return MaybeDecide();
  }
  if (core.tasks.record(end.task).start != StartMode::kNone) {
    TF_PROBE("failover/stopped-while-it-starts-again");
    return Absorb(end, container_alive);
  }
  // Something else took it away in the AM's name: the policy's tables know the class.
  if (core.tasks.record(end.task).outcome != policy::Outcome::kOpen) {
    TF_PROBE("failover/stopped-after-its-outcome");
    return parts_.attempts.Decided(end.task, {});
  }
  Act({.end = end, .container_alive = container_alive, .decision = AskPolicy(end), .scope = {}});
}

void Failover::OnBlamed(AttemptEnd end, bool container_alive) {
  AmCore& core = parts_.core;
  if (core.finishing) return;
  core.tasks.mutable_record(end.task).hung = end.evidence.timed_out;
  Failure failure{
      .end = std::move(end), .container_alive = container_alive, .decision = {}, .scope = {}};
  failure.decision = AskPolicy(failure.end);
  const TaskIndex task = failure.end.task;
  if (!core.tasks.ProcessAlive(task)) {
    TF_PROBE("failover/blamed-without-a-process");
    return Act(std::move(failure));
  }
  switch (failure.decision.action) {
    case ExitAction::kIgnore:
      TF_PROBE("failover/hang-is-ignored");
      core.tasks.mutable_record(task).hung = false;
      core.tasks.mutable_record(task).stalled = false;
      return core.Note(fmt::format("{}: {}; {} lets it go on", ToString(core.tasks.id(task)),
                                   failure.end.detail, failure.decision.rule));
    case ExitAction::kTally:
      TF_PROBE("failover/hang-is-tallied");
      // It is counted when its end has come: the policy is asked again then.
      LogUndecided(failure, {task});
      return parts_.processes.Stop(task);
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
    case ExitAction::kRaiseMemory:
    case ExitAction::kFail:
    case ExitAction::kSucceed:
      return Act(std::move(failure));
  }
}

bool Failover::NoteContainerLost(TaskIndex task) {
  if (!window_) return false;
  for (Failure& failure : window_->failures) {
    if (failure.end.task != task) continue;
    TF_PROBE("failover/container-lost-in-the-blame-window");
    failure.container_alive = false;
    failure.scope = ScopeOf(failure);  // It comes back elsewhere.
    AddScope(failure, window_->stopped);
    // The container is given up: a later AM would hear of its end, and of the process's no more.
    LogUndecided(failure, {});
    return true;
  }
  return window_->stopped.some.contains(task) ||
         (window_->stopped.gang && parts_.core.tasks.record(task).training);
}

void Failover::OnSettled() {
  if (window_ && parts_.core.tasks.training_alive() == 0) Decide(FindKilled());
}

void Failover::OnBlameDeadline() {
  if (!deciding()) return;
  AmCore& core = parts_.core;
  const Instant found = core.AgentsLookUntil();
  if (core.now < found && IsLookedFor()) {
    TF_PROBE("failover/waits-for-agents-that-look");
    window_->decides_at = found;
    return;
  }
  if (LoseUnfound()) return;
  // Where agents may be silent for longer than the window is open, one of these may be the cause.
  // An agent that speaks now and then is not waited for without end.
  const Instant longest =
      std::max(window_->begun + core.job->deadlines.blame, core.heartbeats.woken()) +
      core.heartbeats.allowed_silence() + 1ms;
  if (const std::optional<Instant> silent = AwaitedSilence(); silent && core.now < longest) {
    TF_PROBE("failover/waits-for-a-silence");
    window_->decides_at = std::min(*silent + 1ms, longest);
    return;
  }
  TF_PROBE("failover/blame-window-over");
  Decide(FindLastOne());
}

/// When the last one of the agents that are overdue counts as silent.
std::optional<Instant> Failover::AwaitedSilence() const {
  const AmCore& core = parts_.core;
  std::optional<Instant> last;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (!core.tasks.record(task).training || !core.tasks.ProcessAlive(task)) continue;
    const auto silent = core.heartbeats.OverdueUntil(core.now, task, 2 * core.job->heartbeat.every);
    if (silent) last = std::max(last.value_or(*silent), *silent);
  }
  return last;
}

/// Whose agent has not found this AM in the time for it is taken for lost. Several may be at once,
/// as with the node of the AM before. True: one is the cause.
bool Failover::LoseUnfound() {
  const AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    const bool unfound =
        record.training && record.agent == AgentPhase::kLaunching && core.tasks.ProcessAlive(task);
    if (!unfound || core.finishing) continue;
    TF_PROBE("failover/agent-has-not-found-the-am");
    Lose(task, {.silent = true}, "its agent did not find the new AM in time");
  }
  return !window_;
}

bool Failover::IsLookedFor() const {
  const AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskRecord& record = core.tasks.record(TaskIndex(i));
    if (record.training && record.agent != AgentPhase::kUp && core.tasks.ProcessAlive(TaskIndex(i)))
      return true;
  }
  return false;
}

void Failover::OnDurable() {
  while (!done_for_good_.empty() && parts_.core.out.IsDurable(done_for_good_.front().first)) {
    const auto [entry, task] = done_for_good_.front();
    done_for_good_.pop_front();
    const TaskRecord& record = parts_.core.tasks.record(task);
    if (record.outcome != policy::Outcome::kOpen && record.agent == AgentPhase::kUp)
      parts_.leaving.EndAgent(task, entry);
  }
}

bool Failover::deciding() const {
  return window_.has_value() && !parts_.core.finishing;
}

void Failover::Close() {
  window_.reset();
}

// ---------------------------------------------------------------- what the policy says

policy::Decision Failover::AskPolicy(const AttemptEnd& end) const {
  const AmCore& core = parts_.core;
  TF_CHECK(core.policy.has_value());
  const TaskRecord& record = core.tasks.record(end.task);
  policy::Decision decision = core.policy->OnExit(
      {.task = core.tasks.id(end.task),
       .exit_class = end.record.exit_class,
       .exit = end.record.exit,
       .ever_registered = record.ever_registered,
       .stalled = record.stalled && end.record.exit_class == ExitClass::kTimeout,
       .peer_unreachable = UnreachedBy(end).has_value()},
      core.tasks);
  decision = FirstThatMayPay(std::move(decision), end);
  decision.probe->Pass();
  return decision;
}

policy::Decision Failover::FirstThatMayPay(policy::Decision decision, const AttemptEnd& end) const {
  while (!decision.next.empty() && !MayPay(decision, end)) {
    TF_PROBE("failover/spent-and-the-next-row-decides");
    policy::Decision next = std::move(decision.next.front());
    decision = std::move(next);
  }
  return decision;
}

void Failover::Act(Failure failure) {
  const policy::Decision& decision = failure.decision;
  switch (decision.action) {
    case ExitAction::kIgnore:
      return CloseTask(failure.end, policy::Outcome::kIgnored);
    case ExitAction::kTally:
      return CloseTask(failure.end, failure.end.record.exit_class == ExitClass::kOk
                                        ? policy::Outcome::kOk
                                        : policy::Outcome::kFailed);
    case ExitAction::kFail:
      return parts_.finish.Fail(parts_.core.CauseOf(failure.end), decision.rule, decision.why);
    case ExitAction::kSucceed:
      // While evidence is looked for no verdict is stored, and its container may be stopped.
      if (!parts_.core.job->finish.require_paths.empty()) LogUndecided(failure, {});
      return parts_.finish.Succeed(decision.rule, decision.why);
    case ExitAction::kRaiseMemory:
      if (!RaiseMemory(failure, decision)) return;
      break;
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
      break;
  }
  failure.scope = ScopeOf(failure);
  Report(std::move(failure));
}

policy::RestartScope Failover::ScopeOf(const Failure& failure) const {
  // A stolen port is a new address as much as a new container is.
  const bool same_address = failure.container_alive && !failure.decision.other_container &&
                            failure.end.record.exit_class != ExitClass::kPortConflict;
  const TaskSnapshot& shown = parts_.core.tasks.shown(failure.end.task);
  policy::RestartScope scope =
      policy::RestartSet(parts_.core.job->strategy, failure.decision.action, shown.task.type,
                         shown.task_class, same_address);
  if (failure.decision.session) scope.gang = scope.epoch_rises = true;
  return scope;
}

/// False: it cannot have more, and the job has failed.
bool Failover::RaiseMemory(Failure& failure, const policy::Decision& decision) {
  failure.container_alive = false;
  if (parts_.restart.RaiseMemory(failure.end.task, decision)) {
    // Whatever starts it again, also for another's failure: the container that it has is too small.
    parts_.core.tasks.mutable_record(failure.end.task).container_ends = true;
    return true;
  }
  TF_PROBE("failover/no-more-memory");
  parts_.finish.Fail(parts_.core.CauseOf(failure.end), decision.rule,
                     "the task has the most memory that a container may have",
                     {.most_memory = true});
  return false;
}

void Failover::CloseTask(const AttemptEnd& end, policy::Outcome outcome,
                         const policy::Tried& tried) {
  AmCore& core = parts_.core;
  const TaskIndex task = end.task;
  core.tasks.SetOutcome(task, outcome);
  core.tasks.SetStart(task, StartMode::kNone);
  journal::TaskEnded entry = parts_.attempts.JournalFormOf(end, outcome);
  entry.unpaid_by = tried.unpaid;
  entry.restarts = tried.restarts;
  const JournalSeq seq = core.Append(entry);
  parts_.attempts.Decided(task, seq);
  if (!MayBeNeededAgain(task)) done_for_good_.emplace_back(seq, task);
}

/// A collective that starts again needs all its members; the container of any other task is needed
/// no more once that has ended, and what the RM is to take anyway goes back to it.
bool Failover::MayBeNeededAgain(TaskIndex task) const {
  const TaskRecord& record = parts_.core.tasks.record(task);
  return record.training && parts_.core.job->strategy == Strategy::kMultiWorker &&
         !record.preemption_noticed;
}

/// An end that the agent has told with its registration may not be stored yet: without its
/// container a later attempt would not know how it ended.
void Failover::OnIdleAgent(TaskIndex task) {
  const bool unstored = std::any_of(done_for_good_.begin(), done_for_good_.end(),
                                    [&](const auto& done) { return done.second == task; });
  if (!unstored && !MayBeNeededAgain(task)) {
    TF_PROBE("failover/idle-agent-ended");
    parts_.leaving.EndAgent(task, {});
  }
}

// ---------------------------------------------------------------- the blame window

void Failover::Report(Failure failure) {
  AmCore& core = parts_.core;
  const bool has_peers =
      core.tasks.record(failure.end.task).training && core.job->strategy != Strategy::kIndependent;
  if (!has_peers) {
    // A sidecar that had ended when its session's next try was decided: that has been paid for.
    if (failure.decision.session && IsVictim(failure) &&
        failure.end.at <= core.InstantAt(core.ledger.last_cause->decided)) {
      TF_PROBE("failover/victim-beside-the-gang");
      return RestartVictim(failure, LastCauseOfAll());
    }
    StopAtOnce(failure, false);
    return DecideAlone(std::move(failure));
  }
  if (!window_ && IsVictim(failure)) {
    TF_PROBE("failover/victim");
    return RestartVictim(failure, LastCauseOfAll());
  }
  if (!window_) {
    if (const auto excuse = ExcuseInPeer(failure)) {
      TF_PROBE("failover/cause-in-its-peer");
      return RestartVictim(failure, excuse->cause, excuse->by);
    }
  }
  // It is only counted then, and concerns no other task.
  if (ClosesWhenSpent(failure.decision) && !MayPay(failure.decision, failure.end)) {
    TF_PROBE("failover/spent-member-is-counted");
    return CloseTask(failure.end, OutcomeWhenSpent(failure.decision),
                     WhatWasTried(failure.decision));
  }
  if (!window_) {
    TF_PROBE("failover/blame-window-begins");
    window_.emplace();
    window_->begun = core.now;
    window_->decides_at = core.now + core.job->deadlines.blame;
  }
  if (!window_->named) window_->named = NamedBy(failure);
  if (!window_->failures.empty()) TF_PROBE("failover/several-failures");
  window_->failures.push_back(failure);
  // Where the cause is not known yet, who hangs may show by not ending within the whole grace.
  const bool known = CauseIsKnown() || FindAccused().has_value();
  const std::vector<TaskIndex> stopped = StopAtOnce(failure, known && IsBroken(window_->failures));
  AddScope(failure, window_->stopped);
  MaybeDecide();
  if (window_ && (!stopped.empty() || !failure.container_alive)) LogUndecided(failure, stopped);
}

std::vector<TaskIndex> Failover::StopAtOnce(const Failure& failure, bool broken) {
  AmCore& core = parts_.core;
  std::vector<TaskIndex> stopped;
  if (window_ && window_->stopped.gang && !broken) return stopped;  // They were told.
  RestartTasks tasks;
  AddScope(failure, tasks);
  for (const TaskIndex task : parts_.restart.ListOf(tasks)) {
    if (!core.tasks.ProcessAlive(task)) continue;
    if (core.tasks.record(task).process != ProcessPhase::kStopping) stopped.push_back(task);
    parts_.processes.Stop(task,
                          broken ? parts_.processes.GraceInBroken(task) : core.job->deadlines.stop);
  }
  return stopped;
}

/// Better accounts may have come since it was reported.
const AttemptEnd& Failover::BestAccountOf(const AttemptEnd& end) const {
  const auto kept = parts_.core.ends.find(end.task);
  const bool same = kept != parts_.core.ends.end() && kept->second.process == end.process;
  return same ? kept->second : end;
}

void Failover::LogUndecided(const Failure& failure, const std::vector<TaskIndex>& stopped) {
  AmCore& core = parts_.core;
  // The RM tells the reason for a container's end once: the next AM may not hear it.
  const AttemptEnd& end = BestAccountOf(failure.end);
  journal::FailureSeen entry{.task = core.tasks.id(end.task),
                             .process = end.process,
                             .container = end.container,
                             .node = end.node,
                             .evidence = end.evidence,
                             .detail = end.detail,
                             .blamed = core.tasks.ProcessAlive(end.task),
                             .container_alive = failure.container_alive,
                             .stopped = {},
                             .at = core.StoredAt(end.at)};
  for (const TaskIndex task : stopped)
    entry.stopped.push_back({core.tasks.id(task), core.tasks.ProcessOf(task).attempt});
  (void)core.Append(entry);
}

bool Failover::HasVictims(const Cause& cause, bool with_others) const {
  const AmCore& core = parts_.core;
  const auto task = core.tasks.Find(cause.task);
  if (!task) return false;
  const bool has_peers =
      core.tasks.record(*task).training && core.job->strategy != Strategy::kIndependent;
  return has_peers || with_others;
}

Cause Failover::LastCauseOfAll() const {
  return parts_.core.FromJournal(parts_.core.ledger.last_cause->cause);
}

std::optional<Cause> Failover::first_tallied() const {
  const AmCore& core = parts_.core;
  if (!core.ledger.first_tallied) return std::nullopt;
  return core.FromJournal(core.ledger.first_tallied->cause);
}

policy::Tried Failover::first_tried() const {
  const auto& first = parts_.core.ledger.first_tallied;
  if (!first) return {};
  return {.unpaid = first->unpaid_by, .restarts = first->restarts};
}

/// It is found out once more: the agents will say which processes have ended meanwhile, and how;
/// what runs on is told to end again.
void Failover::TakeUp(const journal::FailureSeen& seen, bool container) {
  AmCore& core = parts_.core;
  const auto task = core.tasks.Find(seen.task);
  if (!task || core.tasks.record(*task).outcome != policy::Outcome::kOpen ||
      !(core.tasks.ProcessOf(*task) == seen.process))
    return;
  if (!core.tasks.ProcessAlive(*task) && container) return;
  if (seen.blamed && core.tasks.ProcessAlive(*task))
    return OnBlamed(parts_.attempts.Blame(*task, seen.evidence, seen.detail), container);
  OnEnd(parts_.attempts.Recall(*task, seen), seen.container_alive && container);
}

bool Failover::CauseIsKnown() const {
  return parts_.core.policy->first_report_wins() ||
         std::any_of(window_->failures.begin(), window_->failures.end(),
                     [](const Failure& failure) {
                       return !policy::PeerMayHaveCaused(failure.end.record.exit_class);
                     });
}

void Failover::MaybeDecide() {
  if (CauseIsKnown()) return Decide(std::nullopt);
  if (auto accused = FindAccused()) return Decide(std::move(accused));
  if (parts_.core.tasks.training_alive() == 0) Decide(FindKilled());
}

void Failover::Decide(std::optional<Failure> hung) {
  AmCore& core = parts_.core;
  Window window = std::move(*window_);
  Close();
  for (Failure& failure : window.failures) {
    const AttemptEnd& best = BestAccountOf(failure.end);
    if (!(best.record == failure.end.record) && !Reconsider(failure, best)) return;
    AddScope(failure, window.stopped);
  }
  if (hung && hung->decision.action == ExitAction::kFail) {
    TF_PROBE("failover/hang-fails-the-job");
    return parts_.finish.Fail(core.CauseOf(hung->end), hung->decision.rule, hung->decision.why);
  }
  // Where the policy restarts nothing for a hang, those that failed remain the cause.
  if (hung && policy::IsRestart(hung->decision.action)) {
    TF_PROBE("failover/hang-is-the-cause");
    if (core.tasks.ProcessAlive(hung->end.task))
      core.tasks.mutable_record(hung->end.task).hung = true;
    AddScope(*hung, window.stopped);
    window.failures.push_back(std::move(*hung));
  }
  const Failure cause = window.failures[ChooseCause(window.failures)];
  DecideOn(std::move(window.failures), cause, std::move(window.stopped));
}

/// What a better account asks for. False: it ends the job.
bool Failover::Reconsider(Failure& failure, const AttemptEnd& better) {
  policy::Decision decision = AskPolicy(better);
  switch (decision.action) {
    case ExitAction::kIgnore:
    case ExitAction::kTally:
      return true;  // Too late: what starts again has been stopped.
    case ExitAction::kFail:
      TF_PROBE("failover/better-account-fails-the-job");
      parts_.finish.Fail(parts_.core.CauseOf(better), decision.rule, decision.why);
      return false;
    case ExitAction::kSucceed:
      parts_.finish.Succeed(decision.rule, decision.why);
      return false;
    case ExitAction::kRaiseMemory:
      failure.end = better;
      if (!RaiseMemory(failure, decision)) return false;
      break;
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
      TF_PROBE("failover/better-account");
      failure.end = better;
      break;
  }
  failure.decision = std::move(decision);
  failure.scope = ScopeOf(failure);
  return true;
}

std::size_t Failover::ChooseCause(const std::vector<Failure>& failures) const {
  if (parts_.core.policy->first_report_wins()) {
    TF_PROBE("failover/first-report-is-blamed");
    return 0;
  }
  std::vector<policy::Suspect> suspects;
  suspects.reserve(failures.size());
  for (const Failure& failure : failures) {
    suspects.push_back({.exit_class = failure.end.record.exit_class, .at = failure.end.at});
  }
  return policy::FindFirstCause(suspects);
}

// ---------------------------------------------------------------- decisions

/// Where all that train start again for it, those of them that have failed and wait for a decision
/// go with it: one restart, one payment.
void Failover::DecideAlone(Failure failure) {
  RestartTasks tasks;
  AddScope(failure, tasks);
  const Failure cause = failure;
  std::vector<Failure> failures = {std::move(failure)};
  if (window_ && tasks.gang && MayPay(cause.decision, cause.end)) {
    TF_PROBE("failover/takes-the-blame-window-along");
    failures.insert(failures.end(), window_->failures.begin(), window_->failures.end());
    tasks.some.insert(window_->stopped.some.begin(), window_->stopped.some.end());
    Close();
  }
  DecideOn(std::move(failures), cause, std::move(tasks));
}

void Failover::DecideOn(std::vector<Failure> failures, const Failure& cause, RestartTasks tasks) {
  AmCore& core = parts_.core;
  // Two of a collective that start again do so in a new epoch, and all must hold one spec.
  if (core.job->strategy == Strategy::kMultiWorker && CountTraining(tasks.some) > 1)
    tasks.gang = true;
  const policy::Decision& decision = cause.decision;
  if (!MayPay(decision, cause.end)) return Spent(failures, cause, tasks);
  if (decision.session) AddBeside(tasks, policy::Outcome::kFailed);
  RestartOrder order{.tasks = parts_.restart.ListOf(tasks),
                     .paid = decision.pays,
                     .cause = core.CauseOf(cause.end),
                     .rule = decision.rule,
                     .broken = IsBroken(failures)};
  // A policy takes the cause to another container, and no victim of it.
  for (const Failure& failure : failures) {
    const bool moves = decision.other_container && failure.end.task == cause.end.task;
    if (!failure.container_alive || moves) order.replace.push_back(failure.end.task);
    order.epoch_rises = order.epoch_rises || ChangesSpec(failure);
  }
  std::sort(order.replace.begin(), order.replace.end());
  order.epoch_rises =
      order.epoch_rises || (order.tasks.size() > 1 && CountTraining(order.tasks) > 0);
  order.has_victims = HasVictims(order.cause, order.tasks.size() > 1);
  parts_.restart.Execute(order);
}

std::ptrdiff_t Failover::CountTraining(const auto& tasks) const {
  return std::count_if(tasks.begin(), tasks.end(),
                       [&](TaskIndex task) { return parts_.core.tasks.record(task).training; });
}

/// What is no part of the gang and still runs goes on, and what ended well or may fail stays; what
/// was counted as failed has its next try, too.
void Failover::AddBeside(RestartTasks& tasks, policy::Outcome outcome) const {
  const AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskRecord& record = core.tasks.record(TaskIndex(i));
    if (record.training || record.outcome != outcome) continue;
    TF_PROBE("failover/session-with-what-failed-beside");
    tasks.some.insert(TaskIndex(i));
  }
}

policy::Claimant Failover::ClaimantOf(TaskIndex task) const {
  const TaskTable& tasks = parts_.core.tasks;
  const auto [first, size] = tasks.RangeOf(tasks.record(task).type);
  return {.task = task, .first_of_type = TaskIndex(first), .type_size = size};
}

/// What never runs, and what hangs again and again, forgets none of its restarts: else a task that
/// fails each time after a long wait would be tried for ever.
bool Failover::MayPay(const policy::Decision& decision, const AttemptEnd& end) const {
  const AmCore& core = parts_.core;
  const StoredTime at = core.StoredAt(core.now);
  const policy::Allowance& allowance = decision.allowance;
  if (allowance.window && allowance.restarts &&
      PaidInARow(core.ledger.of(end.task), *core.job, end.record.exit_class,
                 core.StoredAt(end.at) - core.ledger.of(end.task).ordered_at) >=
          *allowance.restarts)
    return false;
  return core.ledger.budgets.Allows(allowance, decision.pays, ClaimantOf(end.task), at);
}

void Failover::Spent(const std::vector<Failure>& failures, const Failure& cause,
                     const RestartTasks& tasks) {
  AmCore& core = parts_.core;
  const policy::Decision& decision = cause.decision;
  if (!ClosesWhenSpent(decision)) {
    const bool in_a_row = core.ledger.budgets.Allows(
        decision.allowance, decision.pays, ClaimantOf(cause.end.task), core.StoredAt(core.now));
    return parts_.finish.Fail(core.CauseOf(cause.end), decision.spent_rule,
                              SpentText(decision, in_a_row), WhatWasTried(decision));
  }
  TF_PROBE("failover/spent-and-closed");
  const policy::Outcome outcome = OutcomeWhenSpent(decision);
  for (const Failure& failure : failures) {
    if (core.tasks.ProcessAlive(failure.end.task)) parts_.processes.Stop(failure.end.task);
    CloseTask(failure.end, outcome, WhatWasTried(failure.decision));
  }
  // Who was stopped for their sake does not run on either.
  for (const TaskIndex task : parts_.restart.ListOf(tasks)) {
    if (core.tasks.record(task).outcome != policy::Outcome::kOpen) continue;
    core.tasks.SetOutcome(task, outcome);
    TF_PROBE("failover/closed-with-another");
    (void)core.Append(journal::TaskEnded{.task = core.tasks.id(task),
                                         .process = core.tasks.ProcessOf(task),
                                         .exit_class = ExitClass::kKilledByUs,
                                         .outcome = outcome,
                                         .at = core.StoredAt(core.now)});
  }
}

bool Failover::IsVictim(const Failure& failure) const {
  const AmCore& core = parts_.core;
  const std::optional<LastCause>& last = core.ledger.last_cause;
  if (!last || failure.end.at >= core.InstantAt(last->cause.at) + core.job->deadlines.blame)
    return false;
  // Nor is one that ended well, where a policy starts those again too: it pays.
  if (failure.end.record.exit_class == ExitClass::kOk) return false;
  // A process that was started because of the cause is not its victim.
  return core.tasks.record(failure.end.task).heard_from < core.InstantAt(last->decided);
}

void Failover::RestartVictim(const Failure& failure, const Cause& cause,
                             std::optional<journal::JournaledProcess> excused_by) {
  RestartTasks tasks;
  AddScope(failure, tasks);
  const bool broken = IsBroken(failure);
  StopAtOnce(failure, broken);
  RestartOrder order{.tasks = parts_.restart.ListOf(tasks),
                     .cause = cause,
                     .rule = failure.decision.rule + std::string(kVictim),
                     .broken = broken,
                     .excused_by = std::move(excused_by)};
  order.epoch_rises = order.tasks.size() > 1 || ChangesSpec(failure);
  if (!failure.container_alive) order.replace.push_back(failure.end.task);
  parts_.restart.Execute(order);
}

bool Failover::RetryInstead(const policy::Verdict& verdict, const Cause& cause) {
  AmCore& core = parts_.core;
  const StoredTime at = core.StoredAt(core.now);
  if (!verdict.retry ||
      !core.ledger.budgets.Allows(verdict.retry->allowance, verdict.retry->pays, {}, at)) {
    return false;
  }
  RestartTasks tasks{.gang = true, .some = {}};
  AddBeside(tasks, policy::Outcome::kFailed);
  if (!LeavesSuccessOpen(tasks)) {
    TF_PROBE("failover/session-retry-with-what-was-ignored");
    AddBeside(tasks, policy::Outcome::kIgnored);
    if (!LeavesSuccessOpen(tasks)) return false;
  }
  Close();
  RestartOrder order{
      .epoch_rises = true, .paid = verdict.retry->pays, .cause = cause, .rule = verdict.rule};
  TF_PROBE("failover/session-retry");
  order.tasks = parts_.restart.ListOf(tasks);
  parts_.restart.Execute(order);
  return true;
}

bool Failover::LeavesSuccessOpen(const RestartTasks& tasks) {
  const auto verdict = JudgeWith(parts_.restart.ListOf(tasks), policy::Outcome::kOpen);
  return !verdict || verdict->status == JobStatus::kSucceeded;
}

bool Failover::ChangesSpec(const Failure& failure) const {
  return failure.scope.epoch_rises && parts_.core.tasks.record(failure.end.task).training;
}

void Failover::AddScope(const Failure& failure, RestartTasks& tasks) const {
  const AmCore& core = parts_.core;
  tasks.some.insert(failure.end.task);
  tasks.gang = tasks.gang || failure.scope.gang;
  if (failure.scope.same_type) {
    TF_PROBE("failover/with-its-type");
    const auto [first, count] = core.tasks.RangeOf(core.tasks.record(failure.end.task).type);
    for (std::uint32_t i = first; i < first + count; ++i) tasks.some.insert(TaskIndex(i));
  }
  if (!failure.scope.chief) return;
  TF_PROBE("failover/with-its-chief");
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    if (core.tasks.record(TaskIndex(i)).chief) tasks.some.insert(TaskIndex(i));
  }
}

}  // namespace tfyarn::am
