#include "apps/yarn/progress_lines.h"

#include "core/model/text.h"

namespace tfyarn::apps {

std::optional<std::string> ProgressLines::Next(const yarn::ApplicationReport& report,
                                               const std::string& nodes, Clock::time_point now) {
  if (report.state != state_) {
    state_ = report.state;
    explanation_.clear();
    said_ = now;
    return ToText(report.state);
  }
  if (nodes != nodes_) {
    nodes_ = nodes;
    said_ = now;
    return ToText(report.state) +
           (nodes.empty() ? ": no longer waits for nodes" : ": " + NodesWaitText(nodes));
  }
  if (report.diagnostics == explanation_ || now - said_ < kPatience) return std::nullopt;
  explanation_ = report.diagnostics;
  said_ = now;
  if (explanation_.empty()) return std::nullopt;
  return ToText(report.state) + ": " + explanation_;
}

std::string NodesWaitText(const std::string& nodes) {
  return "waits for nodes that may still come: " + nodes;
}

}  // namespace tfyarn::apps
