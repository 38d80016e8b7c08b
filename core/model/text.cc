#include "core/model/text.h"

#include <fmt/format.h>

#include <array>

namespace tfyarn {

std::string ToString(Duration d) {
  if (d == Duration::zero()) return "0s";
  std::string out;
  if (d < Duration::zero()) out += '-';
  // Unsigned, as the least Duration has no positive counterpart.
  const auto count = static_cast<std::uint64_t>(d.count());
  std::uint64_t rest = d < Duration::zero() ? 0 - count : count;
  struct Unit {
    std::uint64_t ns;
    const char* name;
  };
  constexpr std::array<Unit, 3> kLarge{
      {{86'400'000'000'000, "d"}, {3'600'000'000'000, "h"}, {60'000'000'000, "m"}}};
  for (const Unit& unit : kLarge) {
    if (rest >= unit.ns) {
      out += fmt::format("{}{}", rest / unit.ns, unit.name);
      rest %= unit.ns;
    }
  }
  if (rest == 0) return out;
  constexpr std::array<Unit, 4> kSmall{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  for (const Unit& unit : kSmall) {
    if (rest < unit.ns) continue;
    std::string number = fmt::format("{}", rest / unit.ns);
    if (rest % unit.ns != 0) {
      std::string fraction = fmt::format("{}", unit.ns + rest % unit.ns).substr(1);
      fraction.erase(fraction.find_last_not_of('0') + 1);
      number += '.' + fraction;
    }
    return out + number + unit.name;
  }
  return out;
}

std::string ToString(Instant t) {
  return fmt::format("t={:.6f}s", SecondsOf(t));
}

}  // namespace tfyarn
