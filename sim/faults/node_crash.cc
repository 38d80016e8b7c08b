// Nodes that go down with all that runs on them, and come back empty.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::SwitchNodes(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (cluster_.nodes[node].down++ > 0) continue;
      trace_.Tell(trace::NodePower{.node = cluster_.nodes[node].id, .up = false});
      nms_.Crash(node);
    } else if (--cluster_.nodes[node].down == 0) {
      trace_.Tell(trace::NodePower{.node = cluster_.nodes[node].id, .up = true});
      if (cluster_.nodes[node].nm_down == 0) nms_.Start(node);
    }
  }
}

template <>
void SimHost::Strike<FaultId::kNodeCrash>(const FaultOrder& order) {
  SwitchNodes(order);
}

template <>
void SimHost::Strike<FaultId::kNodeReboot>(const FaultOrder& order) {
  SwitchNodes(order);
}

}  // namespace tfyarn::sim
