#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kPreempt>() {
  return {.name = "preempt",
          .doc = "The RM takes containers back: a notice, then the kill (-102).",
          .target = FaultTarget::kTask,
          .params = {{.name = "notice",
                      .kind = FaultParamKind::kDuration,
                      .default_text = "15s",
                      .doc = "From the notice to the kill."}},
          .example = "{kind: preempt, at: 5m, target: {job: a, task: \"worker:0\"}, notice: 30s}",
          .needs = FaultNeeds::kRm,
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.effect = RealEffect::kPreempt},
          .drawing = {.weight = kOften, .cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
