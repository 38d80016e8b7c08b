#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmPause>() {
  return {
      .name = "rm_pause",
      .doc = "The ResourceManager answers no call for `for` and loses nothing.",
      .target = FaultTarget::kRm,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .default_for = "30s",
      .example = "{kind: rm_pause, when: {job: a, state: running}, after: 10s, for: 40s}",
      .traits = {.goes_on_for_ever = true, .rm = RmOutage::kStandsStill},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
