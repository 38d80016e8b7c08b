#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kAmCrash>() {
  return {
      .name = "am_crash",
      .doc = "The ApplicationMaster's process is killed.",
      .target = FaultTarget::kAm,
      .example = "{kind: am_crash, when: {job: a, state: running}, after: 30s, target: {am: a}}",
      .traits = {.keeps_news_from_am = false, .spares_agents = true},
      .here = {.effect = RealEffect::kKillAm},
      .drawing = {
          .weight = kOften, .cost = FaultCost::kTime, .of_running = true, .kills_am = true}};
}

}  // namespace tfyarn::config
