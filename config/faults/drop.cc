#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kDrop>() {
  return {.name = "drop",
          .doc = "One message, by name, is lost.",
          .target = FaultTarget::kCaller,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {Message(), Nth()},
          .example =
              "{kind: drop, message: RegisterAgent, nth: 1, target: {job: a, task: \"worker:0\"}}",
          .trap = FaultTrap::kMessage,
          .here = {.why_not = "the processes of a run on this machine talk over its loopback "
                              "device, which all its programs share"},
          .drawing = {.weight = kOften, .cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
