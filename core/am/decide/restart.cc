#include "core/am/decide/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {

void Restart::Execute(const RestartOrder& order) {
  AmCore& core = parts_.core;
  const RestartUnit unit = order.tasks.size() > 1 ? RestartUnit::kGang : RestartUnit::kTask;
  std::vector<TaskId> names;
  names.reserve(order.tasks.size());
  for (const TaskIndex task : order.tasks) names.push_back(core.tasks.id(task));

  const StoredTime at = core.StoredAt(core.now);
  journal::RestartPaid entry{.budget = order.paid,
                             .at = at,
                             .unit = unit,
                             .tasks = names,
                             .replaced = {},
                             .epoch_rises = order.epoch_rises,
                             .processes = order.processes,
                             .cause = core.Journaled(order.cause),
                             .rule = order.rule,
                             .has_victims = order.has_victims,
                             .excused_by = order.excused_by};
  // A session starts again some time after its tasks have ended: so may their containers.
  const auto replaces = [&](TaskIndex task) {
    return core.tasks.record(task).container_ends ||
           std::binary_search(order.replace.begin(), order.replace.end(), task);
  };
  // What has lost its container before may not have been in the journal until now.
  for (const TaskIndex task : order.tasks) {
    if (replaces(task) || core.tasks.record(task).agent == AgentPhase::kNone)
      entry.replaced.push_back(core.tasks.id(task));
  }
  const JournalSeq seq = core.Append(entry);
  if (order.epoch_rises) parts_.epochs.Prepare();
  if (const auto payer = core.tasks.Find(order.cause.task)) parts_.epochs.LetRest(*payer);

  std::vector<TaskIndex> wanted;
  for (const TaskIndex task : order.tasks) {
    const TaskRecord& record = core.tasks.record(task);
    core.tasks.ShowRestarts(task, core.ledger.of(task).restarts);
    if (record.outcome != policy::Outcome::kOpen) {
      TF_PROBE("restart/ended-task-again");
      core.tasks.SetOutcome(task, policy::Outcome::kOpen);
    }
    parts_.attempts.Decided(task, seq);
    if (replaces(task) && record.agent != AgentPhase::kNone) parts_.leaving.Stop(task);
    if (core.tasks.ProcessAlive(task)) {
      parts_.processes.Stop(
          task, order.broken ? parts_.processes.GraceInBroken(task) : core.job->deadlines.stop);
    }
    core.tasks.SetStart(task, order.epoch_rises ? StartMode::kWithEpoch : StartMode::kAlone);
    if (record.agent == AgentPhase::kNone) wanted.push_back(task);
  }
  WantContainers(wanted);
  core.out.EmitWhenDurable(seq, RestartDecided{.unit = unit,
                                               .paid = order.paid,
                                               .epoch = core.snapshot.epoch,
                                               .cause = order.cause,
                                               .tasks = std::move(names)});
  if (order.epoch_rises) return;
  for (const TaskIndex task : order.tasks) parts_.epochs.TryStartAlone(task);
}

void Restart::WantContainers(const std::vector<TaskIndex>& tasks) {
  if (tasks.empty()) return;
  AmCore& core = parts_.core;
  std::vector<allocation::SlotRequest> slots;
  slots.reserve(tasks.size());
  bool training = false;
  for (const TaskIndex task : tasks) {
    // A second cause may strike while the replacement for the first is still on its way.
    if (core.allocation.Wants(core.tasks.id(task))) continue;
    if (core.now < core.tasks.record(task).ask_from) {
      TF_PROBE("restart/asks-later");
      AskLater(task);
      continue;
    }
    slots.push_back(core.SlotFor(task));
    training = training || core.tasks.record(task).training;
  }
  if (slots.empty()) return;
  // A collective stands still until it is whole again, and any gang before its first cluster spec:
  // what it keeps meanwhile is an incomplete gang.
  const bool idle =
      core.job->strategy == Strategy::kMultiWorker || core.epoch_in_force() == Epoch();
  core.allocation.Want(slots, training && idle);
}

void Restart::AskLater(TaskIndex task) {
  AmCore& core = parts_.core;
  core.allocation.Postpone(core.tasks.id(task));
  TaskRecord& record = core.tasks.mutable_record(task);
  if (std::exchange(record.asks_later, true)) return;
  core.Note(fmt::format(
      "{} has lost {} containers in a row before a process ran in them: the next "
      "one is asked for in {}",
      ToString(core.tasks.id(task)), record.lost_early, ToString(record.ask_from - core.now)));
}

void Restart::AskAgain(TaskIndex task) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(task);
  record.asks_later = false;
  if (record.agent != AgentPhase::kNone || core.allocation.Wants(core.tasks.id(task))) return;
  if (record.outcome == policy::Outcome::kOpen && !core.finishing) {
    TF_PROBE("restart/asks-again");
    WantContainers({task});
  } else {
    core.allocation.Cancel(core.tasks.id(task));
  }
}

bool Restart::RaiseMemory(TaskIndex task, const policy::Decision& decision) {
  AmCore& core = parts_.core;
  // One end raises it once, also where a better account comes, or the next AM decides.
  const TaskAttempt attempt = core.tasks.shown(task).attempt;
  if (core.ledger.of(task).memory_raised_for == attempt) {
    TF_PROBE("restart/memory-was-raised-for-it");
    return true;
  }
  const std::int64_t now = core.SlotFor(task).resource.memory_mb;
  std::int64_t raised = now * decision.raise_factor_percent / 100;
  if (decision.raise_max_memory_mb > 0) raised = std::min(raised, decision.raise_max_memory_mb);
  if (const std::int64_t largest = core.allocation.largest_memory(); largest > 0)
    raised = std::min(raised, largest);
  if (raised <= now) return false;
  TF_PROBE("restart/memory-raised");
  (void)core.Append(
      journal::MemoryRaised{.task = core.tasks.id(task), .memory_mb = raised, .attempt = attempt});
  // The next AM wants it in place of a container that was lost, before it decides on the failure.
  if (core.allocation.Wants(core.tasks.id(task))) {
    TF_PROBE("restart/wanted-with-less-memory");
    core.allocation.Cancel(core.tasks.id(task));
    WantContainers({task});
  }
  core.allocation.JudgeAgain();
  return true;
}

void Restart::TakeGivenBack(const std::optional<allocation::GangGivenBack>& gang) {
  AmCore& core = parts_.core;
  if (!gang) return;
  journal::GaveBack entry;
  for (const auto& [name, container] : gang->lost) {
    const auto task = core.tasks.Find(name);
    TF_CHECK(task.has_value());
    if (OnGivenBack(container, *task)) entry.tasks.push_back(name);
  }
  // With nothing left it is collected as the first time, with what does not train.
  entry.all = core.tasks.containers() == 0;
  if (entry.all) core.gang_was_complete = false;
  if (!entry.tasks.empty()) (void)core.Append(entry);
  core.Emit(GangReleased{.containers = static_cast<std::int32_t>(gang->lost.size()),
                         .backoff = gang->backoff});
}

bool Restart::OnGivenBack(const ContainerId& container, TaskIndex task) {
  AmCore& core = parts_.core;
  if (!core.tasks.shown(task).has_container || core.tasks.shown(task).container != container)
    return false;
  const TaskRecord& record = core.tasks.record(task);
  const bool had_process = core.tasks.ProcessAlive(task);
  std::optional<Cause> stopped;
  if (had_process) {
    TF_PROBE("rm/given-back-with-a-process");
    stopped = core.CauseOf(
        parts_.attempts.End(task, {.we_stopped = true}, "given back with an incomplete gang"));
    parts_.attempts.Decided(task, core.out.last());
  }
  const bool starts_again =
      record.outcome == policy::Outcome::kOpen && record.start == StartMode::kNone;
  if (starts_again)
    core.tasks.SetStart(task, record.training ? StartMode::kWithEpoch : StartMode::kAlone);
  if (record.agent == AgentPhase::kGranted) {
    parts_.leaving.Gone(task);
    return false;
  }
  TF_PROBE("rm/given-back-with-its-gang");
  // Why its process ended, and that it starts again, must be stored before the RM takes it.
  parts_.leaving.Release(task);
  core.allocation.SeeOut(container);
  // What ran beside a gang that waits starts again with it: a decision as any other.
  if (!starts_again || !stopped) return record.outcome == policy::Outcome::kOpen;
  Execute({.tasks = {task},
           .replace = {},
           .epoch_rises = record.training,
           .cause = *stopped,
           .rule = "gang/hold"});
  return false;
}

}  // namespace tfyarn::am
