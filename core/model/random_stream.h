// Random numbers for machines: a named stream of a counter-based generator.
//
// Keyed by (seed, stream name), so that another stream's draws, or another machine's, never shift
// these. Every draw is an integer; durations are whole microseconds. Generator: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), from Random123. The simulator's
// own draws are sim/random.h's.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/check.h"
#include "core/model/time.h"

namespace tfyarn {

/// Uniform in [0, bound) from a function that draws 64 equally likely bits; bound > 0.
template <class DrawBits>
[[nodiscard]] std::uint64_t UniformBelow(std::uint64_t bound, DrawBits&& draw_bits) {
  TF_CHECK(bound > 0);
  // The last, incomplete block of `bound` numbers is drawn again, so that every number is equally
  // likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  while (true) {
    const std::uint64_t drawn = draw_bits();
    if (drawn < limit) return drawn % bound;
  }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators"): every bit of `x` reaches every bit of the result, and no two x give the same. For
/// numbers that belong to a key and are drawn in no order.
[[nodiscard]] constexpr std::uint64_t MixBits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
/// SplitMix64 adds it to a key before each round of MixBits.
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15ULL;

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
