// NodeManagers whose calls to the RM are lost.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNmHeartbeatLoss>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    cluster_.nodes[node].muted += order.begins ? 1 : -1;
    NmActor* nm = cluster_.NmOn(node);
    if (nm == nullptr) continue;
    // What it sent meanwhile was lost: nothing vouches for it before a beat has come through.
    if (!order.begins && !nm->beat.clean) nm->beat.last_sent.reset();
    links_.Update(*nm);
    links_.Reschedule(*nm);
  }
}

}  // namespace tfyarn::sim
