#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmFailover>() {
  return {
      .name = "rm_failover",
      .doc =
          "The active ResourceManager is lost; after `for` its standby answers in its place, with "
          "what is in the common store.",
      .target = FaultTarget::kRm,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .default_for = "5s",
      .example = "{kind: rm_failover, at: 10m}",
      .traits = {.rm = RmOutage::kRestarts},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kTime, .of_running = true}};
}

}  // namespace tfyarn::config
