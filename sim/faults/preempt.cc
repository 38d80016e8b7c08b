// Containers that the RM takes back.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kPreempt>(const FaultOrder& order) {
  if (rm_actor_.machine == nullptr) return;
  const Duration notice = SecondsToDuration(NumberOf(order, "notice", 15));
  for (const AgentActor* agent : AgentsOf(order)) {
    StepRm(fakes::PreemptContainer{.container = agent->fence.container, .notice = notice});
  }
}

}  // namespace tfyarn::sim
