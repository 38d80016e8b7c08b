#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kRmSlow>() {
  return {
      .name = "rm_slow",
      .doc = "The ResourceManager takes longer for each call.",
      .target = FaultTarget::kRm,
      .target_required = false,
      .lasts = ForRule::kOptional,
      .params = {{.name = "delay",
                  .kind = FaultParamKind::kDuration,
                  .default_text = "2s",
                  .doc = "How much longer, each way."}},
      .example = "{kind: rm_slow, at: 5m, delay: 3s, for: 10m}",
      .traits = {.goes_on_for_ever = true, .delays_messages = true},
      .here =
          {.why_not =
               "the ResourceManager of a run on this machine is the program that makes the faults"},
      .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
