#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kLocalizeFail>() {
  return {
      .name = "localize_fail",
      .doc = "The next containers on these nodes fail in localization.",
      .target = FaultTarget::kNode,
      .lasts = ForRule::kOptional,
      .armed_at_start = true,
      .params = {Times("How many localizations fail on each node; with `for` all while it lasts.")},
      .example = "{kind: localize_fail, target: {node: n-1}, count: 2}",
      .trap = FaultTrap::kStart,
      .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
      .here = {.why_not = "the files of a run on this machine are those of its disk"},
      .drawing = {.cost = FaultCost::kRestarts, .only_once = true}};
}

}  // namespace tfyarn::config
