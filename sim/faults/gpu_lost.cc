// GPUs that are taken out of service, or fail under the process that has them.
#include <algorithm>
#include <cstdint>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::TakeGpus(const FaultOrder& order, bool fails) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = cluster_.nodes[node];
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
    trace_.Tell(trace::NodeDeclared{.node = info.id,
                                    .rack = info.rack,
                                    .partition = info.partition,
                                    .labels = info.labels,
                                    .capacity = info.now});
    if (NmActor* nm = cluster_.NmOn(node)) nm->Step(fakes::CapacityChanged{.capacity = info.now});
    if (fails && order.begins) FailGpuProcessOn(node);
  }
}

template <>
void SimHost::Strike<FaultId::kGpuScarcity>(const FaultOrder& order) {
  TakeGpus(order, /*fails=*/false);
}

template <>
void SimHost::Strike<FaultId::kGpuLost>(const FaultOrder& order) {
  TakeGpus(order, /*fails=*/true);
}

/// The first user process on the node that has GPUs, in order of container, finds one gone and
/// exits 1.
void SimHost::FailGpuProcessOn(std::int32_t node) {
  for (const ContainerId& id : cluster_.ContainersOn(node)) {
    const AgentActor* agent = cluster_.AgentIn(id);
    if (agent == nullptr) continue;
    const JobRecord& job = *cluster_.JobAt(agent->job);
    for (const RunningProcess& process : job.workload->running()) {
      if (process.container == id && workloads_.HasGpus(*agent))
        return workloads_.EndProcess(id, {.code = 1});
    }
  }
}

}  // namespace tfyarn::sim
