#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kPartition>() {
  return {
      .name = "partition",
      .doc =
          "Messages between the first group of `between` and the others are lost; one group "
          "alone is cut off from the rest of the cluster. No machine is cut off from itself.",
      .target = FaultTarget::kGroups,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .armed_at_start = true,
      .params =
          {{.name = "direction",
            .kind = FaultParamKind::kWord,
            .default_text = "both",
            .doc =
                "`forward`: only from the first group to the others; `backward`: only from them.",
            .choices = {"both", "forward", "backward"}}},
      .example =
          "{kind: partition, at: 5m, between: [{rack: r1}, {am: a}], direction: both, for: 2m}",
      .traits = {.goes_on_for_ever = true},
      .here = {.why_not = "the processes of a run on this machine talk over its loopback device, "
                          "which all its programs share"},
      .drawing = {
          .weight = kOften, .cost = FaultCost::kRestarts, .longest_that_is_survived = kPeersWait}};
}

}  // namespace tfyarn::config
