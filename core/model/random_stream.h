// Random numbers that do not depend on who else draws: named streams of a counter-based generator.
//
// A stream is keyed by (seed, name, entity): "latency" of sender 7 draws the same numbers however
// many other senders there are, and whatever they draw. The n-th number of a stream is a pure
// function of key and n, so a stream is a small value that can be copied and made again. Every draw
// is an integer; durations are whole microseconds. Laws over real numbers are sim/random.h's.
// Generator: Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
// from Random123.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/time.h"

namespace tfyarn {

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
  /// The stream `name` of `entity` (a node, a sender, a job) under `seed`, at its beginning. Two
  /// streams of equal seed, name and entity give the same numbers.
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t entity = 0);

  /// 64 equally likely bits.
  [[nodiscard]] std::uint64_t Next();
  /// Uniform in [0, bound), without bias; bound > 0.
  [[nodiscard]] std::uint64_t Below(std::uint64_t bound);
  /// Uniform in [low, high], in steps of a microsecond above `low`; low <= high.
  [[nodiscard]] Duration Between(Duration low, Duration high);

 private:
  std::array<std::uint64_t, 2> key_;
  std::uint64_t entity_;
  std::uint64_t block_ = 0;               // Number of the next block of four.
  std::array<std::uint64_t, 4> words_{};  // The block before it.
  std::uint32_t used_ = 4;                // How many of words_ are given out.
};

}  // namespace tfyarn
