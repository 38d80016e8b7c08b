// SimHost: what several kinds of faults bring about, the ends of NodeManagers, containers and
// processes. The kinds themselves are in sim/faults.
#include <algorithm>
#include <vector>

#include "sim/sim_host.h"

namespace tfyarn::sim {

std::vector<ContainerId> SimHost::ContainersOn(std::int32_t node) const {
  std::vector<ContainerId> containers;
  for (const auto& [id, container] : containers_) {
    if (container.node == node) containers.push_back(id);
  }
  std::sort(containers.begin(), containers.end());
  return containers;
}

void SimHost::EndContainer(const ContainerId& id) {
  const std::uint32_t index = containers_.at(id).actor;
  if (index != 0 && actors_[index]->kind == ActorKind::kAm)
    EndAm(static_cast<AmActor&>(*actors_[index]));
  if (index != 0 && actors_[index]->kind == ActorKind::kAgent)
    EndAgent(static_cast<AgentActor&>(*actors_[index]));
  Trace(trace::ContainerGone{.container = id});
  containers_.erase(id);
}

void SimHost::EndNm(NmActor& nm) {
  nm.alive = false;
  UpdateLink(nm);
  nm_of_node_[static_cast<std::size_t>(nm.place)] = 0;
  // The object stays until the step that runs now is over.
  kernel_.After(Duration::zero(), [this, id = nm.id] { actors_[id].reset(); });
}

std::vector<AgentActor*> SimHost::AgentsOf(const FaultOrder& order) {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr) continue;
    for (const std::uint32_t id : job->agents) {
      auto* agent = static_cast<AgentActor*>(Living(id));
      if (agent != nullptr &&
          (struck.kind == StruckKind::kJob || agent->fence.task == struck.task)) {
        agents.push_back(agent);
      }
    }
  }
  return agents;
}

void SimHost::EndUserProcess(const ContainerId& container, const ProcessExit& exit) {
  const AgentActor* agent = AgentOf(container);
  if (agent == nullptr) return;
  JobRt& job = *jobs_.at(agent->job.value);
  std::vector<WorkloadOutput> outputs;
  job.workload->Ends(kernel_.now(), container, exit, outputs);
  HandleWorkload(job, outputs);
}

}  // namespace tfyarn::sim
