// The calendar's time, for what daemons tell people.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/model/time.h"

namespace tfyarn::fakes {

[[nodiscard]] inline WallTime WallNow() {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::system_clock::now().time_since_epoch()));
}

/// Since 1970.
[[nodiscard]] inline std::int64_t WallMilliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(WallNow().time_since_epoch())
      .count();
}

}  // namespace tfyarn::fakes
