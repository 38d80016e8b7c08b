#include "core/am/observe/agent_desk.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "core/am/am_parts.h"
#include "core/am/decide/blame.h"
#include "core/model/probe.h"
#include "core/model/rounded_text.h"
#include "core/model/text.h"

namespace tfyarn::am {

void AgentDesk::HearEarly() {
  for (auto& [container, message] : std::exchange(early_, {})) {
    TF_PROBE("agent-desk/heard-before-the-rm");
    OnSaid(AgentSaid{.message = std::move(message)});
  }
}

void AgentDesk::OnSaid(const AgentSaid& said) {
  AmCore& core = parts_.core;
  const AgentFence& fence = FenceOf(said.message);
  const auto task = core.tasks.Find(fence.task);
  if (!task) return Refuse(said.message, "the job has no such task");
  // Until the RM has said which containers live, no task has its own back. The agent registers
  // again until it is answered, but perhaps not soon enough: what it said last is heard then.
  if (parts_.recovery.pending()) {
    if (const auto* registers = std::get_if<RegisterAgent>(&said.message))
      early_.insert_or_assign(fence.container, *registers);
    return core.Note(fmt::format("the agent of {} found this attempt before the RM had answered it",
                                 ToString(fence.task)));
  }
  const TaskRecord& record = core.tasks.record(*task);
  if (parts_.leaving.Has(fence.container) && std::holds_alternative<AgentHeartbeat>(said.message)) {
    TF_PROBE("agent-desk/beats-while-leaving");
    // It is on its way out and has been told, or will be when the decision is durable: nothing new
    // to say.
    core.out.Answer(fence.container, HeartbeatSeen{.fence = fence});
    return;
  }
  if (record.agent == AgentPhase::kNone || !(core.tasks.FenceOf(*task) == fence)) {
    TF_PROBE("agent-desk/not-its-agent-any-more");
    return Refuse(said.message, "not the agent of this task any more");
  }
  if (record.agent == AgentPhase::kGranted)
    return Refuse(said.message, "no agent was launched in this container");
  const bool registering = std::holds_alternative<RegisterAgent>(said.message);
  if (record.agent == AgentPhase::kLaunching && !registering) {
    TF_PROBE("agent-desk/report-before-registration");
    // An agent of the AM before: it registers as soon as it knows of this one, and says this again.
    return;
  }
  core.heartbeats.Heard(core.now, *task, fence.incarnation);
  std::visit([&](const auto& message) { On(*task, message); }, said.message);
}

void AgentDesk::Refuse(const AgentToAm& message, const std::string& reason) {
  const AgentFence& fence = FenceOf(message);
  if (!IsIdle(message)) {
    parts_.core.Note(fmt::format("refused the agent of {} incarnation {} in {}: {}",
                                 ToString(fence.task), fence.incarnation.value,
                                 ToString(fence.container), reason));
  }
  parts_.core.out.Answer(fence.container, AgentRefused{.fence = fence, .reason = reason});
}

void AgentDesk::Seen(TaskIndex task, ReportKind kind, TaskAttempt attempt) {
  parts_.core.Answer(
      task, ReportSeen{.fence = parts_.core.tasks.FenceOf(task), .kind = kind, .attempt = attempt});
}

bool AgentDesk::IsOld(TaskIndex task, ReportKind kind, std::uint32_t number) const {
  return number < parts_.core.tasks.record(task).latest_news.at(static_cast<std::size_t>(kind));
}

// An older one was made before the latest: on its way it was overtaken.
bool AgentDesk::IsNews(TaskIndex task, ReportKind kind, std::uint32_t number) {
  AmCore& core = parts_.core;
  core.Answer(task, NewsSeen{.fence = core.tasks.FenceOf(task), .number = number});
  if (IsOld(task, kind, number)) {
    TF_PROBE("agent-desk/old-news");
    core.Note(fmt::format("late: report {} of {}, a newer one was heard", number,
                          ToString(core.tasks.id(task))));
    return false;
  }
  core.tasks.mutable_record(task).latest_news.at(static_cast<std::size_t>(kind)) = number;
  return true;
}

void AgentDesk::On(TaskIndex task, const RegisterAgent& message) {
  AmCore& core = parts_.core;
  core.Answer(task, AgentAccepted{.fence = message.fence});
  const bool is_new = core.tasks.record(task).agent == AgentPhase::kLaunching;
  if (is_new) core.tasks.SetAgent(task, AgentPhase::kUp);
  core.tasks.SetAddress(task, message.address);
  if (is_new && message.stood) parts_.failover.OnStood(task, *message.stood);
  const bool has_ended = message.ended == core.tasks.ProcessOf(task);
  if (is_new && core.tasks.ProcessAlive(task)) {
    TF_PROBE("agent-desk/reattached-with-a-process");
    if (!has_ended) parts_.recovery.OnReattached(task, message);
  } else if (is_new && message.running && !(*message.running == core.tasks.ProcessOf(task))) {
    TF_PROBE("agent-desk/unknown-process-runs");
    parts_.recovery.StopUnknownProcess(task, *message.running);
  } else if (message.running) {
    TakeRunning(task, *message.running);
  } else if (is_new && message.ended && IsUnknown(task, *message.ended)) {
    parts_.recovery.PassOverUnknownEnd(task, *message.ended);
  }
  if (has_ended && message.exit && core.tasks.ProcessAlive(task)) TakeToldEnd(task, message);
  if (!is_new) return;
  if (core.finishing && !core.tasks.ProcessAlive(task)) {
    TF_PROBE("agent-desk/registers-while-finishing");
    return parts_.ending.OnProcessEnded(task);
  }
  if (core.tasks.record(task).preemption_noticed && !core.tasks.ProcessAlive(task)) {
    TF_PROBE("agent-desk/registers-under-notice");
    return parts_.failover.ObeyNotice(task);
  }
  if (core.tasks.record(task).outcome != policy::Outcome::kOpen) {
    TF_PROBE("agent-desk/registers-after-its-task-ended");
    return parts_.failover.OnIdleAgent(task);
  }
  parts_.epochs.TryStartAlone(task);
}

/// An earlier AM ordered it after this one had read the journal, or the journal has lost that.
bool AgentDesk::IsUnknown(TaskIndex task, const ProcessRef& process) const {
  const TaskTable& tasks = parts_.core.tasks;
  const TaskAttempt latest = tasks.ProcessOf(task).attempt;
  return process.attempt > latest ||
         (process.attempt == latest && !tasks.record(task).ever_ordered);
}

/// The report of that end comes next, with all that is known of it, unless its node is taken away
/// before. Of a success there is no more to know.
void AgentDesk::TakeToldEnd(TaskIndex task, const RegisterAgent& message) {
  if (message.exit->code == 0) {
    TF_PROBE("agent-desk/registers-with-a-success");
    return TakeEnded(task,
                     {.fence = message.fence, .process = *message.ended, .exit = *message.exit});
  }
  TF_PROBE("agent-desk/registers-with-a-failure");
  parts_.core.tasks.mutable_record(task).told_end = message.exit;
}

void AgentDesk::On(TaskIndex task, const AgentHeartbeat& message) {
  parts_.core.Answer(task, HeartbeatSeen{.fence = message.fence});
}

void AgentDesk::On(TaskIndex task, const ProcessRunning& message) {
  TakeRunning(task, message.process);
  Seen(task, ReportKind::kProcessRunning, message.process.attempt);
}

void AgentDesk::TakeRunning(TaskIndex task, const ProcessRef& process) {
  AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  if (process == core.tasks.ProcessOf(task)) {
    // Also one that is to be stopped by now, and of which its container's end may be the next word.
    core.tasks.NoteRan(task);
    // That it runs may be heard after its end, which was faster.
    const bool news = record.process == ProcessPhase::kOrdered ||
                      (record.unannounced && core.tasks.ProcessAlive(task));
    if (news) parts_.processes.OnRunning(task);
    return;
  }
  TF_PROBE("agent-desk/older-attempt-runs");
  core.Note(fmt::format("{} attempt {} runs, but attempt {} is the latest",
                        ToString(core.tasks.id(task)), process.attempt.value,
                        core.tasks.shown(task).attempt.value));
}

void AgentDesk::On(TaskIndex task, const ProcessEnded& message) {
  TakeEnded(task, message);
}

void AgentDesk::TakeEnded(TaskIndex task, const ProcessEnded& report) {
  AmCore& core = parts_.core;
  const ProcessRef latest = core.tasks.ProcessOf(task);
  if (IsUnknown(task, report.process))
    return parts_.recovery.PassOverUnknownEnd(task, report.process);
  if (report.process.attempt != latest.attempt) {
    TF_PROBE("agent-desk/late-end");
    Seen(task, ReportKind::kProcessEnded, report.process.attempt);
    core.Note(fmt::format("late: {} attempt {} has ended, attempt {} is the latest",
                          ToString(core.tasks.id(task)), report.process.attempt.value,
                          latest.attempt.value));
    return;
  }
  if (!core.tasks.ProcessAlive(task)) {
    TF_PROBE("agent-desk/end-said-again");
    // Repeated until answered, and answered when what it led to is durable. An end that was assumed
    // is corrected.
    return parts_.attempts.AnswerAgain(task);
  }
  const bool stopping = core.tasks.record(task).process == ProcessPhase::kStopping;
  policy::ExitEvidence evidence{
      .process = report.exit, .port_conflict = report.port_conflict, .launch_error = {}};
  if (!stopping) {
    // A warned process ends by its own choice; only an ordered stop is ours.
    evidence.process->stopped_by_agent = false;
    evidence.launch_error = report.launch_error;
  } else {
    evidence.we_stopped = report.exit.stopped_by_agent || !report.launch_error.empty();
    // It may have been told to end before it was heard to run.
    if (report.launch_error.empty()) core.tasks.NoteRan(task);
  }
  evidence.timed_out = core.tasks.record(task).hung;
  if (report.port_conflict) {
    TF_PROBE("agent-desk/port-was-taken");
    core.tasks.PortWasTaken(task);
  }
  const std::string detail = report.launch_error.empty() ? report.stderr_tail : report.launch_error;
  const AttemptEnd end = parts_.attempts.End(task, std::move(evidence), detail);
  // A container that is being taken away gets no other process: the AM need not wait for YARN to
  // say so.
  const bool usable = end.record.exit_class != ExitClass::kLaunchError && !report.agent_leaves &&
                      !core.tasks.record(task).preemption_noticed;
  core.tasks.mutable_record(task).container_ends = !usable;
  parts_.failover.OnEnd(end, usable);
}

void AgentDesk::On(TaskIndex task, const AddressChanged& message) {
  AmCore& core = parts_.core;
  const bool same = core.tasks.shown(task).address == message.address;
  if (!IsNews(task, ReportKind::kAddressChanged, message.number)) return;
  core.tasks.SetAddress(task, message.address);
  if (same) return;
  const TaskRecord& record = core.tasks.record(task);
  // What has ended for good needs no address, and a gang that starts again gets a new spec anyway.
  if (record.outcome != policy::Outcome::kOpen || parts_.failover.GangWillRestart()) {
    TF_PROBE("agent-desk/address-not-needed");
    return;
  }
  if (record.training && parts_.epochs.SpecIsFixedFor(task) &&
      record.process != ProcessPhase::kRunning) {
    TF_PROBE("agent-desk/port-stolen-after-the-spec");
    // Others were told the old address: the port was stolen between the spec and the start.
    parts_.failover.OnBlamed(
        DescribeEnd(core, task, {.port_conflict = true}, "its port was taken before it started"),
        true);
    return;
  }
  parts_.epochs.TryStartAlone(task);
}

bool AgentDesk::AnotherHasStalled(TaskIndex task) const {
  for (std::uint32_t i = 0; i < parts_.core.tasks.size(); ++i) {
    const TaskRecord& record = parts_.core.tasks.record(TaskIndex(i));
    if (i != task.value && record.stalled && record.process == ProcessPhase::kRunning) return true;
  }
  return false;
}

void AgentDesk::On(TaskIndex task, const ProgressStalled& message) {
  AmCore& core = parts_.core;
  // Without an answer it says so again, and no more once it moves.
  const bool old = IsOld(task, ReportKind::kProgressStalled, message.number);
  if (!old && BlameStanding(task, message.silent)) return;
  if (!IsNews(task, ReportKind::kProgressStalled, message.number)) return;
  if (!(message.process == core.tasks.ProcessOf(task)) ||
      core.tasks.record(task).process != ProcessPhase::kRunning) {
    TF_PROBE("agent-desk/late-stall");
    core.Note(fmt::format("late: {} attempt {} stalled", ToString(core.tasks.id(task)),
                          message.process.attempt.value));
    return;
  }
  // Others that stall with it have been asked by then.
  if (!std::exchange(core.tasks.mutable_record(task).stalled, true) && !AnotherHasStalled(task))
    parts_.processes.ShowStacksOfAll();
  parts_.failover.OnBlamed(DescribeEnd(core, task, {.timed_out = true},
                                       core.tasks.WithWhoDoesNotListen(fmt::format(
                                           "no progress for {}", RoundedText(message.silent)))),
                           true);
}

/// Who waits for a peer that stands still makes no progress either: that peer is the failure. True:
/// one was blamed, or has been, and the job has had no time to go on since.
bool AgentDesk::BlameStanding(TaskIndex stalled, Duration silent) {
  AmCore& core = parts_.core;
  if (!HasPeers(core, stalled) || core.finishing) return false;
  if (core.now < stall_excused_until_) {
    TF_PROBE("agent-desk/stall-excused");
    return true;
  }
  bool blamed = false;
  bool stacks_shown = false;
  for (const TaskIndex task : parts_.core.standstills.Of(parts_.core.tasks)) {
    if (core.tasks.record(task).process != ProcessPhase::kRunning) continue;
    if (!std::exchange(stacks_shown, true)) parts_.processes.ShowStacksOfAll();
    TF_PROBE("agent-desk/standing-peer-blamed");
    parts_.failover.OnStandsStill(
        task, fmt::format("{} has made no progress for {}", ToString(core.tasks.id(stalled)),
                          ToString(silent)));
    blamed = blamed || core.tasks.record(task).process != ProcessPhase::kRunning;
  }
  if (blamed) stall_excused_until_ = core.now + core.job->watch->stalled;
  return blamed;
}

bool AgentDesk::IsOfLivingProcess(TaskIndex task, const ProcessRef& process,
                                  std::string_view what) {
  AmCore& core = parts_.core;
  if (process == core.tasks.ProcessOf(task) && core.tasks.ProcessAlive(task)) return true;
  TF_PROBE("agent-desk/late-signs");
  core.Note(fmt::format("late: {} of {} attempt {}", what, ToString(core.tasks.id(task)),
                        process.attempt.value));
  return false;
}

void AgentDesk::On(TaskIndex task, const ProcessSigns& message) {
  AmCore& core = parts_.core;
  if (!IsNews(task, ReportKind::kProcessSigns, message.number)) return;
  if (!IsOfLivingProcess(task, message.process, "signs")) return;
  core.tasks.mutable_record(task).catches_term = message.catches_term;
  core.tasks.mutable_record(task).standstill = message.standstill;
  parts_.failover.OnSigns(task);
}

void AgentDesk::On(TaskIndex task, const PortReport& message) {
  AmCore& core = parts_.core;
  if (!IsNews(task, ReportKind::kPortReport, message.number)) return;
  if (!IsOfLivingProcess(task, message.process, "port use")) return;
  std::optional<PortUse>& known = core.tasks.mutable_record(task).port_use;
  if (known == message.use) return;  // Repeated: the answer was lost.
  known = message.use;
  core.Emit(PortUseFound{.task = core.tasks.id(task),
                         .process = message.process,
                         .container = core.tasks.shown(task).container,
                         .address = core.tasks.shown(task).address,
                         .use = message.use,
                         .after = message.after});
}

void AgentDesk::OnVouched(const PeerVouched& word) {
  const auto task = parts_.core.tasks.Find(word.task);
  if (!task) return;
  if (word.vouched) {
    parts_.core.heartbeats.Vouch(*task, word.incarnation);
  } else {
    parts_.core.heartbeats.Unvouch(*task, word.incarnation, word.last);
  }
}

void AgentDesk::FindSilent() {
  AmCore& core = parts_.core;
  for (const SilentAgent& silent : core.heartbeats.TakeSilent(core.now)) {
    const TaskIndex task = silent.task;
    if (core.tasks.record(task).agent != AgentPhase::kUp ||
        core.tasks.shown(task).incarnation != silent.incarnation)
      continue;
    const std::string why =
        fmt::format("nothing heard of its agent for {}", RoundedText(core.now - silent.last_heard));
    TF_PROBE("agent-desk/silent-agent");
    core.allocation.Suspect(core.tasks.shown(task).node.host, allocation::Suspicion::kAgentLost);
    if (!core.tasks.ProcessAlive(task)) {
      parts_.leaving.Stop(task);
      TF_PROBE("agent-desk/silent-before-its-process");
      parts_.failover.OnLostBeforeStart(task, {.silent = true}, why, false);
      continue;
    }
    // Also where it was told to stop: whether it obeyed is not known, and the silence may be what
    // broke the job.
    const AttemptEnd end = parts_.attempts.End(task, {.silent = true}, why);
    parts_.leaving.Stop(task);
    parts_.failover.OnEnd(end, false);
  }
}

}  // namespace tfyarn::am
