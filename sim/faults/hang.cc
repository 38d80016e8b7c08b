// User's processes that stand still.
#include <vector>

#include "sim/behavior.h"
#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {

// The end of a hang concerns the processes that stand still because of it: a later process of the
// task never did.
template <>
void Strike<FaultId::kHang>(World& world, const FaultOrder& order) {
  const Freeze how = WordOf(order, "state", "stopped") == "busy" ? Freeze::kBusy : Freeze::kStopped;
  for (const AgentActor* agent : AgentsOf(world.cluster, order)) {
    JobRecord& job = *world.cluster.JobAt(agent->job);
    world.workloads.Do(
        job, [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
          workload.Froze(now, agent->fence.container, KeyOf(order),
                         order.begins ? how : Freeze::kNone, outputs);
        });
  }
}

}  // namespace tfyarn::sim
