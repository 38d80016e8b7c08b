#include "apps/yarn/started_containers.h"

#include <fmt/format.h>

namespace tfyarn::apps {
namespace {

constexpr std::string_view kStarted = "started ";
constexpr std::string_view kOn = " on ";

}  // namespace

std::string StartedLine(const StartedContainer& started) {
  return fmt::format("{}{}{}{}", kStarted, ToString(started.container), kOn,
                     ToString(started.node));
}

std::optional<StartedContainer> ParseStartedLine(std::string_view line) {
  if (!line.starts_with(kStarted)) return std::nullopt;
  line.remove_prefix(kStarted.size());
  const auto on = line.find(kOn);
  if (on == std::string_view::npos) return std::nullopt;
  const auto container = ParseContainerId(line.substr(0, on));
  const auto node = ParseNodeId(line.substr(on + kOn.size()));
  if (!container || !node || node->host.empty()) return std::nullopt;
  return StartedContainer{.container = *container, .node = *node};
}

}  // namespace tfyarn::apps
