#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kAmResync>() {
  return {
      .name = "am_resync",
      .doc =
          "The ResourceManager has no registration of the ApplicationMaster any more, which must "
          "register anew and ask anew.",
      .target = FaultTarget::kAm,
      .example = "{kind: am_resync, at: 5m, target: {am: a}}",
      .needs = FaultNeeds::kRm,
      .traits = {.spares_agents = true},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
