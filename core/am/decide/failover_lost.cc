// Failover for tasks that lose their container while no process of theirs is alive in it: nothing
// has to be stopped, but the spec that others hold may name an address that is gone.
#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/am/decide/failover.h"
#include "core/am/decide/payment.h"
#include "core/am/decide/scope.h"
#include "core/model/probe.h"

namespace tfyarn::am {
namespace {

/// As for launches that are not answered: a node, or all of them, may need a moment to recover.
constexpr Duration kFirstPause = 1s;
constexpr Duration kLongestPause = 10s;
constexpr std::int32_t kFreeInARow = 3;

/// A cluster spec has the address that was lost.
Failure LostUnderASpec(const AmCore& core, const AttemptEnd& end) {
  return {
      .end = end, .container_alive = false, .decision = {}, .scope = ScopeOfLost(core, end.task)};
}

}  // namespace

/// One lost container is replaced at once. Where the next ones do not come to a process either, the
/// reason is likely to be there still.
void Failover::PauseBeforeAsking(TaskIndex task) {
  TaskRecord& record = parts_.core.tasks.mutable_record(task);
  const std::int32_t again = record.lost_early++;
  if (again == 0) return;
  TF_PROBE("failover/rests-before-asking");
  const Duration pause =
      std::min<Duration>(kLongestPause, kFirstPause * (1LL << std::min(again - 1, 10)));
  record.ask_from = parts_.core.now + pause;
}

void Failover::OnLostBeforeStart(TaskIndex task, policy::ExitEvidence evidence, std::string detail,
                                 bool free) {
  AmCore& core = parts_.core;
  if (core.finishing || core.tasks.record(task).outcome != policy::Outcome::kOpen) return;
  core.tasks.SetInTrouble(task);
  PauseBeforeAsking(task);
  if (NoteContainerLost(task)) return;
  // What the platform does once costs no budget; what it does each time ends with a budget.
  free = free && core.tasks.record(task).lost_early <= kFreeInARow;
  const ExitClass plain = policy::Classify(evidence).exit_class;
  free = free || plain == ExitClass::kKilledByUs || plain == ExitClass::kOk;
  AttemptEnd end =
      free ? DescribeEnd(core, task, std::move(evidence), std::move(detail))
           : parts_.attempts.EndBeforeStart(task, std::move(evidence), std::move(detail));
  if (free) {
    TF_PROBE("failover/replaced-free");
    return ReplaceBeforeStart(end, true, nullptr);
  }
  const TaskRecord& record = core.tasks.record(task);
  // A node that takes several agents with it is one cause. An agent that was launched because of
  // the cause is none of them: else all that follow within `blame` would be free.
  const bool victim =
      core.ledger.last_cause &&
      core.StoredAt(core.now) < core.ledger.last_cause->cause.at + core.job->deadlines.blame &&
      core.ledger.of(task).launched_at < core.ledger.last_cause->decided;
  policy::Decision decision = AskPolicy(core, end);
  const bool closes =
      decision.action == ExitAction::kIgnore || decision.action == ExitAction::kTally;
  // All were to start again when it was still to be lost: a session without it is none.
  if (closes && record.start == StartMode::kWithEpoch &&
      core.ledger.of(task).launched_at < core.ledger.of(task).start_decided) {
    TF_PROBE("failover/lost-as-all-start-again");
    return ReplaceBeforeStart(end, true, nullptr);
  }
  switch (decision.action) {
    case ExitAction::kIgnore:
      TF_PROBE("failover/lost-and-ignored");
      return CloseTask(end, policy::Outcome::kIgnored);
    case ExitAction::kTally:
      TF_PROBE("failover/lost-and-tallied");
      return CloseTask(end, policy::Outcome::kFailed);
    case ExitAction::kFail:
      TF_PROBE("failover/lost-and-failed");
      return parts_.finish.Fail(core.CauseOf(end), decision.rule, decision.why);
    case ExitAction::kSucceed:
      return parts_.finish.Succeed(decision.rule, decision.why);
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
    case ExitAction::kRaiseMemory:
      break;
  }
  // What starts again for it has failed, and waits for its cause: one decision, one payment.
  if (!decision.session && MeetsWindow(end) && MayPay(core, decision, end)) {
    TF_PROBE("failover/lost-in-the-blame-window");
    Failure lost = LostUnderASpec(core, end);
    lost.decision = decision;
    AddScope(core, lost, window_->stopped);
    window_->failures.push_back(std::move(lost));
    return MaybeDecide();
  }
  if (victim) {
    TF_PROBE("failover/lost-victim");
    decision.pays = Budget::kNone;
  } else if (!MayPay(core, decision, end)) {
    TF_PROBE("failover/lost-and-spent");
    Failure failure{.end = end, .container_alive = false, .decision = decision};
    RestartTasks tasks;
    tasks.some.insert(task);
    return Spent({failure}, failure, tasks);
  }
  if (decision.session && !victim && core.epoch_in_force() > Epoch()) {
    TF_PROBE("failover/lost-and-the-session-again");
    Failure failure{.end = end, .container_alive = false, .decision = decision};
    failure.scope = ScopeOf(core, failure);
    return DecideAlone(std::move(failure));
  }
  ReplaceBeforeStart(end, false, &decision, core.tasks.record(task).training && !victim);
}

bool Failover::MustChangeSpec(TaskIndex task) const {
  return parts_.core.tasks.record(task).training && parts_.epochs.SpecIsFixedFor(task);
}

/// What starts again for that container does so for a failure that waits for its cause, too.
bool Failover::MeetsWindow(const AttemptEnd& end) const {
  const AmCore& core = parts_.core;
  if (!window_ || !MustChangeSpec(end.task)) return false;
  RestartTasks tasks;
  AddScope(core, LostUnderASpec(core, end), tasks);
  const std::vector<TaskIndex> again = ListOf(core, tasks);
  const std::vector<TaskIndex> waiting = ListOf(core, window_->stopped);
  return std::any_of(waiting.begin(), waiting.end(), [&](TaskIndex task) {
    return std::binary_search(again.begin(), again.end(), task);
  });
}

void Failover::ReplaceBeforeStart(const AttemptEnd& end, bool free,
                                  const policy::Decision* decision, bool has_victims) {
  AmCore& core = parts_.core;
  const TaskIndex task = end.task;
  const TaskRecord& record = core.tasks.record(task);
  // What no budget pays is no cause. A failure that waits for one is decided on before its task
  // starts again.
  if (free && MeetsWindow(end)) {
    TF_PROBE("failover/replaced-in-the-blame-window");
    Decide(std::nullopt);
    if (core.finishing) return;
  }
  // With the processes of this epoch ordered or its spec written, another address needs another
  // epoch; a process that was to start alone now takes with it who must know the new address.
  const bool spec_holds_it = MustChangeSpec(task);
  if (free && !spec_holds_it) {
    TF_PROBE("failover/replaced-before-the-spec");
    if (record.agent != AgentPhase::kNone) parts_.leaving.Stop(task);
    parts_.attempts.Decided(task, {});
    return parts_.restart.WantContainers({task});
  }
  RestartOrder order{.tasks = {task},
                     .replace = {task},
                     .cause = core.CauseOf(end),
                     .rule = decision != nullptr ? decision->rule : std::string(kReplacedRule),
                     .processes = spec_holds_it,
                     .has_victims = has_victims};
  if (decision != nullptr) order.paid = decision->pays;
  if (spec_holds_it) {
    TF_PROBE("failover/replaced-under-a-spec");
    RestartTasks tasks;
    AddScope(core, LostUnderASpec(core, end), tasks);
    order.tasks = ListOf(core, tasks);
    order.epoch_rises = true;
  } else {
    TF_PROBE("failover/replaced-for-the-next-epoch");
    order.epoch_rises = record.start == StartMode::kWithEpoch;
  }
  parts_.restart.Execute(order);
}

// ---------------------------------------------------------------- agents and containers given up

void Failover::OnStopOverdue(TaskIndex task) {
  AmCore& core = parts_.core;
  if (core.tasks.record(task).process != ProcessPhase::kStopping) return;
  // That it has fallen silent may be what broke the job, and is known only then. Where beats are
  // rare, it may have missed but one since the order.
  const Duration unheard =
      std::min(2 * core.job->heartbeat.every, parts_.processes.GraceOf(task) + kStopSlack);
  const std::optional<Instant> silent = core.heartbeats.OverdueUntil(core.now, task, unheard);
  if (silent && deciding()) {
    TF_PROBE("processes/stop-waits-for-a-silence");
    core.tasks.mutable_record(task).overdue_at = *silent + 1ms;
    return;
  }
  TF_PROBE("processes/stop-is-overdue");
  LoseAgent(task, "its agent did not end it in time");
}

void Failover::OnStartOverdue(TaskIndex task) {
  AmCore& core = parts_.core;
  if (core.tasks.record(task).process != ProcessPhase::kOrdered) return;
  TF_PROBE("processes/start-is-overdue");
  LoseAgent(task, "it did not start within the start deadline");
}

void Failover::LoseAgent(TaskIndex task, const char* why) {
  const TaskRecord& record = parts_.core.tasks.record(task);
  const bool stopping = record.process == ProcessPhase::kStopping;
  // Whether an agent that never found this AM obeyed is not known, and why it did not may be what
  // broke the job.
  if (stopping && record.agent == AgentPhase::kLaunching && deciding())
    return Lose(task, {.silent = true}, why);
  Lose(task, {.we_stopped = stopping, .timed_out = !stopping || record.hung}, why);
}

void Failover::Lose(TaskIndex task, policy::ExitEvidence evidence, const char* why) {
  const AttemptEnd end = parts_.attempts.End(task, std::move(evidence), why);
  parts_.leaving.Stop(task);
  OnEnd(end, false);
}

void Failover::ObeyNotice(TaskIndex task) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  switch (record.process) {
    case ProcessPhase::kRunning:
      return parts_.processes.Warn(task);
    case ProcessPhase::kOrdered:   // Warned when it is seen to run.
    case ProcessPhase::kStopping:  // Its container is given back when it has ended.
      return;
    case ProcessPhase::kNone:
    case ProcessPhase::kEnded:
      break;
  }
  if (record.agent == AgentPhase::kGranted) {
    core.allocation.GiveUp(core.tasks.shown(task).container);
    return parts_.leaving.Gone(task);
  }
  // What runs in the container of an earlier AM attempt, its agent has yet to say.
  if (core.IsOfEarlierAttempt(task)) {
    TF_PROBE("rm/notice-before-the-agent-came");
    return;
  }
  // To wait here for the others of a gang would only keep the queue that the RM takes it for
  // waiting: a process that does not run has nothing to save.
  TF_PROBE("rm/given-back-on-notice");
  const bool had_process = record.process == ProcessPhase::kEnded;
  parts_.leaving.Release(task);
  OnLostBeforeStart(task, {.marked = true},
                    "its container was given back on the RM's notice: no process ran in it",
                    had_process);
}

}  // namespace tfyarn::am
