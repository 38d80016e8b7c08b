// Processes on nodes that train slower: all of them, or those that have GPUs.
#include <cstdint>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void PaceChanged(World& world, std::int32_t node) {
  for (const ContainerId& id : world.cluster.ContainersOn(node)) {
    const AgentActor* agent = world.cluster.AgentIn(id);
    if (agent == nullptr) continue;
    JobRecord& job = *world.cluster.JobAt(agent->job);
    world.workloads.Do(
        job, [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
          workload.PaceChanged(now, id, world.workloads.PaceOf(*agent), outputs);
        });
  }
}

}  // namespace

template <>
void Strike<FaultId::kSlowNode>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    info.pace_permille = SlowBy(info.slowed_by, order, 4);
    PaceChanged(world, node);
  }
}

template <>
void Strike<FaultId::kGpuSlow>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    info.gpu_pace_permille = SlowBy(info.gpus_slowed_by, order, 4);
    PaceChanged(world, node);
  }
}

}  // namespace tfyarn::sim
