// GPUs that are taken out of service, or fail under the process that has them.
#include <algorithm>
#include <cstdint>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

/// The first user process on the node that has GPUs, in order of container, finds one gone and
/// exits 1.
void FailGpuProcessOn(World& world, std::int32_t node) {
  for (const ContainerId& id : world.cluster.ContainersOn(node)) {
    const AgentActor* agent = world.cluster.AgentIn(id);
    if (agent == nullptr) continue;
    const JobRecord& job = *world.cluster.JobAt(agent->job);
    for (const RunningProcess& process : job.workload->running()) {
      if (process.container == id && world.workloads.HasGpus(*agent))
        return world.workloads.EndProcess(id, {.code = 1});
    }
  }
}

void TakeGpus(World& world, const FaultOrder& order, bool fails) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = world.cluster.nodes[node];
    const auto all = static_cast<double>(info.capacity.gpus);
    const auto gone = static_cast<std::int64_t>(std::min(all, NumberOf(order, "gpus", all)));
    if (order.begins) {
      info.gpus_taken_by[KeyOf(order)] = gone;
    } else {
      info.gpus_taken_by.erase(KeyOf(order));
    }
    std::int64_t taken = 0;
    for (const auto& [key, gpus] : info.gpus_taken_by) taken += gpus;
    info.now.gpus = std::max<std::int64_t>(0, info.capacity.gpus - taken);
    world.trace.Tell(trace::NodeDeclared{.node = info.id,
                                         .rack = info.rack,
                                         .partition = info.partition,
                                         .labels = info.labels,
                                         .capacity = info.now});
    if (NmActor* nm = world.cluster.NmOn(node))
      nm->Step(fakes::CapacityChanged{.capacity = info.now});
    if (fails && order.begins) FailGpuProcessOn(world, node);
  }
}

}  // namespace

template <>
void Strike<FaultId::kGpuScarcity>(World& world, const FaultOrder& order) {
  TakeGpus(world, order, /*fails=*/false);
}

template <>
void Strike<FaultId::kGpuLost>(World& world, const FaultOrder& order) {
  TakeGpus(world, order, /*fails=*/true);
}

}  // namespace tfyarn::sim
