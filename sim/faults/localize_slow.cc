// Localization that takes longer on nodes.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kLocalizeSlow>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    if (order.begins) {
      info.localize_slowed_by[KeyOf(order)] = PermilleOf(order, 10);
    } else {
      info.localize_slowed_by.erase(KeyOf(order));
    }
    info.localize_permille = ProductOf(info.localize_slowed_by);
  }
}

}  // namespace tfyarn::sim
