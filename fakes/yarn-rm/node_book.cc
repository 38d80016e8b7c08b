#include "fakes/yarn-rm/node_book.h"

#include <algorithm>

namespace tfyarn::fakes {

std::pair<RmNode&, bool> NodeBook::Add(const NodeId& id) {
  const auto next = static_cast<std::int32_t>(nodes_.size());
  const auto [entry, is_new] = by_id_.try_emplace(id, next);
  if (!is_new) return {At(entry->second), false};
  RmNode& added = nodes_.emplace_back();
  added.id = id;
  added.index = next;
  added.state = yarn::NodeState::kNew;
  return {added, true};
}

RmNode* NodeBook::Find(const NodeId& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &At(found->second);
}

const RmNode* NodeBook::Find(const NodeId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &At(found->second);
}

void NodeBook::SetSchedulable(RmNode& node, bool schedulable) {
  if (node.schedulable == schedulable) return;
  node.schedulable = schedulable;
  schedulable_ += schedulable ? 1 : -1;
}

const SharedList<yarn::NodeReport>& NodeBook::Reports() {
  if (!restated_.empty()) BringReportsUpToDate();
  return reports_;
}

void NodeBook::BringReportsUpToDate() {
  const auto by_id = [](const yarn::NodeReport& a, const yarn::NodeReport& b) {
    return a.node < b.node;
  };
  std::vector<std::pair<std::size_t, yarn::NodeReport>> changed;
  std::vector<yarn::NodeReport> added;
  for (const std::int32_t index : restated_) {
    RmNode& node = At(index);
    node.restated = false;
    yarn::NodeReport report = ReportOf(node);
    const auto at = std::lower_bound(reports_.begin(), reports_.end(), report, by_id);
    if (at != reports_.end() && at->node == report.node) {
      changed.emplace_back(at - reports_.begin(), std::move(report));
    } else {
      added.push_back(std::move(report));
    }
  }
  restated_.clear();
  reports_ = reports_.With(std::move(changed));
  if (added.empty()) return;
  added.insert(added.end(), reports_.begin(), reports_.end());
  std::sort(added.begin(), added.end(), by_id);
  reports_ = std::move(added);
}

yarn::NodeReport ReportOf(const RmNode& node) {
  return {.node = node.id,
          .rack = node.rack,
          .state = node.state,
          .capability = node.capacity,
          .used = node.used,
          .partition = node.partition};
}

}  // namespace tfyarn::fakes
