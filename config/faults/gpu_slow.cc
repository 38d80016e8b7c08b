#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kGpuSlow>() {
  return {.name = "gpu_slow",
          .doc =
              "Processes that have GPUs of these nodes train slower; a job trains as fast as its "
              "slowest.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {Factor("4", "Times slower.")},
          .example = "{kind: gpu_slow, at: 10m, target: {label: gpu}, factor: 4, for: 1h}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true,
                     .strikes_gpus = true},
          .here = {.why_not = "the clock of a GPU is its administrator's"},
          .drawing = {.may_stay = true, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
