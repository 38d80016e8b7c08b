#include "core/model/channel.h"

namespace tfyarn {

const AgentFence& FenceOf(const AgentToAm& message) {
  return std::visit([](const auto& m) -> const AgentFence& { return m.fence; }, message);
}

const AgentFence& FenceOf(const AmToAgent& message) {
  return std::visit([](const auto& m) -> const AgentFence& { return m.fence; }, message);
}

bool IsIdle(const AgentToAm& message) {
  return std::holds_alternative<AgentHeartbeat>(message);
}

bool IsIdle(const AmToAgent& message) {
  return std::holds_alternative<HeartbeatSeen>(message);
}

}  // namespace tfyarn
