// Draws of the simulator: laws over one stream of core/model's generator.
//
// No std::*_distribution: their results differ between libraries. The laws are written out in
// random.cc over IEEE double arithmetic and libm's log, exp, pow and cos; what may differ in the
// last bit is rounded away before it reaches an event.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/distribution.h"
#include "core/model/random_stream.h"
#include "core/model/time.h"

namespace tfyarn::sim {

/// No draw is longer: an Instant of a run plus two such draws cannot overflow.
inline constexpr Duration kLongestDraw = 24h * 365 * 100;

class Random {
 public:
  /// The stream `name` of `entity` (a node, a sender, a job) under `seed`, at its beginning.
  Random(std::uint64_t seed, std::string_view name, std::uint64_t entity = 0)
      : bits_(seed, name, entity) {}

  /// The same stream, which draws a duration whose law is a constant too: between half and one and
  /// a half of it. For futures that shall differ where the scenario leaves nothing to chance.
  [[nodiscard]] Random Shaking() const;

  /// 64 equally likely bits.
  std::uint64_t Next() { return bits_.Next(); }
  /// In [0, 1), a multiple of 2^-53.
  double Uniform01();
  /// In [0, n), without bias; n >= 1.
  std::uint64_t UniformInt(std::uint64_t n) { return bits_.Below(n); }
  /// True with `probability`; 0 (or less) is never, 1 (or more) is always, and neither draws.
  bool Chance(double probability);

  /// One number by the law, in the unit of the field that holds it. A constant draws nothing.
  double Draw(const config::Distribution& law);
  /// A draw of seconds, rounded to whole microseconds; within [0, kLongestDraw], an impossible
  /// number (NaN) is 0.
  Duration DrawDuration(const config::Distribution& seconds);
  /// A draw rounded to a whole number; within [0, 2^53].
  std::int64_t DrawCount(const config::Distribution& law);

 private:
  /// In (0, 1]: safe for log.
  double UniformPositive();
  /// Mean 0, deviation 1. Uses two numbers, always.
  double Normal();
  double Gamma(double shape);
  double Zipf(double ranks, double exponent);

  RandomStream bits_;
  bool shakes_ = false;
};

/// Seconds as a scenario gives them, as a Duration: rounded to whole microseconds, within [0,
/// kLongestDraw].
[[nodiscard]] Duration SecondsToDuration(double seconds);

}  // namespace tfyarn::sim
