// Where the time of a job goes, from its submission to its end: every moment is in exactly one
// stage, so the stages of a job sum to its completion time, to the nanosecond.
//
// It is about the job as its user sees it, one line through time. What its containers held
// meanwhile is gpu_account.h's business. The stages follow from what the job's machines say (its AM
// registered, its gang is complete, its state) and from what its training does (workload model).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/am.h"
#include "core/model/time.h"
#include "core/trace/record.h"

namespace tfyarn::trace {

enum class JobStage {
  kQueued,       ///< No AM has registered (for this application).
  kGang,         ///< The AM waits for the rest of the gang.
  kLocalizing,   ///< The gang is complete, and some container of it runs no agent yet.
  kRegistering,  ///< Every container runs; addresses, the spec and the processes' start.
  kRunning,   ///< Processes run, and no training has begun: rendezvous, or tasks that do not train.
  kTraining,  ///< Training whose result was kept.
  kCheckpoint,  ///< Training stands still to write one.
  kLost,        ///< Training whose result was lost later.
  kRestart,     ///< Training had begun and stands still: detection, reallocation, start.
  kRestore,     ///< Reading a checkpoint.
  kEnding,      ///< The verdict is reached, or training is done: draining, stopping, the last word.
};
BOOST_DESCRIBE_ENUM(JobStage, kQueued, kGang, kLocalizing, kRegistering, kRunning, kTraining,
                    kCheckpoint, kLost, kRestart, kRestore, kEnding)
inline constexpr std::size_t kJobStages = 11;

/// Time by stage.
using StageTimes = std::array<Duration, kJobStages>;

class JobClock {
 public:
  explicit JobClock(Instant submitted) : since_(submitted) {}

  // What the stage follows from. Each takes effect now; time never goes back.
  void Resubmitted(Instant now);
  void AmRegistered(Instant now);
  void GangComplete(Instant now, std::int32_t containers);
  void GangIncomplete(Instant now);
  /// Containers of the job, its AMs' not among them, that run an agent.
  void Launched(Instant now, std::int32_t change);
  void StateChanged(Instant now, JobState state);
  void Trains(Instant now, TrainingPhase phase);
  void Deciding(Instant now);
  /// Of the training so far this much was in vain; never more than there was.
  void Lost(Instant now, Duration work);

  [[nodiscard]] JobStage stage() const { return stage_; }
  [[nodiscard]] StageTimes Until(Instant now) const;

 private:
  /// Books the time since the latest change, and finds the stage from now on.
  void Turn(Instant now);
  [[nodiscard]] JobStage Find() const;

  StageTimes times_{};
  Instant since_;
  JobStage stage_ = JobStage::kQueued;
  bool registered_ = false;
  std::int32_t gang_ = 0;  ///< Containers of the gang; 0 while it is incomplete.
  std::int32_t launched_ = 0;
  JobState state_ = JobState::kSubmitted;
  TrainingPhase phase_ = TrainingPhase::kIdle;
  bool trained_ = false;
  bool deciding_ = false;
};

}  // namespace tfyarn::trace
