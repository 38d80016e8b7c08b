#include "apps/cli/human.h"

#include <fmt/format.h>

#include <cmath>

namespace tfyarn::cli {

std::string HumanSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds > 0 && seconds < 0.0995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 99.95) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < std::int64_t{24} * 60) return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
  const std::int64_t hours = (minutes + 30) / 60;
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

std::string HumanPercent(double share) {
  const double percent = share * 100;
  return fmt::format("{:.{}f} %", percent, percent != 0 && percent < 9.95 ? 1 : 0);
}

std::string HumanCount(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string Plural(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", HumanCount(count), noun, count == 1 ? "" : "s");
}

}  // namespace tfyarn::cli
