#include "config/faults/parts.h"

namespace tfyarn::config {

template <>
FaultKind KindOf<FaultId::kContainerVmem>() {
  return {.name = "container_vmem",
          .doc = "The NodeManager kills containers for their virtual memory (-103).",
          .target = FaultTarget::kTask,
          .example = "{kind: container_vmem, at: 5m, target: {job: a, task: \"worker:0\"}}",
          .traits = {.strikes_only_its_target = true, .keeps_news_from_am = false},
          .here = {.why_not = "the node of a run on this machine has no limit of virtual memory"}};
}

}  // namespace tfyarn::config
