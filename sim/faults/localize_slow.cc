// Localization that takes longer on nodes.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kLocalizeSlow>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
    info.localize_permille = SlowBy(info.localize_slowed_by, order, 10);
  }
}

}  // namespace tfyarn::sim
