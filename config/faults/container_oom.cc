#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kContainerOom>() {
  return {.name = "container_oom",
          .doc = "The kernel's OOM killer ends the user's processes, and the agent sees the proof.",
          .target = FaultTarget::kTask,
          .example = "{kind: container_oom, at: 5m, target: {job: a, task: \"worker:0\"}}",
          .needs = FaultNeeds::kProcess,
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "only the kernel can say that its OOM killer ended a process"},
          .drawing = {.weight = kOften}};
}

}  // namespace tfyarn::config
