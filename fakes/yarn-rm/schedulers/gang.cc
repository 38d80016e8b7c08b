// `gang`: all outstanding asks of an application are granted at once, or none; in order of priority
// and submission, and an application whose asks do not fit stops those behind it.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/probe.h"
#include "core/placement/place_gang.h"
#include "fakes/yarn-rm/immediate_scheduler.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::fakes {
namespace {

class GangScheduler final : public ImmediateScheduler {
 public:
  using ImmediateScheduler::ImmediateScheduler;

 private:
  void Pass() override;
  [[nodiscard]] bool GrantGang(RmApplication& application);
};

void GangScheduler::Pass() {
  std::map<std::pair<std::int64_t, std::uint64_t>, RmApplication*> waiting;
  for (auto& [id, application] : records_.applications) {
    if (!application->memberships.empty())
      waiting.emplace(std::pair{application->rank, application->sequence}, application.get());
  }
  for (const auto& [order, application] : waiting) {
    if (!GrantGang(*application)) return;
  }
}

// Asks that name places are put on the first nodes that may take them; the rest is placed as a
// whole around them.
bool GangScheduler::GrantGang(RmApplication& application) {
  std::vector<placement::Node> free_nodes;
  for (const RmNode& node : records_.nodes) {
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
                        .node_label = records_.partitions[static_cast<std::size_t>(ask.partition)],
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
        const RmNode& node = *records_.nodes.Find(free.id);
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
    RmNode& node = *records_.nodes.Find(planned.node);
    AskEntry& ask = application.asks.at(planned.ask);
    GrantAt({.application = &application, .ask = &ask},
            {.node = &node, .locality = MayUse(ask, node).value_or(Locality::kOffSwitch)});
  }
  return true;
}

}  // namespace

const SchedulerKind& GangKind() {
  static constexpr SchedulerKind kKind{
      .name = "gang", .text = "all containers that a job has requested at once, or none."};
  return kKind;
}

std::unique_ptr<Scheduler> MakeGang(RmContext& rm, std::uint64_t) {
  return std::make_unique<GangScheduler>(rm);
}

}  // namespace tfyarn::fakes
