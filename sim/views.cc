#include "sim/views.h"

#include <algorithm>

#include "core/model/text.h"

namespace tfyarn::sim {

PlanView::PlanView(const Cluster& cluster) : cluster_(cluster) {
  for (std::int32_t i = 0; i < cluster.nodes.size(); ++i) {
    const NodeInfo& node = cluster.nodes[i];
    nodes_.push_back({.name = node.id.host, .rack = node.rack, .labels = node.labels});
  }
}

std::optional<std::int32_t> PlanView::NodeOfTask(std::string_view job_name,
                                                 const TaskId& task) const {
  const JobRecord* job = cluster_.JobNamed(job_name);
  if (job == nullptr) return std::nullopt;
  for (const AgentActor* agent : job->agents) {
    if (agent->fence.task == task) return agent->place;
  }
  return std::nullopt;
}

std::vector<TaskId> PlanView::TasksOfJob(std::string_view job_name) const {
  std::vector<TaskId> tasks;
  const JobRecord* job = cluster_.JobNamed(job_name);
  if (job == nullptr) return tasks;
  for (const AgentActor* agent : job->agents) tasks.push_back(agent->fence.task);
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

std::optional<std::int32_t> PlanView::NodeOfAm(std::string_view job_name) const {
  const JobRecord* job = cluster_.JobNamed(job_name);
  if (job == nullptr || job->am == nullptr) return std::nullopt;
  return job->am->place;
}

bool PlanView::HasClient(std::string_view job_name) const {
  const JobRecord* job = cluster_.JobNamed(job_name);
  return job != nullptr && job->client != nullptr;
}

std::vector<LiveProcess> CheckersView::LiveProcesses() const {
  std::vector<LiveProcess> live;
  for (const auto& [index, job] : cluster_.jobs) {
    for (const RunningProcess& process : job->workload->running()) {
      const std::optional<std::int32_t> node = cluster_.nodes.Find(process.host);
      live.push_back({.job = job->index,
                      .container = process.container,
                      .task = process.task,
                      .process = process.process,
                      .spec = process.spec,
                      .node = cluster_.nodes[*node].id,
                      .reachable = cluster_.ReachableFromMasters(*job, *node)});
    }
  }
  return live;
}

std::vector<HeldContainer> CheckersView::RmContainers() const {
  std::vector<HeldContainer> held;
  if (rm_.machine == nullptr) return held;
  const fakes::RmBooks& books = rm_.machine->books();
  for (const auto& [application, booked] : books.applications) {
    const auto job = cluster_.job_of_application.find(application);
    for (const auto& [id, container] : booked->containers) {
      held.push_back(
          {.job = trace::JobIndex(job == cluster_.job_of_application.end() ? 0 : job->second),
           .container = id,
           .node = books.nodes[static_cast<std::size_t>(container.node)]->id,
           .resource = container.resource,
           .am = container.am,
           .reachable = true});
    }
  }
  return held;
}

std::vector<HeldContainer> CheckersView::NodeContainers() const {
  std::vector<HeldContainer> held;
  for (const auto& [id, container] : cluster_.containers) {
    if (container.am == nullptr && container.agent == nullptr) continue;
    const JobRecord* job = cluster_.JobAt(container.job);
    held.push_back(
        {.job = container.job,
         .container = id,
         .node = cluster_.nodes[container.node].id,
         .resource = {},
         .am = container.am != nullptr,
         .reachable = job != nullptr && cluster_.ReachableFromMasters(*job, container.node)});
  }
  return held;
}

std::vector<std::string> CheckersView::RemainsOf(trace::JobIndex index) const {
  std::vector<std::string> remains;
  const JobRecord* found = cluster_.JobAt(index);
  if (found == nullptr) return remains;
  const JobRecord& job = *found;
  if (job.client != nullptr) remains.push_back("its client");
  if (job.am != nullptr) remains.push_back("an ApplicationMaster");
  for (const AgentActor* agent : job.agents) {
    if (cluster_.ReachableFromMasters(job, agent->place))
      remains.push_back("the agent of " + ToString(agent->fence.task));
  }
  return remains;
}

}  // namespace tfyarn::sim
