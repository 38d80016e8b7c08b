// What faults do to nodes and their NodeManagers.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/fault_words.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {
namespace {

/// How much slower all of these together make it, in permille.
std::int32_t ProductOf(const std::map<std::uint64_t, std::int32_t>& factors) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t product = 1000;
  for (const auto& [key, permille] : factors) product = std::min(kMost, product * permille / 1000);
  return static_cast<std::int32_t>(product);
}

std::int64_t GpusOf(const JobSpec& job, const TaskId& task) {
  for (const TaskTypeSpec& type : job.tasks) {
    if (type.name == task.type) return type.resource.gpus;
  }
  return 0;
}

}  // namespace

void SimHost::FaultNodeDown(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (nodes_[node].down++ == 0) CrashNode(node);
    } else if (--nodes_[node].down == 0) {
      Trace(trace::NodePower{.node = nodes_[node].id, .up = true});
      if (nodes_[node].nm_down == 0) StartNm(node, std::nullopt);
    }
  }
}

void SimHost::CrashNode(std::int32_t node) {
  Trace(trace::NodePower{.node = nodes_[node].id, .up = false});
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
  unreported_.erase(node);
  nm_states_.erase(node);
  for (const auto& [index, job] : jobs_)
    std::erase_if(job->localized, [node](const auto& entry) { return entry.first.second == node; });
  for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
}

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
  After(Duration::zero(), [this, id = nm.id] { actors_[id].reset(); });
}

void SimHost::FaultDecommission(const FaultOrder& order) {
  const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
  for (const std::int32_t node : NodesOf(order)) {
    std::map<std::uint64_t, bool>& leaving = nodes_[node].leaving_by;
    if (!order.begins) {
      leaving.erase(KeyOf(order));
      if (leaving.empty()) Recommission(node);
      continue;
    }
    leaving[KeyOf(order)] = grace == Duration::zero();
    OrderDecommission(node);
    if (grace == Duration::zero()) continue;
    After(grace, [this, node, key = KeyOf(order)] {
      const auto entry = nodes_[node].leaving_by.find(key);
      if (entry == nodes_[node].leaving_by.end()) return;
      entry->second = true;
      OrderDecommission(node);
    });
  }
}

/// An RM that is down reads the list of its administrator when it starts.
void SimHost::OrderDecommission(std::int32_t node) {
  const std::map<std::uint64_t, bool>& leaving = nodes_[node].leaving_by;
  if (rm_ == nullptr || leaving.empty()) return;
  const bool at_once =
      std::any_of(leaving.begin(), leaving.end(), [](const auto& entry) { return entry.second; });
  StepRm(fakes::DecommissionNode{.node = nodes_[node].id, .graceful = !at_once});
}

void SimHost::Recommission(std::int32_t node) {
  if (rm_ != nullptr) StepRm(fakes::RecommissionNode{.node = nodes_[node].id});
  nodes_[node].restart_nm = true;
  RestartShutDownNm(node);
}

/// An excluded NodeManager has shut itself down; its operator starts it again, when nothing of it
/// runs any more. One that has not heard of it goes on.
void SimHost::RestartShutDownNm(std::int32_t node) {
  const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
  if (index == 0 || !static_cast<const NmActor&>(*actors_[index]).machine->is_shut_down()) return;
  nodes_[node].restart_nm = false;
  EndNm(static_cast<NmActor&>(*actors_[index]));
  for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
  StartNm(node, std::nullopt);
}

void SimHost::FaultSlowNode(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    if (order.begins) {
      info.slowed_by[KeyOf(order)] = PermilleOf(order, 4);
    } else {
      info.slowed_by.erase(KeyOf(order));
    }
    info.pace_permille = ProductOf(info.slowed_by);
    for (const ContainerId& id : ContainersOn(node)) {
      const AgentActor* agent = AgentOf(id);
      if (agent == nullptr) continue;
      JobRt& job = *jobs_.at(agent->job.value);
      std::vector<WorkloadOutput> outputs;
      job.workload->PaceChanged(now_, id, info.pace_permille, outputs);
      HandleWorkload(job, outputs);
    }
  }
}

void SimHost::FaultNmRestart(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (order.begins) {
      ++nodes_[node].nm_down;
      if (index == 0) continue;
      auto& nm = static_cast<NmActor&>(*actors_[index]);
      CatchUp(nm);
      const bool keeps = NumberOf(order, "recover", 1) != 0 && !nm.machine->is_shut_down();
      if (keeps) nm_states_.insert_or_assign(node, nm.machine->state());
      EndNm(nm);
      if (keeps) continue;
      // Without recovery a stopping NodeManager ends its containers.
      for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
    } else {
      if (--nodes_[node].nm_down > 0 || nodes_[node].down > 0) continue;
      std::optional<fakes::NmState> state;
      if (const auto kept = nm_states_.find(node); kept != nm_states_.end()) {
        state = std::move(kept->second);
        nm_states_.erase(kept);
      }
      StartNm(node, std::move(state));
      ReportMissed(node);
    }
  }
}

void SimHost::ReportMissed(std::int32_t node) {
  const auto missed = unreported_.find(node);
  if (missed == unreported_.end()) return;
  const std::vector<fakes::NmEvent> events = std::move(missed->second);
  unreported_.erase(missed);
  for (const fakes::NmEvent& event : events) TellNmOf(node, event);
}

void SimHost::FaultNmMuted(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].muted += order.begins ? 1 : -1;
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (index == 0) continue;
    auto& nm = static_cast<NmActor&>(*actors_[index]);
    // What it sent meanwhile was lost: nothing vouches for it before a beat has come through.
    if (!order.begins && !nm.beat.clean) nm.beat.last_sent.reset();
    UpdateLink(nm);
    Reschedule(nm);
  }
}

void SimHost::FaultLaunch(const FaultOrder& order) {
  const bool launch = order.kind == "launch_fail";
  for (const std::int32_t node : NodesOf(order)) {
    auto& behind = launch ? nodes_[node].launch_failed_by : nodes_[node].localize_failed_by;
    if (order.begins) {
      behind.insert(order.fault);
    } else {
      behind.erase(order.fault);
    }
    if (order.lasts || !order.begins) {
      (launch ? nodes_[node].launch_fails : nodes_[node].localize_fails) += order.begins ? 1 : -1;
    } else {
      (launch ? nodes_[node].launch_fails_next : nodes_[node].localize_fails_next) +=
          static_cast<std::int32_t>(NumberOf(order, "count", 1));
    }
  }
}

std::string SimHost::LaunchFailure(std::int32_t node, bool localize) {
  NodeInfo& info = nodes_[node];
  const std::int32_t always = localize ? info.localize_fails : info.launch_fails;
  std::int32_t& next = localize ? info.localize_fails_next : info.launch_fails_next;
  if (always == 0 && next == 0) return {};
  if (always == 0) --next;
  for (const std::uint32_t fault : localize ? info.localize_failed_by : info.launch_failed_by)
    fault_struck_[fault] = true;
  return localize ? fmt::format("localization failed on {}: no space left on device", info.id.host)
                  : fmt::format("container launch failed on {}: cannot run program", info.id.host);
}

void SimHost::FaultLocalizeSlow(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    if (order.begins) {
      info.localize_slowed_by[KeyOf(order)] = PermilleOf(order, 10);
    } else {
      info.localize_slowed_by.erase(KeyOf(order));
    }
    info.localize_permille = ProductOf(info.localize_slowed_by);
  }
}

void SimHost::FaultGpus(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    const auto all = static_cast<double>(info.capacity.gpus);
    const auto gone = static_cast<std::int64_t>(
        std::min(all, NumberOf(order, "gpus", order.kind == "gpu_lost" ? 1 : all)));
    if (order.begins) {
      info.gpus_taken_by[KeyOf(order)] = gone;
    } else {
      info.gpus_taken_by.erase(KeyOf(order));
    }
    std::int64_t taken = 0;
    for (const auto& [key, gpus] : info.gpus_taken_by) taken += gpus;
    info.now.gpus = std::max<std::int64_t>(0, info.capacity.gpus - taken);
    Trace(trace::NodeDeclared{.node = info.id,
                              .rack = info.rack,
                              .partition = info.partition,
                              .labels = info.labels,
                              .capacity = info.now});
    const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
    if (nm != 0)
      StepNm(static_cast<NmActor&>(*actors_[nm]), fakes::CapacityChanged{.capacity = info.now});
    if (order.kind == "gpu_lost" && order.begins) FailGpuProcessOn(node);
  }
}

/// The first user process on the node that has GPUs, in order of container, finds one gone and
/// exits 1.
void SimHost::FailGpuProcessOn(std::int32_t node) {
  for (const ContainerId& id : ContainersOn(node)) {
    const AgentActor* agent = AgentOf(id);
    if (agent == nullptr) continue;
    const JobRt& job = *jobs_.at(agent->job.value);
    for (const RunningProcess& process : job.workload->running()) {
      if (process.container == id && GpusOf(*job.spec, process.task) > 0)
        return EndUserProcess(id, {.code = 1});
    }
  }
}

}  // namespace tfyarn::sim
