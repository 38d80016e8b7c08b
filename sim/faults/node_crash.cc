// Nodes that go down with all that runs on them, and come back empty.
#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void SwitchNodes(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (world.cluster.nodes[node].down++ > 0) continue;
      world.trace.Tell(trace::NodePower{.node = world.cluster.nodes[node].id, .up = false});
      world.nms.Crash(node);
    } else if (--world.cluster.nodes[node].down == 0) {
      world.trace.Tell(trace::NodePower{.node = world.cluster.nodes[node].id, .up = true});
      if (world.cluster.nodes[node].nm_down == 0) world.nms.Start(node);
    }
  }
}

}  // namespace

template <>
void Strike<FaultId::kNodeCrash>(World& world, const FaultOrder& order) {
  SwitchNodes(world, order);
}

template <>
void Strike<FaultId::kNodeReboot>(World& world, const FaultOrder& order) {
  SwitchNodes(world, order);
}

}  // namespace tfyarn::sim
