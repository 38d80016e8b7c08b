#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kContainerExit>() {
  return {
      .name = "container_exit",
      .doc = "The user's processes end with an exit code.",
      .target = FaultTarget::kTask,
      .params = {{.name = "exit",
                  .kind = FaultParamKind::kWhole,
                  .default_text = "1",
                  .doc = "The code.",
                  .most = 255}},
      .example =
          "{kind: container_exit, when: {job: a, state: running}, after: 10s, "
          "target: {job: a, task: "
          "\"ps:0\"}, exit: 137}",
      .needs = FaultNeeds::kProcess,
      .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
      .here = {.why_not =
                   "a process chooses its exit code itself; container_signal ends it from outside"},
      .drawing = {.weight = kOften}};
}

}  // namespace tfyarn::config
