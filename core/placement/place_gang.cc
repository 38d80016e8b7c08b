#include "core/placement/place_gang.h"

#include <algorithm>
#include <numeric>

#include "core/model/check.h"
#include "core/placement/gang_problem.h"

namespace tfyarn::placement {
namespace {

// Beyond this the exact search's depth and chances are out of proportion.
constexpr std::size_t kMostSearchedCells = 4096;
// Choices of racks for packed types that are looked at; more racks than that are seldom.
constexpr std::size_t kMostRackChoices = 256;

/// Share of the largest node (by dimension, in 1/2^20) that one container of the group takes: its
/// dominant share.
std::vector<std::int64_t> DominantShares(const GangProblem& problem) {
  std::vector<std::int64_t> largest(problem.dimensions, 1);
  for (const GangProblem::Node& node : problem.nodes) {
    for (std::size_t d = 0; d < problem.dimensions; ++d)
      largest[d] = std::max(largest[d], node.free[d]);
  }
  std::vector<std::int64_t> shares;
  for (const GangProblem::Group& group : problem.groups) {
    std::int64_t share = 0;
    for (std::size_t d = 0; d < problem.dimensions; ++d) {
      // Divided first where the product could overflow (memory in MiB times 2^20 fits easily;
      // exotic types may not).
      const std::int64_t unit = std::min<std::int64_t>(group.unit[d], INT64_C(1) << 40);
      share = std::max(share, (unit << 20) / std::min<std::int64_t>(largest[d], INT64_C(1) << 40));
    }
    shares.push_back(share);
  }
  return shares;
}

/// Most containers of the group, alone, on that node.
std::int32_t MostOn(const GangProblem& problem, std::size_t g, const GangProblem::Node& node) {
  if (!node.usable[g]) return 0;
  const GangProblem::Group& group = problem.groups[g];
  return problem.Fit(group, node.free, group.spread_node || group.spread_rack ? 1 : group.count);
}

/// room[rack][group]: most containers of the group, alone, in the rack.
std::vector<std::vector<std::int64_t>> RoomByRack(const GangProblem& problem) {
  std::vector<std::vector<std::int64_t>> room(problem.racks,
                                              std::vector<std::int64_t>(problem.groups.size(), 0));
  for (const GangProblem::Node& node : problem.nodes) {
    for (std::size_t g = 0; g < problem.groups.size(); ++g) {
      std::int64_t& sum = room[node.rack][g];
      const std::int32_t most = MostOn(problem, g, node);
      sum = problem.groups[g].spread_rack ? std::max<std::int64_t>(sum, most) : sum + most;
    }
  }
  return room;
}

/// False when a group does not even fit alone; that is a proof.
bool EveryGroupFitsAlone(const GangProblem& problem,
                         const std::vector<std::vector<std::int64_t>>& room) {
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    std::int64_t sum = 0;
    std::int64_t best_rack = 0;
    for (const auto& rack : room) {
      sum += rack[g];
      best_rack = std::max(best_rack, rack[g]);
    }
    if ((problem.groups[g].pack_rack ? best_rack : sum) < problem.groups[g].count) return false;
  }
  return true;
}

/// One first-fit pass.
class FirstFit {
 public:
  FirstFit(const GangProblem& problem, const RackChoice& racks)
      : problem_(problem),
        racks_(racks),
        types_on_node_(problem.nodes.size(), 0),
        types_in_rack_(problem.racks, 0) {
    free_.reserve(problem.nodes.size());
    for (const GangProblem::Node& node : problem.nodes) free_.push_back(node.free);
    counts_.assign(problem.groups.size(), std::vector<std::int32_t>(problem.nodes.size(), 0));
  }

  bool Place(const std::vector<std::size_t>& group_order,
             const std::vector<std::size_t>& node_order) {
    return std::all_of(group_order.begin(), group_order.end(),
                       [&](std::size_t g) { return PlaceGroup(g, node_order); });
  }

  Counts TakeCounts() { return std::move(counts_); }

 private:
  bool PlaceGroup(std::size_t g, const std::vector<std::size_t>& node_order) {
    const GangProblem::Group& group = problem_.groups[g];
    std::int32_t left = group.count;
    for (const std::size_t n : node_order) {
      if (left == 0) break;
      const std::int32_t count = Allowed(g, n, left);
      if (count == 0) continue;
      counts_[g][n] += count;
      left -= count;
      types_on_node_[n] |= group.type_bit;
      types_in_rack_[problem_.nodes[n].rack] |= group.type_bit;
      for (std::size_t d = 0; d < problem_.dimensions; ++d) free_[n][d] -= group.unit[d] * count;
    }
    return left == 0;
  }

  [[nodiscard]] std::int32_t Allowed(std::size_t g, std::size_t n, std::int32_t left) const {
    const GangProblem::Group& group = problem_.groups[g];
    const GangProblem::Node& node = problem_.nodes[n];
    if (!node.usable[g] || (racks_[g] != kAnyRack && racks_[g] != node.rack)) return 0;
    if ((group.conflicts & types_on_node_[n]) != 0) return 0;
    if (group.spread_node && (types_on_node_[n] & group.type_bit) != 0) return 0;
    if (group.spread_rack && (types_in_rack_[node.rack] & group.type_bit) != 0) return 0;
    return problem_.Fit(group, free_[n], group.spread_node || group.spread_rack ? 1 : left);
  }

  const GangProblem& problem_;
  const RackChoice& racks_;
  std::vector<std::vector<std::int64_t>> free_;
  std::vector<std::uint64_t> types_on_node_;
  std::vector<std::uint64_t> types_in_rack_;
  Counts counts_;
};

/// Orders in which first-fit is tried: by dominant share (constrained types first), by total
/// demand, by choice of nodes.
std::vector<std::vector<std::size_t>> GroupOrders(const GangProblem& problem) {
  const std::size_t count = problem.groups.size();
  const std::vector<std::int64_t> shares = DominantShares(problem);
  std::vector<std::size_t> usable(count, 0);
  for (const GangProblem::Node& node : problem.nodes) {
    for (std::size_t g = 0; g < count; ++g) usable[g] += node.usable[g] ? 1 : 0;
  }
  std::vector<std::size_t> by_share(count);
  std::iota(by_share.begin(), by_share.end(), 0);
  std::vector<std::size_t> by_demand = by_share;
  std::vector<std::size_t> by_choice = by_share;
  const auto constrained = [&](std::size_t g) { return problem.groups[g].type_bit != 0; };
  std::stable_sort(by_share.begin(), by_share.end(), [&](std::size_t a, std::size_t b) {
    if (constrained(a) != constrained(b)) return constrained(a);
    return shares[a] > shares[b];
  });
  std::stable_sort(by_demand.begin(), by_demand.end(), [&](std::size_t a, std::size_t b) {
    return shares[a] * problem.groups[a].count > shares[b] * problem.groups[b].count;
  });
  std::stable_sort(by_choice.begin(), by_choice.end(),
                   [&](std::size_t a, std::size_t b) { return usable[a] < usable[b]; });
  return {by_share, by_demand, by_choice};
}

/// As given; the fullest first (leaves large holes); the emptiest first.
std::vector<std::vector<std::size_t>> NodeOrders(const GangProblem& problem) {
  std::vector<std::int64_t> largest(problem.dimensions, 1);
  for (const GangProblem::Node& node : problem.nodes) {
    for (std::size_t d = 0; d < problem.dimensions; ++d)
      largest[d] = std::max(largest[d], node.free[d]);
  }
  std::vector<std::int64_t> emptiness(problem.nodes.size(), 0);
  for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
    for (std::size_t d = 0; d < problem.dimensions; ++d) {
      emptiness[n] += problem.nodes[n].free[d] * 1000 / largest[d];
    }
  }
  std::vector<std::size_t> as_given(problem.nodes.size());
  std::iota(as_given.begin(), as_given.end(), 0);
  std::vector<std::size_t> fullest = as_given;
  std::vector<std::size_t> emptiest = as_given;
  std::stable_sort(fullest.begin(), fullest.end(),
                   [&](std::size_t a, std::size_t b) { return emptiness[a] < emptiness[b]; });
  std::stable_sort(emptiest.begin(), emptiest.end(),
                   [&](std::size_t a, std::size_t b) { return emptiness[a] > emptiness[b]; });
  return {as_given, fullest, emptiest};
}

struct RackChoices {
  std::vector<RackChoice>
      choices;      // the roomiest racks first; one choice without racks when nothing is packed
  bool all = true;  // no choice that could work was left out
};

/// Every way to give each packed type a rack in which each of its groups fits alone.
RackChoices ChooseRacks(const GangProblem& problem,
                        const std::vector<std::vector<std::int64_t>>& room) {
  RackChoices result{.choices = {RackChoice(problem.groups.size(), kAnyRack)}};
  std::uint64_t done = 0;
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    const GangProblem::Group& group = problem.groups[g];
    if (!group.pack_rack || (done & group.type_bit) != 0) continue;
    done |= group.type_bit;
    std::vector<std::uint32_t> racks;
    for (std::uint32_t rack = 0; rack < problem.racks; ++rack) {
      if (room[rack][g] >= group.count) racks.push_back(rack);
    }
    std::stable_sort(racks.begin(), racks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return room[a][g] > room[b][g]; });
    std::vector<RackChoice> extended;
    for (const RackChoice& choice : result.choices) {
      for (const std::uint32_t rack : racks) {
        if (extended.size() == kMostRackChoices) {
          result.all = false;
          break;
        }
        extended.push_back(choice);
        for (std::size_t other = g; other < problem.groups.size(); ++other) {
          if (problem.groups[other].type_bit == group.type_bit) extended.back()[other] = rack;
        }
      }
    }
    result.choices = std::move(extended);
  }
  return result;
}

PlaceGangResult ResultOf(const GangProblem& problem, const Counts& counts, std::size_t groups) {
  PlaceGangResult result{.found = Found::kPlaced};
  result.assignment.groups.resize(groups);
  for (std::size_t g = 0; g < problem.groups.size(); ++g) {
    std::vector<Placed>& placed = result.assignment.groups[problem.origin[g]];
    std::int32_t sum = 0;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
      if (counts[g][n] == 0) continue;
      placed.push_back({.node = problem.nodes[n].inventory_index, .count = counts[g][n]});
      sum += counts[g][n];
    }
    TF_CHECK(sum == problem.groups[g].count);
  }
  return result;
}

/// First-fit over all choices and orders within the limit of tries; empty when none worked.
std::optional<Counts> TryFirstFit(const GangProblem& problem,
                                  const std::vector<RackChoice>& choices, std::int32_t tries) {
  const auto group_orders = GroupOrders(problem);
  const auto node_orders = NodeOrders(problem);
  for (const auto& node_order : node_orders) {
    for (const auto& group_order : group_orders) {
      for (const RackChoice& racks : choices) {
        if (tries-- <= 0) return std::nullopt;
        FirstFit fit(problem, racks);
        if (fit.Place(group_order, node_order)) return fit.TakeCounts();
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool OnePerNode(const SlotGroup& group) {
  const std::vector<std::string>& avoid = group.placement.avoid;
  return group.placement.spread.has_value() ||
         std::find(avoid.begin(), avoid.end(), group.task_type) != avoid.end();
}

PlaceGangResult PlaceGang(const std::vector<SlotGroup>& groups, const Inventory& inventory,
                          const PlaceGangOptions& options) {
  const GangProblem problem = MakeGangProblem(groups, inventory, options);
  if (problem.too_many_types) return {.found = Found::kGaveUp};
  const auto room = RoomByRack(problem);
  if (!EveryGroupFitsAlone(problem, room)) return {.found = Found::kImpossible};
  const RackChoices racks = ChooseRacks(problem, room);
  if (auto counts = TryFirstFit(problem, racks.choices, options.first_fit_tries);
      counts.has_value()) {
    return ResultOf(problem, *counts, groups.size());
  }
  if (problem.nodes.size() * problem.groups.size() > kMostSearchedCells)
    return {.found = Found::kGaveUp};
  std::int32_t steps = options.search_steps;
  bool proven = racks.all && steps > 0;
  for (const RackChoice& choice : racks.choices) {
    Counts counts;
    switch (SearchExactly(problem, choice, steps, counts)) {
      case Found::kPlaced:
        return ResultOf(problem, counts, groups.size());
      case Found::kGaveUp:
        proven = false;
        break;
      case Found::kImpossible:
        break;
    }
  }
  return {.found = proven ? Found::kImpossible : Found::kGaveUp};
}

}  // namespace tfyarn::placement
