// NodeManagers whose calls to the RM are lost.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNmHeartbeatLoss>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].muted += order.begins ? 1 : -1;
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (index == 0) continue;
    auto& nm = static_cast<NmActor&>(*actors_[index]);
    // What it sent meanwhile was lost: nothing vouches for it before a beat has come through.
    if (!order.begins && !nm.beat.clean) nm.beat.last_sent.reset();
    UpdateLink(nm);
    Reschedule(nm);
  }
}

}  // namespace tfyarn::sim
