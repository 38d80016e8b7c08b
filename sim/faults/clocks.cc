// Clocks of nodes that are wrong. Machines measure time by clocks that no fault sets, so that only
// what compares two machines' times, or two lives of one, sees them: container tokens, whose end
// the RM writes and the NodeManager reads, and what an AM stores for its next attempt.
//
// Source: ContainerManagerImpl.authorizeStartRequest ("This token is expired").
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void SetClocks(World& world, const FaultOrder& order) {
  const Duration offset = SecondsToDuration(NumberOf(order, "offset", 0));
  const bool back = WordOf(order, "direction", "ahead") == "back";
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    info.clock_offset += back == order.begins ? -offset : offset;
    if (NmActor* nm = world.cluster.NmOn(node))
      nm->Step(fakes::ClockChanged{.offset = info.clock_offset});
  }
}

}  // namespace

template <>
void Strike<FaultId::kClockSkew>(World& world, const FaultOrder& order) {
  SetClocks(world, order);
}

template <>
void Strike<FaultId::kClockJump>(World& world, const FaultOrder& order) {
  SetClocks(world, order);
}

}  // namespace tfyarn::sim
