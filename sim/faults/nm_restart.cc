// NodeManagers that are down while containers go on.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNmRestart>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
    if (order.begins) {
      ++info.nm_down;
      nms_.TakeDown(node, /*recovers=*/NumberOf(order, "recover", 1) != 0);
    } else if (--info.nm_down == 0 && info.down == 0) {
      nms_.BringBack(node);
    }
  }
}

}  // namespace tfyarn::sim
