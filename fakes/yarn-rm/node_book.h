// The nodes that have registered with this ResourceManager, and what clients are told of them.
//
// A container: it finds nodes, counts those that take part in scheduling, and keeps the list of
// reports that clients share. What a node's state means is decided in rm_nodes.cc.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/shared_list.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

class NodeBook {
 public:
  /// The node of that id, and whether it is new: then in state kNew, with the next index.
  std::pair<RmNode&, bool> Add(const NodeId& id);

  /// nullptr: it has never registered.
  [[nodiscard]] RmNode* Find(const NodeId& id);
  [[nodiscard]] const RmNode* Find(const NodeId& id) const;
  [[nodiscard]] RmNode& At(std::int32_t index) { return nodes_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const RmNode& At(std::int32_t index) const {
    return nodes_[static_cast<std::size_t>(index)];
  }
  /// In the order of first registration.
  [[nodiscard]] auto begin() { return nodes_.begin(); }
  [[nodiscard]] auto end() { return nodes_.end(); }

  /// The node takes part in scheduling from now on, or no longer.
  void SetSchedulable(RmNode& node, bool schedulable);
  /// How many do.
  [[nodiscard]] std::int32_t schedulable() const { return schedulable_; }

  /// What clients are told of the node has changed.
  void Restate(RmNode& node) {
    if (node.restated) return;
    node.restated = true;
    restated_.push_back(node.index);
  }
  /// What clients are told of all nodes now, in the order of their ids.
  [[nodiscard]] const SharedList<yarn::NodeReport>& Reports();

 private:
  struct NodeIdHash {
    std::size_t operator()(const NodeId& id) const {
      return std::hash<std::string>()(id.host) ^ static_cast<std::size_t>(id.port);
    }
  };

  void BringReportsUpToDate();

  std::deque<RmNode> nodes_;  // by index; addresses are stable
  boost::unordered_flat_map<NodeId, std::int32_t, NodeIdHash> by_id_;  // for look-ups only
  std::int32_t schedulable_ = 0;
  SharedList<yarn::NodeReport> reports_;  // as they were when a client asked last
  std::vector<std::int32_t> restated_;    // nodes of which they no longer hold
};

[[nodiscard]] yarn::NodeReport ReportOf(const RmNode& node);

}  // namespace tfyarn::fakes
