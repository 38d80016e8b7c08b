// Time as every machine sees it.
//
// An Instant is a point on the host's own clock: simulated time in the simulator, a monotonic clock
// on real hosts. It means nothing to another process, so what outlives a process (the journal)
// stores WallTime instead. Integers only: nanoseconds never lose a tie to rounding.
#pragma once

#include <chrono>
#include <cstdint>

namespace tfyarn {

using namespace std::chrono_literals;

using Duration = std::chrono::nanoseconds;

/// Tag of the host's clock. It has no now(): machines are told the time.
struct HostClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<HostClock>;
  static constexpr bool is_steady = true;
};
using Instant = HostClock::time_point;

/// Tag of the calendar clock, in milliseconds since 1970-01-01 UTC as YARN and HDFS count.
struct CalendarClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<CalendarClock>;
  static constexpr bool is_steady = false;
};
using WallTime = CalendarClock::time_point;
/// Calendar time as exact as an Instant: what a process stores for the next one. Dates are read
/// from WallTime, so the two clocks may differ by a millisecond.
using StoredTime = std::chrono::time_point<CalendarClock, Duration>;

/// What a calendar clock shows at that instant, if it showed `start` when the host began.
[[nodiscard]] inline WallTime CalendarAt(Instant at, WallTime start = {}) {
  return start + std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch());
}

/// Later than everything that happens; never added to.
inline constexpr Instant kNever = Instant::max();

/// In seconds, for people and documents. Of an instant: since the host began.
[[nodiscard]] inline double SecondsOf(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}
[[nodiscard]] inline double SecondsOf(Instant at) {
  return SecondsOf(at.time_since_epoch());
}

}  // namespace tfyarn
