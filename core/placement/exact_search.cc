// The exact search behind PlaceGang: depth first over nodes, each filled in every way that is not
// plainly worse.
//
// A node is filled maximally, for what would still fit could move here from a later node; only
// types spread over racks may leave room, because taking it closes the rack for them. Equal
// neighbours are filled in falling order, which removes the permutations of equal nodes.
#include <algorithm>

#include "core/placement/gang_problem.h"

namespace tfyarn::placement {
namespace {

class Search {
 public:
  Search(const GangProblem& problem, const RackChoice& racks, std::int32_t& steps)
      : problem_(problem), racks_(racks), steps_(steps), remaining_(problem.groups.size()) {
    for (std::size_t g = 0; g < problem.groups.size(); ++g) remaining_[g] = problem.groups[g].count;
    OrderNodes();
    SumRoom();
    filled_.assign(order_.size(), std::vector<std::int32_t>(problem.groups.size(), 0));
  }

  Found Run(Counts& counts) {
    const bool found = Descend(0, 0);
    if (!found) return steps_ <= 0 ? Found::kGaveUp : Found::kImpossible;
    counts.assign(problem_.groups.size(), std::vector<std::int32_t>(problem_.nodes.size(), 0));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (std::size_t g = 0; g < problem_.groups.size(); ++g) counts[g][order_[i]] = filled_[i][g];
    }
    return Found::kPlaced;
  }

 private:
  using Node = GangProblem::Node;

  [[nodiscard]] const Node& NodeAt(std::size_t position) const {
    return problem_.nodes[order_[position]];
  }

  [[nodiscard]] bool Usable(std::size_t g, const Node& node) const {
    return node.usable[g] && (racks_[g] == kAnyRack || racks_[g] == node.rack);
  }

  // Nodes of a rack together (for spread over racks), equal nodes beside each other within it.
  void OrderNodes() {
    for (std::size_t n = 0; n < problem_.nodes.size(); ++n) order_.push_back(n);
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      const Node& left = problem_.nodes[a];
      const Node& right = problem_.nodes[b];
      return std::tie(left.rack, left.usable, left.free) <
             std::tie(right.rack, right.usable, right.free);
    });
  }

  void SumRoom() {
    const std::size_t groups = problem_.groups.size();
    room_.assign(order_.size() + 1, std::vector<std::int64_t>(groups, 0));
    for (std::size_t i = order_.size(); i-- > 0;) {
      for (std::size_t g = 0; g < groups; ++g) room_[i][g] = room_[i + 1][g] + MostOn(g, NodeAt(i));
    }
  }

  [[nodiscard]] std::int32_t MostOn(std::size_t g, const Node& node) const {
    if (!Usable(g, node)) return 0;
    const GangProblem::Group& group = problem_.groups[g];
    const std::int32_t most = group.spread_node || group.spread_rack ? 1 : group.count;
    return problem_.Fit(group, node.free, most);
  }

  [[nodiscard]] bool Done() const {
    return std::all_of(remaining_.begin(), remaining_.end(),
                       [](std::int32_t left) { return left == 0; });
  }

  /// `rack_types`: constrained types already placed in the rack of the previous node.
  bool Descend(std::size_t position, std::uint64_t rack_types) {
    if (Done()) return true;
    if (position == order_.size() || steps_ <= 0) return false;
    for (std::size_t g = 0; g < remaining_.size(); ++g) {
      if (room_[position][g] < remaining_[g]) return false;
    }
    const bool same_rack = position > 0 && NodeAt(position - 1).rack == NodeAt(position).rack;
    std::vector<std::int64_t> free = NodeAt(position).free;
    return Fill(position, 0, free, 0, same_rack ? rack_types : 0);
  }

  /// Chooses a count for group `g` and those after it on this node, largest first.
  bool Fill(std::size_t position, std::size_t g, std::vector<std::int64_t>& free,
            std::uint64_t here, std::uint64_t rack_types) {
    if (g == remaining_.size()) {
      --steps_;
      if (!IsMaximal(position, free, here, rack_types) || BreaksOrder(position)) return false;
      return Descend(position + 1, rack_types | here);
    }
    const GangProblem::Group& group = problem_.groups[g];
    const std::int32_t most = Allowed(position, g, free, here, rack_types);
    for (std::int32_t count = most; count >= 0 && steps_ > 0; --count) {
      Place(position, g, free, count);
      if (Fill(position, g + 1, free, count > 0 ? here | group.type_bit : here, rack_types))
        return true;
      Place(position, g, free, -count);
    }
    filled_[position][g] = 0;
    return false;
  }

  void Place(std::size_t position, std::size_t g, std::vector<std::int64_t>& free,
             std::int32_t count) {
    filled_[position][g] = count > 0 ? count : 0;
    remaining_[g] -= count;
    for (std::size_t d = 0; d < problem_.dimensions; ++d)
      free[d] -= problem_.groups[g].unit[d] * count;
  }

  [[nodiscard]] std::int32_t Allowed(std::size_t position, std::size_t g,
                                     const std::vector<std::int64_t>& free, std::uint64_t here,
                                     std::uint64_t rack_types) const {
    const GangProblem::Group& group = problem_.groups[g];
    if (!Usable(g, NodeAt(position)) || (group.conflicts & here) != 0) return 0;
    if (group.spread_node && (here & group.type_bit) != 0) return 0;
    if (group.spread_rack && ((here | rack_types) & group.type_bit) != 0) return 0;
    const std::int32_t most = group.spread_node || group.spread_rack ? 1 : remaining_[g];
    return problem_.Fit(group, free, std::min(most, remaining_[g]));
  }

  [[nodiscard]] bool IsMaximal(std::size_t position, const std::vector<std::int64_t>& free,
                               std::uint64_t here, std::uint64_t rack_types) const {
    for (std::size_t g = 0; g < remaining_.size(); ++g) {
      if (!problem_.groups[g].spread_rack && Allowed(position, g, free, here, rack_types) > 0)
        return false;
    }
    return true;
  }

  [[nodiscard]] bool BreaksOrder(std::size_t position) const {
    if (position == 0) return false;
    const Node& before = NodeAt(position - 1);
    const Node& node = NodeAt(position);
    if (before.rack != node.rack || before.usable != node.usable || before.free != node.free)
      return false;
    return filled_[position - 1] < filled_[position];
  }

  const GangProblem& problem_;
  const RackChoice& racks_;
  std::int32_t& steps_;
  std::vector<std::size_t> order_;
  std::vector<std::int32_t> remaining_;  // by group
  std::vector<std::vector<std::int64_t>>
      room_;  // by position and group: most on the nodes from here on
  std::vector<std::vector<std::int32_t>> filled_;  // by position and group
};

}  // namespace

Found SearchExactly(const GangProblem& problem, const RackChoice& racks, std::int32_t& steps,
                    Counts& counts) {
  return Search(problem, racks, steps).Run(counts);
}

}  // namespace tfyarn::placement
