#include "core/placement/feasibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace tfyarn::placement {
namespace {

/// "16 GPUs (yarn.io/gpu)", "64 GiB of memory", "8 vcores", "2 yarn.io/fpga".
std::string AmountText(const std::string& resource, std::int64_t amount) {
  if (resource == kGpuResourceName)
    return fmt::format("{} GPU{} ({})", amount, amount == 1 ? "" : "s", resource);
  if (resource == "memory-mb") {
    return amount % 1024 == 0 ? fmt::format("{} GiB of memory", amount / 1024)
                              : fmt::format("{} MiB of memory", amount);
  }
  if (resource == "vcores") return fmt::format("{} vcore{}", amount, amount == 1 ? "" : "s");
  return fmt::format("{} {}", amount, resource);
}

/// The limit's bare number in the unit of AmountText.
std::string LimitText(const std::string& resource, std::int64_t amount) {
  if (resource == "memory-mb") {
    return amount % 1024 == 0 ? fmt::format("{} GiB", amount / 1024)
                              : fmt::format("{} MiB", amount);
  }
  return fmt::format("{}", amount);
}

std::string OfPartition(const std::string& partition, const Inventory& inventory,
                        const char* preposition = "of") {
  const auto partitions = inventory.Partitions();
  if (partitions.size() == 1 && partitions.contains(partition)) return "";
  return partition.empty() ? fmt::format(" {} the default partition", preposition)
                           : fmt::format(" {} partition {}", preposition, partition);
}

std::optional<Infeasible> CheckPartition(const SlotGroup& group, const Inventory& inventory) {
  const bool exists =
      std::any_of(inventory.nodes().begin(), inventory.nodes().end(),
                  [&](const Node& node) { return node.partition == group.node_label; });
  if (exists) return std::nullopt;
  const auto partitions = inventory.Partitions();
  std::vector<std::string> names;
  for (const std::string& partition : partitions)
    names.push_back(partition.empty() ? "the default one" : partition);
  const std::string wanted = group.node_label.empty()
                                 ? "the default partition"
                                 : fmt::format("partition {}", group.node_label);
  return Infeasible{
      .task_type = group.task_type,
      .resource = "partition",
      .needed = 1,
      .limit = 0,
      .text = fmt::format("{} needs nodes of {}, but the cluster has none; its partitions are: {}",
                          group.task_type, wanted, fmt::join(names, ", "))};
}

std::optional<Infeasible> CheckMaximumContainer(const SlotGroup& group, const Resource& maximum) {
  if (IsZero(maximum)) return std::nullopt;
  const std::string shortage = FirstShortage(group.resource, maximum);
  if (shortage.empty()) return std::nullopt;
  const std::int64_t needed = group.resource.Get(shortage);
  const std::int64_t limit = maximum.Get(shortage);
  return Infeasible{
      .task_type = group.task_type,
      .resource = shortage,
      .needed = needed,
      .limit = limit,
      .text = fmt::format(
          "{} needs {} per container, but the ResourceManager's largest container has {}",
          group.task_type, AmountText(shortage, needed), LimitText(shortage, limit))};
}

/// Some node of the partition must hold one container.
std::optional<Infeasible> CheckLargestNode(const SlotGroup& group, const Inventory& inventory) {
  Resource largest;
  for (const Node& node : inventory.nodes()) {
    if (node.partition != group.node_label) continue;
    if (FitsIn(group.resource, node.capability)) return std::nullopt;
    largest = ComponentMax(largest, node.capability);
  }
  std::string shortage = FirstShortage(group.resource, largest);
  const std::string where = OfPartition(group.node_label, inventory);
  if (!shortage.empty()) {
    const std::int64_t needed = group.resource.Get(shortage);
    const std::int64_t limit = largest.Get(shortage);
    return Infeasible{
        .task_type = group.task_type,
        .resource = shortage,
        .needed = needed,
        .limit = limit,
        .text =
            fmt::format("{} needs {} per container, but the largest node{} has {}", group.task_type,
                        AmountText(shortage, needed), where, LimitText(shortage, limit))};
  }
  return Infeasible{
      .task_type = group.task_type,
      .resource = "nodes",
      .needed = 1,
      .limit = 0,
      .text = fmt::format("{} needs {} per container, but no single node{} has all of it",
                          group.task_type, ToString(group.resource), where)};
}

std::optional<Infeasible> TooLargeInAll(const Resource& need, const Resource& have,
                                        const std::string& whose) {
  const std::string shortage = FirstShortage(need, have);
  if (shortage.empty()) return std::nullopt;
  const std::int64_t needed = need.Get(shortage);
  const std::int64_t limit = have.Get(shortage);
  return Infeasible{
      .resource = shortage,
      .needed = needed,
      .limit = limit,
      .text = fmt::format("the whole gang needs {}, but {} has {}", AmountText(shortage, needed),
                          whose, LimitText(shortage, limit))};
}

Resource Demand(const std::vector<SlotGroup>& groups, const std::string& partition) {
  Resource sum;
  for (const SlotGroup& group : groups) {
    if (group.node_label == partition) sum += Times(group.resource, group.count);
  }
  return sum;
}

/// The RM says the maximum as a share of the nodes that are up; it can grow by those that come
/// later or again. What it allows in one partition is of no use in another.
std::optional<Infeasible> CheckQueue(const std::vector<SlotGroup>& groups,
                                     const Inventory& inventory, const Limits& limits) {
  for (const auto& [partition, maximum] : limits.queue_maximum) {
    Resource need = Demand(groups, partition);
    if (partition.empty()) need += limits.reserved;
    if (IsZero(maximum) || FitsIn(need, maximum)) continue;
    Resource all;
    inventory.Scan([&, &where = partition](const Node& node) {
      if (node.partition == where) all += node.capability;
      return true;
    });
    const auto counted = limits.queue_shares.find(partition);
    const Resource shares = counted == limits.queue_shares.end() ? Resource{} : counted->second;
    const Resource more = ComponentMax(all, shares) - shares;
    if (auto found =
            TooLargeInAll(need, maximum + more,
                          "the queue at its maximum" + OfPartition(partition, inventory, "in"));
        found.has_value())
      return found;
  }
  return std::nullopt;
}

std::optional<Infeasible> CheckClusterTotals(const std::vector<SlotGroup>& groups,
                                             const Inventory& inventory) {
  std::map<std::string, Resource> totals;
  for (const Node& node : inventory.nodes()) totals[node.partition] += node.capability;
  for (const auto& [partition, total] : totals) {
    const std::string whose = totals.size() == 1
                                  ? "the whole cluster"
                                  : (partition.empty() ? "the default partition"
                                                       : fmt::format("partition {}", partition));
    if (auto found = TooLargeInAll(Demand(groups, partition), total, whose); found.has_value())
      return found;
  }
  return std::nullopt;
}

/// How many containers of the group could ever run at once, alone; with what they are counted in.
struct Room {
  std::int64_t most = 0;
  std::string unit;  // "" = containers; "nodes", "racks"
  std::string text;
};

Room RoomFor(const SlotGroup& group, const Inventory& inventory) {
  std::map<std::string, std::int64_t> by_rack;
  std::int64_t nodes = 0;
  std::int64_t total = 0;
  const bool one_per_node = OnePerNode(group);
  for (const Node& node : inventory.nodes()) {
    if (node.partition != group.node_label) continue;
    std::int64_t fit =
        std::min<std::int64_t>(HowManyFit(group.resource, node.capability), group.count);
    if (fit == 0) continue;
    if (one_per_node) fit = 1;
    ++nodes;
    total += fit;
    by_rack[node.rack] += fit;
  }
  const std::string where = OfPartition(group.node_label, inventory);
  if (group.placement.spread == PlacementScope::kRack) {
    const auto racks = static_cast<std::int64_t>(by_rack.size());
    const std::int64_t most = group.placement.pack_rack ? std::min<std::int64_t>(racks, 1) : racks;
    return {most, "racks",
            fmt::format("only {} rack{}{} can take one each", racks, racks == 1 ? "" : "s", where)};
  }
  if (group.placement.pack_rack) {
    std::int64_t best = 0;
    for (const auto& [rack, fit] : by_rack) best = std::max(best, fit);
    return {best, "racks", fmt::format("the roomiest rack{} holds {}", where, best)};
  }
  if (one_per_node) {
    return {nodes, "nodes",
            fmt::format("only {} node{}{} can take one each", nodes, nodes == 1 ? "" : "s", where)};
  }
  return {total, "",
          fmt::format("all nodes{} together hold {} such containers when empty", where, total)};
}

std::string HowPlaced(const SlotGroup& group) {
  const bool racks = group.placement.spread == PlacementScope::kRack;
  std::string text =
      racks ? " in different racks" : (OnePerNode(group) ? " on different nodes" : "");
  if (group.placement.pack_rack) text += " in one rack";
  return text;
}

std::optional<Infeasible> CheckCount(const SlotGroup& group, const Inventory& inventory) {
  const Room room = RoomFor(group, inventory);
  if (room.most >= group.count) return std::nullopt;
  return Infeasible{
      .task_type = group.task_type,
      .resource = room.unit.empty() ? "nodes" : room.unit,
      .needed = group.count,
      .limit = room.most,
      .text = fmt::format("{} needs {} containers of {}{}, but {}", group.task_type, group.count,
                          ToString(group.resource), HowPlaced(group), room.text)};
}

/// What each check on its own allows may still not fit together; one group alone does.
std::optional<Infeasible> CheckTogether(const std::vector<SlotGroup>& groups,
                                        const Inventory& inventory) {
  const auto wanted = std::count_if(groups.begin(), groups.end(),
                                    [](const SlotGroup& group) { return group.count > 0; });
  if (wanted < 2) return std::nullopt;
  const PlaceGangResult result = PlaceGang(groups, inventory, {.space = Space::kEmpty});
  if (result.found != Found::kImpossible) return std::nullopt;
  std::vector<std::string> parts;
  std::int64_t needed = 0;
  for (const SlotGroup& group : groups) {
    if (group.count == 0) continue;
    parts.push_back(
        fmt::format("{} {} ({})", group.count, group.task_type, ToString(group.resource)));
    needed += group.count;
  }
  return Infeasible{
      .resource = "nodes",
      .needed = needed,
      .limit = static_cast<std::int64_t>(inventory.nodes().size()),
      .text = fmt::format(
          "the gang does not fit together on the {} nodes of the cluster, even when they "
          "are empty: {}",
          inventory.nodes().size(), fmt::join(parts, ", "))};
}

/// The usual case, seen in a glance at a few nodes: filling one after the other holds everything.
/// False proves nothing.
bool FillsNodesInTurn(const std::vector<SlotGroup>& groups, const Inventory& inventory) {
  std::vector<std::int64_t> missing;
  std::size_t unmet = 0;
  for (const SlotGroup& group : groups) {
    const PlacementSpec& placement = group.placement;
    if (OnePerNode(group) || placement.pack_rack || !placement.avoid.empty()) return false;
    missing.push_back(group.count);
    if (group.count > 0) ++unmet;
  }
  inventory.Scan([&](const Node& node) {
    Resource left = node.capability;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (missing[i] == 0 || groups[i].node_label != node.partition) continue;
      const std::int64_t count = std::min(missing[i], HowManyFit(groups[i].resource, left));
      left -= Times(groups[i].resource, count);
      missing[i] -= count;
      if (missing[i] == 0) --unmet;
    }
    return unmet > 0;
  });
  return unmet == 0;
}

}  // namespace

std::optional<Infeasible> FindInfeasible(const std::vector<SlotGroup>& groups,
                                         const Inventory& inventory, const Limits& limits) {
  const bool nodes_suffice = inventory.empty() || FillsNodesInTurn(groups, inventory);
  for (const SlotGroup& group : groups) {
    if (group.count == 0) continue;
    if (!nodes_suffice) {
      if (auto found = CheckPartition(group, inventory); found.has_value()) return found;
      if (auto found = CheckLargestNode(group, inventory); found.has_value()) return found;
    }
    if (auto found = CheckMaximumContainer(group, limits.maximum_container); found.has_value())
      return found;
  }
  if (auto found = CheckQueue(groups, inventory, limits); found.has_value()) return found;
  if (nodes_suffice) return std::nullopt;
  for (const SlotGroup& group : groups) {
    if (auto found = CheckCount(group, inventory); group.count > 0 && found.has_value())
      return found;
  }
  if (auto found = CheckClusterTotals(groups, inventory); found.has_value()) return found;
  return CheckTogether(groups, inventory);
}

std::optional<Infeasible> FindBeyondSetting(const std::vector<SlotGroup>& groups,
                                            const Inventory& inventory,
                                            const Resource& maximum_container) {
  for (const SlotGroup& group : groups) {
    if (group.count == 0) continue;
    auto found = CheckMaximumContainer(group, maximum_container);
    if (!found) continue;
    bool setting = false;
    inventory.Scan([&](const Node& node) {
      setting = node.capability.Get(found->resource) > found->limit;
      return !setting;
    });
    if (setting) return found;
  }
  return std::nullopt;
}

std::vector<SlotGroup> GroupsOf(const JobSpec& job) {
  std::vector<SlotGroup> groups;
  for (const TaskTypeSpec& type : job.tasks) {
    groups.push_back({.task_type = type.name,
                      .resource = type.resource,
                      .node_label = type.node_label,
                      .placement = type.placement,
                      .count = type.instances});
  }
  return groups;
}

}  // namespace tfyarn::placement
