// The nodes of a cluster as seen from outside the RM: how large each is, and how much of it seems
// to be free.
//
// A view, not the truth: capability and state follow NodeReports, and `free` is as old as the last
// report. A caller that plans with it must expect that the RM refuses.
//
// Most AMs look at a handful of nodes once and then wait for their containers: reports stay the
// shared list that they came as until a caller needs them all.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/yarn.h"

namespace tfyarn::placement {

struct Node {
  NodeId id;
  std::string rack;
  std::string partition;  ///< "" = default partition.
  Resource capability;
  Resource free;   ///< Capability without what was used at the last report; never negative.
  bool up = true;  ///< False: lost, unhealthy, leaving: takes nothing now, but may come back.

  friend bool operator==(const Node&, const Node&) = default;
};

class Inventory {
 public:
  Inventory() = default;
  /// Nodes in any order; the ids must differ.
  explicit Inventory(std::vector<Node> nodes);
  /// In any order, too.
  explicit Inventory(const SharedList<yarn::NodeReport>& reports);

  /// Takes in a changed node. Decommissioned and shut down ones leave the inventory; a report
  /// without capability changes only the state.
  void Apply(const yarn::NodeReport& report);

  /// Sorted by id.
  [[nodiscard]] const std::vector<Node>& nodes() const {
    Unfold();
    return nodes_;
  }
  /// Calls `visit(const Node&)` for one node after the other, sorted by id, until it returns false.
  /// Cheap when that is soon.
  template <class Visit>
  void Scan(Visit&& visit) const;
  [[nodiscard]] bool empty() const;
  /// nullptr when unknown.
  [[nodiscard]] const Node* Find(const NodeId& id) const;
  /// "" when unknown.
  [[nodiscard]] std::string RackOf(const NodeId& id) const;
  /// The first node of that host, for rows and blacklists name hosts only; nullptr when unknown.
  [[nodiscard]] const Node* FindHost(std::string_view host) const;
  /// Every partition that a node is in, the default one as "".
  [[nodiscard]] std::set<std::string> Partitions() const;

 private:
  /// Beyond so many updates a list of nodes is no longer than the list of updates.
  static constexpr std::size_t kMostUpdates = 64;

  [[nodiscard]] static Node NodeOf(const yarn::NodeReport& report);
  void Unfold() const;
  void ApplyToNodes(const yarn::NodeReport& report) const;

  // Until unfolded: sorted reports of nodes that have a size, and what came later. Afterwards:
  // none.
  mutable SharedList<yarn::NodeReport> folded_;
  mutable std::vector<yarn::NodeReport> updates_;
  mutable std::vector<Node> nodes_;
};

template <class Visit>
void Inventory::Scan(Visit&& visit) const {
  if (!updates_.empty()) Unfold();
  for (const yarn::NodeReport& report : folded_) {
    if (!visit(NodeOf(report))) return;
  }
  for (const Node& node : nodes_) {
    if (!visit(node)) return;
  }
}

}  // namespace tfyarn::placement
