#include "core/am/reconcile/ending.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/am/am_parts.h"
#include "core/model/probe.h"

namespace tfyarn::am {

void Ending::Begin(const VerdictReached& verdict, Instant decided, JournalSeq entry) {
  AmCore& core = parts_.core;
  stage_ = Stage::kDraining;
  verdict_ = verdict;
  entry_ = entry;
  core.agents_until = kNever;
  core.allocation.CancelAll();
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    core.tasks.SetStart(task, StartMode::kNone);
    const TaskRecord& record = core.tasks.record(task);
    if (record.agent == AgentPhase::kNone) continue;
    if (record.agent == AgentPhase::kGranted) {
      TF_PROBE("finish/granted-when-it-ends");
      parts_.leaving.Release(task);
      continue;
    }
    const TaskClass task_class = core.tasks.shown(task).task_class;
    const bool later = task_class == TaskClass::kService || task_class == TaskClass::kSidecar;
    if (verdict_.status != JobStatus::kSucceeded || !core.tasks.ProcessAlive(task)) {
      EndTask(task);
    } else if (const Duration drain = DrainOf(task); drain > Duration::zero()) {
      core.tasks.mutable_record(task).drain_until = std::max(core.now, decided + drain);
    } else if (!later) {
      EndTask(task);
    }
  }
}

Duration Ending::DrainOf(TaskIndex task) const {
  const auto& drain = parts_.core.job->finish.drain;
  const auto entry = drain.find(parts_.core.tasks.id(task).type);
  return entry == drain.end() ? Duration::zero() : entry->second;
}

void Ending::OnDrained(TaskIndex task) {
  TF_PROBE("finish/drain-is-over");
  parts_.core.tasks.mutable_record(task).drain_until = kNever;
  if (stage_ == Stage::kDraining) EndTask(task);
}

void Ending::EndTask(TaskIndex task) {
  const TaskRecord& record = parts_.core.tasks.record(task);
  if (record.agent == AgentPhase::kNone) return;
  if (parts_.core.tasks.ProcessAlive(task)) {
    parts_.processes.Stop(task);
  } else if (record.agent == AgentPhase::kUp) {
    parts_.leaving.EndAgent(task, entry_);
  } else {
    parts_.leaving.Stop(task);
  }
}

void Ending::OnProcessEnded(TaskIndex task) {
  if (stage_ == Stage::kDraining) EndTask(task);
}

void Ending::EndClass(TaskClass task_class) {
  const AmCore& core = parts_.core;
  for (std::uint32_t i = 0; i < core.tasks.size(); ++i) {
    const TaskIndex task(i);
    const bool drains =
        core.tasks.ProcessAlive(task) && core.tasks.record(task).drain_until != kNever;
    if (core.tasks.shown(task).task_class == task_class && !drains) EndTask(task);
  }
}

void Ending::Advance() {
  AmCore& core = parts_.core;
  if (stage_ != Stage::kDraining) return;
  if (!services_ended_ && core.tasks.AliveOf(TaskClass::kTracked) == 0) {
    services_ended_ = true;
    EndClass(TaskClass::kService);
  }
  if (!sidecars_ended_ && services_ended_ && core.tasks.AliveOf(TaskClass::kDrained) == 0) {
    sidecars_ended_ = true;
    EndClass(TaskClass::kSidecar);
  }
  if (!EverythingGone() || !core.allocation.everything_told()) return;
  stage_ = Stage::kUnregistering;
  core.allocation.Finish(verdict_.status, verdict_.diagnostics);
}

bool Ending::EverythingGone() const {
  const AmCore& core = parts_.core;
  return core.tasks.containers() == 0 && parts_.leaving.all_empty();
}

void Ending::OnUnregistered() {
  AmCore& core = parts_.core;
  if (stage_ != Stage::kUnregistering) return;
  stage_ = Stage::kDone;
  core.Enter(JobState::kFinished);
  core.snapshot.waiting_for.clear();
  core.stopped = true;
  core.Emit(ExitAm{.code = 0});
}

std::string Ending::WaitingFor() const {
  const AmCore& core = parts_.core;
  switch (stage_) {
    case Stage::kNone:
    case Stage::kDone:
      return "";
    case Stage::kDraining:
      return fmt::format(
          "{} containers to end",
          core.tasks.containers() + static_cast<std::int32_t>(parts_.leaving.size()));
    case Stage::kUnregistering:
      return "the ResourceManager to confirm the final status";
  }
  return "";
}

}  // namespace tfyarn::am
