// Random numbers for machines: a named stream of a counter-based generator.
//
// Keyed by (seed, stream name), so that another stream's draws, or another machine's, never shift
// these. Every draw is an integer; durations are whole microseconds. Generator: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), from Random123.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/time.h"

namespace tfyarn {

class RandomStream {
 public:
  /// Two streams of equal seed and name give the same numbers.
  RandomStream(std::uint64_t seed, std::string_view name);

  [[nodiscard]] std::uint64_t Next();
  /// Uniform in [0, bound); bound > 0.
  [[nodiscard]] std::uint64_t Below(std::uint64_t bound);
  /// Uniform in [low, high], in steps of a microsecond above `low`; low <= high.
  [[nodiscard]] Duration Between(Duration low, Duration high);

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
};

}  // namespace tfyarn
