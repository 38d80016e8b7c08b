// NodeManagers as the ResourceManager sees them: what they report, and what they do on its orders.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/response_id.h"
#include "tests/lockstep/hand_cluster.h"

namespace tfyarn::lockstep {

using fakes::CallerKind;

void HandCluster::ToldOf(const Node& node, const ContainerId& id, const Process& process) {
  Slot* slot = FindSlot(id.application_attempt.application);
  if (slot == nullptr) return;
  if (IsAm(*slot, id)) {
    if (process.done && !slot->am->over) AmEnds(*slot, process.exit_status);
    return;
  }
  const Held* held = slot->model.Find(id);
  if (held == nullptr || held->container.node != node.id) return;
  if (process.done) {
    slot->model.Ends(id, process.exit_status);
  } else {
    slot->model.Runs(id);
  }
}

void HandCluster::RegisterNode(Node& node) {
  yarn::RegisterNodeManagerRequest request{.node = node.id,
                                           .rack = hosts_[IndexOf(node.id)].second.rack,
                                           .partition = hosts_[IndexOf(node.id)].second.partition,
                                           .resource = node.capacity,
                                           .containers = {},
                                           .running_applications = {}};
  std::set<ApplicationId> running;
  for (auto& [id, process] : node.processes) {
    running.insert(id.application_attempt.application);
    request.containers.push_back(
        {.id = id,
         .state = process.done ? yarn::ContainerState::kComplete : yarn::ContainerState::kRunning,
         .resource = process.resource,
         .priority = process.priority,
         .exit_status = process.done ? process.exit_status : -1000,
         .diagnostics = {}});
    process.said = true;
    if (Slot* slot = FindSlot(id.application_attempt.application); slot != nullptr && !process.done)
      slot->model.Returns(id);
    ToldOf(node, id, process);
  }
  request.running_applications.assign(running.begin(), running.end());
  node.last_heard = now_;
  const auto answer =
      Call({.kind = CallerKind::kNm, .user = {}, .attempt = {}, .node = node.id}, request);
  const auto& response = std::get<yarn::RegisterNodeManagerResponse>(answer);
  node.registered = response.action == yarn::NodeAction::kNormal;
  node.response_id = 0;
  if (node.registered) {
    for (const auto& application : applications_) application->model.NodeRegisters(node.id);
  }
  Settle();
}

void HandCluster::Beat(Node& node, bool repeated) {
  if (!node.up) return;
  if (!node.registered) return RegisterNode(node);
  yarn::NodeHeartbeatRequest request{
      .node = node.id, .response_id = node.response_id, .health_report = {}, .containers = {}};
  const bool known = node.state == yarn::NodeState::kRunning;
  if (repeated) {
    request.response_id = ResponseIdBefore(node.response_id);
  } else {
    for (auto& [id, process] : node.processes) {
      if (process.said && !process.done) continue;
      request.containers.push_back(
          {.id = id,
           .state = process.done ? yarn::ContainerState::kComplete : yarn::ContainerState::kRunning,
           .exit_status = process.done ? process.exit_status : -1000,
           .diagnostics = {}});
    }
    // What runs is heard of first.
    for (const bool done : {false, true}) {
      for (auto& [id, process] : node.processes) {
        if (!known || process.done != done || (process.said && !process.done)) continue;
        process.said = true;
        ToldOf(node, id, process);
      }
    }
  }
  node.last_heard = now_;
  const auto answer =
      Call({.kind = CallerKind::kNm, .user = {}, .attempt = {}, .node = node.id}, request);
  const auto& response = std::get<yarn::NodeHeartbeatResponse>(answer);
  if (response.action != yarn::NodeAction::kNormal) {
    if (known) Break(node.id.host + " is told to register again, and is known");
    node.registered = false;
    Settle();
    return RegisterNode(node);
  }
  if (!known) Break(node.id.host + " beats, and is not known");
  if (!repeated) {
    node.response_id = ResponseIdAfter(node.response_id, 1);
    if (response.response_id != node.response_id)
      Break(node.id.host + " got another response id than the next");
    TakeOrders(node, response);
  } else if (response.response_id != node.response_id) {
    Break(node.id.host + " got another answer to a repeated heartbeat");
  }
  Settle();
}

// A NodeManager kills what it is told to, and forgets what was heard.
void HandCluster::TakeOrders(Node& node, const yarn::NodeHeartbeatResponse& response) {
  const auto kill = [&](const ContainerId& id) {
    const auto at = node.processes.find(id);
    if (at == node.processes.end() || at->second.done) return;
    at->second.done = true;
    at->second.exit_status = 143;
    Slot* slot = FindSlot(id.application_attempt.application);
    if (slot == nullptr) return;
    const Held* held = slot->model.Find(id);
    if (held != nullptr && AllocateModel::IsLive(*held))
      Break(ToString(id) + " is held, and its node is told to kill it");
  };
  for (const ContainerId& id : response.containers_to_cleanup) kill(id);
  for (const ApplicationId& application : response.applications_to_cleanup) {
    for (auto& [id, process] : node.processes) {
      if (id.application_attempt.application == application) kill(id);
    }
  }
  for (const ContainerId& id : response.containers_to_be_removed) {
    const auto at = node.processes.find(id);
    if (at == node.processes.end()) continue;
    if (!at->second.done) Break(ToString(id) + " runs, and its node is to forget it");
    node.processes.erase(at);
  }
}

}  // namespace tfyarn::lockstep
