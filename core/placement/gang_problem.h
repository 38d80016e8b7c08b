// A placement question in dense numbers: what PlaceGang's heuristic and its exact search both work
// on.
//
// Private to this folder. Resources become rows of integers, nodes that no group can use are left
// out, and constraints become bits, so that the inner loops compare integers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/placement/place_gang.h"

namespace tfyarn::placement {

struct GangProblem {
  struct Group {
    std::vector<std::int64_t> unit;  // amount per container, by dimension
    std::int32_t count = 0;
    std::uint64_t type_bit = 0;   // 0 for types without constraints
    std::uint64_t conflicts = 0;  // bits of types it may not meet on a node
    bool spread_node = false;
    bool spread_rack = false;
    bool pack_rack = false;
  };
  struct Node {
    std::size_t inventory_index = 0;
    std::uint32_t rack = 0;          // dense
    std::vector<std::int64_t> free;  // by dimension
    std::vector<bool> usable;        // by group: partition, exclusion, occupants
  };

  std::size_t dimensions = 0;
  std::vector<Group> groups;        // those with count > 0
  std::vector<std::size_t> origin;  // position of each group in the caller's list
  std::vector<Node> nodes;
  std::uint32_t racks = 0;
  bool too_many_types = false;  // more constrained types than bits

  /// How many containers of the group fit into `free`, at most `most`.
  [[nodiscard]] std::int32_t Fit(const Group& group, const std::vector<std::int64_t>& free,
                                 std::int32_t most) const;
};

[[nodiscard]] GangProblem MakeGangProblem(const std::vector<SlotGroup>& groups,
                                          const Inventory& inventory,
                                          const PlaceGangOptions& options);

/// A rack for every packed group (dense number), or kAnyRack for the others; same order as
/// GangProblem::groups.
inline constexpr std::uint32_t kAnyRack = UINT32_MAX;
using RackChoice = std::vector<std::uint32_t>;

/// counts[group][node], or empty when nothing was found.
using Counts = std::vector<std::vector<std::int32_t>>;

/// Exact search. kGaveUp when `steps` ran out; `steps` is lowered by what was used.
[[nodiscard]] Found SearchExactly(const GangProblem& problem, const RackChoice& racks,
                                  std::int32_t& steps, Counts& counts);

}  // namespace tfyarn::placement
