// What SimHost shows of the world: to the fault plan, which picks targets, and to the checkers,
// which compare books.
#include <algorithm>

#include "core/model/text.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

// ---------------------------------------------------------------- ClusterView

const JobRt* SimHost::JobNamed(std::string_view name) const {
  const auto entry = job_by_name_.find(std::string(name));
  if (entry == job_by_name_.end()) return nullptr;
  const auto job = jobs_.find(entry->second);
  return job == jobs_.end() ? nullptr : job->second.get();
}

std::optional<std::int32_t> SimHost::NodeOfTask(std::string_view job_name,
                                                const TaskId& task) const {
  const JobRt* job = JobNamed(job_name);
  if (job == nullptr) return std::nullopt;
  for (const std::uint32_t id : job->agents) {
    const auto& agent = static_cast<const AgentActor&>(*actors_[id]);
    if (agent.alive && agent.fence.task == task) return agent.place;
  }
  return std::nullopt;
}

std::vector<TaskId> SimHost::TasksOfJob(std::string_view job_name) const {
  std::vector<TaskId> tasks;
  const JobRt* job = JobNamed(job_name);
  if (job == nullptr) return tasks;
  for (const std::uint32_t id : job->agents) {
    const auto& agent = static_cast<const AgentActor&>(*actors_[id]);
    if (agent.alive) tasks.push_back(agent.fence.task);
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

std::optional<std::int32_t> SimHost::NodeOfAm(std::string_view job_name) const {
  const JobRt* job = JobNamed(job_name);
  if (job == nullptr || job->am == 0) return std::nullopt;
  return actors_[job->am]->place;
}

bool SimHost::HasClient(std::string_view job_name) const {
  const JobRt* job = JobNamed(job_name);
  return job != nullptr && job->client != 0;
}

// ---------------------------------------------------------------- WorldView

bool SimHost::ReachableFromMasters(const JobRt& job, Place place) const {
  if (nodes_[place].down > 0 || nm_of_node_[static_cast<std::size_t>(place)] == 0) return false;
  if (!network_.Reachable(kRmPlace, place) || !network_.Reachable(place, kRmPlace)) return false;
  if (job.am == 0) return true;
  const Place am = actors_[job.am]->place;
  return network_.Reachable(am, place) && network_.Reachable(place, am);
}

std::vector<LiveProcess> SimHost::LiveProcesses() const {
  std::vector<LiveProcess> live;
  for (const auto& [index, job] : jobs_) {
    for (const RunningProcess& process : job->workload->running()) {
      const std::optional<std::int32_t> node = nodes_.Find(process.host);
      live.push_back({.job = job->index,
                      .container = process.container,
                      .task = process.task,
                      .process = process.process,
                      .spec = process.spec,
                      .node = nodes_[*node].id,
                      .reachable = ReachableFromMasters(*job, *node)});
    }
  }
  return live;
}

std::vector<HeldContainer> SimHost::RmContainers() const {
  std::vector<HeldContainer> held;
  if (rm_ == nullptr) return held;
  const fakes::RmBooks& books = rm_->books();
  for (const auto& [application, booked] : books.applications) {
    const auto job = job_of_application_.find(application);
    for (const auto& [id, container] : booked->containers) {
      held.push_back({.job = trace::JobIndex(job == job_of_application_.end() ? 0 : job->second),
                      .container = id,
                      .node = books.nodes[static_cast<std::size_t>(container.node)]->id,
                      .resource = container.resource,
                      .am = container.am,
                      .reachable = true});
    }
  }
  return held;
}

std::vector<HeldContainer> SimHost::NodeContainers() const {
  std::vector<HeldContainer> held;
  for (const auto& [id, container] : containers_) {
    if (container.actor == 0) continue;
    const Actor* actor = Living(container.actor);
    if (actor == nullptr) continue;
    const auto job = jobs_.find(container.job.value);
    held.push_back(
        {.job = container.job,
         .container = id,
         .node = nodes_[container.node].id,
         .resource = {},
         .am = actor->kind == ActorKind::kAm,
         .reachable = job != jobs_.end() && ReachableFromMasters(*job->second, container.node)});
  }
  return held;
}

std::vector<std::string> SimHost::RemainsOf(trace::JobIndex index) const {
  std::vector<std::string> remains;
  const auto entry = jobs_.find(index.value);
  if (entry == jobs_.end()) return remains;
  const JobRt& job = *entry->second;
  if (job.client != 0) remains.push_back("its client");
  if (job.am != 0) remains.push_back("an ApplicationMaster");
  for (const std::uint32_t id : job.agents) {
    const auto& agent = static_cast<const AgentActor&>(*actors_[id]);
    if (ReachableFromMasters(job, agent.place))
      remains.push_back("the agent of " + ToString(agent.fence.task));
  }
  return remains;
}

}  // namespace tfyarn::sim
