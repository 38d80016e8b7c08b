// The clocks of real hosts. Only code that owns the world reads them; machines are told the time.
#pragma once

#include <chrono>

#include "core/model/time.h"

namespace tfyarn::hosts {

/// Monotonic time. All processes of one machine share its zero, so that their records of one run
/// can be put in order.
[[nodiscard]] inline Instant Now() {
  return Instant(std::chrono::steady_clock::now().time_since_epoch());
}

[[nodiscard]] inline WallTime WallNow() {
  return WallTime(std::chrono::duration_cast<CalendarClock::duration>(
      std::chrono::system_clock::now().time_since_epoch()));
}

}  // namespace tfyarn::hosts
