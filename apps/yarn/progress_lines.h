// What to tell a user who waits for an application, and when.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/model/yarn.h"

namespace tfyarn::apps {

/// A ResourceManager has a long explanation for every state, and most states pass: the state is
/// said at once, the explanation when there is time to read it.
class ProgressLines {
 public:
  using Clock = std::chrono::steady_clock;
  /// So long a state must last, and as long one explanation, before there is another.
  static constexpr std::chrono::seconds kPatience{3};

  /// `nodes`: what the job waits for nodes for, "" = for none. nullopt: nothing that was not said.
  [[nodiscard]] std::optional<std::string> Next(const yarn::ApplicationReport& report,
                                                const std::string& nodes, Clock::time_point now);

 private:
  std::optional<yarn::YarnApplicationState> state_;
  std::string explanation_;
  std::string nodes_;
  Clock::time_point said_;
};

/// "waits for nodes that may still come: NODES".
[[nodiscard]] std::string NodesWaitText(const std::string& nodes);

}  // namespace tfyarn::apps
