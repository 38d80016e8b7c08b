#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kTokenExpiry>() {
  return {
      .name = "token_expiry",
      .doc =
          "The ApplicationMaster's token for the ResourceManager expires: its calls are refused, "
          "it ends, and YARN starts the next.",
      .target = FaultTarget::kAm,
      .example = "{kind: token_expiry, at: 1h, target: {am: a}}",
      .needs = FaultNeeds::kRm,
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kRestarts, .kills_am = true}};
}

}  // namespace tfyarn::config
