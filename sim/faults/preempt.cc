// Containers that the RM takes back.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kPreempt>(const FaultOrder& order) {
  const Duration notice = SecondsToDuration(NumberOf(order, "notice", 15));
  for (const AgentActor* agent : AgentsOf(order)) {
    rm_.Tell(fakes::PreemptContainer{.container = agent->fence.container, .notice = notice});
  }
}

}  // namespace tfyarn::sim
