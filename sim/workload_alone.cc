// Tasks that train alone (strategy independent, rows with `runs`), what ends after training, and
// progress as `watch` sees it.
#include <algorithm>
#include <utility>

#include "sim/workload.h"

namespace tfyarn::sim {

using trace::TrainingPhase;

void JobWorkload::StartAlone(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  if (process.script.runs) {
    process.run = std::make_unique<TrainingRun>(*process.script.runs, config::CheckpointSpec{},
                                                Duration::zero());
  } else if (auto parked = parked_.find(process.ordinal); parked != parked_.end()) {
    process.run = std::move(parked->second);
    parked_.erase(parked);
  } else {
    process.run = std::make_unique<TrainingRun>(total_work_, job_->training.checkpoint,
                                                job_->training.restore);
  }
  process.run->Begin(now);
  process.run->SetPace(now, process.is.pace_permille);
  process.run->SetGpus(now, process.gpus);
  process.steps_seen = StepsOf(*process.run);
  if (progress_every_ > Duration::zero()) process.progress_at = now + progress_every_;
  AdvanceAlone(now, slot, out);
}

void JobWorkload::AdvanceAlone(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  if (!process.run->in_session()) return;
  process.run->Advance(now);
  if (process.progress_at <= now) {
    process.progress_at = now + progress_every_;
    if (std::exchange(process.steps_seen, StepsOf(*process.run)) != StepsOf(*process.run))
      ShowProgress(slot, out);
  }
  CountAlone(process);
  const bool done = process.run->done();
  if (done) {
    process.progress_at = kNever;
    if (trains_alone_[process.ordinal]) alone_done_.insert(process.ordinal);
  }
  UpdatePhase(out);
  const bool ends = process.script.runs || process.script.ends_when_done;
  if (done && ends && !process.winding) {
    // Work alone ends as the row says, by a signal too; training that is done ends by an exit.
    const bool as_row_says = process.script.runs && !process.script.event_after;
    EndsAt(slot, {.at = now,
                  .exit = as_row_says ? process.script.exit
                                      : ProcessExit{.code = process.script.done_exit}});
  }
  if (done && !has_team_ && AloneDone()) TrainingDone(now);
}

void JobWorkload::BreakAlone(Instant now, std::uint32_t slot, Out& out) {
  Process& process = processes_[slot];
  if (process.run->in_session()) {
    const Duration lost = process.run->Break(now);
    if (lost > Duration::zero()) out.push_back(WorkIsLost{.work = lost});
  }
  CountAlone(process);
  TellAccount(process.run->TakeAccount(false), out);
  if (!process.script.runs) parked_[process.ordinal] = std::move(process.run);
  process.run.reset();
}

/// Keeps the number of lone trainings in each phase.
void JobWorkload::CountAlone(Process& process) {
  const TrainingPhase phase = process.run->phase();
  const bool is_training = process.role != TaskRole::kServer &&
                           process.role != TaskRole::kEvaluator &&
                           process.role != TaskRole::kSidecar;
  if (phase == process.counted || !is_training) return;
  --alone_in_phase_[static_cast<std::size_t>(process.counted)];
  ++alone_in_phase_[static_cast<std::size_t>(phase)];
  process.counted = phase;
}

/// Ends who waits for the end of training without taking part: evaluators.
void JobWorkload::TrainingDone(Instant now) {
  if (training_done_) return;
  training_done_ = true;
  for (std::uint32_t slot = 0; slot < processes_.size(); ++slot) {
    const Process& process = processes_[slot];
    if (!process.alive || !process.started || process.winding || !process.script.ends_when_done)
      continue;
    if (process.run != nullptr || InTeam(process)) continue;
    EndsAt(slot, {.at = now + kEvaluatorAfter, .exit = {.code = process.script.done_exit}});
  }
}

std::int64_t JobWorkload::StepsOf(const TrainingRun& run) const {
  return run.work() / std::max(step_time_, Duration(1));
}

void JobWorkload::ShowProgress(std::uint32_t slot, Out& out) const {
  out.push_back(ProgressIsSeen{.container = processes_[slot].is.container,
                               .attempt = processes_[slot].is.process.attempt});
}

}  // namespace tfyarn::sim
