#include "core/placement/gang_problem.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/placement/placement_rules.h"

namespace tfyarn::placement {
namespace {

constexpr std::size_t kMostConstrainedTypes = 64;

std::vector<std::string> Dimensions(const std::vector<SlotGroup>& groups) {
  std::set<std::string> others;
  for (const SlotGroup& group : groups) {
    for (const auto& [name, amount] : group.resource.others) others.insert(name);
  }
  std::vector<std::string> names = {"memory-mb", "vcores", std::string(kGpuResourceName)};
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

std::vector<std::int64_t> Dense(const Resource& resource, const std::vector<std::string>& names) {
  std::vector<std::int64_t> amounts = {resource.memory_mb, resource.vcores, resource.gpus};
  for (std::size_t i = 3; i < names.size(); ++i) amounts.push_back(resource.Get(names[i]));
  return amounts;
}

PlacementRules RulesOf(const std::vector<SlotGroup>& groups, const Inventory& inventory,
                       const std::vector<Occupant>& occupants) {
  PlacementRules rules;
  for (const SlotGroup& group : groups) rules.SetType(group.task_type, group.placement);
  for (const Occupant& occupant : occupants) {
    const Node* node = inventory.Find(occupant.node);
    rules.Occupy(occupant.task_type, occupant.node.host,
                 node == nullptr ? std::string() : node->rack);
  }
  return rules;
}

/// A bit for every constrained type.
std::map<std::string, std::uint64_t> TypeBits(const std::vector<SlotGroup>& groups,
                                              const PlacementRules& rules, bool& too_many) {
  std::map<std::string, std::uint64_t> bits;
  for (const SlotGroup& group : groups) {
    if (!rules.Constrains(group.task_type) || bits.contains(group.task_type)) continue;
    too_many = bits.size() == kMostConstrainedTypes;
    if (too_many) return bits;
    bits.emplace(group.task_type, std::uint64_t{1} << bits.size());
  }
  return bits;
}

void AddGroups(const std::vector<SlotGroup>& groups, const std::vector<std::string>& names,
               const PlacementRules& rules, GangProblem& problem) {
  const auto bits = TypeBits(groups, rules, problem.too_many_types);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const SlotGroup& from = groups[i];
    if (from.count <= 0) continue;
    GangProblem::Group group{.unit = Dense(from.resource, names), .count = from.count};
    const auto bit = bits.find(from.task_type);
    if (bit != bits.end()) group.type_bit = bit->second;
    for (const auto& [type, type_bit] : bits) {
      if (rules.Conflict(from.task_type, type)) group.conflicts |= type_bit;
    }
    group.spread_rack = from.placement.spread == PlacementScope::kRack;
    group.spread_node = OnePerNode(from) && !group.spread_rack;
    group.pack_rack = from.placement.pack_rack;
    problem.groups.push_back(std::move(group));
    problem.origin.push_back(i);
  }
}

}  // namespace

std::int32_t GangProblem::Fit(const Group& group, const std::vector<std::int64_t>& free,
                              std::int32_t most) const {
  std::int64_t fit = most;
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (group.unit[d] > 0) fit = std::min(fit, free[d] / group.unit[d]);
  }
  return static_cast<std::int32_t>(fit);
}

GangProblem MakeGangProblem(const std::vector<SlotGroup>& groups, const Inventory& inventory,
                            const PlaceGangOptions& options) {
  const std::vector<std::string> names = Dimensions(groups);
  const PlacementRules rules = RulesOf(groups, inventory, options.occupants);
  GangProblem problem;
  problem.dimensions = names.size();
  AddGroups(groups, names, rules, problem);

  // Occupants of the gang's own types were taken into account by the rules, which say per node what
  // is usable. What the search itself places is tracked in bits.
  std::map<std::string, std::uint32_t> racks;
  const std::vector<Node>& nodes = inventory.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& from = nodes[i];
    if (options.space == Space::kFree && !from.up) continue;
    if (std::binary_search(options.excluded_hosts.begin(), options.excluded_hosts.end(),
                           from.id.host))
      continue;
    GangProblem::Node node{
        .inventory_index = i,
        .free = Dense(options.space == Space::kFree ? from.free : from.capability, names)};
    bool useful = false;
    for (std::size_t g = 0; g < problem.groups.size(); ++g) {
      const SlotGroup& group = groups[problem.origin[g]];
      const bool usable = group.node_label == from.partition &&
                          problem.Fit(problem.groups[g], node.free, 1) > 0 &&
                          (problem.groups[g].type_bit == 0 ||
                           rules.Allows(group.task_type, from.id.host, from.rack));
      node.usable.push_back(usable);
      useful = useful || usable;
    }
    if (!useful) continue;
    const auto next = static_cast<std::uint32_t>(racks.size());
    node.rack = racks.emplace(from.rack, next).first->second;
    problem.nodes.push_back(std::move(node));
  }
  problem.racks = static_cast<std::uint32_t>(racks.size());
  return problem;
}

}  // namespace tfyarn::placement
