#include "core/placement/inventory.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::placement {
namespace {

/// `used` may exceed a capability that has just been lowered.
Resource FreeOf(const Resource& capability, const Resource& used) {
  Resource free = capability - used;
  free.memory_mb = std::max<std::int64_t>(free.memory_mb, 0);
  free.vcores = std::max<std::int64_t>(free.vcores, 0);
  free.gpus = std::max<std::int64_t>(free.gpus, 0);
  std::erase_if(free.others, [](const auto& entry) { return entry.second <= 0; });
  return free;
}

bool IsGone(yarn::NodeState state) {
  switch (state) {
    case yarn::NodeState::kDecommissioned:
    case yarn::NodeState::kShutdown:
      return true;
    case yarn::NodeState::kNew:
    case yarn::NodeState::kRunning:
    case yarn::NodeState::kUnhealthy:
    case yarn::NodeState::kLost:
    case yarn::NodeState::kRebooted:
    case yarn::NodeState::kDecommissioning:
      return false;
  }
  return false;
}

}  // namespace

Inventory::Inventory(std::vector<Node> nodes) : nodes_(std::move(nodes)) {
  std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  TF_CHECK(std::adjacent_find(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
             return a.id == b.id;
           }) == nodes_.end());
}

Inventory::Inventory(const SharedList<yarn::NodeReport>& reports) {
  nodes_.reserve(reports.size());
  for (const yarn::NodeReport& report : reports) Apply(report);
}

void Inventory::Apply(const yarn::NodeReport& report) {
  // Reports of a whole cluster come in this order.
  const bool is_last = nodes_.empty() || nodes_.back().id < report.node;
  auto at = is_last
                ? nodes_.end()
                : std::lower_bound(nodes_.begin(), nodes_.end(), report.node,
                                   [](const Node& node, const NodeId& id) { return node.id < id; });
  const bool known = at != nodes_.end() && at->id == report.node;
  if (IsGone(report.state)) {
    if (known) nodes_.erase(at);
    return;
  }
  const bool has_size = !IsZero(report.capability);
  if (!known) {
    if (!has_size) return;
    at = nodes_.emplace(at);
    at->id = report.node;
  }
  at->up = report.state == yarn::NodeState::kRunning;
  if (!has_size) return;
  at->rack = report.rack;
  at->partition = report.partition;
  at->capability = report.capability;
  at->free = FreeOf(report.capability, report.used);
}

const Node* Inventory::Find(const NodeId& id) const {
  const auto at =
      std::lower_bound(nodes_.begin(), nodes_.end(), id,
                       [](const Node& node, const NodeId& wanted) { return node.id < wanted; });
  return at != nodes_.end() && at->id == id ? &*at : nullptr;
}

const Node* Inventory::FindHost(std::string_view host) const {
  const auto at = std::lower_bound(
      nodes_.begin(), nodes_.end(), host,
      [](const Node& node, std::string_view wanted) { return node.id.host < wanted; });
  return at != nodes_.end() && at->id.host == host ? &*at : nullptr;
}

std::set<std::string> Inventory::Partitions() const {
  std::set<std::string> partitions;
  for (const Node& node : nodes_) partitions.insert(node.partition);
  return partitions;
}

}  // namespace tfyarn::placement
