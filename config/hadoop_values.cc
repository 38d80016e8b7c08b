#include "config/hadoop_values.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "config/quantity.h"

namespace tfyarn::config {
namespace {

std::optional<std::int64_t> Digits(std::string_view text, int base) {
  std::int64_t value = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failed != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr auto kUnits = std::to_array<std::pair<std::string_view, Duration>>({
    {"ns", 1ns},
    {"us", 1us},
    {"ms", 1ms},
    {"s", 1s},
    {"m", 1min},
    {"h", 1h},
    {"d", 24h},
});

}  // namespace

std::optional<std::int64_t> ParseHadoopWhole(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    if (digits.starts_with('-')) return std::nullopt;
    const auto value = Digits(digits, 16);
    return value && negative ? std::optional(-*value) : value;
  }
  if (digits.starts_with('-')) return std::nullopt;
  return Digits(negative ? text : digits, 10);
}

std::optional<Duration> ParseHadoopTime(std::string_view text, Duration unit) {
  const std::string lower = LowerCase(text);
  std::string_view digits = lower;
  for (const auto& [suffix, length] : kUnits) {
    if (!digits.ends_with(suffix)) continue;
    digits.remove_suffix(suffix.size());
    unit = length;
    break;
  }
  const auto number = Digits(digits, 10);
  if (!number) return std::nullopt;
  if (*number > kLongest.count() / unit.count()) return kLongest;
  if (*number < -(kLongest.count() / unit.count())) return -kLongest;
  return *number * unit;
}

std::optional<std::int64_t> ParseHadoopBytes(std::string_view text) {
  constexpr std::string_view kPrefixes = "kmgtpe";
  const std::string lower = LowerCase(text);
  std::string_view digits = lower;
  int shift = 0;
  if (!digits.empty()) {
    const auto prefix = kPrefixes.find(digits.back());
    if (prefix != std::string_view::npos) {
      shift = 10 * (static_cast<int>(prefix) + 1);
      digits.remove_suffix(1);
    }
  }
  const auto number = Digits(digits, 10);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> shift;
  if (!number || *number > most || *number < -most) return std::nullopt;
  return *number * (std::int64_t{1} << shift);
}

std::vector<std::string> SplitHadoopList(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = TrimBlanks(text.substr(0, comma));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace tfyarn::config
