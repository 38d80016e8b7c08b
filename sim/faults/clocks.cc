// Clocks of nodes that are wrong. Machines measure time by clocks that no fault sets, so that only
// what compares two machines' times, or two lives of one, sees them: container tokens, whose end
// the RM writes and the NodeManager reads, and what an AM stores for its next attempt.
//
// Source: ContainerManagerImpl.authorizeStartRequest ("This token is expired").
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::SetClocks(const FaultOrder& order) {
  const Duration offset = SecondsToDuration(NumberOf(order, "offset", 0));
  const bool back = WordOf(order, "direction", "ahead") == "back";
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
    info.clock_offset += back == order.begins ? -offset : offset;
    if (NmActor* nm = cluster_.NmOn(node))
      nm->Step(fakes::ClockChanged{.offset = info.clock_offset});
  }
}

template <>
void SimHost::Strike<FaultId::kClockSkew>(const FaultOrder& order) {
  SetClocks(order);
}

template <>
void SimHost::Strike<FaultId::kClockJump>(const FaultOrder& order) {
  SetClocks(order);
}

}  // namespace tfyarn::sim
