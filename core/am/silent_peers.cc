#include "core/am/silent_peers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace tfyarn::am {
namespace {

constexpr std::string_view kHeading = "unhealthy (stopped sending heartbeats):";
constexpr std::size_t kMost = 16;

/// Removes `word` from the front of `text`, if it is there.
bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::int32_t> TakeNumber(std::string_view& text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// A line like /job:worker/replica:0/task:1.
std::optional<TaskId> TaskIn(std::string_view line) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  if (!Take(line, "/job:")) return std::nullopt;
  const std::size_t slash = line.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  const std::string type(line.substr(0, slash));
  line.remove_prefix(slash);
  if (!Take(line, "/replica:") || !TakeNumber(line) || !Take(line, "/task:")) return std::nullopt;
  const auto index = TakeNumber(line);
  if (!index || !line.empty()) return std::nullopt;
  return TaskId{.type = type, .index = *index};
}

}  // namespace

std::vector<TaskId> SilentPeersIn(std::string_view text) {
  std::vector<TaskId> named;
  for (std::size_t at = text.find(kHeading); at != std::string_view::npos;
       at = text.find(kHeading)) {
    text.remove_prefix(at + kHeading.size());
    Take(text, "\r");
    while (Take(text, "\n") && named.size() < kMost) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const auto task = TaskIn(text.substr(0, end));
      if (!task) break;
      if (std::find(named.begin(), named.end(), *task) == named.end()) named.push_back(*task);
      text.remove_prefix(end);
    }
  }
  return named;
}

}  // namespace tfyarn::am
