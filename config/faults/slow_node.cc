#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kSlowNode>() {
  return {.name = "slow_node",
          .doc = "Processes on these nodes train slower; a job trains as fast as its slowest.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {Factor("4", "Times slower.")},
          .example = "{kind: slow_node, at: 10m, target: {node: n-1}, factor: 4, for: 1h}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true},
          .here = {.why_not =
                       "a job on this machine shares its processors with whatever else runs there"},
          .drawing = {.may_stay = true, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
