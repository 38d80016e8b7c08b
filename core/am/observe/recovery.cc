#include "core/am/observe/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {

// ---------------------------------------------------------------- the journal

void Recovery::Read(const journal::JournalReading& reading) {
  AmCore& core = parts_.core;
  if (reading.cut)
    core.Note("journal: bytes at its end, or between entries, are no whole entry and are left out");
  if (reading.damaged) core.Note("journal: damaged; it is read up to the damage");
  if (reading.entries.empty()) return;
  SetClock(reading);
  for (const journal::ReadEntry& read : reading.entries) core.Take(read.entry);
  taken_over_ = pending_ = true;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) Recall(TaskIndex(i));
  for (const std::string& name : core.ledger.waived) {
    if (const auto type = core.tasks.FindType(name)) core.tasks.Waive(*type);
  }
  if (!core.ledger.kept_off.empty()) {
    core.allocation.TakeOverKeptOff(core.ledger.kept_off);
  }
  Announce(reading);
}

/// Nodes' clocks differ. By one that is behind, what was decided a moment ago is yet to come: its
/// victims would restart for nothing, and the job run for longer than it may. So time goes on from
/// the last that is stored. That a clock is ahead the journal cannot tell.
void Recovery::SetClock(const journal::JournalReading& reading) {
  AmCore& core = parts_.core;
  StoredTime latest = core.StoredAt(core.now);
  for (const journal::ReadEntry& read : reading.entries)
    latest = std::max(latest, journal::TimeOf(read.entry).value_or(latest));
  const Duration behind = latest - core.StoredAt(core.now);
  if (behind == Duration::zero()) return;
  TF_PROBE("recovery/clock-is-behind");
  core.clock_behind = behind;
  core.Note(
      fmt::format("this node's clock is {} behind the journal: times count from its last entry",
                  ToString(behind)));
}

void Recovery::Recall(TaskIndex task) {
  AmCore& core = parts_.core;
  const TaskLedger& ledger = core.ledger.of(task);
  core.tasks.ShowRestarts(task, ledger.restarts);
  parts_.epochs.LetRest(task);
  if (!ledger.ordered) return;
  TaskRecord& record = core.tasks.mutable_record(task);
  record.ever_registered = true;  // Its agent was there.
  record.process_ordered_at = record.heard_from = core.InstantAt(ledger.ordered_at);
}

/// What an attempt appended after the last entry that it heard to be stored, it may have decided
/// and not have come to say.
void Recovery::Announce(const journal::JournalReading& reading) const {
  AmCore& core = parts_.core;
  std::map<std::int32_t, JournalSeq> heard;
  for (const journal::ReadEntry& read : reading.entries) {
    JournalSeq& latest = heard[read.writer.am_attempt];
    latest = std::max(latest, read.writer.heard);
  }
  Epoch begun;
  Epoch epoch(1);
  std::int32_t number = 0;
  for (const journal::ReadEntry& read : reading.entries) {
    if (const auto* began = std::get_if<journal::EpochBegan>(&read.entry))
      begun = epoch = began->spec.epoch;
    const auto* paid = std::get_if<journal::RestartPaid>(&read.entry);
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

// ---------------------------------------------------------------- the world

void Recovery::OnAdmitted(const allocation::Admission& admission) {
  AmCore& core = parts_.core;
  std::map<ContainerId, NodeId> living;
  for (const auto& [id, node] : admission.living) living.emplace(id, node);
  if (!admission.known) {
    TF_PROBE("recovery/list-of-containers-was-lost");
    core.Note("the RM's first answer was lost, and with it the list of containers that live");
  }
  // As it was left: what is decided from here on does not change what others had.
  const Ledger left = core.ledger;
  if (taken_over_) {
    Plan();
    for (std::uint32_t i = 0; i < core.tasks.size(); ++i)
      Adopt(TaskIndex(i), left, living, admission.known);
  }
  // A verdict of this attempt itself stands already.
  if (const auto& decided = left.verdict; decided && !core.finishing) {
    TF_PROBE("recovery/after-the-verdict");
    VerdictReached verdict{
        .status = decided->status, .diagnostics = decided->diagnostics, .rule = decided->rule};
    if (decided->cause) verdict.cause = core.FromJournal(*decided->cause);
    parts_.finish.Restore(verdict, core.InstantAt(decided->at));
  }
  pending_ = false;
  for (const journal::FailureSeen& seen : left.undecided) {
    if (left.verdict) break;
    parts_.failover.TakeUp(seen, living.contains(seen.container));
  }
  for (const auto& [id, node] : living) {
    if (!IsStranger(id)) continue;
    core.Note(fmt::format("{} of an earlier attempt is no task's: stopped", ToString(id)));
    parts_.leaving.StopStranger(id, node);
  }
  if (core.tasks.Count(TaskState::kLaunching) + core.tasks.containers() > 0) {
    core.agents_until = core.now + core.job->deadlines.registration;
  }
}

/// What starts again does so in a new epoch, where its restart needs one or its address is new.
bool Recovery::StartsWithEpoch(TaskIndex task, const Ledger& left) const {
  const TaskLedger& past = left.of(task);
  const LaunchedAgent& agent = left.agent_of(task);
  const bool new_address = agent.launched && agent.incarnation != agent.at_spec;
  return past.with_epoch || (new_address && parts_.core.tasks.record(task).training);
}

/// Epochs and starts, before any task has its container back.
void Recovery::Plan() {
  AmCore& core = parts_.core;
  if (core.ledger.has_spec()) parts_.epochs.Restore(core.ledger.spec);
  core.ever_running = core.ledger.all_running.has_value();
  bool prepare = !core.ledger.has_spec();
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskLedger& past = core.ledger.of(task);
    const bool with_epoch = StartsWithEpoch(task, core.ledger);
    if (past.outcome != policy::Outcome::kOpen) {
      TF_PROBE("recovery/ended-task");
      core.tasks.SetOutcome(task, past.outcome);
    } else if (!core.ledger.has_spec()) {
      TF_PROBE("recovery/before-the-first-spec");
      core.tasks.SetStart(task, StartMode::kWithEpoch);
    } else if (past.restarting && with_epoch) {
      TF_PROBE("recovery/restart-with-an-epoch");
      core.tasks.SetStart(task, StartMode::kWithEpoch);
      prepare = true;
    } else if (past.restarting || !past.ordered) {
      TF_PROBE("recovery/restart-alone");
      core.tasks.SetStart(task, StartMode::kAlone);
    }
  }
  if (prepare && !core.ledger.verdict) parts_.epochs.Prepare();
  core.gang_was_complete = core.ledger.has_spec() && !core.ledger.gave_all_back;
  core.gang_open = !core.gang_was_complete;
}

void Recovery::Adopt(TaskIndex task, const Ledger& left,
                     const std::map<ContainerId, NodeId>& living, bool known) {
  AmCore& core = parts_.core;
  const TaskLedger& past = left.of(task);
  const LaunchedAgent& agent = left.agent_of(task);
  const bool decided = left.verdict.has_value();
  core.tasks.Restore(task, agent.launched ? agent.incarnation : Incarnation(0), past.attempt,
                     past.epoch, past.ordered);
  core.tasks.mutable_record(task).process_spec = past.spec;
  RestoreAddress(task);
  const bool wanted = past.outcome == policy::Outcome::kOpen && !decided;
  if (!agent.launched) {
    TF_PROBE("recovery/never-launched");
    if (wanted) parts_.restart.WantContainers({task});
    return;
  }
  const auto alive = living.find(agent.container);
  const bool gone =
      alive == living.end() && (past.outcome != policy::Outcome::kOpen || WentWithIt(task, left));
  // One that is to be replaced is stopped as no task's, where it is still there.
  if (gone || past.replaced) {
    TF_PROBE("recovery/ended-and-gone");
    core.tasks.SkipIncarnation(task);
    if (wanted) parts_.restart.WantContainers({task});
    return;
  }
  allocation::HeldContainer container{.id = agent.container, .node = agent.node};
  if (alive == living.end()) TF_PROBE("recovery/container-is-gone");
  if (alive != living.end()) container.node = alive->second;
  core.allocation.Adopt(core.SlotFor(task), container);
  core.tasks.GiveContainer(task, container, agent.nonce);
  core.tasks.mutable_record(task).launch_logged = true;
  core.tasks.SetAgent(task, AgentPhase::kLaunching);
  // It has nothing more to tell, and the attempt before may have ended before its order was heard.
  if (past.outcome != policy::Outcome::kOpen && alive != living.end() && !decided) {
    TF_PROBE("recovery/ended-and-there");
    return parts_.leaving.EndAgent(task, {});
  }
  // An agent that no cluster spec knows, and that was given no process, may never have been
  // started: the last attempt may have ended between writing that down and saying so to the node.
  const bool in_spec = left.has_spec() && agent.incarnation == agent.at_spec;
  if (!in_spec && !past.alive && alive != living.end() && !core.ledger.verdict) {
    TF_PROBE("recovery/launch-may-be-missing");
    parts_.launch.StartOnceMore(task);
  }
  // Which of them runs, its agent will say.
  if (past.ordered && past.alive && past.outcome == policy::Outcome::kOpen) {
    core.tasks.SetProcess(task, past.restarting ? ProcessPhase::kStopping : ProcessPhase::kOrdered);
  }
  // The attempt before had decided to start it again, and may have heard of its container's end:
  // the RM says so only once. What a cluster spec sends others to is lost, which is to be decided
  // on: also one that was to start again under that spec.
  const bool together = core.job->strategy != Strategy::kIndependent;
  const bool listed = in_spec && together && !StartsWithEpoch(task, left);
  if (known && alive == living.end() && past.restarting && !listed && !core.ledger.verdict) {
    parts_.leaving.Stop(task);
    parts_.restart.WantContainers({task});
  }
}

/// Its container had gone with the process whose end is still to be decided on.
bool Recovery::WentWithIt(TaskIndex task, const Ledger& left) {
  return std::any_of(
      left.undecided.begin(), left.undecided.end(), [&](const journal::FailureSeen& seen) {
        return !seen.container_alive && seen.container == left.agent_of(task).container;
      });
}

/// A spec may be due before every agent has found this attempt; who was in the last one and has not
/// been replaced is still where it said.
void Recovery::RestoreAddress(TaskIndex task) {
  if (!parts_.core.ledger.has_spec()) return;
  const TaskId& id = parts_.core.tasks.id(task);
  const ClusterSpec& spec = *parts_.core.ledger.spec.get();
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

void Recovery::OnPreviousContainer(const allocation::HeldContainer& container) {
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
    if (core.tasks.record(task).preemption_noticed) {
      TF_PROBE("recovery/marked-before-its-agent-came");
      parts_.failover.ObeyNotice(task);
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
  GoOnFrom(task, process);
  core.tasks.SetProcess(task, ProcessPhase::kRunning);
  parts_.processes.Stop(task);
}

/// It is not answered: it is for the AM that reads the order to start that process in the journal.
void Recovery::PassOverUnknownEnd(TaskIndex task, const ProcessRef& process) {
  AmCore& core = parts_.core;
  TF_PROBE("recovery/unknown-end");
  core.Note(fmt::format("{} has ended attempt {} of epoch {}, which is not in the journal",
                        ToString(core.tasks.id(task)), process.attempt.value, process.epoch.value));
  const TaskRecord& record = core.tasks.record(task);
  // The number of the next process is on its way to the journal, or told.
  const bool numbered =
      core.tasks.ProcessAlive(task) || record.start_logged ||
      (record.start == StartMode::kWithEpoch && parts_.epochs.SpecIsFixedFor(task));
  if (!numbered) GoOnFrom(task, process);
}

/// Its next process has the next number, in a later epoch.
void Recovery::GoOnFrom(TaskIndex task, const ProcessRef& process) {
  TaskTable& tasks = parts_.core.tasks;
  tasks.Restore(task, tasks.shown(task).incarnation, process.attempt, process.epoch, true);
  parts_.epochs.SkipBeyond(process.epoch);
}

void Recovery::OnReattachOver() {
  AmCore& core = parts_.core;
  core.agents_until = kNever;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const TaskRecord& record = core.tasks.record(task);
    if (!core.IsOfEarlierAttempt(task)) continue;
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
