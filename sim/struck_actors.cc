#include "sim/struck_actors.h"

namespace tfyarn::sim {

std::vector<AgentActor*> AgentsOf(const Cluster& cluster, const FaultOrder& order) {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster.JobNamed(struck.job);
    if (job == nullptr) continue;
    for (AgentActor* agent : job->agents) {
      if (struck.kind == StruckKind::kJob || agent->fence.task == struck.task)
        agents.push_back(agent);
    }
  }
  return agents;
}

std::vector<AmActor*> AmsOf(const Cluster& cluster, const FaultOrder& order) {
  std::vector<AmActor*> ams;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster.JobNamed(struck.job);
    if (job != nullptr && job->am != nullptr) ams.push_back(job->am);
  }
  return ams;
}

std::vector<ClientActor*> ClientsOf(const Cluster& cluster, const FaultOrder& order) {
  std::vector<ClientActor*> clients;
  for (const Struck& struck : order.struck) {
    const JobRecord* job = cluster.JobNamed(struck.job);
    if (job != nullptr && job->client != nullptr) clients.push_back(job->client);
  }
  return clients;
}

}  // namespace tfyarn::sim
