#include "apps/yarn/started_containers.h"

#include <fmt/format.h>

#include <charconv>

namespace tfyarn::apps {
namespace {

constexpr std::string_view kStarted = "started ";
constexpr std::string_view kOn = " on ";

}  // namespace

std::string StartedLine(const StartedContainer& started) {
  return fmt::format("{}{}{}{}:{}", kStarted, ToString(started.container), kOn, started.node.host,
                     started.node.port);
}

std::optional<StartedContainer> ParseStartedLine(std::string_view line) {
  if (!line.starts_with(kStarted)) return std::nullopt;
  line.remove_prefix(kStarted.size());
  const auto on = line.find(kOn);
  const auto colon = line.rfind(':');
  if (on == std::string_view::npos || colon == std::string_view::npos || colon < on + kOn.size())
    return std::nullopt;
  const auto container = ParseContainerId(line.substr(0, on));
  if (!container) return std::nullopt;
  StartedContainer started{.container = *container};
  started.node.host = line.substr(on + kOn.size(), colon - on - kOn.size());
  const char* end = line.data() + line.size();
  const auto [stop, failed] = std::from_chars(line.data() + colon + 1, end, started.node.port);
  if (started.node.host.empty() || failed != std::errc{} || stop != end) return std::nullopt;
  return started;
}

}  // namespace tfyarn::apps
