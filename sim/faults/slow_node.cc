// Processes on nodes that train slower: all of them, or those that have GPUs.
#include <cstdint>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kSlowNode>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
    info.pace_permille = SlowBy(info.slowed_by, order, 4);
    PaceChanged(node);
  }
}

template <>
void SimHost::Strike<FaultId::kGpuSlow>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
    info.gpu_pace_permille = SlowBy(info.gpus_slowed_by, order, 4);
    PaceChanged(node);
  }
}

void SimHost::PaceChanged(std::int32_t node) {
  for (const ContainerId& id : cluster_.ContainersOn(node)) {
    const AgentActor* agent = cluster_.AgentIn(id);
    if (agent == nullptr) continue;
    JobRecord& job = *cluster_.JobAt(agent->job);
    workloads_.Do(job,
                  [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
                    workload.PaceChanged(now, id, workloads_.PaceOf(*agent), outputs);
                  });
  }
}

}  // namespace tfyarn::sim
