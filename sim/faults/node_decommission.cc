// An administrator takes nodes out of service, and in again.
#include <map>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void Recommission(World& world, std::int32_t node) {
  world.rm.Tell(fakes::RecommissionNode{.node = world.cluster.nodes[node].id});
  world.cluster.nodes[node].restart_nm = true;
  world.nms.RestartShutDown(node);
}

}  // namespace

template <>
void Strike<FaultId::kNodeDecommission>(World& world, const FaultOrder& order) {
  const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
  for (const std::int32_t node : NodesOf(order)) {
    std::map<std::uint64_t, bool>& leaving = world.cluster.nodes[node].leaving_by;
    if (!order.begins) {
      leaving.erase(KeyOf(order));
      if (leaving.empty()) Recommission(world, node);
      continue;
    }
    leaving[KeyOf(order)] = grace == Duration::zero();
    world.rm.Exclude(node);
    if (grace == Duration::zero()) continue;
    world.kernel.After(grace, [&world, node, key = KeyOf(order)] {
      const auto entry = world.cluster.nodes[node].leaving_by.find(key);
      if (entry == world.cluster.nodes[node].leaving_by.end()) return;
      entry->second = true;
      world.rm.Exclude(node);
    });
  }
}

}  // namespace tfyarn::sim
