// Which hosts may take the containers of task types with placement constraints, and how many each.
//
// A choice, not a promise: it respects the rules against what runs already, keeps types that avoid
// each other on disjoint hosts, and prefers hosts that seem free. The RM then grants any of them
// within the limits.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/placement/inventory.h"
#include "core/placement/place_gang.h"
#include "core/placement/placement_rules.h"

namespace tfyarn::allocation {

/// Hosts for one group, with limits.
struct HostChoice {
  struct Host {
    std::string rack;
    std::int32_t count = 0;
    friend bool operator==(const Host&, const Host&) = default;
  };
  std::map<std::string, Host> hosts;          ///< Counts > 0.
  std::map<std::string, std::int32_t> racks;  ///< Counts > 0; every host's rack is there.
};

struct HostQuestion {
  const std::vector<placement::SlotGroup>& groups;
  const placement::Inventory& inventory;
  const placement::PlacementRules& rules;  ///< With the occupants.
  const std::vector<placement::Occupant>& occupants;
  const std::set<std::string>& excluded_hosts;
  /// Varies the choice where there is one: which rack, which of too many hosts, who gets contended
  /// ones.
  std::int32_t turn = 0;
};

/// Whether the node could hold a container of the group, were it empty but for `occupants`.
[[nodiscard]] bool MayTake(const placement::SlotGroup& group, const placement::Node& node,
                           const HostQuestion& question);

/// One choice for each group, in order; groups whose type has no constraints get an empty one.
[[nodiscard]] std::vector<HostChoice> ChooseHosts(const HostQuestion& question);

}  // namespace tfyarn::allocation
