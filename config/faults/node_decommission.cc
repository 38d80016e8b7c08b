#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kNodeDecommission>() {
  return {.name = "node_decommission",
          .doc =
              "The RM takes nodes out of service, and ends what runs there. After `for` they are "
              "taken in again.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {{.name = "graceful",
                      .kind = FaultParamKind::kDuration,
                      .default_text = "0s",
                      .doc = "How long running containers may go on before that; 0s: not at all."}},
          .example = "{kind: node_decommission, at: 1h, target: {node: n-1}, graceful: 10m}",
          .needs = FaultNeeds::kRm,
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true},
          .here = {.why_not = "this machine is one node, and the run ends with it"},
          .drawing = {.may_stay = true, .takes_node = true}};
}

}  // namespace tfyarn::config
