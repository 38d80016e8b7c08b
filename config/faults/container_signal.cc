#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kContainerSignal>() {
  return {
      .name = "container_signal",
      .doc = "The user's processes are ended by a signal.",
      .target = FaultTarget::kTask,
      .params = {{.name = "signal",
                  .kind = FaultParamKind::kSignal,
                  .default_text = "KILL",
                  .doc = "Which."}},
      .example =
          "{kind: container_signal, at: 5m, target: {job: a, task: \"worker:0\"}, signal: SEGV}",
      .needs = FaultNeeds::kProcess,
      .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
      .here = {.effect = RealEffect::kSignalProcess},
      .drawing = {.cost = FaultCost::kRestarts}};
}

}  // namespace tfyarn::config
