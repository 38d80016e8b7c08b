#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kAmPause>() {
  return {.name = "am_pause",
          .doc = "The ApplicationMaster stands still for `for` and then goes on.",
          .target = FaultTarget::kAm,
          .lasts = ForRule::kOptional,
          .default_for = "30s",
          .example = "{kind: am_pause, at: 5m, target: {am: a}, for: 2m}",
          .traits = {.goes_on_for_ever = true, .stops_am = true},
          .here = {.effect = RealEffect::kStopAm},
          .drawing = {.weight = kOften, .cost = FaultCost::kTime}};
}

}  // namespace tfyarn::config
