#include "fakes/yarn-rm/rm_nodes.h"

#include <algorithm>

#include "core/model/probe.h"

namespace tfyarn::fakes {

RmNode& RmNodes::Add(const yarn::RegisterNodeManagerRequest& request) {
  const auto [node, is_new] = records_.nodes.Add(request.node);
  if (is_new) records_.books.nodes.push_back(&node);
  if (node.schedulable && node.partition != request.partition)
    Deactivate(node, yarn::NodeState::kRebooted);
  node.rack = request.rack;
  node.partition = request.partition;
  node.partition_number = records_.PartitionNumber(request.partition);
  node.host_place = records_.places.Of(request.node.host);
  node.rack_place = records_.places.Of(request.rack);
  records_.limits.SeeNode(request.resource);
  if (request.resource != node.capacity) SetCapacity(node, request.resource);
  records_.nodes.Restate(node);
  return node;
}

// Containers stay; what is free may become less than nothing, until enough have ended.
void RmNodes::SetCapacity(RmNode& node, const Resource& capacity) {
  if (node.schedulable) {
    records_.queues.SetTotal(node.partition_number, records_.queues.Total(node.partition_number) +
                                                        capacity - node.capacity);
  }
  node.capacity = capacity;
  node.free = capacity - node.used;
  if (AnyNegative(node.free)) TF_PROBE("yarn/node-holds-more-than-it-has");
  records_.nodes.Restate(node);
  if (node.schedulable) applications_.scheduler().OnNodeResized(node);
}

void RmNodes::SetState(RmNode& node, yarn::NodeState state) {
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
      applications_.scheduler().OnNodeAdded(node);
    } else {
      applications_.scheduler().OnNodeRemoved(node);
    }
  }
  // That all have come does not end the wait. Source:
  // RMActiveServiceContext.isSchedulerReadyForAllocatingContainers.
  if (schedulable && records_.scheduling_allowed()) records_.limits.CountBack();
  if (changed) TellApplications(node);
}

// Source: RMAppImpl.RMAppNodeUpdateTransition: the changes of the whole cluster go to every
// application, from its submission on; an AM gets them with its first answers.
void RmNodes::TellApplications(const RmNode& node) {
  for (auto& [id, application] : records_.applications) {
    if (application->phase == ApplicationPhase::kFinishing) continue;
    application->updated_nodes.insert(node.index);
    if (application->attempt.registered) out_.NewsFor(*application);
  }
}

// Source: RMNodeImpl.deactivateNode, CapacityScheduler.removeNode.
void RmNodes::Deactivate(RmNode& node, yarn::NodeState state) {
  SetState(node, state);
  if (state != yarn::NodeState::kUnhealthy) {
    Unwatch(node);
    node.applications.clear();
  }
  // By id: completing an AM's container ends other containers too.
  std::vector<ContainerId> ids;
  for (const BookedContainer* container : node.containers) ids.push_back(container->id);
  std::sort(ids.begin(), ids.end());
  for (const ContainerId& id : ids) {
    BookedContainer* container = records_.Find(id);
    if (container == nullptr) continue;
    applications_.Complete(
        *records_.Find(id.application_attempt.application), *container,
        {.exit_status = -100, .diagnostics = "Container released on a *lost* node"});
  }
  if (state != yarn::NodeState::kUnhealthy) {
    node.to_cleanup.clear();
    node.applications_to_cleanup.clear();
    node.to_remove.clear();
  }
}

void RmNodes::Decommission(const DecommissionNode& order) {
  RmNode* node = records_.nodes.Find(order.node);
  if (node == nullptr) {
    out_.Note("decommission of a node that never registered: " + ToString(order.node));
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
    SetState(*node, yarn::NodeState::kDecommissioning);
    FinishDecommission(*node);
  } else {
    Deactivate(*node, yarn::NodeState::kDecommissioned);
  }
  out_.NewsFor(*node);
}

// Source: DecommissioningNodesWatcher.java: ready when no application runs there any more.
void RmNodes::FinishDecommission(RmNode& node) {
  if (!node.applications.empty() || !node.containers.empty()) return;
  TF_PROBE("yarn/decommission-is-ready");
  Deactivate(node, yarn::NodeState::kDecommissioned);
}

void RmNodes::Recommission(const RecommissionNode& order) {
  excluded_.erase(order.node);
  RmNode* node = records_.nodes.Find(order.node);
  if (node == nullptr) return;
  node->leaving = false;
  if (node->state == yarn::NodeState::kDecommissioning) {
    TF_PROBE("yarn/recommissioned-in-time");
    SetState(*node, yarn::NodeState::kRunning);
    applications_.scheduler().OnNodeRecommissioned(*node);
  }
}

// ---------------------------------------------------------------- watch

void RmNodes::Watch(RmNode& node) {
  const bool alive = node.state == yarn::NodeState::kRunning ||
                     node.state == yarn::NodeState::kUnhealthy ||
                     node.state == yarn::NodeState::kDecommissioning;
  if (node.vouched || node.watched_until || !alive) return;
  node.watched_until = node.last_heard + records_.options.nm_expiry;
  timers_.Set(*node.watched_until, RmTimers::Kind::kNodeExpiry, node.index);
}

void RmNodes::Unwatch(RmNode& node) {
  if (!node.watched_until) return;
  timers_.Cancel(*node.watched_until, RmTimers::Kind::kNodeExpiry, node.index);
  node.watched_until.reset();
}

void RmNodes::OnVouched(const NodeVouched& vouched) {
  RmNode* node = records_.nodes.Find(vouched.node);
  if (node == nullptr) return;
  node->vouched = vouched.vouched;
  if (vouched.vouched) {
    Unwatch(*node);
  } else {
    node->last_heard = std::max(node->last_heard, vouched.last);
    Watch(*node);
  }
}

// A watch is armed anew only when it is over, for what was heard meanwhile.
void RmNodes::OnWatchOver(RmNode& node, Instant at) {
  node.watched_until.reset();
  if (node.vouched) return;
  if (node.last_heard + records_.options.nm_expiry > at) {
    Watch(node);
  } else {
    Deactivate(node, yarn::NodeState::kLost);
  }
}

}  // namespace tfyarn::fakes
