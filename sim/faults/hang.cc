// User's processes that stand still.
#include <vector>

#include "sim/behavior.h"
#include "sim/faults/effects.h"

namespace tfyarn::sim {

// The end of a hang concerns the processes that stand still because of it: a later process of the
// task never did.
template <>
void SimHost::Strike<FaultId::kHang>(const FaultOrder& order) {
  const Freeze how = WordOf(order, "state", "stopped") == "busy" ? Freeze::kBusy : Freeze::kStopped;
  for (const AgentActor* agent : AgentsOf(order)) {
    JobRecord& job = *cluster_.JobAt(agent->job);
    workloads_.Do(job,
                  [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
                    workload.Froze(now, agent->fence.container, KeyOf(order),
                                   order.begins ? how : Freeze::kNone, outputs);
                  });
  }
}

}  // namespace tfyarn::sim
