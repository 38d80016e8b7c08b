#include "fakes/yarn-rm/rm_trackers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/probe.h"
#include "core/model/response_id.h"

namespace tfyarn::fakes {
namespace {

bool IsActive(const RmNode& node) {
  return node.state == yarn::NodeState::kRunning || node.state == yarn::NodeState::kUnhealthy ||
         node.state == yarn::NodeState::kDecommissioning;
}

}  // namespace

// A node that is known and runs nothing is removed and added; one that runs something keeps its
// containers, and may have another capacity. Source: RMNodeImpl.ReconnectNodeTransition.
yarn::RmResponse RmTrackerService::Answer(const RmCall&,
                                          const yarn::RegisterNodeManagerRequest& request) {
  RmNode* known = records_.nodes.Find(request.node);
  const bool too_small =
      request.resource.memory_mb < records_.options.minimum_allocation.memory_mb ||
      request.resource.vcores < records_.options.minimum_allocation.vcores;
  if (too_small || (known == nullptr && nodes_.IsExcluded(request.node)) ||
      (known != nullptr && known->leaving && known->state != yarn::NodeState::kDecommissioning)) {
    TF_PROBE("yarn/node-is-not-admitted");
    return yarn::RegisterNodeManagerResponse{.action = yarn::NodeAction::kShutdown};
  }
  const bool reconnects = known != nullptr && IsActive(*known);
  if (reconnects && !request.running_applications.empty()) TF_PROBE("yarn/node-reconnects");
  if (reconnects && request.running_applications.empty()) {
    TF_PROBE("yarn/empty-node-reconnects");
    nodes_.Deactivate(*known, yarn::NodeState::kRebooted);
  }
  const bool is_new = known == nullptr;
  RmNode& node = nodes_.Add(request);
  ForgetTokensGivenFor(node);
  node.last_heard = records_.now;
  node.response_id = 0;
  node.last_response.reset();
  node.container_key_sent = records_.container_key.current();
  node.nm_key_sent = records_.nm_key.current();
  // A node that is away gets no orders; what AMs acknowledged meanwhile it has forgotten itself.
  // One that reconnects with what runs on it still needs them.
  if (!reconnects || request.running_applications.empty()) node.to_remove.clear();
  node.news_announced = false;
  if (!IsActive(node)) nodes_.SetState(node, yarn::NodeState::kRunning);
  TakeOverNode(node, request, is_new);
  nodes_.Watch(node);
  if (HasOrders(node)) out_.NewsFor(node);
  applications_.scheduler().OnNodeRegistered(node);
  return yarn::RegisterNodeManagerResponse{.action = yarn::NodeAction::kNormal,
                                           .rm_identifier = records_.rm_identifier,
                                           .container_token_key = records_.container_key.current(),
                                           .nm_token_key = records_.nm_key.current()};
}

// Its next container comes with its token again. Source:
// ResourceTrackerService.registerNodeManager (NMTokenSecretManagerInRM.removeNodeKey).
void RmTrackerService::ForgetTokensGivenFor(const RmNode& node) {
  for (const auto& [id, application] : records_.applications)
    application->attempt.nm_tokens_sent.erase(node.index);
}

yarn::RmResponse RmTrackerService::Answer(const RmCall&,
                                          const yarn::NodeHeartbeatRequest& request) {
  RmNode* known = records_.nodes.Find(request.node);
  if (known != nullptr && known->leaving && !IsActive(*known)) {
    return yarn::NodeHeartbeatResponse{.action = yarn::NodeAction::kShutdown};
  }
  if (known == nullptr || !IsActive(*known)) {
    TF_PROBE("yarn/node-must-resync");
    return yarn::NodeHeartbeatResponse{.action = yarn::NodeAction::kResync};
  }
  RmNode& node = *known;
  node.last_heard = records_.now;
  if (ResponseIdAfter(request.response_id, 1) == node.response_id) {
    TF_PROBE("yarn/node-beat-repeated");
    applications_.scheduler().OnNodeHeartbeat(node, Scheduler::Beat::kRepeated);
    // News since then is not in this answer.
    if (std::exchange(node.news_announced, false)) out_.NewsFor(node);
    return node.last_response.value_or(
        yarn::NodeHeartbeatResponse{.response_id = node.response_id});
  }
  if (request.response_id != node.response_id) {
    out_.Note(fmt::format("{} is too far behind: response id {} expected, got {}",
                          ToString(node.id), node.response_id, request.response_id));
    nodes_.Deactivate(node, yarn::NodeState::kRebooted);
    return yarn::NodeHeartbeatResponse{.action = yarn::NodeAction::kResync};
  }
  const bool out_of_turn = std::any_of(request.containers.begin(), request.containers.end(),
                                       [](const yarn::ContainerStatus& status) {
                                         return status.state == yarn::ContainerState::kComplete;
                                       });
  node.news_announced = false;
  node.response_id = ResponseIdAfter(node.response_id, 1);
  // Orders first: what this heartbeat causes goes with the next one.
  yarn::NodeHeartbeatResponse response = TakeNodeOrders(node);
  const bool idle = response.containers_to_cleanup.empty() &&
                    response.applications_to_cleanup.empty() &&
                    response.containers_to_be_removed.empty() && !response.container_token_key &&
                    !response.nm_token_key;
  if (idle) {
    node.last_response.reset();
  } else {
    node.last_response = response;
  }
  TakeNodeStatus(node, request);
  if (IsActive(node)) {
    applications_.scheduler().OnNodeHeartbeat(
        node, out_of_turn ? Scheduler::Beat::kOutOfTurn : Scheduler::Beat::kInTurn);
  }
  if (HasOrders(node)) out_.NewsFor(node);
  if (node.leaving && node.state == yarn::NodeState::kDecommissioned) {
    response.action = yarn::NodeAction::kShutdown;
  }
  return response;
}

// A new key is sent until the node has it. Source: ResourceTrackerService.populateKeys.
yarn::NodeHeartbeatResponse RmTrackerService::TakeNodeOrders(RmNode& node) {
  yarn::NodeHeartbeatResponse response{.response_id = node.response_id};
  response.containers_to_cleanup = std::exchange(node.to_cleanup, {});
  response.applications_to_cleanup = std::exchange(node.applications_to_cleanup, {});
  response.containers_to_be_removed = std::exchange(node.to_remove, {});
  const std::uint32_t container_key = records_.container_key.newest();
  if (container_key != node.container_key_sent) response.container_token_key = container_key;
  node.container_key_sent = container_key;
  const std::uint32_t nm_key = records_.nm_key.newest();
  if (nm_key != node.nm_key_sent) response.nm_token_key = nm_key;
  node.nm_key_sent = nm_key;
  return response;
}

bool RmTrackerService::HasOrders(const RmNode& node) const {
  return !node.to_cleanup.empty() || !node.applications_to_cleanup.empty() ||
         !node.to_remove.empty() || node.container_key_sent != records_.container_key.newest() ||
         node.nm_key_sent != records_.nm_key.newest();
}

// Source: RMNodeImpl.StatusUpdateWhenHealthyTransition, StatusUpdateWhenUnHealthyTransition.
void RmTrackerService::TakeNodeStatus(RmNode& node, const yarn::NodeHeartbeatRequest& request) {
  if (node.state == yarn::NodeState::kDecommissioning) {
    nodes_.FinishDecommission(node);
    if (node.state == yarn::NodeState::kDecommissioned) return;
  } else if (!request.healthy) {
    if (node.state == yarn::NodeState::kRunning)
      nodes_.Deactivate(node, yarn::NodeState::kUnhealthy);
    for (const yarn::ContainerStatus& status : request.containers) {
      if (status.state == yarn::ContainerState::kComplete) node.to_remove.push_back(status.id);
    }
    return;
  } else if (node.state == yarn::NodeState::kUnhealthy) {
    nodes_.SetState(node, yarn::NodeState::kRunning);
  }
  // What runs first: the end of an AM takes what is not known to run. Source:
  // AbstractYarnScheduler.nodeUpdate.
  for (const bool ended : {false, true}) {
    for (const yarn::ContainerStatus& status : request.containers) {
      if ((status.state == yarn::ContainerState::kComplete) == ended)
        TakeContainerStatus(node, status);
    }
  }
  if (node.state == yarn::NodeState::kDecommissioning) nodes_.FinishDecommission(node);
}

void RmTrackerService::TakeContainerStatus(RmNode& node, const yarn::ContainerStatus& status) {
  RmApplication* application = records_.Find(status.id.application_attempt.application);
  BookedContainer* container = records_.Find(status.id);
  const bool here = container != nullptr && container->node == node.index;
  if (status.state != yarn::ContainerState::kComplete) {
    if (here) {
      applications_.MarkRunning(*container);
    } else {
      TF_PROBE("yarn/started-after-its-release");
      // Started after it was released, or of an application that is over. Source:
      // RMNodeImpl.handleRunningAppOnNode, AbstractYarnScheduler.containerLaunchedOnNode.
      applications_.CleanUpOnNode(node, status.id);
      if (application == nullptr)
        node.applications_to_cleanup.push_back(status.id.application_attempt.application);
    }
    return;
  }
  if (!here) {
    // Nobody is to be told; the NM may forget it. (Assumption: at once.)
    node.to_remove.push_back(status.id);
    return;
  }
  const bool am = application->attempt.am_container == status.id;
  if (am) node.to_remove.push_back(status.id);
  applications_.Complete(
      *application, *container,
      {.exit_status = status.exit_status, .diagnostics = status.diagnostics, .tell_node = false});
}

}  // namespace tfyarn::fakes
