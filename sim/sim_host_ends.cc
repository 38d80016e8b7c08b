// SimHost: what several kinds of faults bring about, the ends of NodeManagers, containers and
// processes. The kinds themselves are in sim/faults.
#include <vector>

#include "sim/sim_host.h"

namespace tfyarn::sim {

void SimHost::EndContainer(const ContainerId& id) {
  const ContainerRecord ends = cluster_.containers.at(id);
  if (ends.am != nullptr) EndAm(*ends.am);
  if (ends.agent != nullptr) EndAgent(*ends.agent);
  trace_.Tell(trace::ContainerGone{.container = id});
  cluster_.containers.erase(id);
}

void SimHost::EndNm(NmActor& nm) {
  nm.alive = false;
  links_.Update(nm);
  cluster_.nm_of_node[static_cast<std::size_t>(nm.place)] = nullptr;
  // The object stays until the step that runs now is over.
  kernel_.After(Duration::zero(), [this, id = nm.id] { cluster_.nms.Remove(id); });
}

std::vector<AgentActor*> SimHost::AgentsOf(const FaultOrder& order) const {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster_.JobNamed(struck.job);
    if (job == nullptr) continue;
    for (AgentActor* agent : job->agents) {
      if (struck.kind == StruckKind::kJob || agent->fence.task == struck.task)
        agents.push_back(agent);
    }
  }
  return agents;
}

}  // namespace tfyarn::sim
