// The ResourceManager's books against the models: who holds what, and the sums of nodes and queues.
#include <fmt/format.h>

#include <algorithm>

#include "tests/lockstep/hand_cluster.h"

namespace tfyarn::lockstep {
namespace {

/// Watches look every so often: what is due may happen later by half of the time.
constexpr Duration Late(Duration expiry) {
  return expiry * 3 / 2 + 2s;
}

}  // namespace

std::vector<std::string> HandCluster::Check() {
  CheckContainers();
  CheckSums();
  for (const Node& node : nodes_) {
    if (node.state == yarn::NodeState::kRunning &&
        now_ > node.last_heard + Late(options_.nm_expiry))
      Break(node.id.host + " is silent and not lost");
  }
  return broken_;
}

void HandCluster::CheckContainers() {
  std::set<ContainerId> expected;
  for (const auto& application : applications_) {
    const Slot& slot = SlotOf(*application);
    if (slot.am && !slot.am->away && !slot.am->over) expected.insert(slot.am->container);
    for (const auto& [id, held] : slot.model.containers()) {
      if (!AllocateModel::IsLive(held)) continue;
      expected.insert(id);
      const auto delivered = slot.delivered.find(id);
      if (held.life == Life::kHeld && delivered != slot.delivered.end() &&
          now_ > delivered->second + Late(options_.container_expiry))
        Break(ToString(id) + " was never started and has not expired");
    }
  }
  std::set<ContainerId> booked;
  for (const auto& [id, application] : rm_->books().applications) {
    const Slot* slot = FindSlot(id);
    for (const auto& [container, booking] : application->containers) {
      booked.insert(container);
      if (slot == nullptr || container.application_attempt.application != id)
        Break(ToString(container) + " is in another application's books");
      const Held* held = slot == nullptr ? nullptr : slot->model.Find(container);
      if (held != nullptr && held->container.resource != booking.resource)
        Break(ToString(container) + " is booked with another size");
    }
  }
  for (const ContainerId& id : expected) {
    if (!booked.contains(id)) Break(ToString(id) + " is held and not in the books");
  }
  for (const ContainerId& id : booked) {
    if (!expected.contains(id)) Break(ToString(id) + " is in the books and held by no application");
  }
}

void HandCluster::CheckSums() {
  std::map<std::string, std::map<std::string, Resource>> queues;  // by partition
  std::map<NodeId, Resource> used;
  for (const auto& application : applications_) {
    const Slot& slot = SlotOf(*application);
    const auto count = [&](const NodeId& node, const Resource& resource) {
      used[node] += resource;
      const std::string& partition = hosts_[IndexOf(node)].second.partition;
      queues[slot.queue][partition] += resource;
      queues["root"][partition] += resource;
    };
    if (slot.am && !slot.am->away && !slot.am->over)
      count(nodes_[slot.am->node].id, slot.am->resource);
    for (const auto& [id, held] : slot.model.containers()) {
      if (AllocateModel::IsLive(held)) count(held.container.node, held.container.resource);
    }
  }
  for (const fakes::BookedNode* node : rm_->books().nodes) {
    if (node->used != used[node->id])
      Break(fmt::format("{} has {} in use, its containers {}", node->id.host, ToString(node->used),
                        ToString(used[node->id])));
    if (node->state == yarn::NodeState::kRunning && node->free + node->used != node->capacity)
      Break(node->id.host + ": what is free and what is used are not its capacity");
  }
  const auto& partitions = rm_->books().partitions;
  for (const fakes::BookedQueue* queue : rm_->books().queues) {
    for (std::size_t i = 0; i < queue->used.size(); ++i) {
      const Resource& want = queues[queue->path][partitions[i]];
      if (queue->used[i] != want)
        Break(fmt::format("{} has {} of '{}' in use, its containers {}", queue->path,
                          ToString(queue->used[i]), partitions[i], ToString(want)));
    }
  }
}

}  // namespace tfyarn::lockstep
