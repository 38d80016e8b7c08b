// The clock of one training: how much work is done, saved and at risk, while sessions begin, pause,
// slow down and break.
//
// Work is measured in time of undisturbed training. A session trains `every` so much work, then
// stands still for the cost of a checkpoint, and so on to the end, where the last result counts as
// saved. A session that is not the first begins by standing still for `restore` (also when nothing
// was saved: the program starts from scratch then, which takes time too). Nothing is stepped: any
// stretch of time is taken in one calculation, however many checkpoints lie in it.
//
// Every nanosecond between Begin and Break, pauses aside, goes to exactly one account of TimeSplit,
// once as it is and once times the GPUs that take part. What was trained since the last finished
// checkpoint is undecided until a checkpoint makes it useful or Break makes it lost. So the sums
// are exact, and no checkpoint needs an event to be counted.
#pragma once

#include <cstdint>
#include <optional>

#include "config/scenario.h"
#include "core/model/time.h"
#include "core/trace/record.h"

namespace tfyarn::sim {

/// Nanoseconds, or GPUs times nanoseconds: ten thousand GPUs for a year do not fit in 64 bits.
__extension__ using WideTime = __int128;

/// Where the time of sessions went.
struct TimeSplit {
  WideTime useful = 0;
  WideTime checkpoint = 0;
  WideTime restore = 0;
  WideTime lost = 0;

  [[nodiscard]] WideTime sum() const { return useful + checkpoint + restore + lost; }
  TimeSplit& operator+=(const TimeSplit& other);
  friend bool operator==(const TimeSplit&, const TimeSplit&) = default;
};

struct TrainingAccount {
  TimeSplit wall;
  TimeSplit gpu;

  TrainingAccount& operator+=(const TrainingAccount& other);
  friend bool operator==(const TrainingAccount&, const TrainingAccount&) = default;
};

class TrainingRun {
 public:
  /// `total` >= 0: nothing to do means done as soon as a session has begun (and restored).
  TrainingRun(Duration total, const config::CheckpointSpec& checkpoint, Duration restore);

  /// A session begins; there must be none.
  void Begin(Instant now);
  /// Stands still without losing anything, and goes on. Idempotent; only in a session.
  void Pause(Instant now);
  void Resume(Instant now);
  /// 1000 = full speed, 2000 = every step takes twice as long. Checkpoints and restoring keep their
  /// time.
  void SetPace(Instant now, std::int32_t pace_permille);
  /// So many GPUs take part from now on.
  void SetGpus(Instant now, std::int64_t gpus);
  /// A checkpoint out of turn begins and stays unfinished until FinishSaving. No effect while
  /// restoring or done.
  void StartSaving(Instant now);
  void FinishSaving(Instant now);
  /// The session ends. Returns the training time since the last finished checkpoint, which is lost.
  Duration Break(Instant now);

  /// Takes the time up to `now` into account; `now` never goes back.
  void Advance(Instant now);

  /// Of the session: kIdle when there is none or it is paused, else what it does as of the last
  /// Advance.
  [[nodiscard]] trace::TrainingPhase phase() const;
  [[nodiscard]] bool in_session() const { return in_session_; }
  [[nodiscard]] bool done() const { return in_session_ && inner_ == trace::TrainingPhase::kDone; }
  /// When the phase changes next by itself; nullopt when it does not.
  [[nodiscard]] std::optional<Instant> next_change() const;
  /// When it will be done if nothing happens; nullopt when paused, saving, done or in no session.
  [[nodiscard]] std::optional<Instant> done_at() const;
  /// Work done as of the last Advance.
  [[nodiscard]] Duration work() const { return work_; }
  /// What was decided since the last call. `settle`: the undecided time counts as useful from now
  /// on.
  [[nodiscard]] TrainingAccount TakeAccount(bool settle);

 private:
  void Book(WideTime TimeSplit::*account, Duration time);
  void KeepAtRisk();
  void Train(Duration& left);
  void SkipWholeCycles(Duration& left);
  void FinishCheckpoint();
  void EnterTraining();
  void Rebase();
  /// Training time until NextStop.
  [[nodiscard]] Duration WallToStop() const { return WallOf(NextStop() - base_) - since_base_; }
  /// Work at which training stops next: for a checkpoint or for good.
  [[nodiscard]] Duration NextStop() const;
  [[nodiscard]] Duration WallOf(Duration work) const;

  Duration total_;
  Duration every_;  // kLongestDraw = never.
  Duration cost_;
  Duration restore_;
  Duration work_{};
  // Work is counted from base_ on, where the pace changed or training last stopped: so the sum of
  // many short advances is that of one long one, to the nanosecond, at every pace.
  Duration base_{};
  Duration since_base_{};     // Training time since base_.
  Duration saved_{};          // Of work_, what survives a Break.
  Duration at_risk_{};        // Training time behind work_ - saved_ ...
  WideTime at_risk_gpu_ = 0;  // ... and times the GPUs.
  Duration left_{};           // Of a restore or checkpoint under way.
  Instant at_{};
  std::int32_t pace_ = 1000;
  trace::TrainingPhase inner_ =
      trace::TrainingPhase::kIdle;  // What the session does, or would if not paused.
  bool in_session_ = false;
  bool paused_ = false;
  bool saving_ = false;
  bool began_before_ = false;
  std::int64_t gpus_ = 0;
  TrainingAccount account_;
};

}  // namespace tfyarn::sim
