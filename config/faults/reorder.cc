#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kReorder>() {
  return {.name = "reorder",
          .doc = "Messages from and to the targets overtake each other.",
          .target = FaultTarget::kCaller,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {{.name = "by",
                      .kind = FaultParamKind::kDuration,
                      .default_text = "1s",
                      .doc = "How much longer each may take, at random."}},
          .example = "{kind: reorder, at: 5m, target: {rack: r1}, by: 2s, for: 10m}",
          .traits = {.goes_on_for_ever = true, .delays_messages = true, .strikes_by_chance = true},
          .here = {.why_not = "the processes of a run on this machine talk over its loopback "
                              "device, which all its programs share"},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
