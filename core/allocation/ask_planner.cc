#include "core/allocation/ask_planner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

AskedFor KindOf(const WantedGroup& group) {
  return {.task_type = group.slots.task_type,
          .resource = group.slots.resource,
          .node_label = group.slots.node_label};
}

}  // namespace

AskPlanner::AskPlanner(AskPlannerOptions options) : options_(options) {
  TF_CHECK(options.planned_hosts_wait > Duration::zero());
  TF_CHECK(options.constrained_wait > Duration::zero());
}

void AskPlanner::SetNodes(Instant now, const SharedList<yarn::NodeReport>& nodes) {
  inventory_ = placement::Inventory(nodes);
  reports_from_ = now;
}

void AskPlanner::OnUpdatedNodes(const std::vector<yarn::NodeReport>& nodes) {
  for (const yarn::NodeReport& report : nodes) inventory_.Apply(report);
  choose_again_ = true;
}

bool AskPlanner::SetUnseenNodes(bool any) {
  if (std::exchange(unseen_nodes_, any) == any) return false;
  choose_again_ = true;
  return true;
}

const AskedFor* AskPlanner::Find(const AskKey& key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? nullptr : &at->second;
}

void AskPlanner::StartRound() {
  lines_.clear();
  planned_until_.reset();
  constrained_until_.reset();
  ++round_;
  ++turn_;
}

/// Each round another type is served first: of two that take turns in being short, none is always
/// the one that waits.
std::int32_t AskPlanner::RotatedPriority(std::int32_t priority) const {
  const auto at = priorities_.find(priority);
  TF_CHECK(at != priorities_.end());
  const auto count = static_cast<std::int32_t>(priorities_.size());
  const auto rank = static_cast<std::int32_t>(std::distance(priorities_.begin(), at));
  return *std::next(priorities_.begin(), (rank + round_) % count);
}

AskPlanner::Line AskPlanner::NewLine(const WantedGroup& group, Where where) {
  const AskKey key{RotatedPriority(group.priority), next_request_id_++};
  by_key_[key] = KindOf(group);
  return {.key = key, .where = where};
}

void AskPlanner::Plan(Instant now, const std::vector<WantedGroup>& wanted,
                      const placement::PlacementRules& rules,
                      const std::vector<placement::Occupant>& occupants,
                      const std::set<std::string>& excluded_hosts) {
  Question question{.now = now,
                    .wanted = wanted,
                    .groups = {},
                    .rules = rules,
                    .occupants = occupants,
                    .excluded_hosts = excluded_hosts};
  for (const WantedGroup& group : wanted) {
    TF_CHECK(group.slots.count > 0);
    priorities_.insert(group.priority);
    question.groups.push_back(group.slots);
  }
  if (!wanted.empty() && !first_plan_done_) {
    first_plan_done_ = true;
    ChoosePlannedHosts(question);
  }
  LeaveUnfitHosts(question);
  if (NeedsNewChoice(question)) ChooseConstrainedHosts(question);
  KeepAnywhereLines(question);
  FillAsks(question);
  FindUselessHosts(question);
}

// ---------------------------------------------------------------- hosts for speed

/// A "*" row yields one container per node and heartbeat, over all types. It takes more than one
/// heartbeat only when there are fewer nodes with room than containers.
bool AskPlanner::NamingHostsIsFaster(const Question& question) const {
  std::int64_t wanted = 0;
  for (const placement::SlotGroup& group : question.groups) wanted += group.count;
  std::int64_t nodes = 0;
  inventory_.Scan([&](const placement::Node& node) {
    nodes += std::any_of(
        question.groups.begin(), question.groups.end(), [&](const placement::SlotGroup& group) {
          return node.up && node.partition == group.node_label && FitsIn(group.resource, node.free);
        });
    return nodes < wanted;
  });
  return nodes < wanted;
}

void AskPlanner::ChoosePlannedHosts(const Question& question) {
  if (!options_.name_hosts || !reports_from_.has_value()) return;
  if (question.now - *reports_from_ > options_.reports_fresh || !NamingHostsIsFaster(question))
    return;
  const std::optional<placement::Assignment> plan = PlanOnFreeSpace(question);
  if (!plan.has_value()) return;
  for (std::size_t g = 0; g < question.groups.size(); ++g) {
    const WantedGroup& group = question.wanted[g];
    if (question.rules.Constrains(group.slots.task_type)) continue;
    Line line = NewLine(group, Where::kPlannedHosts);
    line.wanted = group.slots.count;
    for (const placement::Placed& placed : plan->groups[g]) {
      const placement::Node& node = inventory_.nodes()[placed.node];
      HostChoice::Host& host = line.choice.hosts[node.id.host];
      host.rack = node.rack;
      host.count += placed.count;
      line.choice.racks[node.rack] += placed.count;
    }
    lines_[KindOf(group)] = std::move(line);
    planned_since_ = question.now;
    planned_until_ = question.now + options_.planned_hosts_wait;
  }
}

/// The reports do not know of our own AM, nor of others that started since. If there is room
/// enough, some is left for them on every node.
std::optional<placement::Assignment> AskPlanner::PlanOnFreeSpace(const Question& question) const {
  placement::PlaceGangOptions options{.occupants = question.occupants, .search_steps = 0};
  options.excluded_hosts.assign(question.excluded_hosts.begin(), question.excluded_hosts.end());
  std::vector<placement::Node> nodes = inventory_.nodes();
  for (placement::Node& node : nodes) {
    node.free.memory_mb =
        std::max<std::int64_t>(node.free.memory_mb - options_.left_for_masters.memory_mb, 0);
    node.free.vcores =
        std::max<std::int64_t>(node.free.vcores - options_.left_for_masters.vcores, 0);
  }
  auto plan =
      placement::PlaceGang(question.groups, placement::Inventory(std::move(nodes)), options);
  if (plan.found != placement::Found::kPlaced) {
    TF_PROBE("asks/no-room-beside-masters");
    plan = placement::PlaceGang(question.groups, inventory_, options);
  }
  if (plan.found != placement::Found::kPlaced) return std::nullopt;
  return std::move(plan.assignment);
}

// ---------------------------------------------------------------- hosts for constraints

bool AskPlanner::NeedsNewChoice(const Question& question) const {
  return std::any_of(question.wanted.begin(), question.wanted.end(), [&](const WantedGroup& group) {
    if (!question.rules.Constrains(group.slots.task_type)) return false;
    const auto line = lines_.find(KindOf(group));
    return choose_again_ || line == lines_.end() || group.slots.count > line->second.wanted;
  });
}

void AskPlanner::ChooseConstrainedHosts(const Question& question) {
  choose_again_ = false;
  // Without any report there are no hosts to name: asked for anywhere, and what does not suit is
  // given back.
  if (inventory_.empty()) return;
  const std::vector<HostChoice> choices = ChooseHosts({.groups = question.groups,
                                                       .inventory = inventory_,
                                                       .rules = question.rules,
                                                       .occupants = question.occupants,
                                                       .excluded_hosts = question.excluded_hosts,
                                                       .turn = turn_});
  for (std::size_t g = 0; g < question.groups.size(); ++g) {
    const WantedGroup& group = question.wanted[g];
    if (!question.rules.Constrains(group.slots.task_type)) continue;
    auto line = lines_.find(KindOf(group));
    if (MayFitUnseen(group, choices[g])) {
      TF_PROBE("asks/on-nodes-not-seen");
      if (line == lines_.end() || line->second.where != Where::kAnywhere)
        lines_[KindOf(group)] = NewLine(group, Where::kAnywhere);
      continue;
    }
    if (line == lines_.end())
      line = lines_.emplace(KindOf(group), NewLine(group, Where::kConstrainedHosts)).first;
    line->second.where = Where::kConstrainedHosts;
    line->second.choice = choices[g];
    constrained_until_ = question.now + options_.constrained_wait;
  }
}

/// The hosts that are known are too few: asked for anywhere, and what does not suit is given back.
/// Not what is to be packed: of an unseen node the rack is not known.
bool AskPlanner::MayFitUnseen(const WantedGroup& group, const HostChoice& choice) const {
  std::int64_t named = 0;
  for (const auto& [host, limit] : choice.hosts) named += limit.count;
  return unseen_nodes_ && named < group.slots.count && !group.slots.placement.pack_rack;
}

/// Hosts that went down, were excluded, or have got a neighbour that does not suit.
void AskPlanner::LeaveUnfitHosts(const Question& question) {
  const HostQuestion hosts{.groups = question.groups,
                           .inventory = inventory_,
                           .rules = question.rules,
                           .occupants = question.occupants,
                           .excluded_hosts = question.excluded_hosts};
  for (const WantedGroup& group : question.wanted) {
    const auto line = lines_.find(KindOf(group));
    if (line == lines_.end()) continue;
    HostChoice& choice = line->second.choice;
    std::erase_if(choice.hosts, [&](const auto& entry) {
      const placement::Node* node = inventory_.FindHost(entry.first);
      return node == nullptr || !MayTake(group.slots, *node, hosts);
    });
    std::erase_if(choice.racks, [&](const auto& rack) {
      return std::none_of(choice.hosts.begin(), choice.hosts.end(),
                          [&](const auto& host) { return host.second.rack == rack.first; });
    });
  }
}

void AskPlanner::OnGranted(const yarn::Container& container) {
  const AskedFor* what = Find({container.priority, container.allocation_request_id});
  if (what == nullptr) return;
  const auto line = lines_.find(*what);
  if (line == lines_.end() ||
      line->second.key.allocation_request_id != container.allocation_request_id)
    return;
  line->second.delivered = true;
  HostChoice& choice = line->second.choice;
  const auto host = choice.hosts.find(container.node.host);
  if (host == choice.hosts.end()) return;
  const std::string rack = host->second.rack;
  if (--host->second.count == 0) choice.hosts.erase(host);
  if (--choice.racks.at(rack) > 0) return;
  choice.racks.erase(rack);
  std::erase_if(choice.hosts, [&rack](const auto& entry) { return entry.second.rack == rack; });
}

// ---------------------------------------------------------------- the asks

/// What has no hosts named for it is asked for anywhere. So is the rest of what was asked for on
/// planned hosts, when it has grown, or when hosts have delivered less than planned: what they have
/// comes in one heartbeat.
void AskPlanner::KeepAnywhereLines(const Question& question) {
  for (const WantedGroup& group : question.wanted) {
    const auto line = lines_.find(KindOf(group));
    if (line == lines_.end()) {
      lines_[KindOf(group)] = NewLine(group, Where::kAnywhere);
      continue;
    }
    if (line->second.where != Where::kPlannedHosts) continue;
    const bool outgrown = group.slots.count > line->second.wanted;
    const bool fell_short =
        line->second.delivered && question.now >= planned_since_ + options_.heartbeat;
    if (outgrown || fell_short) {
      TF_PROBE("asks/planned-hosts-fell-short");
      line->second = NewLine(group, Where::kAnywhere);
    }
  }
}

void AskPlanner::FillAsks(const Question& question) {
  asks_.clear();
  bool planned = false;
  bool constrained = false;
  std::set<AskedFor> wanted;
  for (const WantedGroup& group : question.wanted) {
    Line& line = lines_.at(KindOf(group));
    line.wanted = group.slots.count;
    planned = planned || line.where == Where::kPlannedHosts;
    constrained = constrained || line.where == Where::kConstrainedHosts;
    Ask ask{.key = line.key,
            .capability = group.slots.resource,
            .node_label = group.slots.node_label,
            .count = group.slots.count};
    for (const auto& [host, limit] : line.choice.hosts)
      ask.hosts.push_back({host, limit.rack, limit.count});
    for (const auto& [rack, count] : line.choice.racks) ask.racks.push_back({rack, count});
    // A named choice without hosts is not "anywhere": nothing can be had now.
    if (line.where == Where::kAnywhere || !ask.hosts.empty()) asks_.push_back(std::move(ask));
    wanted.insert(KindOf(group));
  }
  // A line that ran out forgets its hosts, and keeps its key for the next time.
  for (auto& [kind, line] : lines_) {
    if (!wanted.contains(kind)) line = {.key = line.key, .where = Where::kAnywhere};
  }
  if (!planned) planned_until_.reset();
  if (!constrained) constrained_until_.reset();
}

/// Of an unseen node the rack is not known: only what is to have a node of its own tells.
void AskPlanner::FindUselessHosts(const Question& question) {
  useless_hosts_.clear();
  const bool tells =
      std::all_of(question.wanted.begin(), question.wanted.end(), [&](const WantedGroup& group) {
        return group.slots.placement.spread == PlacementScope::kNode &&
               !group.slots.placement.pack_rack &&
               lines_.at(KindOf(group)).where == Where::kAnywhere;
      });
  if (question.wanted.empty() || !tells) return;
  for (const placement::Occupant& occupant : question.occupants) {
    const bool useful =
        std::any_of(question.wanted.begin(), question.wanted.end(), [&](const WantedGroup& group) {
          return question.rules.Allows(group.slots.task_type, occupant.node.host, "");
        });
    if (!useful) useless_hosts_.insert(occupant.node.host);
  }
}

bool AskPlanner::OnTime(Instant now) {
  bool again = false;
  if (planned_until_.has_value() && now >= *planned_until_) {
    planned_until_.reset();
    std::erase_if(lines_,
                  [](const auto& entry) { return entry.second.where == Where::kPlannedHosts; });
    again = true;
  }
  if (constrained_until_.has_value() && now >= *constrained_until_) {
    TF_PROBE("asks/constrained-hosts-anew");
    constrained_until_ = now + options_.constrained_wait;
    ++turn_;
    choose_again_ = true;
    again = true;
  }
  return again;
}

std::optional<Instant> AskPlanner::next_deadline() const {
  std::optional<Instant> next = planned_until_;
  Earliest(next, constrained_until_);
  return next;
}

}  // namespace tfyarn::allocation
