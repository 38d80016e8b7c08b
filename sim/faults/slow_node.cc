// Processes on nodes that train slower.
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kSlowNode>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    if (order.begins) {
      info.slowed_by[KeyOf(order)] = PermilleOf(order, 4);
    } else {
      info.slowed_by.erase(KeyOf(order));
    }
    info.pace_permille = ProductOf(info.slowed_by);
    for (const ContainerId& id : ContainersOn(node)) {
      const AgentActor* agent = AgentOf(id);
      if (agent == nullptr) continue;
      JobRt& job = *jobs_.at(agent->job.value);
      std::vector<WorkloadOutput> outputs;
      job.workload->PaceChanged(now_, id, info.pace_permille, outputs);
      HandleWorkload(job, outputs);
    }
  }
}

}  // namespace tfyarn::sim
