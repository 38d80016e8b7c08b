#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kDiskFull>() {
  return {.name = "disk_full",
          .doc =
              "The local disks of nodes are full: nothing can start there. Once their NodeManagers "
              "have noticed it, the RM ends what runs (-100).",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {Noticed()},
          .example = "{kind: disk_full, at: 10m, target: {node: n-1}, for: 15m}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true},
          .here = {.why_not = "a full disk of this machine would stop more than the job; "
                              "hdfs_quota fills the one that a run directory has of its own"}};
}

}  // namespace tfyarn::config
