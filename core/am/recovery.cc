#include "core/am/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/probe.h"

namespace tfyarn::am {

// ---------------------------------------------------------------- the journal

void Recovery::Read(const JournalReading& reading) {
  AmCore& core = parts_.core;
  if (reading.cut)
    core.Note("journal: bytes at its end, or between entries, are no whole entry and are left out");
  if (reading.damaged) core.Note("journal: damaged; it is read up to the damage");
  if (reading.entries.empty()) return;
  pasts_.resize(core.tasks.size());
  for (const ReadEntry& read : reading.entries) {
    std::visit([&](const auto& entry) { Take(entry); }, read.entry);
  }
  taken_over_ = true;
  Announce(reading);
}

/// What an attempt appended after the last entry that it heard to be stored, it may have decided
/// and not have come to say.
void Recovery::Announce(const JournalReading& reading) const {
  AmCore& core = parts_.core;
  std::map<std::int32_t, JournalSeq> heard;
  for (const ReadEntry& read : reading.entries) {
    JournalSeq& latest = heard[read.writer.am_attempt];
    latest = std::max(latest, read.writer.heard);
  }
  Epoch begun;
  Epoch epoch(1);
  std::int32_t number = 0;
  for (const ReadEntry& read : reading.entries) {
    if (const auto* began = std::get_if<EpochBegan>(&read.entry)) begun = epoch = began->spec.epoch;
    const auto* paid = std::get_if<RestartPaid>(&read.entry);
    if (paid == nullptr) continue;
    ++number;
    if (paid->epoch_rises) epoch = begun.next();
    if (read.seq <= heard[read.writer.am_attempt]) continue;
    core.Emit(RestartTakenOver{.number = number,
                               .decided = {.unit = paid->unit,
                                           .paid = paid->budget,
                                           .epoch = epoch,
                                           .cause = core.FromJournal(paid->cause),
                                           .tasks = paid->tasks}});
  }
}

Recovery::Past* Recovery::PastOf(const TaskId& task) {
  const auto index = parts_.core.tasks.Find(task);
  return index ? &pasts_[index->value] : nullptr;
}

Recovery::Past* Recovery::Ordered(const JournaledProcess& process, Epoch epoch, WallTime wall) {
  Past* past = PastOf(process.task);
  if (past == nullptr) return nullptr;
  past->attempt = process.attempt;
  past->epoch = epoch;
  past->spec = spec_;
  past->ordered = past->alive = true;
  past->restarting = past->replaced = false;
  Forget(process.task);
  const TaskIndex task = *parts_.core.tasks.Find(process.task);
  TaskRecord& record = parts_.core.tasks.mutable_record(task);
  record.paid_in_a_row = 0;
  record.ever_registered = true;  // Its agent was there.
  record.process_ordered_at = record.heard_from = parts_.core.InstantAt(wall);
  parts_.epochs.ForgetRest(task);
  return past;
}

/// What happened to it is decided on, or over.
void Recovery::Forget(const TaskId& failed) {
  std::erase_if(undecided_, [&](const FailureSeen& seen) { return seen.task == failed; });
}

void Recovery::Take(const AttemptStarted&) {}

void Recovery::Take(const AgentsLaunched& entry) {
  for (const JournaledAgent& agent : entry.agents) {
    if (Past* past = PastOf(agent.task)) {
      past->agent = agent;
      past->alive = past->replaced = false;
      const TaskIndex task = *parts_.core.tasks.Find(agent.task);
      parts_.core.tasks.mutable_record(task).launched_at = parts_.core.InstantAt(entry.wall);
      parts_.failover.TookContainer(task);
    }
  }
}

void Recovery::Take(const EpochBegan& entry) {
  spec_ = Share(entry.spec);
  gave_all_back_ = false;
  // Where all start together, who is not ordered now waits by `depends` and follows with this spec.
  const bool together = parts_.core.job->strategy != Strategy::kIndependent;
  for (Past& past : pasts_) {
    if (past.agent) past.agent_at_spec = past.agent->incarnation;
    if (together && past.with_epoch) {
      TF_PROBE("recovery/follows-with-the-spec");
      past.with_epoch = false;
    }
  }
  for (const JournaledProcess& process : entry.processes) {
    Past* past = Ordered(process, entry.spec.epoch, entry.wall);
    if (past == nullptr) continue;
    past->with_epoch = false;
    past->outcome = Outcome::kOpen;
  }
}

void Recovery::Take(const ProcessesOrdered& entry) {
  for (const JournaledProcess& process : entry.processes)
    (void)Ordered(process, entry.epoch, entry.wall);
}

void Recovery::Take(const GaveBack& entry) {
  gave_all_back_ = entry.all;
  const auto give_back = [&](Past& past, TaskIndex task) {
    past.restarting = past.replaced = true;
    past.with_epoch = past.with_epoch || parts_.core.tasks.record(task).training;
  };
  for (const TaskId& task : entry.tasks) {
    Past* past = PastOf(task);
    if (past == nullptr) continue;
    TF_PROBE("recovery/given-back-with-its-gang");
    give_back(*past, *parts_.core.tasks.Find(task));
  }
  // Nor has any other the container that its agent was launched in: it was lost before.
  for (std::uint32_t i = 0; entry.all && i < pasts_.size(); ++i) {
    if (!pasts_[i].agent || pasts_[i].replaced || pasts_[i].outcome != Outcome::kOpen) continue;
    TF_PROBE("recovery/lost-before-its-gang-was-given-back");
    give_back(pasts_[i], TaskIndex(i));
  }
}

void Recovery::Take(const AllRunning& entry) {
  if (!all_running_) all_running_ = entry.wall;
}

void Recovery::Take(const RestartPaid& entry) {
  AmCore& core = parts_.core;
  parts_.failover.Count(entry);
  const Cause cause = core.FromJournal(entry.cause);
  const Instant decided = core.InstantAt(entry.wall);
  const bool first = Failover::IsFirstCause(entry.rule);
  if (const auto payer = core.tasks.Find(cause.task)) {
    if (entry.budget != Budget::kNone)
      core.tasks.CountPaid(*payer, cause.exit_class, core.tasks.RanUntil(*payer, cause.at));
    if (first && Restart::IsItsOwn(cause)) parts_.epochs.RecallRest(*payer, cause.at, decided);
    parts_.failover.RestoreEnd(*payer, pasts_[payer->value].attempt, cause, decided);
  }
  if (first) parts_.failover.RememberCause(cause, decided, entry.tasks.size() > 1);
  for (const TaskId& task : entry.tasks) {
    Forget(task);
    Past* past = PastOf(task);
    if (past == nullptr) continue;
    const TaskIndex index = *core.tasks.Find(task);
    if (entry.processes && past->ordered) core.tasks.CountRestart(index);
    core.tasks.mutable_record(index).start_decided = decided;
    past->restarting = true;
    past->with_epoch = past->with_epoch || entry.epoch_rises;
    past->outcome = Outcome::kOpen;
    parts_.failover.ForgetTallied(task);
    if (task != cause.task && past->ordered)
      parts_.failover.RestoreVictimsEnd(index, past->attempt, cause);
    if (past->ordered && !first && parts_.failover.IsExcuse(cause, decided))
      parts_.failover.RestoreExcused(index, past->attempt);
  }
  for (const TaskId& task : entry.replaced) {
    if (Past* past = PastOf(task)) past->replaced = true;
  }
}

void Recovery::Take(const TaskEnded& entry) {
  Past* past = PastOf(entry.task);
  if (past == nullptr) return;
  past->alive = false;
  past->outcome = entry.outcome;
  Forget(entry.task);
  // Who was stopped for the sake of another is no cause.
  if (entry.outcome != Outcome::kFailed || parts_.failover.first_tallied()) return;
  parts_.failover.RestoreTallied(parts_.core.FromJournal({.task = entry.task,
                                                          .exit = entry.exit,
                                                          .exit_class = entry.exit_class,
                                                          .node = entry.node,
                                                          .at = entry.wall,
                                                          .detail = entry.detail}));
}

void Recovery::Take(const TypeWaived& entry) {
  if (const auto type = parts_.core.tasks.FindType(entry.task_type)) parts_.core.tasks.Waive(*type);
}

void Recovery::Take(const MemoryRaised& entry) {
  if (const auto task = parts_.core.tasks.Find(entry.task)) {
    parts_.core.tasks.mutable_record(*task).memory_mb = entry.memory_mb;
    parts_.core.tasks.mutable_record(*task).memory_raised_for = pasts_[task->value].attempt;
  }
}

void Recovery::Take(const HostsKeptOff& entry) {
  parts_.life.TakeOverKeptOff({entry.hosts.begin(), entry.hosts.end()});
}

void Recovery::Take(const FailureSeen& entry) {
  const auto known = std::find_if(undecided_.begin(), undecided_.end(),
                                  [&](const FailureSeen& seen) { return seen.task == entry.task; });
  if (known != undecided_.end()) {
    *known = entry;  // It has lost its container since. Which came first may decide.
  } else {
    undecided_.push_back(entry);
  }
}

void Recovery::Take(const VerdictDecided& entry) {
  if (!verdict_) verdict_ = entry;
}

// ---------------------------------------------------------------- the world

void Recovery::OnRegistered(const std::vector<yarn::Container>& containers, bool known) {
  AmCore& core = parts_.core;
  std::map<ContainerId, yarn::Container> living;
  for (const yarn::Container& container : containers) living.emplace(container.id, container);
  if (!known) {
    TF_PROBE("recovery/list-of-containers-was-lost");
    core.Note("the RM's first answer was lost, and with it the list of containers that live");
  }
  if (taken_over_) {
    Plan();
    for (std::uint32_t i = 0; i < pasts_.size(); ++i) Adopt(TaskIndex(i), pasts_[i], living, known);
  }
  if (verdict_) {
    TF_PROBE("recovery/after-the-verdict");
    VerdictReached verdict{
        .status = verdict_->status, .diagnostics = verdict_->diagnostics, .rule = verdict_->rule};
    if (verdict_->cause) verdict.cause = core.FromJournal(*verdict_->cause);
    parts_.finish.Restore(verdict, core.InstantAt(verdict_->wall));
  }
  pasts_.clear();
  for (const FailureSeen& seen : std::exchange(undecided_, {})) {
    if (verdict_) break;
    parts_.failover.TakeUp(seen, living.contains(seen.container));
  }
  for (const auto& [id, container] : living) {
    if (!IsStranger(id)) continue;
    core.Note(fmt::format("{} of an earlier attempt is no task's: stopped", ToString(id)));
    parts_.leaving.StopStranger(id, container.node);
  }
  if (core.tasks.Count(TaskState::kLaunching) + core.tasks.containers() > 0) {
    core.timers.ArmJob(Timer::kReattach, core.now + core.job->deadlines.registration);
  }
}

/// Epochs and starts, before any task has its container back.
void Recovery::Plan() {
  AmCore& core = parts_.core;
  if (has_spec()) parts_.epochs.Restore(spec_);
  if (all_running_) {
    core.ever_running = true;
    if (core.job->deadlines.run) {
      core.timers.ArmJob(Timer::kRunDeadline, std::max(core.now, core.InstantAt(*all_running_) +
                                                                     *core.job->deadlines.run));
    }
  }
  bool prepare = !has_spec();
  for (std::uint32_t i = 0; i < pasts_.size(); ++i) {
    const TaskIndex task(i);
    Past& past = pasts_[i];
    const bool new_address = past.agent && past.agent->incarnation != past.agent_at_spec;
    past.with_epoch = past.with_epoch || (new_address && core.tasks.record(task).training);
    if (past.outcome != Outcome::kOpen) {
      TF_PROBE("recovery/ended-task");
      core.tasks.SetOutcome(task, past.outcome);
    } else if (!has_spec()) {
      TF_PROBE("recovery/before-the-first-spec");
      core.tasks.SetStart(task, StartMode::kWithEpoch);
    } else if (past.restarting && past.with_epoch) {
      TF_PROBE("recovery/restart-with-an-epoch");
      core.tasks.SetStart(task, StartMode::kWithEpoch);
      prepare = true;
    } else if (past.restarting || !past.ordered) {
      TF_PROBE("recovery/restart-alone");
      core.tasks.SetStart(task, StartMode::kAlone);
    }
  }
  if (prepare && !verdict_) parts_.epochs.Prepare();
  core.gang_was_complete = has_spec() && !gave_all_back_;
  core.gang_open = !core.gang_was_complete;
  core.gates = true;
  core.judge = true;
}

void Recovery::Adopt(TaskIndex task, const Past& past,
                     const std::map<ContainerId, yarn::Container>& living, bool known) {
  AmCore& core = parts_.core;
  core.tasks.Restore(task, past.agent ? past.agent->incarnation : Incarnation(0), past.attempt,
                     past.epoch, past.ordered);
  core.tasks.mutable_record(task).process_spec = past.spec;
  RestoreAddress(task);
  const bool wanted = past.outcome == Outcome::kOpen && !verdict_;
  if (!past.agent) {
    TF_PROBE("recovery/never-launched");
    if (wanted) parts_.restart.WantContainers({task});
    return;
  }
  const auto alive = living.find(past.agent->container);
  const bool gone = alive == living.end() && (past.outcome != Outcome::kOpen || WentWithIt(past));
  // One that is to be replaced is stopped as no task's, where it is still there.
  if (gone || past.replaced) {
    TF_PROBE("recovery/ended-and-gone");
    core.tasks.SkipIncarnation(task);
    if (wanted) parts_.restart.WantContainers({task});
    return;
  }
  yarn::Container container{.id = past.agent->container, .node = past.agent->node};
  if (alive == living.end()) TF_PROBE("recovery/container-is-gone");
  if (alive != living.end()) container = alive->second;
  core.gang.Adopt(core.SlotFor(task), container);
  core.tasks.GiveContainer(task, container, past.agent->nonce);
  core.tasks.mutable_record(task).launch_logged = true;
  core.tasks.SetAgent(task, AgentPhase::kLaunching);
  // It has nothing more to tell, and the attempt before may have ended before its order was heard.
  if (past.outcome != Outcome::kOpen && alive != living.end() && !verdict_) {
    TF_PROBE("recovery/ended-and-there");
    return parts_.leaving.EndAgent(task);
  }
  // An agent that no cluster spec knows, and that was given no process, may never have been
  // started: the last attempt may have ended between writing that down and saying so to the node.
  const bool in_spec = has_spec() && past.agent->incarnation == past.agent_at_spec;
  if (!in_spec && !past.alive && alive != living.end() && !verdict_) {
    TF_PROBE("recovery/launch-may-be-missing");
    parts_.launch.StartOnceMore(task);
  }
  // Which of them runs, its agent will say.
  if (past.ordered && past.alive && past.outcome == Outcome::kOpen) {
    core.tasks.SetProcess(task, past.restarting ? ProcessPhase::kStopping : ProcessPhase::kOrdered);
  }
  // The attempt before had decided to start it again, and may have heard of its container's end:
  // the RM says so only once. What a cluster spec sends others to is lost, which is to be decided
  // on: also one that was to start again under that spec.
  const bool together = core.job->strategy != Strategy::kIndependent;
  const bool listed = in_spec && together && !past.with_epoch;
  if (known && alive == living.end() && past.restarting && !listed && !verdict_) {
    parts_.leaving.Stop(task);
    parts_.restart.WantContainers({task});
  }
}

/// Its container had gone with the process whose end is still to be decided on.
bool Recovery::WentWithIt(const Past& past) const {
  return std::any_of(undecided_.begin(), undecided_.end(), [&](const FailureSeen& seen) {
    return !seen.container_alive && seen.container == past.agent->container;
  });
}

/// A spec may be due before every agent has found this attempt; who was in the last one and has not
/// been replaced is still where it said.
void Recovery::RestoreAddress(TaskIndex task) {
  if (!has_spec()) return;
  const TaskId& id = parts_.core.tasks.id(task);
  const ClusterSpec& spec = *spec_.get();
  const auto type = spec.tasks.find(id.type);
  const auto index = static_cast<std::size_t>(id.index);
  if (type != spec.tasks.end() && index < type->second.size())
    parts_.core.tasks.SetAddress(task, type->second[index]);
}

/// The container is no task's, is not on its way out, and is not this AM's own.
bool Recovery::IsStranger(const ContainerId& container) const {
  const AmCore& core = parts_.core;
  return !core.tasks.OwnerOf(container) && !parts_.leaving.Has(container) &&
         container != core.started.container;
}

void Recovery::OnPreviousContainer(const yarn::Container& container) {
  if (!IsStranger(container.id)) return;
  TF_PROBE("recovery/stranger-came-back");
  parts_.core.Note(fmt::format("{} of an earlier attempt came back and is no task's: stopped",
                               ToString(container.id)));
  parts_.leaving.StopStranger(container.id, container.node);
}

void Recovery::OnReattached(TaskIndex task, const RegisterAgent& message) {
  AmCore& core = parts_.core;
  core.tasks.mutable_record(task).process_address = message.address;
  const ProcessRef latest = core.tasks.ProcessOf(task);
  const bool runs = message.running == latest;
  if (core.tasks.record(task).process == ProcessPhase::kOrdered && runs) {
    core.tasks.SetProcess(task, ProcessPhase::kRunning);
    TF_PROBE("recovery/process-runs-on");
    core.tasks.mutable_record(task).unannounced = true;
    core.gates = true;
    if (core.tasks.record(task).preemption_noticed) {
      TF_PROBE("recovery/marked-before-its-agent-came");
      parts_.rm_events.ObeyNotice(task);
    }
    return;
  }
  const bool starts = core.tasks.record(task).process == ProcessPhase::kOrdered;
  if (!runs && (!starts || core.finishing)) {
    TF_PROBE("recovery/stopped-process-is-gone");
    // It had ended before, and its report was answered, or never will be. Or it never ran, and
    // need not any more.
    core.tasks.SetProcess(task, ProcessPhase::kEnded);
    if (core.finishing) return;
    return parts_.epochs.TryStartAlone(task);
  }
  // It starts only now.
  if (!runs) core.tasks.mutable_record(task).heard_from = core.now;
  parts_.processes.Resume(task);
}

void Recovery::StopUnknownProcess(TaskIndex task, const ProcessRef& process) {
  AmCore& core = parts_.core;
  TF_PROBE("recovery/unknown-process");
  core.Note(fmt::format("{} runs attempt {} of epoch {}, which is not in the journal: stopped",
                        ToString(core.tasks.id(task)), process.attempt.value, process.epoch.value));
  core.tasks.Restore(task, core.tasks.shown(task).incarnation, process.attempt, process.epoch,
                     true);
  core.tasks.SetProcess(task, ProcessPhase::kRunning);
  parts_.epochs.SkipBeyond(process.epoch);
  parts_.processes.Stop(task);
}

/// Its agent has not found this attempt, which has not launched it.
bool Recovery::IsOfEarlierAttempt(TaskIndex task) const {
  const AmCore& core = parts_.core;
  return core.tasks.record(task).agent == AgentPhase::kLaunching &&
         !core.timers.IsArmed(Timer::kRegistration, task.value);
}

bool Recovery::Awaits(TaskIndex task) const {
  return parts_.core.timers.IsArmed(Timer::kReattach) && IsOfEarlierAttempt(task);
}

bool Recovery::AwaitsAgents() const {
  const AmCore& core = parts_.core;
  if (!core.timers.IsArmed(Timer::kReattach)) return false;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    if (IsOfEarlierAttempt(TaskIndex(i))) return true;
  }
  return false;
}

void Recovery::OnReattachOver() {
  AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (!IsOfEarlierAttempt(task)) continue;
    TF_PROBE("recovery/agent-does-not-come");
    const std::string why = "its agent did not find the new AM in time";
    if (core.finishing) {
      TF_PROBE("recovery/agent-does-not-come-after-the-verdict");
      parts_.leaving.Stop(task);
    } else if (core.tasks.ProcessAlive(task)) {
      // Stopped for a failure whose cause is not known yet, it may be that cause: it has not heard.
      const bool ours = record.process == ProcessPhase::kStopping && !parts_.failover.deciding();
      const AttemptEnd end = parts_.attempts.End(task, {.we_stopped = ours, .silent = true}, why);
      parts_.leaving.Stop(task);
      parts_.failover.OnEnd(end, false);
    } else {
      parts_.leaving.Stop(task);
      parts_.failover.OnLostBeforeStart(task, {.silent = true}, why, false);
    }
  }
}

}  // namespace tfyarn::am
