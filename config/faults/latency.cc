#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kLatency>() {
  return {.name = "latency",
          .doc = "Messages from and to the targets take longer.",
          .target = FaultTarget::kCaller,
          .target_required = false,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {{.name = "delay",
                      .kind = FaultParamKind::kDuration,
                      .default_text = "100ms",
                      .doc = "How much longer."}},
          .example = "{kind: latency, at: 5m, target: {rack: r1}, delay: 500ms, for: 10m}",
          .traits = {.goes_on_for_ever = true, .delays_messages = true},
          .here = {.why_not = "the processes of a run on this machine talk over its loopback "
                              "device, which all its programs share"},
          .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
