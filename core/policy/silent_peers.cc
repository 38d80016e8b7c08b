#include "core/policy/silent_peers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace tfyarn::policy {
namespace {

constexpr std::string_view kHeading = "unhealthy (stopped sending heartbeats):";
constexpr std::size_t kMost = 16;
constexpr std::string_view kUnavailable = "UnavailableError: ";
constexpr std::string_view kNoConnection = "failed to connect to all addresses";
constexpr std::string_view kTarget = "remote target ";

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

/// Removes a name like /job:worker/replica:0/task:1 from the front of `text`.
std::optional<TaskId> TakeTask(std::string_view& text) {
  if (!Take(text, "/job:")) return std::nullopt;
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  const std::string type(text.substr(0, slash));
  text.remove_prefix(slash);
  if (!Take(text, "/replica:") || !TakeNumber(text) || !Take(text, "/task:")) return std::nullopt;
  const auto index = TakeNumber(text);
  if (!index) return std::nullopt;
  return TaskId{.type = type, .index = *index};
}

/// A line that is a task's name and nothing else.
std::optional<TaskId> TaskIn(std::string_view line) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  auto task = TakeTask(line);
  return line.empty() ? task : std::nullopt;
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

std::optional<TaskId> UnreachablePeerIn(std::string_view text) {
  for (const std::string_view word : {kUnavailable, kNoConnection, kTarget}) {
    // The last error is what ended the process; within it the innermost comes first.
    const std::size_t at = word == kUnavailable ? text.rfind(word) : text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + word.size());
  }
  auto task = TakeTask(text);
  // A number that the text's end cuts off may be another one.
  return text.empty() ? std::nullopt : task;
}

}  // namespace tfyarn::policy
