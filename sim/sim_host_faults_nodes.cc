// What faults do to nodes and their NodeManagers.
#include <fmt/format.h>

#include <algorithm>

#include "sim/fault_words.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

void SimHost::FaultNodeDown(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (nodes_[node].down++ == 0) CrashNode(node);
    } else if (--nodes_[node].down == 0) {
      Trace(trace::NodePower{.node = nodes_[node].id, .up = true});
      StartNm(node, std::nullopt);
    }
  }
}

void SimHost::CrashNode(std::int32_t node) {
  Trace(trace::NodePower{.node = nodes_[node].id, .up = false});
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
  unreported_exits_.erase(node);
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
  if (rm_ == nullptr) return;
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
      StepRm(
          fakes::DecommissionNode{.node = nodes_[node].id, .graceful = grace > Duration::zero()});
      if (grace == Duration::zero()) continue;
      After(grace, [this, node] {
        if (rm_ != nullptr)
          StepRm(fakes::DecommissionNode{.node = nodes_[node].id, .graceful = false});
      });
    } else {
      StepRm(fakes::RecommissionNode{.node = nodes_[node].id});
      const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
      // An excluded NodeManager has shut itself down; its operator starts it again.
      if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
      if (nodes_[node].down == 0) StartNm(node, std::nullopt);
    }
  }
}

void SimHost::FaultSlowNode(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].pace_permille = order.begins ? PermilleOf(order, 4) : 1000;
    for (const ContainerId& id : ContainersOn(node)) {
      const AgentActor* agent = AgentOf(id);
      if (agent == nullptr) continue;
      JobRt& job = *jobs_.at(agent->job.value);
      std::vector<WorkloadOutput> outputs;
      job.workload->PaceChanged(now_, id, nodes_[node].pace_permille, outputs);
      HandleWorkload(job, outputs);
    }
  }
}

void SimHost::FaultNmRestart(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (order.begins) {
      if (index == 0) continue;
      auto& nm = static_cast<NmActor&>(*actors_[index]);
      CatchUp(nm);
      nm_states_.insert_or_assign(node, nm.machine->state());
      EndNm(nm);
      if (NumberOf(order, "recover", 1) != 0) continue;
      // Without recovery a stopping NodeManager ends its containers.
      nm_states_.erase(node);
      for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
    } else {
      if (index != 0 || nodes_[node].down > 0) continue;
      std::optional<fakes::NmState> state;
      if (const auto kept = nm_states_.find(node); kept != nm_states_.end()) {
        state = std::move(kept->second);
        nm_states_.erase(kept);
      }
      StartNm(node, std::move(state));
      ReportMissedExits(node);
    }
  }
}

void SimHost::ReportMissedExits(std::int32_t node) {
  const auto missed = unreported_exits_.find(node);
  if (missed == unreported_exits_.end()) return;
  const std::vector<fakes::ProcessEnded> exits = std::move(missed->second);
  unreported_exits_.erase(missed);
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  for (const fakes::ProcessEnded& exit : exits) StepNm(static_cast<NmActor&>(*actors_[nm]), exit);
}

void SimHost::FaultNmMuted(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (index == 0) continue;
    auto& nm = static_cast<NmActor&>(*actors_[index]);
    nm.muted = order.begins;
    UpdateLink(nm);
    Reschedule(nm);
  }
}

void SimHost::FaultLaunch(const FaultOrder& order) {
  const bool launch = order.kind == "launch_fail";
  for (const std::int32_t node : NodesOf(order)) {
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
  return localize ? fmt::format("localization failed on {}: no space left on device", info.id.host)
                  : fmt::format("container launch failed on {}: cannot run program", info.id.host);
}

void SimHost::FaultLocalizeSlow(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].localize_permille = order.begins ? PermilleOf(order, 10) : 1000;
  }
}

void SimHost::FaultGpus(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    const std::int64_t gone =
        std::min(info.capacity.gpus,
                 static_cast<std::int64_t>(NumberOf(
                     order, "gpus",
                     order.kind == "gpu_lost" ? 1 : static_cast<double>(info.capacity.gpus))));
    info.now.gpus += order.begins ? -gone : gone;
    info.now.gpus = std::clamp<std::int64_t>(info.now.gpus, 0, info.capacity.gpus);
    Trace(trace::NodeDeclared{.node = info.id,
                              .rack = info.rack,
                              .partition = info.partition,
                              .labels = info.labels,
                              .capacity = info.now});
    const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
    if (nm != 0)
      StepNm(static_cast<NmActor&>(*actors_[nm]), fakes::CapacityChanged{.capacity = info.now});
    if (order.kind == "gpu_lost" && order.begins) FailProcessOn(node);
  }
}

/// The first user process on the node, in order of container, finds its GPU gone and exits 1.
void SimHost::FailProcessOn(std::int32_t node) {
  for (const ContainerId& id : ContainersOn(node)) {
    if (AgentOf(id) != nullptr) return EndUserProcess(id, {.code = 1});
  }
}

}  // namespace tfyarn::sim
