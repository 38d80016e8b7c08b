#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kNmHeartbeatLoss>() {
  return {.name = "nm_heartbeat_loss",
          .doc = "Heartbeats of these NodeManagers do not reach the RM; everything else goes on.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .example = "{kind: nm_heartbeat_loss, at: 10m, target: {node: n-1}, for: 15m}",
          .traits = {.goes_on_for_ever = true, .strikes_what_nodes_hold = true},
          .here = {.why_not = "a run on this machine has no NodeManager of its own to hurt"},
          .drawing = {.cost = FaultCost::kTime, .hides_launches = true}};
}

}  // namespace tfyarn::config
