#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kClockSkew>() {
  return {.name = "clock_skew",
          .doc =
              "The clocks of nodes are wrong while it lasts: a NodeManager judges by its own "
              "whether a container token is too old, and an ApplicationMaster that starts there "
              "dates what it stores.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = ClockParams(),
          .example = "{kind: clock_skew, at: 5m, target: {node: n-1}, offset: 20m, for: 1h}",
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "all processes of a run on this machine have one clock"}};
}

}  // namespace tfyarn::config
