#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kDuplicate>() {
  return {
      .name = "duplicate",
      .doc = "One message, by name, comes twice.",
      .target = FaultTarget::kCaller,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .armed_at_start = true,
      .params = {Message(), Nth()},
      .example = "{kind: duplicate, message: ProcessEnded, target: {job: a, task: \"worker:0\"}}",
      .trap = FaultTrap::kMessage,
      .here = {.why_not = "the processes of a run on this machine talk over its loopback device, "
                          "which all its programs share"},
      .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
