// Which containers an AM has started and where: lines that it writes into its own log, for `tfyarn
// logs`. A ResourceManager forgets containers as soon as they have ended.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/ids.h"

namespace tfyarn::apps {

struct StartedContainer {
  ContainerId container;
  NodeId node;
  friend bool operator==(const StartedContainer&, const StartedContainer&) = default;
};

/// "started container_1700000000000_0007_01_000002 on node7:45454", without an end.
[[nodiscard]] std::string StartedLine(const StartedContainer& started);
/// nullopt: any other line.
[[nodiscard]] std::optional<StartedContainer> ParseStartedLine(std::string_view line);

}  // namespace tfyarn::apps
