// Containers that the RM takes back.
#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kPreempt>(World& world, const FaultOrder& order) {
  const Duration notice = SecondsToDuration(NumberOf(order, "notice", 15));
  for (const AgentActor* agent : AgentsOf(world.cluster, order)) {
    world.rm.Tell(fakes::PreemptContainer{.container = agent->fence.container, .notice = notice});
  }
}

}  // namespace tfyarn::sim
