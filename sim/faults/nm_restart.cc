// NodeManagers that are down while containers go on.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kNmRestart>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    if (order.begins) {
      ++info.nm_down;
      world.nms.TakeDown(node, /*recovers=*/NumberOf(order, "recover", 1) != 0);
    } else if (--info.nm_down == 0 && info.down == 0) {
      world.nms.BringBack(node);
    }
  }
}

}  // namespace tfyarn::sim
