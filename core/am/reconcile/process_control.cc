#include "core/am/reconcile/process_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::am {

void ProcessControl::Start(TaskIndex task, JournalSeq entry) {
  AmCore& core = parts_.core;
  const bool alone = core.tasks.record(task).start == StartMode::kAlone;
  const ProcessRef process = core.tasks.BeginProcess(core.now, task, core.epoch_in_force());
  // A container that was lost before has an account under the number of this process.
  if (const auto end = core.ends.find(task);
      end != core.ends.end() && end->second.process == process)
    core.ends.erase(end);
  TaskRecord& record = core.tasks.mutable_record(task);
  record.process_spec = core.spec;
  record.order_entry = entry;
  if (alone) record.overdue_at = core.now + core.job->deadlines.start;
  SendStart(task);
}

void ProcessControl::Stop(TaskIndex task, Duration grace) {
  AmCore& core = parts_.core;
  TF_CHECK(core.tasks.ProcessAlive(task));
  TaskRecord& record = core.tasks.mutable_record(task);
  // What an earlier attempt stopped is not watched before its agent has found this one.
  const bool decided = record.process == ProcessPhase::kStopping && record.stop_grace != kUndecided;
  if (decided && record.stop_grace <= grace) return;
  if (!decided) record.stop_told = kUndecided;
  record.stop_grace = grace;
  record.overdue_at = kNever;
  record.order_again_at = record.stop_told != kUndecided ? core.now + kOrderRepeat : kNever;
  core.tasks.SetProcess(task, ProcessPhase::kStopping);
  stops_.Decide({.task = task, .attempt = core.tasks.ProcessOf(task).attempt, .grace = grace});
}

void ProcessControl::Reconcile() {
  stops_.Send(parts_.core.out,
              [this](JournalSeq entry, const StopOrder& stop) { Tell(entry, stop); });
}

void ProcessControl::Tell(JournalSeq entry, const StopOrder& stop) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(stop.task);
  if (record.process != ProcessPhase::kStopping ||
      core.tasks.ProcessOf(stop.task).attempt != stop.attempt)
    return;
  record.order_entry = entry;
  record.stop_told = stop.grace;
  SendStop(stop.task, stop.grace);
  if (!IsHeld(stop.task)) WatchStop(stop.task);
}

bool ProcessControl::IsHeld(TaskIndex task) const {
  const TaskRecord& record = parts_.core.tasks.record(task);
  return record.stop_grace != record.stop_told;
}

void ProcessControl::Stop(TaskIndex task) {
  Stop(task, parts_.core.job->deadlines.stop);
}

Duration ProcessControl::GraceInBroken(TaskIndex task) const {
  const DeadlineSpec& deadlines = parts_.core.job->deadlines;
  if (parts_.core.tasks.record(task).catches_term) return deadlines.stop;
  return std::min(deadlines.stop, deadlines.stop_broken);
}

Duration ProcessControl::GraceOf(TaskIndex task) const {
  const Duration decided = parts_.core.tasks.record(task).stop_grace;
  return decided == kUndecided ? parts_.core.job->deadlines.stop : decided;
}

/// An agent of an earlier AM attempt hears of it only when it has found this one.
void ProcessControl::WatchStop(TaskIndex task) {
  AmCore& core = parts_.core;
  const bool looks = core.tasks.record(task).agent != AgentPhase::kUp && !core.finishing;
  const Instant hears = looks ? std::max(core.now, core.AgentsLookUntil()) : core.now;
  core.tasks.mutable_record(task).overdue_at = hears + GraceOf(task) + kStopSlack;
}

void ProcessControl::Warn(TaskIndex task) {
  TF_PROBE("processes/warned");
  AmCore& core = parts_.core;
  core.Answer(task, WarnProcess{.fence = core.tasks.FenceOf(task),
                                .attempt = core.tasks.shown(task).attempt});
}

void ProcessControl::ShowStacksOfAll() {
  AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (core.tasks.record(task).process != ProcessPhase::kRunning) continue;
    core.Answer(task, ShowStacks{.fence = core.tasks.FenceOf(task),
                                 .attempt = core.tasks.shown(task).attempt});
  }
}

void ProcessControl::Repeat(TaskIndex task) {
  const TaskRecord& record = parts_.core.tasks.record(task);
  switch (record.process) {
    case ProcessPhase::kOrdered:
      return SendStart(task);
    case ProcessPhase::kStopping:
      if (IsHeld(task)) TF_PROBE("processes/order-of-before-repeated");
      return SendStop(task, record.stop_told);
    case ProcessPhase::kNone:
    case ProcessPhase::kRunning:
    case ProcessPhase::kEnded:
      return;
  }
}

void ProcessControl::Resume(TaskIndex task) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(task);
  if (record.process != ProcessPhase::kStopping) {
    record.overdue_at = core.now + core.job->deadlines.start;
    return Repeat(task);
  }
  if (record.stop_grace == kUndecided)
    record.stop_grace = record.stop_told = core.job->deadlines.stop;
  if (!IsHeld(task)) WatchStop(task);
  if (record.stop_told != kUndecided) Repeat(task);
}

void ProcessControl::OnRunning(TaskIndex task) {
  AmCore& core = parts_.core;
  core.tasks.mutable_record(task).unannounced = false;
  if (core.tasks.record(task).process == ProcessPhase::kOrdered)
    core.tasks.SetProcess(task, ProcessPhase::kRunning);
  const TaskSnapshot& shown = core.tasks.shown(task);
  core.Emit(TaskAttemptStarted{.task = shown.task,
                               .process = core.tasks.ProcessOf(task),
                               .container = shown.container,
                               .node = shown.node});
  if (core.tasks.record(task).preemption_noticed) {
    TF_PROBE("processes/noticed-before-it-ran");
    if (core.tasks.record(task).process == ProcessPhase::kRunning) Warn(task);
  }
}

void ProcessControl::SendStart(TaskIndex task) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(task);
  const ProcessRef process = core.tasks.ProcessOf(task);
  core.out.Order(record.order_entry, core.tasks.shown(task).container,
                 StartProcess{.fence = core.tasks.FenceOf(task),
                              .process = process,
                              .spec = SpecFor(task),
                              .resume = process.attempt.value > 0});
  record.order_again_at = core.now + kOrderRepeat;
}

void ProcessControl::SendStop(TaskIndex task, Duration grace) {
  AmCore& core = parts_.core;
  TaskRecord& record = core.tasks.mutable_record(task);
  core.out.Order(record.order_entry, core.tasks.shown(task).container,
                 StopProcess{.fence = core.tasks.FenceOf(task),
                             .attempt = core.tasks.shown(task).attempt,
                             .grace = grace});
  record.order_again_at = core.now + kOrderRepeat;
}

/// What its process was ordered under. A task beside the training (evaluator, tensorboard, sidecar)
/// may have come into another container since the epoch began: none of its peers asks for it, but
/// it needs its own address.
SpecRef ProcessControl::SpecFor(TaskIndex task) const {
  const AmCore& core = parts_.core;
  const TaskRecord& record = core.tasks.record(task);
  const TaskSnapshot& shown = core.tasks.shown(task);
  const ClusterSpec* spec = record.process_spec.get();
  if (record.training || spec == nullptr) return record.process_spec;
  const auto type = spec->tasks.find(shown.task.type);
  const auto index = static_cast<std::size_t>(shown.task.index);
  if (type == spec->tasks.end() || index >= type->second.size() ||
      type->second[index] == shown.address)
    return record.process_spec;
  TF_PROBE("processes/own-address-is-newer");
  ClusterSpec own = *spec;
  own.tasks[shown.task.type][index] = shown.address;
  return Share(std::move(own));
}

}  // namespace tfyarn::am
