#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kGpuScarcity>() {
  return {
      .name = "gpu_scarcity",
      .doc = "Free GPUs of these nodes are taken out of service for a time; what is in use stays.",
      .target = FaultTarget::kNode,
      .lasts = ForRule::kOptional,
      .params = {{.name = "gpus",
                  .kind = FaultParamKind::kWhole,
                  .default_text = "",
                  .doc = "How many on each node; without it all.",
                  .least = 1,
                  .most = 1e6}},
      .example = "{kind: gpu_scarcity, at: 1h, target: {label: gpu}, for: 30m}",
      .traits = {.strikes_only_its_target = true,
                 .keeps_news_from_am = false,
                 .strikes_what_nodes_hold = true,
                 .strikes_gpus = true},
      .here = {.why_not =
                   "GPUs of this machine are taken out of service by its administrator alone"}};
}

}  // namespace tfyarn::config
