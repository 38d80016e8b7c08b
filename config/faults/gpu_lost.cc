#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kGpuLost>() {
  return {.name = "gpu_lost",
          .doc = "GPUs of these nodes fail, and the first process that has some ends.",
          .target = FaultTarget::kNode,
          .lasts = ForRule::kOptional,
          .params = {{.name = "gpus",
                      .kind = FaultParamKind::kWhole,
                      .default_text = "1",
                      .doc = "How many on each node.",
                      .least = 1,
                      .most = 1e6}},
          .example = "{kind: gpu_lost, at: 1h, target: {node: n-1}, gpus: 1}",
          .traits = {.strikes_only_its_target = true,
                     .keeps_news_from_am = false,
                     .strikes_what_nodes_hold = true,
                     .strikes_gpus = true},
          .here = {.why_not =
                       "GPUs of this machine are taken out of service by its administrator alone"},
          .drawing = {.may_stay = true}};
}

}  // namespace tfyarn::config
