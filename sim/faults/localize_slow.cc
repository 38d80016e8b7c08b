// Localization that takes longer on nodes.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kLocalizeSlow>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    info.localize_permille = SlowBy(info.localize_slowed_by, order, 10);
  }
}

}  // namespace tfyarn::sim
