#include "core/am/process_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/am/am_parts.h"
#include "core/model/check.h"
#include "core/model/probe.h"

namespace tfyarn::am {

void ProcessControl::Start(TaskIndex task) {
  AmCore& core = parts_.core;
  const bool alone = core.tasks.record(task).start == StartMode::kAlone;
  const ProcessRef process = core.tasks.BeginProcess(core.now, task, core.epoch_in_force());
  // A container that was lost before has an account under the number of this process.
  if (const auto end = core.ends.find(task);
      end != core.ends.end() && end->second.process == process)
    core.ends.erase(end);
  core.tasks.mutable_record(task).process_spec = core.spec;
  SendStart(task);
  TaskRecord& record = core.tasks.mutable_record(task);
  record.order_again_at = core.now + kOrderRepeat;
  if (alone) record.start_by = core.now + core.job->deadlines.start;
}

void ProcessControl::Stop(TaskIndex task, Duration grace) {
  AmCore& core = parts_.core;
  TF_CHECK(core.tasks.ProcessAlive(task));
  // What an earlier attempt stopped is not watched before its agent has found this one.
  const bool told = core.tasks.record(task).process == ProcessPhase::kStopping &&
                    (core.tasks.record(task).stop_overdue_at != kNever || IsHeld(task));
  if (told && GraceOf(task) <= grace) return;
  const bool in_this_step = std::find(stopped_.begin(), stopped_.end(), task) != stopped_.end();
  if (!told) said_.erase(task);
  if (told && !in_this_step && !IsHeld(task)) said_[task] = GraceOf(task);
  core.tasks.mutable_record(task).stop_grace = grace;
  core.tasks.SetProcess(task, ProcessPhase::kStopping);
  core.out.EmitDecided(StopOrder(task, grace));
  core.tasks.mutable_record(task).order_again_at = core.now + kOrderRepeat;
  WatchStop(task);
  stopped_.push_back(task);
}

/// Until the entry is durable the order is not on its way: nothing is overdue, and only an order of
/// before, with more time, is repeated.
void ProcessControl::RestOn(JournalSeq entry) {
  AmCore& core = parts_.core;
  for (const TaskIndex task : std::exchange(stopped_, {})) {
    if (entry.value == 0 || core.tasks.record(task).process != ProcessPhase::kStopping) {
      said_.erase(task);
      continue;
    }
    TaskRecord& record = core.tasks.mutable_record(task);
    if (!said_.contains(task)) record.order_again_at = kNever;
    record.stop_overdue_at = kNever;
    held_.push_back({entry, task, core.tasks.ProcessOf(task).attempt, GraceOf(task)});
    rests_on_[task] = entry;
  }
}

bool ProcessControl::IsHeld(TaskIndex task) const {
  const auto entry = rests_on_.find(task);
  return entry != rests_on_.end() && !parts_.core.out.IsDurable(entry->second);
}

void ProcessControl::OnDurable() {
  AmCore& core = parts_.core;
  while (!held_.empty() && core.out.IsDurable(held_.front().entry)) {
    const HeldStop stop = held_.front();
    held_.pop_front();
    const auto latest = rests_on_.find(stop.task);
    if (latest != rests_on_.end() && core.out.IsDurable(latest->second)) rests_on_.erase(latest);
    const bool same = core.tasks.record(stop.task).process == ProcessPhase::kStopping &&
                      core.tasks.ProcessOf(stop.task).attempt == stop.attempt;
    if (!same) continue;
    core.tasks.mutable_record(stop.task).order_again_at = core.now + kOrderRepeat;
    if (IsHeld(stop.task)) {
      said_[stop.task] = stop.grace;
      continue;
    }
    said_.erase(stop.task);
    WatchStop(stop.task);
  }
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
  return parts_.core.tasks.record(task).stop_grace.value_or(parts_.core.job->deadlines.stop);
}

/// In the order that is out.
Duration ProcessControl::GraceSaid(TaskIndex task) const {
  const auto said = said_.find(task);
  if (said == said_.end()) return GraceOf(task);
  TF_PROBE("processes/order-of-before-repeated");
  return said->second;
}

/// An agent of an earlier AM attempt hears of it only when it has found this one.
void ProcessControl::WatchStop(TaskIndex task) {
  AmCore& core = parts_.core;
  const bool looks = core.tasks.record(task).agent != AgentPhase::kUp && !core.finishing;
  const Instant hears = looks ? std::max(core.now, core.AgentsLookUntil()) : core.now;
  core.tasks.mutable_record(task).stop_overdue_at = hears + GraceOf(task) + kStopSlack;
}

void ProcessControl::Warn(TaskIndex task) {
  TF_PROBE("processes/warned");
  AmCore& core = parts_.core;
  core.Send(task, WarnProcess{.fence = core.tasks.FenceOf(task),
                              .attempt = core.tasks.shown(task).attempt});
}

void ProcessControl::ShowStacksOfAll() {
  AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    if (core.tasks.record(task).process != ProcessPhase::kRunning) continue;
    core.Send(task, ShowStacks{.fence = core.tasks.FenceOf(task),
                               .attempt = core.tasks.shown(task).attempt});
  }
}

void ProcessControl::Repeat(TaskIndex task) {
  AmCore& core = parts_.core;
  switch (core.tasks.record(task).process) {
    case ProcessPhase::kOrdered:
      SendStart(task);
      break;
    case ProcessPhase::kStopping:
      core.Emit(StopOrder(task, GraceSaid(task)));
      break;
    case ProcessPhase::kNone:
    case ProcessPhase::kRunning:
    case ProcessPhase::kEnded:
      return;
  }
  core.tasks.mutable_record(task).order_again_at = core.now + kOrderRepeat;
}

void ProcessControl::Resume(TaskIndex task) {
  AmCore& core = parts_.core;
  if (IsHeld(task)) {
    if (said_.contains(task)) Repeat(task);
    return;
  }
  if (core.tasks.record(task).process == ProcessPhase::kStopping) {
    WatchStop(task);
  } else {
    core.tasks.mutable_record(task).start_by = core.now + core.job->deadlines.start;
  }
  Repeat(task);
}

void ProcessControl::OnRunning(TaskIndex task) {
  AmCore& core = parts_.core;
  core.tasks.mutable_record(task).unannounced = false;
  if (core.tasks.record(task).process == ProcessPhase::kOrdered)
    core.tasks.SetProcess(task, ProcessPhase::kRunning);
  core.gates = true;
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
  const ProcessRef process = core.tasks.ProcessOf(task);
  core.Send(task, StartProcess{.fence = core.tasks.FenceOf(task),
                               .process = process,
                               .spec = SpecFor(task),
                               .resume = process.attempt.value > 0});
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

SendToAgent ProcessControl::StopOrder(TaskIndex task, Duration grace) const {
  const AmCore& core = parts_.core;
  return {.container = core.tasks.shown(task).container,
          .message = StopProcess{.fence = core.tasks.FenceOf(task),
                                 .attempt = core.tasks.shown(task).attempt,
                                 .grace = grace}};
}

}  // namespace tfyarn::am
