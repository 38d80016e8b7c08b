#include "core/trace/job_clock.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::trace {
namespace {

std::size_t At(JobStage stage) {
  return static_cast<std::size_t>(stage);
}

}  // namespace

void JobClock::Resubmitted(Instant now) {
  registered_ = false;
  gang_ = 0;
  deciding_ = false;
  state_ = JobState::kSubmitted;
  Turn(now);
}

void JobClock::AmRegistered(Instant now) {
  registered_ = true;
  Turn(now);
}

void JobClock::GangComplete(Instant now, std::int32_t containers) {
  gang_ = containers;
  Turn(now);
}

void JobClock::GangIncomplete(Instant now) {
  gang_ = 0;
  Turn(now);
}

void JobClock::Launched(Instant now, std::int32_t change) {
  launched_ += change;
  TF_CHECK(launched_ >= 0);
  Turn(now);
}

void JobClock::StateChanged(Instant now, JobState state) {
  state_ = state;
  if (state == JobState::kAllocating) gang_ = 0;
  Turn(now);
}

void JobClock::Trains(Instant now, TrainingPhase phase) {
  phase_ = phase;
  trained_ = trained_ || phase == TrainingPhase::kTraining;
  Turn(now);
}

void JobClock::Deciding(Instant now) {
  deciding_ = true;
  Turn(now);
}

void JobClock::Lost(Instant now, Duration work) {
  Turn(now);
  const Duration moved = std::min(work, times_[At(JobStage::kTraining)]);
  times_[At(JobStage::kTraining)] -= moved;
  times_[At(JobStage::kLost)] += moved;
}

StageTimes JobClock::Until(Instant now) const {
  StageTimes times = times_;
  times[At(stage_)] += now - since_;
  return times;
}

void JobClock::Turn(Instant now) {
  TF_CHECK(now >= since_);
  times_[At(stage_)] += now - since_;
  since_ = now;
  stage_ = Find();
}

JobStage JobClock::Find() const {
  switch (phase_) {
    case TrainingPhase::kRestore:
      return JobStage::kRestore;
    case TrainingPhase::kTraining:
      return JobStage::kTraining;
    case TrainingPhase::kCheckpoint:
      return JobStage::kCheckpoint;
    case TrainingPhase::kDone:
      return JobStage::kEnding;
    case TrainingPhase::kIdle:
      break;
  }
  if (deciding_) return JobStage::kEnding;
  if (trained_) return JobStage::kRestart;
  if (!registered_) return JobStage::kQueued;
  switch (state_) {
    case JobState::kSubmitted:
    case JobState::kAllocating:
    case JobState::kLaunching:
    case JobState::kRegistering:
      if (gang_ == 0) return JobStage::kGang;
      return launched_ < gang_ ? JobStage::kLocalizing : JobStage::kRegistering;
    case JobState::kRunning:
      return JobStage::kRunning;
    case JobState::kDraining:
    case JobState::kFinished:
      return JobStage::kEnding;
  }
  CheckFailed(__FILE__, __LINE__, "a job's state");
}

}  // namespace tfyarn::trace
