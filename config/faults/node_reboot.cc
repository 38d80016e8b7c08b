#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kNodeReboot>() {
  return {.name = "node_reboot",
          .doc = "Nodes restart: all that runs on them ends, and they register again after `for`.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .default_for = "2m",
          .example = "{kind: node_reboot, at: 400s, target: {node: n-1}}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true,
                     .takes_nodes_down = true},
          .here = {.why_not = "this machine is one node, and the run ends with it"},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
