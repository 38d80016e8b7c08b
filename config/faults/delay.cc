#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kDelay>() {
  return {.name = "delay",
          .doc = "One message, by name, comes late.",
          .target = FaultTarget::kCaller,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {Message(),
                     Nth(),
                     {.name = "delay",
                      .kind = FaultParamKind::kDuration,
                      .default_text = "10s",
                      .doc = "How late."}},
          .example =
              "{kind: delay, message: StartProcess, delay: 20s, target: {job: a, task: "
              "\"worker:0\"}}",
          .trap = FaultTrap::kMessage,
          .here = {.why_not = "the processes of a run on this machine talk over its loopback "
                              "device, which all its programs share"},
          .drawing = {.weight = kOften, .cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
