// What the cluster's capacity was used for over time: an exact integral, and a series of bounded
// length for a picture.
//
// The unit is the GPU when the cluster has any, otherwise the virtual core. Every unit is at every
// moment in exactly one use. The series starts with fine buckets and, when it would grow past its
// bound, merges them in pairs: a run of any length costs the same memory, and no value is ever
// estimated.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/describe.h"
#include "core/model/time.h"
#include "core/trace/gpu_account.h"

namespace tfyarn::trace {

enum class Use {
  kTraining,    ///< Held by a job that trains.
  kOverhead,    ///< Held by a job whose gang is complete and that does not train.
  kIncomplete,  ///< Held by a job that still waits for the rest of its gang.
  kFree,
  kDown,  ///< Of a node that is off, whatever the RM's books say of it.
};
BOOST_DESCRIBE_ENUM(Use, kTraining, kOverhead, kIncomplete, kFree, kDown)
inline constexpr std::size_t kUses = 5;

/// Units times nanoseconds by use.
using UseIntegral = std::array<GpuNanos, kUses>;

class UsageSeries {
 public:
  static constexpr std::size_t kMaxPoints = 2000;

  /// `width`: of each bucket; the last one may be cut short by the end.
  struct Points {
    Duration width{};
    Instant end{};
    bool gpus = true;  ///< False: the unit is the virtual core.
    std::vector<UseIntegral> buckets;
  };

  /// From now on `units` more (or fewer) are in that use.
  void Change(Instant now, Use use, std::int64_t units);
  /// From now on `units` of one use are in another.
  void Move(Instant now, Use from, Use to, std::int64_t units);

  /// The integral from the start to `now`, which is not before the latest change.
  [[nodiscard]] UseIntegral Until(Instant now);
  [[nodiscard]] std::int64_t level(Use use) const { return levels_[static_cast<std::size_t>(use)]; }
  [[nodiscard]] Points TakePoints(Instant now);

 private:
  void Advance(Instant now);
  void Fold();

  std::array<std::int64_t, kUses> levels_{};
  UseIntegral total_{};
  Instant at_{};
  Duration width_ = std::chrono::milliseconds(100);
  std::vector<UseIntegral> buckets_;
};

}  // namespace tfyarn::trace
