// All-or-nothing placement of a gang on an inventory of nodes.
//
// First-fit decreasing: groups in order of their dominant share (constrained ones first), nodes in
// several orders, until one try places everything; then, for what heuristics miss, an exact search
// with a budget. Equal slots are one group with a count, so that a gang of 1,000 equal workers
// costs one pass over the nodes, not 1,000. Not a scheduler: it knows no queues and no other jobs
// but for what `free` says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/job_spec.h"
#include "core/model/resource.h"
#include "core/placement/inventory.h"

namespace tfyarn::placement {

/// `count` equal containers of one task type.
struct SlotGroup {
  std::string task_type;
  Resource resource;
  std::string node_label;  ///< Partition; "" = default.
  PlacementSpec placement;
  std::int32_t count = 0;
};

/// True when no node may have two of the group's type: it is spread over nodes or racks, or avoids
/// itself.
[[nodiscard]] bool OnePerNode(const SlotGroup& group);

/// `count` slots of one group on one node.
struct Placed {
  std::size_t node = 0;  ///< Index into Inventory::nodes().
  std::int32_t count = 0;
  friend bool operator==(const Placed&, const Placed&) = default;
};

/// For each group, in the order given, where its slots go; nodes in rising order, counts > 0.
struct Assignment {
  std::vector<std::vector<Placed>> groups;
};

/// A container that already runs and counts for spread, pack and avoid. What it uses is not in
/// `free`.
struct Occupant {
  std::string task_type;
  NodeId node;
};

enum class Space {
  kFree,   ///< Nodes that are up, as far as they are free.
  kEmpty,  ///< All nodes, down or not, as if nothing ran on them: what could ever be.
};

enum class Found {
  kPlaced,
  kImpossible,  ///< Proven: no placement exists.
  kGaveUp,      ///< None found within the limits below; one may exist.
};

struct PlaceGangOptions {
  Space space = Space::kFree;
  std::vector<Occupant> occupants;
  std::vector<std::string> excluded_hosts;  ///< Sorted.
  /// Tries of first-fit: choices of racks for `pack: rack` times orders of groups and nodes.
  std::int32_t first_fit_tries = 64;
  /// Steps of the exact search after them; 0 = none. One step fills one node.
  std::int32_t search_steps = 20'000;
};

struct PlaceGangResult {
  Found found = Found::kGaveUp;
  Assignment assignment;  ///< Complete when kPlaced, else empty.
};

/// Places every slot of every group, or nothing. Deterministic in its arguments.
/// Constraints: `spread` limits a type (all its groups together) to one per node or rack;
/// `pack_rack` puts a type into one rack; `avoid` keeps two types off each other's nodes, whichever
/// of them names the other.
[[nodiscard]] PlaceGangResult PlaceGang(const std::vector<SlotGroup>& groups,
                                        const Inventory& inventory,
                                        const PlaceGangOptions& options = {});

}  // namespace tfyarn::placement
