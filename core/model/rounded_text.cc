#include "core/model/rounded_text.h"

#include <cstdint>

#include "core/model/text.h"

namespace tfyarn {

std::string RoundedText(Duration duration) {
  const auto count = static_cast<std::uint64_t>(duration.count());
  const bool negative = duration < Duration::zero();
  const std::uint64_t size = negative ? 0 - count : count;
  const auto is_below = [&](Duration limit) {
    return size < static_cast<std::uint64_t>(limit.count());
  };
  const Duration unit = is_below(1s) ? 1ms : is_below(10s) ? 100ms : is_below(1h) ? 1s : 60s;
  const auto step = static_cast<std::uint64_t>(unit.count());
  // The largest duration is no multiple of its unit: it may only be rounded down.
  const std::uint64_t most = static_cast<std::uint64_t>(Duration::max().count()) / step;
  const std::uint64_t steps = size / step;
  const std::uint64_t rounded = steps < most && size % step >= step / 2 ? steps + 1 : steps;
  const auto whole = Duration(static_cast<std::int64_t>(rounded * step));
  return ToString(negative ? -whole : whole);
}

}  // namespace tfyarn
