// Where the GPU time of a job goes: an integral over what its containers hold, split by what its
// training does.
//
// Every moment at which a container holds GPUs belongs to exactly one of five accounts:
//   useful      training whose result was kept             (TrainingAccounted)
//   checkpoint  training stands still to write one         (TrainingAccounted)
//   lost        training whose result was lost later       (TrainingAccounted)
//   recovery    restoring (TrainingAccounted), and being idle once training has begun: detection,
//   reallocation, restart waiting     everything else: gang, launch, rendezvous, tasks that do not
//   train, draining
// `waiting` is what remains, so the five sum exactly to the time held. One exception is possible: a
// process that the RM has already written off may train on where no AM can reach it. What was
// trained beyond the books is `overrun`, and the five sum to held + overrun.
#pragma once

#include <cstdint>

#include "core/model/time.h"
#include "core/trace/record.h"

namespace tfyarn::trace {

/// GPUs times nanoseconds: a thousand GPUs for a year do not fit in 64 bits.
__extension__ using GpuNanos = __int128;

[[nodiscard]] inline double ToSeconds(GpuNanos amount) {
  return static_cast<double>(amount) / 1e9;
}

struct GpuSplit {
  GpuNanos useful = 0;
  GpuNanos waiting = 0;
  GpuNanos checkpoint = 0;
  GpuNanos lost = 0;
  GpuNanos recovery = 0;
  GpuNanos held = 0;     ///< From the RM's books.
  GpuNanos overrun = 0;  ///< Nearly always 0.

  /// Equals held + overrun.
  [[nodiscard]] GpuNanos sum() const { return useful + waiting + checkpoint + lost + recovery; }
  GpuSplit& operator+=(const GpuSplit& other);
  friend bool operator==(const GpuSplit&, const GpuSplit&) = default;
};

/// One job's account. Time never goes back.
class GpuAccount {
 public:
  /// The job's containers hold `change` GPUs more (or fewer) from now on.
  void Hold(Instant now, std::int64_t change);
  /// Training does this from now on.
  void Enter(Instant now, TrainingPhase phase);
  void Add(const TrainingAccounted& account);

  [[nodiscard]] std::int64_t held() const { return held_; }
  [[nodiscard]] GpuSplit split(Instant now) const;

 private:
  void Advance(Instant now);

  GpuSplit split_;  // without what follows from the rest: waiting, overrun
  Instant at_{};
  std::int64_t held_ = 0;
  TrainingPhase phase_ = TrainingPhase::kIdle;
  bool trained_ = false;
};

}  // namespace tfyarn::trace
