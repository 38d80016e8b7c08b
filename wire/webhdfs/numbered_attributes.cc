#include "wire/webhdfs/numbered_attributes.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace tfyarn::wire {
namespace {

constexpr std::string_view kAttribute = "user.tfyarn.";

}  // namespace

std::string AttributeName(int number) {
  return fmt::format("{}{}", kAttribute, number);
}

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc{} || stop != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

std::optional<std::string> JoinedAttributes(const WebHdfsAttributes& attributes) {
  std::map<std::int64_t, std::string_view> ordered;
  for (const auto& [name, bytes] : attributes) {
    if (!name.starts_with(kAttribute)) continue;
    if (const auto number = NumberIn(std::string_view(name).substr(kAttribute.size())))
      ordered[*number] = bytes;
  }
  if (ordered.empty()) return std::nullopt;
  std::string joined;
  for (const auto& [number, bytes] : ordered) joined += bytes;
  return joined;
}

}  // namespace tfyarn::wire
