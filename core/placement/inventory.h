// The nodes of a cluster as seen from outside the RM: how large each is, and how much of it seems
// to be free.
//
// A view, not the truth: capability and state follow NodeReports, and `free` is as old as the last
// report. Whoever plans with it must be ready to be refused.
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
  explicit Inventory(const SharedList<yarn::NodeReport>& reports);

  /// Takes in a changed node. Decommissioned and shut down ones leave the inventory; a report
  /// without capability changes only the state.
  void Apply(const yarn::NodeReport& report);

  /// Sorted by id.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  /// nullptr when unknown.
  [[nodiscard]] const Node* Find(const NodeId& id) const;
  /// The first node of that host, for rows and blacklists name hosts only; nullptr when unknown.
  [[nodiscard]] const Node* FindHost(std::string_view host) const;
  /// Every partition that a node is in, the default one as "".
  [[nodiscard]] std::set<std::string> Partitions() const;

 private:
  std::vector<Node> nodes_;
};

}  // namespace tfyarn::placement
