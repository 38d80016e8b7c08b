#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kNodeUnhealthy>() {
  return {.name = "node_unhealthy",
          .doc =
              "The health scripts of nodes report an error: the RM starts nothing there, and ends "
              "what runs (-100).",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .example = "{kind: node_unhealthy, at: 10m, target: {node: n-1}, for: 15m}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true},
          .here = {.why_not = "a run on this machine has no NodeManager of its own to hurt"},
          .drawing = {.may_stay = true, .takes_node = true, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
