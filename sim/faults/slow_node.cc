// Processes on nodes that train slower: all of them, or those that have GPUs.
#include <algorithm>
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
    std::vector<WorkloadOutput> outputs;
    job.workload->PaceChanged(kernel_.now(), id, PaceOf(*agent), outputs);
    HandleWorkload(job, outputs);
  }
}

std::int32_t SimHost::PaceOf(const AgentActor& agent) const {
  constexpr std::int64_t kMost = 1'000'000'000;
  const NodeInfo& node = cluster_.nodes[agent.place];
  const std::int64_t gpus = HasGpus(agent) ? node.gpu_pace_permille : 1000;
  return static_cast<std::int32_t>(std::min(kMost, node.pace_permille * gpus / 1000));
}

}  // namespace tfyarn::sim
