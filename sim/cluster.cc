#include "sim/cluster.h"

#include <algorithm>

namespace tfyarn::sim {

Cluster::Cluster(const config::Scenario& scenario, const RunOptions& options)
    : nodes(scenario.cluster),
      network(scenario.cluster.network, nodes.rack_indices(), options.seed),
      nm_of_node(static_cast<std::size_t>(nodes.size()), nullptr) {
  nodes.DrawPorts(options.seed, options.shift_ports);
}

AmActor* Cluster::AmOf(const JobRecord& job, const ApplicationAttemptId& attempt) const {
  for (const std::uint32_t id : job.ams) {
    AmActor* am = ams.Living(id);
    if (am != nullptr && am->attempt == attempt) return am;
  }
  return nullptr;
}

AgentActor* Cluster::AgentIn(const ContainerId& container) const {
  const auto entry = containers.find(container);
  return entry == containers.end() ? nullptr : entry->second.agent;
}

std::vector<ContainerId> Cluster::ContainersOn(std::int32_t node) const {
  std::vector<ContainerId> found;
  for (const auto& [id, container] : containers) {
    if (container.node == node) found.push_back(id);
  }
  std::sort(found.begin(), found.end());
  return found;
}

JobRecord* Cluster::JobAt(trace::JobIndex index) const {
  const auto job = jobs.find(index.value);
  return job == jobs.end() ? nullptr : job->second.get();
}

JobRecord* Cluster::JobOf(const ApplicationId& application) const {
  const auto entry = job_of_application.find(application);
  return entry == job_of_application.end() ? nullptr : JobAt(trace::JobIndex(entry->second));
}

JobRecord* Cluster::JobNamed(std::string_view name) const {
  const auto entry = job_by_name.find(std::string(name));
  return entry == job_by_name.end() ? nullptr : JobAt(trace::JobIndex(entry->second));
}

std::string_view Cluster::NameOf(trace::JobIndex index) const {
  const JobRecord* job = JobAt(index);
  return job == nullptr ? std::string_view() : std::string_view(job->name);
}

std::vector<JobRecord*> Cluster::JobsInOrder() const {
  std::vector<JobRecord*> found;
  for (const auto& [index, job] : jobs) found.push_back(job.get());
  std::sort(found.begin(), found.end(),
            [](const JobRecord* a, const JobRecord* b) { return a->index < b->index; });
  return found;
}

bool Cluster::ReachableFromMasters(const JobRecord& job, Place place) const {
  if (nodes[place].down > 0 || NmOn(place) == nullptr) return false;
  if (!network.Reachable(kRmPlace, place) || !network.Reachable(place, kRmPlace)) return false;
  if (job.am == nullptr) return true;
  return network.Reachable(job.am->place, place) && network.Reachable(place, job.am->place);
}

}  // namespace tfyarn::sim
