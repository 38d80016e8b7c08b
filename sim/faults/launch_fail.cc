// Containers that fail to launch, or in localization.
#include <cstdint>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void FailStarts(World& world, const FaultOrder& order, bool launch) {
  for (const std::int32_t node : NodesOf(order)) {
    auto& behind = launch ? world.cluster.nodes[node].launch_failed_by
                          : world.cluster.nodes[node].localize_failed_by;
    if (order.begins) {
      behind.insert(order.fault);
    } else {
      behind.erase(order.fault);
    }
    if (order.lasts || !order.begins) {
      (launch ? world.cluster.nodes[node].launch_fails
              : world.cluster.nodes[node].localize_fails) += order.begins ? 1 : -1;
    } else {
      (launch ? world.cluster.nodes[node].launch_fails_next
              : world.cluster.nodes[node].localize_fails_next) +=
          static_cast<std::int32_t>(NumberOf(order, "count", 1));
    }
  }
}

}  // namespace

template <>
void Strike<FaultId::kLaunchFail>(World& world, const FaultOrder& order) {
  FailStarts(world, order, /*launch=*/true);
}

template <>
void Strike<FaultId::kLocalizeFail>(World& world, const FaultOrder& order) {
  FailStarts(world, order, /*launch=*/false);
}

}  // namespace tfyarn::sim
