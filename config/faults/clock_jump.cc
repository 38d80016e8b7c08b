#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClockJump>() {
  return {.name = "clock_jump",
          .doc = "The clocks of nodes are set, once, by so much, and stay so.",
          .target = FaultTarget::kNode,
          .params = ClockParams(),
          .example = "{kind: clock_jump, at: 5m, target: {node: n-1}, offset: 1h, direction: back}",
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "all processes of a run on this machine have one clock"}};
}

}  // namespace tfyarn::config
