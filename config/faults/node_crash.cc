#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kNodeCrash>() {
  return {
      .name = "node_crash",
      .doc =
          "Nodes stop at once with all that runs on them. They come back empty after `for`, "
          "or never.",
      .target = FaultTarget::kNode,
      .lasts = ForRule::kOptional,
      .example = "{kind: node_crash, at: 400s, target: {job: a, task: \"worker:1\"}, for: 1h}",
      .traits = {.strikes_only_its_target = true,
                 .keeps_news_from_am = false,
                 .strikes_what_nodes_hold = true,
                 .takes_nodes_down = true},
      .here = {.why_not = "this machine is one node, and the run ends with it"},
      .drawing = {
          .weight = kOften, .may_stay = true, .takes_node = true, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
