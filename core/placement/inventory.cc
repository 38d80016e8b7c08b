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

/// Whether the reports are sorted by id, without repetition, and each is of a node that stays and
/// has a size. Every AM asks this of every node of the cluster: in one pass, block by block.
bool CanStayFolded(const SharedList<yarn::NodeReport>& reports) {
  const NodeId* before = nullptr;
  for (const SharedList<yarn::NodeReport>::Block& block : reports.blocks()) {
    for (const yarn::NodeReport& report : *block) {
      if (IsGone(report.state) || IsZero(report.capability)) return false;
      if (before != nullptr) {
        const int order = before->host.compare(report.node.host);
        if (order > 0 || (order == 0 && before->port >= report.node.port)) return false;
      }
      before = &report.node;
    }
  }
  return true;
}

}  // namespace

Inventory::Inventory(std::vector<Node> nodes) : nodes_(std::move(nodes)) {
  std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
  TF_CHECK(std::adjacent_find(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
             return a.id == b.id;
           }) == nodes_.end());
}

Inventory::Inventory(const SharedList<yarn::NodeReport>& reports) {
  if (CanStayFolded(reports)) {
    folded_ = reports;
  } else {
    for (const yarn::NodeReport& report : reports) ApplyToNodes(report);
  }
}

Node Inventory::NodeOf(const yarn::NodeReport& report) {
  return {.id = report.node,
          .rack = report.rack,
          .partition = report.partition,
          .capability = report.capability,
          .free = FreeOf(report.capability, report.used),
          .up = report.state == yarn::NodeState::kRunning};
}

bool Inventory::empty() const {
  if (folded_.size() > updates_.size()) return false;  // An update takes away one node at most.
  if (!updates_.empty()) Unfold();
  return folded_.empty() && nodes_.empty();
}

void Inventory::Unfold() const {
  if (folded_.empty() && updates_.empty()) return;
  nodes_.reserve(folded_.size());
  for (const yarn::NodeReport& report : folded_) nodes_.push_back(NodeOf(report));
  folded_ = {};
  const std::vector<yarn::NodeReport> updates = std::exchange(updates_, {});
  for (const yarn::NodeReport& report : updates) ApplyToNodes(report);
}

void Inventory::Apply(const yarn::NodeReport& report) {
  if (folded_.empty()) return ApplyToNodes(report);
  updates_.push_back(report);
  if (updates_.size() >= kMostUpdates) Unfold();
}

void Inventory::ApplyToNodes(const yarn::NodeReport& report) const {
  const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), report.node,
                                   [](const Node& node, const NodeId& id) { return node.id < id; });
  const bool known = at != nodes_.end() && at->id == report.node;
  if (IsGone(report.state)) {
    if (known) nodes_.erase(at);
  } else if (!IsZero(report.capability)) {
    if (known) {
      *at = NodeOf(report);
    } else {
      nodes_.insert(at, NodeOf(report));
    }
  } else if (known) {
    at->up = report.state == yarn::NodeState::kRunning;
  }
}

const Node* Inventory::Find(const NodeId& id) const {
  const auto at =
      std::lower_bound(nodes().begin(), nodes().end(), id,
                       [](const Node& node, const NodeId& wanted) { return node.id < wanted; });
  return at != nodes_.end() && at->id == id ? &*at : nullptr;
}

std::string Inventory::RackOf(const NodeId& id) const {
  for (auto update = updates_.rbegin(); update != updates_.rend(); ++update) {
    if (update->node != id) continue;
    if (IsGone(update->state)) return {};
    if (!IsZero(update->capability)) return update->rack;
  }
  const auto folded = std::lower_bound(
      folded_.begin(), folded_.end(), id,
      [](const yarn::NodeReport& report, const NodeId& wanted) { return report.node < wanted; });
  if (folded != folded_.end() && folded->node == id) return folded->rack;
  const Node* known = folded_.empty() ? Find(id) : nullptr;
  return known == nullptr ? std::string() : known->rack;
}

const Node* Inventory::FindHost(std::string_view host) const {
  const auto at = std::lower_bound(
      nodes().begin(), nodes().end(), host,
      [](const Node& node, std::string_view wanted) { return node.id.host < wanted; });
  return at != nodes_.end() && at->id.host == host ? &*at : nullptr;
}

std::set<std::string> Inventory::Partitions() const {
  std::set<std::string> partitions;
  for (const Node& node : nodes()) partitions.insert(node.partition);
  return partitions;
}

}  // namespace tfyarn::placement
