#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kLaunchFail>() {
  return {.name = "launch_fail",
          .doc = "The next containers on these nodes fail to launch.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .armed_at_start = true,
          .params = {Times("How many launches fail on each node; with `for` all while it lasts.")},
          .example = "{kind: launch_fail, target: {node: n-1}, count: 2}",
          .trap = FaultTrap::kStart,
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "this machine starts whatever it has a program for"},
          .drawing = {.cost = FaultCost::kRestarts, .only_once = true}};
}

}  // namespace tfyarn::config
