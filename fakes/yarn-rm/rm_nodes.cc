// Nodes as the RM sees them: coming, going, changing.
//
// Source: RMNodeImpl.java, NodesListManager.java, AbstractYarnScheduler.java.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {

RmNode& RmCore::AddNode(const yarn::RegisterNodeManagerRequest& request) {
  const auto [node, is_new] = records_.nodes.Add(request.node);
  if (is_new) books_.nodes.push_back(&node);
  if (node.schedulable && node.partition != request.partition)
    DeactivateNode(node, yarn::NodeState::kRebooted);
  node.rack = request.rack;
  node.partition = request.partition;
  node.partition_number = PartitionNumber(request.partition);
  node.host_place = places_.Of(request.node.host);
  node.rack_place = places_.Of(request.rack);
  for (const auto& [type, amount] : request.resource.others) resource_types_.insert(type);
  largest_node_ = ComponentMax(largest_node_, request.resource);
  any_node_seen_ = true;
  if (request.resource != node.capacity) SetCapacity(node, request.resource);
  records_.nodes.Restate(node);
  return node;
}

// Containers stay; what is free may become less than nothing, until enough have ended.
void RmCore::SetCapacity(RmNode& node, const Resource& capacity) {
  if (node.schedulable) {
    records_.queues.SetTotal(node.partition_number, records_.queues.Total(node.partition_number) +
                                                        capacity - node.capacity);
  }
  node.capacity = capacity;
  node.free = capacity - node.used;
  if (AnyNegative(node.free)) TF_PROBE("yarn/node-holds-more-than-it-has");
  records_.nodes.Restate(node);
  if (node.schedulable) scheduler_->OnNodeResized(node);
}

void RmCore::SetNodeState(RmNode& node, yarn::NodeState state) {
  const bool schedulable = state == yarn::NodeState::kRunning;
  const bool changed = node.state != state;
  node.state = state;
  records_.nodes.Restate(node);
  if (node.schedulable != schedulable) {
    records_.nodes.SetSchedulable(node, schedulable);
    const Resource& total = records_.queues.Total(node.partition_number);
    records_.queues.SetTotal(node.partition_number,
                             schedulable ? total + node.capacity : total - node.capacity);
    if (schedulable) {
      scheduler_->OnNodeAdded(node);
    } else {
      scheduler_->OnNodeRemoved(node);
    }
  }
  // That all have come does not end the wait. Source:
  // RMActiveServiceContext.isSchedulerReadyForAllocatingContainers.
  if (schedulable && nodes_awaited_ > 0 && !records_.ready_at) --nodes_awaited_;
  if (changed) TellApplications(node);
}

// Source: RMAppImpl.RMAppNodeUpdateTransition: the changes of the whole cluster go to every
// application, from its submission on; an AM gets them with its first answers.
void RmCore::TellApplications(const RmNode& node) {
  for (auto& [id, application] : records_.applications) {
    if (application->phase == ApplicationPhase::kFinishing) continue;
    application->updated_nodes.insert(node.index);
    if (application->attempt.registered) NewsFor(*application);
  }
}

// Source: RMNodeImpl.deactivateNode, CapacityScheduler.removeNode.
void RmCore::DeactivateNode(RmNode& node, yarn::NodeState state) {
  SetNodeState(node, state);
  if (state != yarn::NodeState::kUnhealthy) {
    UnwatchNode(node);
    node.applications.clear();
  }
  // By id: completing an AM's container ends other containers too.
  std::vector<ContainerId> ids;
  for (const BookedContainer* container : node.containers) ids.push_back(container->id);
  std::sort(ids.begin(), ids.end());
  for (const ContainerId& id : ids) {
    BookedContainer* container = records_.Find(id);
    if (container == nullptr) continue;
    Complete(*records_.Find(id.application_attempt.application), *container,
             {.exit_status = -100, .diagnostics = "Container released on a *lost* node"});
  }
  if (state != yarn::NodeState::kUnhealthy) {
    node.to_cleanup.clear();
    node.applications_to_cleanup.clear();
    node.to_remove.clear();
  }
}

void RmCore::On(const DecommissionNode& order) {
  RmNode* node = records_.nodes.Find(order.node);
  if (node == nullptr) {
    Note("decommission of a node that never registered: " + ToString(order.node));
    excluded_.insert(order.node);
    return;
  }
  node->leaving = true;
  // The end of a graceful decommissioning's time comes as an order without grace. Source:
  // DecommissioningNodesWatcher.java, DECOMMISSION of a node that is DECOMMISSIONING.
  const bool time_is_over = node->state == yarn::NodeState::kDecommissioning && !order.graceful;
  if (time_is_over) TF_PROBE("yarn/decommission-time-is-over");
  if (node->state != yarn::NodeState::kRunning && node->state != yarn::NodeState::kUnhealthy &&
      !time_is_over)
    return;
  if (order.graceful) {
    TF_PROBE("yarn/graceful-decommission");
    SetNodeState(*node, yarn::NodeState::kDecommissioning);
    FinishDecommission(*node);
  } else {
    DeactivateNode(*node, yarn::NodeState::kDecommissioned);
  }
  NewsFor(*node);
}

// Source: DecommissioningNodesWatcher.java: ready when no application runs there any more.
void RmCore::FinishDecommission(RmNode& node) {
  if (!node.applications.empty() || !node.containers.empty()) return;
  TF_PROBE("yarn/decommission-is-ready");
  DeactivateNode(node, yarn::NodeState::kDecommissioned);
}

void RmCore::On(const RecommissionNode& order) {
  excluded_.erase(order.node);
  RmNode* node = records_.nodes.Find(order.node);
  if (node == nullptr) return;
  node->leaving = false;
  if (node->state == yarn::NodeState::kDecommissioning) {
    TF_PROBE("yarn/recommissioned-in-time");
    SetNodeState(*node, yarn::NodeState::kRunning);
    scheduler_->OnNodeRecommissioned(*node);
  }
}

}  // namespace tfyarn::fakes
