// The schedulers that YARN does not have: they assign at once, wherever there is room, and know no
// queues' limits.
//
// For comparing policies and for closed forms. `fifo` serves the first submitted application that
// can use a slot, `uniform` a random one of those that can, `gang` one whole application or nobody.
// Room is looked for on the node with the fewest free GPUs that has enough, then by index. Named
// places and blacklists are respected; AM containers are asked for and placed like others.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/placement/place_gang.h"
#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {
namespace {

/// How the ask may use the node, by its rows; nullopt: not at all.
std::optional<Locality> MayUse(const AskEntry& ask, const RmNode& node) {
  const AskRow* host = ask.RowOf(node.host_place);
  const AskRow* rack = ask.RowOf(node.rack_place);
  if (host != nullptr && host->count > 0 && rack != nullptr && rack->count > 0)
    return Locality::kNodeLocal;
  if (rack != nullptr && rack->count > 0 && rack->relax) return Locality::kRackLocal;
  if (ask.any->relax) return Locality::kOffSwitch;
  return std::nullopt;
}

}  // namespace

std::map<std::int64_t, std::set<std::int32_t>>& RmCore::FreeGpus(std::int32_t partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (by_free_gpus_.size() <= index) by_free_gpus_.resize(index + 1);
  return by_free_gpus_[index];
}

void RmCore::Rebucket(const RmNode& node, std::int64_t gpus_before) {
  if (is_capacity() || !node.schedulable || node.free.gpus == gpus_before) return;
  auto& buckets = FreeGpus(node.partition_number);
  buckets[gpus_before].erase(node.index);
  buckets[node.free.gpus].insert(node.index);
}

void RmCore::WantPass() {
  if (pass_wanted_ || is_capacity()) return;
  pass_wanted_ = true;
  timers_.insert({.at = now_ + options_.batch, .kind = TimerKind::kPass});
}

void RmCore::Pass() {
  if (!SchedulingAllowed()) return;
  switch (options_.scheduler) {
    case SchedulerKind::kCapacity:
      break;
    case SchedulerKind::kFifo:
      PassByOrder();
      break;
    case SchedulerKind::kUniform:
      PassUniform();
      break;
    case SchedulerKind::kGang:
      PassGangs();
      break;
  }
  scheduler_dirty_ = false;  // whatever changed here was served here
}

void RmCore::GrantAt(const Demand& demand, const Placement& placement) {
  (void)Grant(*demand.application, *demand.ask, *placement.node, placement.locality,
              demand.ask->any->capability);
}

RmCore::Placement RmCore::FindRoom(const RmApplication& application, const AskEntry& ask) {
  if (!ask.places.empty()) return FindNamedRoom(application, ask);
  if (!ask.any->relax) return {};
  const Resource& shape = ask.any->capability;
  auto& buckets = FreeGpus(ask.partition);
  for (auto bucket = buckets.lower_bound(shape.gpus); bucket != buckets.end(); ++bucket) {
    for (const std::int32_t index : bucket->second) {
      RmNode& node = NodeAt(index);
      if (HasRoomFor(shape, node.free) && !IsBlacklisted(application, node)) return {.node = &node};
    }
  }
  return {};
}

RmCore::Placement RmCore::FindNamedRoom(const RmApplication& application, const AskEntry& ask) {
  Placement best;
  for (RmNode& node : nodes_) {
    if (!node.schedulable || node.partition_number != ask.partition) continue;
    if (!HasRoomFor(ask.any->capability, node.free) || IsBlacklisted(application, node)) continue;
    const auto locality = MayUse(ask, node);
    if (!locality || (best.node != nullptr && best.locality <= *locality)) continue;
    best = {.node = &node, .locality = *locality};
    if (best.locality == Locality::kNodeLocal) break;
  }
  return best;
}

// Classes whose containers fit nowhere are left out for the rest of the pass, so that a long queue
// of equal asks costs one look.
void RmCore::PassByOrder() {
  std::set<const DemandClass*> full;
  std::set<DemandOrder> unlucky;
  while (true) {
    const DemandClass* chosen_class = nullptr;
    DemandOrder chosen_order;
    Demand chosen;
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      const DemandIndex& index = queues_[static_cast<std::int32_t>(q)].demand;
      for (std::size_t p = 0; p < partitions_.size(); ++p) {
        for (const DemandClass* demand_class : index.ClassesIn(static_cast<std::int32_t>(p))) {
          if (full.count(demand_class) > 0) continue;
          for (const auto& [order, demand] : demand_class->all) {
            if (chosen_class != nullptr && chosen_order < order) break;
            if (!unlucky.empty() && unlucky.count(order) > 0) continue;
            chosen_class = demand_class;
            chosen_order = order;
            chosen = demand;
            break;
          }
        }
      }
    }
    if (chosen_class == nullptr) return;
    const Placement room = FindRoom(*chosen.application, *chosen.ask);
    if (room.node != nullptr) {
      GrantAt(chosen, room);
    } else if (chosen.ask->places.empty() && chosen.ask->any->relax &&
               chosen.application->blacklist.empty()) {
      TF_PROBE("yarn/no-room-for-a-shape");
      full.insert(chosen_class);
    } else {
      TF_PROBE("yarn/no-room-at-a-place");
      unlucky.insert(chosen_order);
    }
  }
}

// Every application with an ask that fits is equally likely to get the next slot: one that was
// drawn in vain only loses the ask that does not fit, and the draw is repeated.
void RmCore::PassUniform() {
  std::set<DemandOrder> unlucky;
  while (true) {
    std::map<std::uint64_t, std::pair<DemandOrder, Demand>>
        first_asks;  // by the application's sequence
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      const DemandIndex& index = queues_[static_cast<std::int32_t>(q)].demand;
      for (std::size_t p = 0; p < partitions_.size(); ++p) {
        for (const DemandClass* demand_class : index.ClassesIn(static_cast<std::int32_t>(p))) {
          for (const auto& [order, demand] : demand_class->all) {
            if (unlucky.count(order) > 0) continue;
            const auto [entry, is_new] = first_asks.try_emplace(order.sequence, order, demand);
            if (!is_new && order < entry->second.first) entry->second = {order, demand};
          }
        }
      }
    }
    if (first_asks.empty()) return;
    auto drawn = first_asks.begin();
    std::advance(drawn, static_cast<std::ptrdiff_t>(random_.Below(first_asks.size())));
    const auto& [order, demand] = drawn->second;
    const Placement room = FindRoom(*demand.application, *demand.ask);
    if (room.node != nullptr) {
      GrantAt(demand, room);
    } else {
      TF_PROBE("yarn/drawn-in-vain");
      unlucky.insert(order);
    }
  }
}

void RmCore::PassGangs() {
  std::map<std::pair<std::int64_t, std::uint64_t>, RmApplication*> waiting;
  for (auto& [id, application] : applications_) {
    if (!application->memberships.empty())
      waiting.emplace(std::pair{application->rank, application->sequence}, application.get());
  }
  for (const auto& [order, application] : waiting) {
    if (!GrantGang(*application) && !options_.gang_backfill) return;
  }
}

// Asks that name places are put on the first nodes that may take them; the rest is placed as a
// whole around them.
bool RmCore::GrantGang(RmApplication& application) {
  std::vector<placement::Node> free_nodes;
  for (const RmNode& node : nodes_) {
    if (!node.schedulable || IsBlacklisted(application, node)) continue;
    free_nodes.push_back({.id = node.id,
                          .rack = node.rack,
                          .partition = node.partition,
                          .capability = node.capacity,
                          .free = AnyNegative(node.free) ? Resource{} : node.free});
  }
  struct Planned {
    AskKey ask;
    NodeId node;
  };
  std::vector<Planned> plan;
  std::vector<placement::SlotGroup> groups;
  std::vector<AskKey> group_asks;
  for (const auto& [key, ask] : application.asks) {
    if (ask.wanted() == 0) continue;
    if (ask.places.empty()) {
      if (!ask.any->relax) return false;
      groups.push_back({.task_type = "ask-" + std::to_string(groups.size()),
                        .resource = ask.any->capability,
                        .node_label = partitions_[static_cast<std::size_t>(ask.partition)],
                        .placement = {},
                        .count = static_cast<std::int32_t>(ask.wanted())});
      group_asks.push_back(key);
      continue;
    }
    AskEntry left = ask;
    while (left.wanted() > 0) {
      std::optional<Locality> best;
      const RmNode* best_node = nullptr;
      placement::Node* best_free = nullptr;
      for (placement::Node& free : free_nodes) {
        const RmNode& node = *FindNode(free.id);
        if (node.partition_number != ask.partition || !FitsIn(ask.any->capability, free.free))
          continue;
        const auto locality = MayUse(left, node);
        if (!locality || (best && *best <= *locality)) continue;
        best = locality;
        best_node = &node;
        best_free = &free;
      }
      if (!best) {
        TF_PROBE("yarn/gang-without-its-places");
        return false;
      }
      best_free->free -= ask.any->capability;
      plan.push_back({key, best_node->id});
      (void)LowerAsk(left, *best, best_node->host_place, best_node->rack_place);
    }
  }
  const placement::Inventory inventory(std::move(free_nodes));
  const placement::PlaceGangResult placed = placement::PlaceGang(
      groups, inventory, {.occupants = {}, .excluded_hosts = {}, .search_steps = 0});
  if (placed.found != placement::Found::kPlaced) {
    TF_PROBE("yarn/gang-without-room");
    return false;
  }
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const placement::Placed& slots : placed.assignment.groups[group]) {
      for (std::int32_t i = 0; i < slots.count; ++i) {
        plan.push_back({group_asks[group], inventory.nodes()[slots.node].id});
      }
    }
  }
  for (const Planned& planned : plan) {
    RmNode& node = *FindNode(planned.node);
    AskEntry& ask = application.asks.at(planned.ask);
    GrantAt({.application = &application, .ask = &ask},
            {.node = &node, .locality = MayUse(ask, node).value_or(Locality::kOffSwitch)});
  }
  return true;
}

}  // namespace tfyarn::fakes
