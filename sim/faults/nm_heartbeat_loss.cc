// NodeManagers whose calls to the RM are lost.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kNmHeartbeatLoss>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    world.cluster.nodes[node].muted += order.begins ? 1 : -1;
    NmActor* nm = world.cluster.NmOn(node);
    if (nm == nullptr) continue;
    // What it sent meanwhile was lost: nothing vouches for it before a beat has come through.
    if (!order.begins && !nm->beat.clean) nm->beat.last_sent.reset();
    world.links.Update(*nm);
    world.links.Reschedule(*nm);
  }
}

}  // namespace tfyarn::sim
