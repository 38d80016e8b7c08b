// Local disks of nodes that are full, or fail.
//
// What is started on such a node fails. What runs goes on, its work directory has been read; but
// when the NodeManager's health check looks at the disks, the node is unhealthy. Assumption: disks
// that are well again are noticed at once.
//
// Source: LocalDirsHandlerService.java, ContainerLaunch.java (DISKS_FAILED).
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void LoseDisks(World& world, const FaultOrder& order, const std::string& error,
               const std::string& report) {
  const Duration noticed = SecondsToDuration(NumberOf(order, "noticed", 120));
  for (const std::int32_t node : NodesOf(order)) {
    std::map<std::uint64_t, std::string>& lost = world.cluster.nodes[node].disks_lost_by;
    if (!order.begins) {
      lost.erase(KeyOf(order));
      world.nms.SetUnhealthy(node, KeyOf(order), "");
      continue;
    }
    lost[KeyOf(order)] = error;
    world.kernel.After(noticed, [&world, node, key = KeyOf(order), report] {
      if (world.cluster.nodes[node].disks_lost_by.contains(key))
        world.nms.SetUnhealthy(node, key, report);
    });
  }
}

}  // namespace

template <>
void Strike<FaultId::kDiskFull>(World& world, const FaultOrder& order) {
  LoseDisks(world, order, "no space available in any of the local directories",
            "1/1 local-dirs usable space is below configured utilization percentage");
}

template <>
void Strike<FaultId::kDisksFailed>(World& world, const FaultOrder& order) {
  LoseDisks(world, order, "input/output error", "1/1 local-dirs have errors");
}

}  // namespace tfyarn::sim
