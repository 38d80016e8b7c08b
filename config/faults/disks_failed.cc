#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kDisksFailed>() {
  return {.name = "disks_failed",
          .doc =
              "The local disks of nodes fail: nothing can start there. Once their NodeManagers "
              "have noticed it, the RM ends what runs (-100).",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {Noticed()},
          .example = "{kind: disks_failed, at: 10m, target: {node: n-1}, for: 15m}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true},
          .here = {.why_not = "the disks of this machine are not broken for a test"}};
}

}  // namespace tfyarn::config
