#include "explore/draw.h"

#include <algorithm>

namespace tfyarn::explore {

Duration Draw::Time(Duration least, Duration most) {
  // Integers only: the same seed draws the same everywhere.
  std::vector<Duration> magnitudes;
  for (Duration from = 1ms; from <= most; from *= 10) {
    if (from * 10 > least) magnitudes.push_back(from);
  }
  if (magnitudes.empty()) return least;
  const Duration magnitude = Of(magnitudes);
  return std::clamp<Duration>(magnitude * Whole(10, 99) / 10, least, most);
}

}  // namespace tfyarn::explore
