#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmRestart>() {
  return {
      .name = "rm_restart",
      .doc = "The ResourceManager is down for `for` and starts from its store.",
      .target = FaultTarget::kRm,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .default_for = "30s",
      .example = "{kind: rm_restart, at: 10m, for: 1m}",
      .traits = {.rm = RmOutage::kRestarts},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.weight = kOften, .cost = FaultCost::kTime, .of_running = true}};
}

}  // namespace tfyarn::config
