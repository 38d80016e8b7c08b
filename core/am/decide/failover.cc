#include "core/am/decide/failover.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/am/decide/blame.h"
#include "core/am/decide/hang.h"
#include "core/am/decide/payment.h"
#include "core/am/decide/scope.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {

// ---------------------------------------------------------------- what was reported

void Failover::OnEnd(const AttemptEnd& end, bool container_alive) {
  if (end.record.exit_class == ExitClass::kKilledByUs) return OnStopped(end, container_alive);
  if (parts_.core.finishing) {
    parts_.core.tasks.SetOutcome(end.task, policy::Outcome::kIgnored);
    parts_.attempts.Decided(end.task, {});
    return parts_.ending.OnProcessEnded(end.task);
  }
  if (parts_.core.tasks.record(end.task).start != StartMode::kNone) {
    TF_PROBE("failover/ends-while-it-starts-again");
    return Absorb(end, container_alive);
  }
  Act({.end = end,
       .container_alive = container_alive,
       .decision = AskPolicy(parts_.core, end),
       .scope = {}});
}

void Failover::Absorb(const AttemptEnd& end, bool container_alive) {
  AmCore& core = parts_.core;
  const TaskIndex task = end.task;
  // The process that the restart would have stopped was faster. If it was the job's success,
  // nothing starts again.
  if (end.record.exit_class == ExitClass::kOk &&
      AskPolicy(core, end).action == ExitAction::kTally && DecidesByOk(task)) {
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
    return parts_.ending.OnProcessEnded(end.task);
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
  Act({.end = end,
       .container_alive = container_alive,
       .decision = AskPolicy(core, end),
       .scope = {}});
}

void Failover::OnBlamed(AttemptEnd end, bool container_alive) {
  AmCore& core = parts_.core;
  if (core.finishing) return;
  core.tasks.mutable_record(end.task).hung = end.evidence.timed_out;
  Failure failure{
      .end = std::move(end), .container_alive = container_alive, .decision = {}, .scope = {}};
  failure.decision = AskPolicy(core, failure.end);
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
    failure.scope = ScopeOf(parts_.core, failure);  // It comes back elsewhere.
    AddScope(parts_.core, failure, window_->stopped);
    // The container is given up: a later AM would hear of its end, and of the process's no more.
    LogUndecided(failure, {});
    return true;
  }
  return window_->stopped.some.contains(task) ||
         (window_->stopped.gang && parts_.core.tasks.record(task).training);
}

void Failover::OnSettled() {
  if (window_ && parts_.core.tasks.training_alive() == 0) Decide(FindKilled(parts_.core, *window_));
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
  Decide(FindLastOne(parts_.core));
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
  done_for_good_.Send(parts_.core.out, [this](JournalSeq entry, TaskIndex task) {
    const TaskRecord& record = parts_.core.tasks.record(task);
    if (record.outcome != policy::Outcome::kOpen && record.agent == AgentPhase::kUp)
      parts_.leaving.EndAgent(task, entry);
  });
}

bool Failover::deciding() const {
  return window_.has_value() && !parts_.core.finishing;
}

// ---------------------------------------------------------------- what the policy says

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
  failure.scope = ScopeOf(parts_.core, failure);
  Report(std::move(failure));
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
  if (!MayBeNeededAgain(task)) done_for_good_.Hold(seq, task);
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
  const bool unstored = done_for_good_.Any([&](TaskIndex done) { return done == task; });
  if (!unstored && !MayBeNeededAgain(task)) {
    TF_PROBE("failover/idle-agent-ended");
    parts_.leaving.EndAgent(task, {});
  }
}

// ---------------------------------------------------------------- the blame window

void Failover::Report(Failure failure) {
  AmCore& core = parts_.core;
  if (!HasPeers(core, failure.end.task)) {
    // A sidecar that had ended when its session's next try was decided: that has been paid for.
    if (failure.decision.session && IsVictim(core, failure) &&
        failure.end.at <= core.InstantAt(core.ledger.last_cause->decided)) {
      TF_PROBE("failover/victim-beside-the-gang");
      return RestartVictim(failure, LastCauseOfAll());
    }
    StopAtOnce(failure, false);
    return DecideAlone(std::move(failure));
  }
  if (!window_ && IsVictim(core, failure)) {
    TF_PROBE("failover/victim");
    return RestartVictim(failure, LastCauseOfAll());
  }
  if (!window_) {
    if (const auto excuse = ExcuseInPeer(core, failure)) {
      TF_PROBE("failover/cause-in-its-peer");
      return RestartVictim(failure, excuse->cause, excuse->by);
    }
  }
  // It is only counted then, and concerns no other task.
  if (ClosesWhenSpent(failure.decision) && !MayPay(core, failure.decision, failure.end)) {
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
  if (!window_->named) window_->named = NamedBy(core, failure);
  if (!window_->failures.empty()) TF_PROBE("failover/several-failures");
  window_->failures.push_back(failure);
  // Where the cause is not known yet, who hangs may show by not ending within the whole grace.
  const bool known = CauseIsKnown(core, *window_) || FindAccused(core, *window_).has_value();
  const std::vector<TaskIndex> stopped =
      StopAtOnce(failure, known && IsBroken(core, window_->failures));
  AddScope(core, failure, window_->stopped);
  MaybeDecide();
  if (window_ && (!stopped.empty() || !failure.container_alive)) LogUndecided(failure, stopped);
}

std::vector<TaskIndex> Failover::StopAtOnce(const Failure& failure, bool broken) {
  AmCore& core = parts_.core;
  std::vector<TaskIndex> stopped;
  if (window_ && window_->stopped.gang && !broken) return stopped;  // They were told.
  RestartTasks tasks;
  AddScope(core, failure, tasks);
  for (const TaskIndex task : ListOf(core, tasks)) {
    if (!core.tasks.ProcessAlive(task)) continue;
    if (core.tasks.record(task).process != ProcessPhase::kStopping) stopped.push_back(task);
    parts_.processes.Stop(task,
                          broken ? parts_.processes.GraceInBroken(task) : core.job->deadlines.stop);
  }
  return stopped;
}

void Failover::LogUndecided(const Failure& failure, const std::vector<TaskIndex>& stopped) {
  AmCore& core = parts_.core;
  // The RM tells the reason for a container's end once: the next AM may not hear it.
  const AttemptEnd& end = BestAccountOf(core, failure.end);
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
    return OnBlamed(DescribeEnd(core, *task, seen.evidence, seen.detail), container);
  OnEnd(parts_.attempts.Recall(*task, seen), seen.container_alive && container);
}

void Failover::MaybeDecide() {
  if (CauseIsKnown(parts_.core, *window_)) return Decide(std::nullopt);
  if (auto accused = FindAccused(parts_.core, *window_)) return Decide(std::move(accused));
  if (parts_.core.tasks.training_alive() == 0) Decide(FindKilled(parts_.core, *window_));
}

void Failover::Decide(std::optional<Failure> hung) {
  AmCore& core = parts_.core;
  BlameWindow window = std::move(*window_);
  window_.reset();
  for (Failure& failure : window.failures) {
    const AttemptEnd& best = BestAccountOf(core, failure.end);
    if (!(best.record == failure.end.record) && !Reconsider(failure, best)) return;
    AddScope(core, failure, window.stopped);
  }
  if (hung && hung->decision.action == ExitAction::kFail) {
    TF_PROBE("failover/hang-fails-the-job");
    return parts_.finish.Fail(core.CauseOf(hung->end), hung->decision.rule, hung->decision.why);
  }
  if (hung) {
    TF_PROBE("failover/hang-is-the-cause");
    if (core.tasks.ProcessAlive(hung->end.task))
      core.tasks.mutable_record(hung->end.task).hung = true;
    AddScope(core, *hung, window.stopped);
    window.failures.push_back(std::move(*hung));
  }
  const Failure cause = window.failures[ChooseCause(core, window.failures)];
  DecideOn(std::move(window.failures), cause, std::move(window.stopped));
}

/// What a better account asks for. False: it ends the job.
bool Failover::Reconsider(Failure& failure, const AttemptEnd& better) {
  policy::Decision decision = AskPolicy(parts_.core, better);
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
  failure.scope = ScopeOf(parts_.core, failure);
  return true;
}

// ---------------------------------------------------------------- decisions

/// Where all that train start again for it, those of them that have failed and wait for a decision
/// go with it: one restart, one payment.
void Failover::DecideAlone(Failure failure) {
  RestartTasks tasks;
  AddScope(parts_.core, failure, tasks);
  const Failure cause = failure;
  std::vector<Failure> failures = {std::move(failure)};
  if (window_ && tasks.gang && MayPay(parts_.core, cause.decision, cause.end)) {
    TF_PROBE("failover/takes-the-blame-window-along");
    failures.insert(failures.end(), window_->failures.begin(), window_->failures.end());
    tasks.some.insert(window_->stopped.some.begin(), window_->stopped.some.end());
    window_.reset();
  }
  DecideOn(std::move(failures), cause, std::move(tasks));
}

void Failover::DecideOn(std::vector<Failure> failures, const Failure& cause, RestartTasks tasks) {
  AmCore& core = parts_.core;
  // Two of a collective that start again do so in a new epoch, and all must hold one spec.
  if (core.job->strategy == Strategy::kMultiWorker && CountTraining(core, tasks.some) > 1)
    tasks.gang = true;
  const policy::Decision& decision = cause.decision;
  if (!MayPay(core, decision, cause.end)) return Spent(failures, cause, tasks);
  if (decision.session) AddBeside(core, policy::Outcome::kFailed, tasks);
  RestartOrder order{.tasks = ListOf(core, tasks),
                     .paid = decision.pays,
                     .cause = core.CauseOf(cause.end),
                     .rule = decision.rule,
                     .broken = IsBroken(core, failures)};
  // A policy takes the cause to another container, and no victim of it.
  for (const Failure& failure : failures) {
    const bool moves = decision.other_container && failure.end.task == cause.end.task;
    if (!failure.container_alive || moves) order.replace.push_back(failure.end.task);
    order.epoch_rises = order.epoch_rises || ChangesSpec(core, failure);
  }
  std::sort(order.replace.begin(), order.replace.end());
  order.epoch_rises =
      order.epoch_rises || (order.tasks.size() > 1 && CountTraining(core, order.tasks) > 0);
  order.has_victims = HasVictims(core, order.cause, order.tasks.size() > 1);
  parts_.restart.Execute(order);
}

void Failover::Spent(const std::vector<Failure>& failures, const Failure& cause,
                     const RestartTasks& tasks) {
  AmCore& core = parts_.core;
  const policy::Decision& decision = cause.decision;
  if (!ClosesWhenSpent(decision)) {
    return parts_.finish.Fail(core.CauseOf(cause.end), decision.spent_rule,
                              SpentText(core, decision, cause.end.task), WhatWasTried(decision));
  }
  TF_PROBE("failover/spent-and-closed");
  const policy::Outcome outcome = OutcomeWhenSpent(decision);
  for (const Failure& failure : failures) {
    if (core.tasks.ProcessAlive(failure.end.task)) parts_.processes.Stop(failure.end.task);
    CloseTask(failure.end, outcome, WhatWasTried(failure.decision));
  }
  // Who was stopped for their sake does not run on either.
  for (const TaskIndex task : ListOf(core, tasks)) {
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

void Failover::RestartVictim(const Failure& failure, const Cause& cause,
                             std::optional<journal::JournaledProcess> excused_by) {
  RestartTasks tasks;
  AddScope(parts_.core, failure, tasks);
  const bool broken = IsBroken(parts_.core, failure);
  StopAtOnce(failure, broken);
  RestartOrder order{.tasks = ListOf(parts_.core, tasks),
                     .cause = cause,
                     .rule = failure.decision.rule + std::string(kVictim),
                     .broken = broken,
                     .excused_by = std::move(excused_by)};
  order.epoch_rises = order.tasks.size() > 1 || ChangesSpec(parts_.core, failure);
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
  AddBeside(core, policy::Outcome::kFailed, tasks);
  if (!LeavesSuccessOpen(tasks)) {
    TF_PROBE("failover/session-retry-with-what-was-ignored");
    AddBeside(core, policy::Outcome::kIgnored, tasks);
    if (!LeavesSuccessOpen(tasks)) return false;
  }
  window_.reset();
  RestartOrder order{
      .epoch_rises = true, .paid = verdict.retry->pays, .cause = cause, .rule = verdict.rule};
  TF_PROBE("failover/session-retry");
  order.tasks = ListOf(core, tasks);
  parts_.restart.Execute(order);
  return true;
}

bool Failover::LeavesSuccessOpen(const RestartTasks& tasks) {
  const auto verdict = JudgeWith(ListOf(parts_.core, tasks), policy::Outcome::kOpen);
  return !verdict || verdict->status == JobStatus::kSucceeded;
}

// ---------------------------------------------------------------- processes that stand still

void Failover::OnSigns(TaskIndex task) {
  AmCore& core = parts_.core;
  const bool stands = core.standstills.OnSigns(core.now, core.tasks, task);
  if (stands && deciding()) MaybeDecide();
}

void Failover::OnStood(TaskIndex task, const PastStandstill& stood) {
  AmCore& core = parts_.core;
  if (!(stood.process == core.tasks.ProcessOf(task)) || !core.tasks.ProcessAlive(task)) return;
  TF_PROBE("hung/stood-under-the-am-before");
  if (stood.ago) return core.standstills.OnStood(core.now, task, stood.process.attempt, *stood.ago);
  core.tasks.mutable_record(task).standstill = stood.standstill;
  OnSigns(task);
}

void Failover::OnStandsStill(TaskIndex task, const std::string& harm) {
  AmCore& core = parts_.core;
  TF_PROBE("hung/standing-blamed");
  TaskRecord& record = core.tasks.mutable_record(task);
  // `watch` says what follows for the one that stalls. A standstill is a failure of its own, and
  // what starts again is its own restart unit, unless `watch` starts nothing again.
  record.stalled = core.job->watch && !policy::IsRestart(core.job->watch->action);
  OnBlamed(Hung(core, task, std::string(InWords(record.standstill)) + ", and " + harm).end, true);
}

}  // namespace tfyarn::am
