#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kLoss>() {
  return {.name = "loss",
          .doc = "Messages from and to the targets are lost at random.",
          .target = FaultTarget::kCaller,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {{.name = "loss",
                      .kind = FaultParamKind::kNumber,
                      .default_text = "",
                      .doc = "Probability of each.",
                      .required = true,
                      .most = 1}},
          .example = "{kind: loss, at: 5m, target: {rack: r1}, loss: 0.1, for: 10m}",
          .traits = {.goes_on_for_ever = true, .strikes_by_chance = true},
          .here = {.why_not = "the processes of a run on this machine talk over its loopback "
                              "device, which all its programs share"},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
