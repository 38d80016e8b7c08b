#include "config/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "config/names.h"

namespace tfyarn::config {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<Unit, 8> kTimeUnits = {{{"w", 604'800'000'000'000},
                                             {"d", 86'400'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"s", 1'000'000'000},
                                             {"ms", 1'000'000},
                                             {"us", 1'000},
                                             {"ns", 1}}};
constexpr std::array<Unit, 5> kByteUnits = {
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}}};
constexpr std::array<Unit, 5> kBandwidthUnits = {{{"Tbps", 1'000'000'000'000},
                                                  {"Gbps", 1'000'000'000},
                                                  {"Mbps", 1'000'000},
                                                  {"Kbps", 1'000},
                                                  {"bps", 1}}};
constexpr std::array<std::pair<std::string_view, std::int32_t>, 14> kSignals = {{{"HUP", 1},
                                                                                 {"INT", 2},
                                                                                 {"QUIT", 3},
                                                                                 {"ILL", 4},
                                                                                 {"TRAP", 5},
                                                                                 {"ABRT", 6},
                                                                                 {"BUS", 7},
                                                                                 {"FPE", 8},
                                                                                 {"KILL", 9},
                                                                                 {"USR1", 10},
                                                                                 {"SEGV", 11},
                                                                                 {"USR2", 12},
                                                                                 {"PIPE", 13},
                                                                                 {"TERM", 15}}};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

tl::unexpected<QuantityError> Bad(std::string problem, std::string suggestion = {}) {
  return tl::unexpected<QuantityError>(
      QuantityError{.problem = std::move(problem), .suggestion = std::move(suggestion)});
}

/// digits [ "." digits ], as written.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  [[nodiscard]] std::size_t size() const {
    return whole.size() + (fraction.empty() ? 0 : fraction.size() + 1);
  }
};

std::optional<Decimal> TakeDecimal(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && IsDigit(text[at])) ++at;
  if (at == 0) return std::nullopt;
  Decimal out{.whole = text.substr(0, at), .fraction = {}};
  if (at + 1 < text.size() && text[at] == '.' && IsDigit(text[at + 1])) {
    std::size_t end = at + 1;
    while (end < text.size() && IsDigit(text[end])) ++end;
    out.fraction = text.substr(at + 1, end - at - 1);
  }
  return out;
}

enum class Exactness { kExact, kTooFine, kTooLarge };

/// number * unit, if it is a whole number that fits.
Exactness Scale(Decimal number, std::int64_t unit, std::int64_t& out) {
  while (!number.fraction.empty() && number.fraction.back() == '0')
    number.fraction.remove_suffix(1);
  std::int64_t whole = 0;
  const auto [end, error] =
      std::from_chars(number.whole.data(), number.whole.data() + number.whole.size(), whole);
  if (error != std::errc() || __builtin_mul_overflow(whole, unit, &out))
    return Exactness::kTooLarge;
  // Digit by digit: unit/10 must stay whole as long as digits remain.
  std::int64_t place = unit;
  std::int64_t rest = 0;  // numerator over 10^k not yet whole
  std::int64_t scale = 1;
  if (number.fraction.size() > 12) return Exactness::kTooFine;
  for (const char digit : number.fraction) {
    if (place % 10 == 0) {
      place /= 10;
      if (__builtin_add_overflow(out, place * (digit - '0'), &out)) return Exactness::kTooLarge;
      continue;
    }
    // place * d / (10 * scale): kept as a fraction whose denominator is scale.
    if (scale > 1'000'000 || place > kMax / 20 / scale) return Exactness::kTooFine;
    scale *= 10;
    rest = rest * 10 + place * (digit - '0');
  }
  if (rest % scale != 0) return Exactness::kTooFine;
  return __builtin_add_overflow(out, rest / scale, &out) ? Exactness::kTooLarge : Exactness::kExact;
}

std::string UnitNames(std::span<const Unit> units) {
  std::string out;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (!out.empty()) out += ", ";
    out += unit->name;
  }
  return out;
}

/// What is wrong with a text that does not begin with a number.
QuantityError NotANumber(std::string_view text, std::string_view what) {
  if (!text.empty() && text[0] == '-') return {.problem = "must not be negative", .suggestion = {}};
  if (!text.empty() && text[0] == '+')
    return {.problem = "begins with a +", .suggestion = std::string(text.substr(1))};
  if (text.size() > 1 && text[0] == '.' && IsDigit(text[1])) {
    return {.problem = "begins with a point", .suggestion = "0" + std::string(text)};
  }
  return {.problem = fmt::format("is not {}", what), .suggestion = {}};
}

/// The unit that was probably meant by another spelling; "" when it cannot be told.
std::string GuessTimeUnit(std::string_view unit) {
  const std::string lower = Lower(unit);
  if (lower == "sec" || lower == "secs" || lower == "second" || lower == "seconds" || lower == "s")
    return "s";
  if (lower == "min" || lower == "mins" || lower == "minute" || lower == "minutes" || lower == "m")
    return "m";
  if (lower == "hr" || lower == "hrs" || lower == "hour" || lower == "hours" || lower == "h")
    return "h";
  if (lower == "day" || lower == "days" || lower == "d") return "d";
  if (lower == "week" || lower == "weeks" || lower == "w") return "w";
  if (lower == "msec" || lower == "millis" || lower == "milliseconds" || lower == "ms") return "ms";
  if (lower == "usec" || lower == "micros" || lower == "us") return "us";
  return {};
}

std::string GuessByteUnit(std::string_view unit) {
  const std::string lower = Lower(unit);
  if (lower.empty() || lower == "b" || lower == "byte" || lower == "bytes")
    return lower.empty() ? "" : "B";
  const std::size_t which = std::string_view("kmgt").find(lower[0]);
  if (which == std::string_view::npos) return {};
  const std::string rest = lower.substr(1);
  if (rest.empty() || rest == "b" || rest == "i" || rest == "ib") {
    return std::string(1, "KMGT"[which]) + "iB";
  }
  return {};
}

std::string GuessBandwidthUnit(std::string_view unit) {
  const std::string lower = Lower(unit);
  if (lower == "bps" || lower == "bit/s") return "bps";
  const std::size_t which =
      lower.empty() ? std::string_view::npos : std::string_view("kmgt").find(lower[0]);
  if (which == std::string_view::npos) return {};
  const std::string rest = lower.substr(1);
  if (rest.empty() || rest == "b" || rest == "bit" || rest == "bps" || rest == "bit/s" ||
      rest == "b/s") {
    return std::string(1, "KMGT"[which]) + "bps";
  }
  return {};
}

/// One number with one unit. `finest` names what a value must be a whole number of.
Quantity<std::int64_t> ParseOne(std::string_view text, std::span<const Unit> units,
                                std::string_view what, std::string_view usual,
                                std::string_view finest, std::string (*guess)(std::string_view)) {
  const auto number = TakeDecimal(text);
  if (!number) return tl::unexpected<QuantityError>(NotANumber(text, what));
  std::string_view unit_text = text.substr(number->size());
  while (!unit_text.empty() && unit_text[0] == ' ') unit_text.remove_prefix(1);
  const std::string digits(text.substr(0, number->size()));
  if (unit_text.empty()) return Bad("has no unit", digits + std::string(usual));
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit_text; });
  if (unit == units.end() || digits.size() + unit_text.size() != text.size()) {
    const std::string guessed = unit == units.end() ? guess(unit_text) : std::string(unit->name);
    return Bad(unit == units.end()
                   ? fmt::format("has an unknown unit (allowed: {})", UnitNames(units))
                   : "has a blank before its unit",
               guessed.empty() ? "" : digits + guessed);
  }
  std::int64_t value = 0;
  switch (Scale(*number, unit->size, value)) {
    case Exactness::kExact:
      return value;
    case Exactness::kTooLarge:
      return Bad("is too large");
    case Exactness::kTooFine:
      return Bad(fmt::format("is not a whole number of {}", finest));
  }
  return Bad("is too large");
}

}  // namespace

Quantity<Duration> ParseDuration(std::string_view text) {
  constexpr std::string_view kWhat = "a duration like 30s, 5m or 1d12h";
  if (text.empty()) return Bad(fmt::format("is not {}", kWhat));
  std::int64_t total = 0;
  std::string_view rest = text;
  std::int64_t last_unit = kMax;
  while (!rest.empty()) {
    const auto number = TakeDecimal(rest);
    if (!number) return tl::unexpected<QuantityError>(NotANumber(text, kWhat));
    std::string_view after = rest.substr(number->size());
    std::size_t letters = 0;
    while (letters < after.size() && IsLetter(after[letters])) ++letters;
    const std::string_view unit_text = after.substr(0, letters);
    if (unit_text.empty()) {
      if (!after.empty()) return Bad(fmt::format("is not {}", kWhat));
      return rest.size() == text.size() ? Bad("has no unit", std::string(text) + "s")
                                        : Bad("ends without a unit", std::string(text) + "s");
    }
    const auto unit = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                   [&](const Unit& u) { return u.name == unit_text; });
    if (unit == kTimeUnits.end()) {
      const std::string guessed =
          rest.size() == text.size() && after.size() == letters ? GuessTimeUnit(unit_text) : "";
      return Bad(fmt::format("has an unknown unit (allowed: {})", UnitNames(kTimeUnits)),
                 guessed.empty() ? "" : std::string(rest.substr(0, number->size())) + guessed);
    }
    if (unit->size >= last_unit)
      return Bad("has its units in the wrong order: the larger comes first");
    last_unit = unit->size;
    std::int64_t part = 0;
    const Exactness exact = Scale(*number, unit->size, part);
    if (exact == Exactness::kTooFine) return Bad("is finer than a nanosecond");
    if (exact == Exactness::kTooLarge || __builtin_add_overflow(total, part, &total) ||
        total > kLongest.count()) {
      return Bad("is longer than 100 years");
    }
    rest = after.substr(letters);
  }
  return Duration(total);
}

Quantity<std::int64_t> ParseBytes(std::string_view text) {
  auto bytes =
      ParseOne(text, kByteUnits, "a size like 512MiB or 16GiB", "GiB", "bytes", GuessByteUnit);
  // A bare number of MiB is as usual as one of GiB.
  if (!bytes && bytes.error().problem == "has no unit") {
    bytes.error().suggestion = fmt::format("{0}MiB or {0}GiB", text);
  }
  return bytes;
}

Quantity<std::int64_t> ParseMemoryMb(std::string_view text) {
  const auto bytes = ParseBytes(text);
  if (!bytes) return bytes;
  constexpr std::int64_t kMib = 1LL << 20;
  if (*bytes % kMib != 0) {
    const std::int64_t near = *bytes / kMib;
    return Bad("is not a whole number of MiB", near > 0 ? MemoryText(near) : "");
  }
  return *bytes / kMib;
}

Quantity<std::int64_t> ParseBandwidth(std::string_view text) {
  auto bps = ParseOne(text, kBandwidthUnits, "a bandwidth like 10Gbps", "Gbps", "bits a second",
                      GuessBandwidthUnit);
  if (bps && *bps == 0) return Bad("must be more than 0");
  return bps;
}

Quantity<std::int64_t> ParsePermille(std::string_view text) {
  static constexpr std::array<Unit, 1> kPercent = {{{"%", 10}}};
  return ParseOne(text, kPercent, "a share like 60%", "%", "tenths of a percent",
                  [](std::string_view) { return std::string(); });
}

Quantity<double> ParseRate(std::string_view text) {
  constexpr std::string_view kWhat = "a rate like 20/h or 0.5/s";
  const std::size_t slash = text.find('/');
  const auto number = ParseNumber(text.substr(0, slash));
  if (!number) return tl::unexpected<QuantityError>(NotANumber(text, kWhat));
  if (slash == std::string_view::npos) return Bad("has no unit", std::string(text) + "/h");
  if (*number <= 0) return Bad("must be more than 0");
  const std::string_view per = text.substr(slash + 1);
  for (const Unit& unit : kTimeUnits) {
    if (unit.name == per) {
      const double mean = static_cast<double>(unit.size) / 1e9 / *number;
      if (!(mean <= SecondsOf(kLongest))) return Bad("is too small");
      return mean;
    }
  }
  const std::string guessed = GuessTimeUnit(per);
  return Bad(fmt::format("has an unknown unit (allowed: {})", UnitNames(kTimeUnits)),
             guessed.empty() ? "" : std::string(text.substr(0, slash + 1)) + guessed);
}

Quantity<std::int64_t> ParseWhole(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit))
    return Bad("is not a whole number");
  if (digits.size() > 1 && digits[0] == '0') {
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    return Bad("begins with a 0", std::string(digits.substr(first)));
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return Bad("is out of range");
  return value;
}

Quantity<double> ParseNumber(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  const auto decimal = TakeDecimal(digits);
  if (!decimal || decimal->size() != digits.size()) return Bad("is not a number");
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !(value <= 1e18)) return Bad("is out of range");
  return negative ? -value : value;
}

Quantity<std::int32_t> ParseSignal(std::string_view text) {
  const std::string_view name = text.starts_with("SIG") ? text.substr(3) : text;
  for (const auto& [known, number] : kSignals) {
    if (known == name) return number;
  }
  const auto number = ParseWhole(text);
  if (number && *number >= 1 && *number <= 64) return static_cast<std::int32_t>(*number);
  std::string upper = Lower(name);
  if (upper.starts_with("sig")) upper.erase(0, 3);
  for (const auto& [known, value] : kSignals) {
    if (Lower(known) == upper)
      return Bad("is not a signal like KILL, TERM or 9", std::string(known));
  }
  return Bad("is not a signal like KILL, TERM or 9");
}

std::string SignalName(std::int32_t number) {
  for (const auto& [name, value] : kSignals) {
    if (value == number) return std::string(name);
  }
  return std::to_string(number);
}

std::string BytesText(std::int64_t bytes) {
  for (const Unit& unit : kByteUnits) {
    if (bytes != 0 && bytes % unit.size == 0)
      return fmt::format("{}{}", bytes / unit.size, unit.name);
  }
  return "0B";
}

std::string MemoryText(std::int64_t mb) {
  if (mb == 0) return "0MiB";
  if (mb > kMax >> 20) return fmt::format("{}MiB", mb);
  return BytesText(mb << 20);
}

std::string BandwidthText(std::int64_t bps) {
  for (const Unit& unit : kBandwidthUnits) {
    if (bps != 0 && bps % unit.size == 0) return fmt::format("{}{}", bps / unit.size, unit.name);
  }
  return "0bps";
}

std::string PermilleText(std::int64_t permille) {
  return permille % 10 == 0 ? fmt::format("{}%", permille / 10)
                            : fmt::format("{}.{}%", permille / 10, permille % 10);
}

std::string NumberText(double number) {
  std::string out = fmt::format("{:.9f}", number);
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out;
}

}  // namespace tfyarn::config
