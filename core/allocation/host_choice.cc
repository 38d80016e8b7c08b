#include "core/allocation/host_choice.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/model/probe.h"

namespace tfyarn::allocation {
namespace {

using placement::Node;
using placement::SlotGroup;

/// Enough hosts to choose from without naming a large cluster row by row.
constexpr std::size_t kFewestHosts = 64;
constexpr std::size_t kHostsPerSlot = 4;

/// Hosts that may take a group, the freest first.
using Candidates = std::vector<const Node*>;

std::int64_t RoomOn(const SlotGroup& group, const Resource& space) {
  return std::min<std::int64_t>(HowManyFit(group.resource, space), group.count);
}

Candidates CandidatesFor(const SlotGroup& group, const HostQuestion& question) {
  std::vector<std::pair<std::int64_t, const Node*>> ranked;
  for (const Node& node : question.inventory.nodes()) {
    if (MayTake(group, node, question)) ranked.emplace_back(-RoomOn(group, node.free), &node);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Candidates candidates;
  for (const auto& [room, node] : ranked) candidates.push_back(node);
  return candidates;
}

/// The rack for a packed group: one with room for all of it, free now if possible; each turn the
/// next one.
std::optional<std::string> ChooseRack(const SlotGroup& group, const Candidates& candidates,
                                      std::int32_t turn) {
  struct Room {
    std::int64_t free = 0;
    std::int64_t empty = 0;
  };
  std::map<std::string, Room> rooms;
  for (const Node* node : candidates) {
    rooms[node->rack].free += RoomOn(group, node->free);
    rooms[node->rack].empty += RoomOn(group, node->capability);
  }
  if (rooms.empty()) return std::nullopt;
  std::vector<std::tuple<bool, std::int64_t, std::int64_t, std::string>>
      ranked;  // best first when sorted
  for (const auto& [rack, room] : rooms) {
    ranked.emplace_back(room.empty < group.count, -std::min<std::int64_t>(room.free, group.count),
                        -room.empty, rack);
  }
  std::sort(ranked.begin(), ranked.end());
  const auto good = static_cast<std::size_t>(std::count_if(
      ranked.begin(), ranked.end(), [](const auto& rack) { return !std::get<0>(rack); }));
  return std::get<3>(ranked[static_cast<std::size_t>(turn) % (good == 0 ? ranked.size() : good)]);
}

/// Keeps packed types in one rack each, the same for all groups of a type.
void KeepToRacks(const HostQuestion& question, std::vector<Candidates>& candidates) {
  std::map<std::string, std::optional<std::string>> rack_of_type;
  for (std::size_t g = 0; g < question.groups.size(); ++g) {
    const SlotGroup& group = question.groups[g];
    if (!group.placement.pack_rack) continue;
    TF_PROBE("hosts/packed-rack");
    auto [entry, is_new] = rack_of_type.try_emplace(group.task_type);
    if (is_new) entry->second = ChooseRack(group, candidates[g], question.turn);
    const std::optional<std::string>& rack = entry->second;
    std::erase_if(candidates[g],
                  [&rack](const Node* node) { return !rack.has_value() || node->rack != *rack; });
  }
}

/// Gives every host that types which avoid each other could both use to one of them.
class HostDealer {
 public:
  HostDealer(const HostQuestion& question, std::vector<Candidates>& candidates)
      : question_(question), candidates_(candidates), dealt_(question.groups.size(), 0) {}

  void Deal() {
    if (!AnyConflict()) return;
    TF_PROBE("hosts/types-avoid-each-other");
    Reserve(placement::Space::kFree) || Reserve(placement::Space::kEmpty);
    for (const Node* node : HostsByTurn()) DealHost(*node);
    for (std::size_t g = 0; g < candidates_.size(); ++g) {
      std::erase_if(candidates_[g], [&](const Node* node) { return !MayUse(g, *node); });
    }
  }

 private:
  [[nodiscard]] bool Conflict(std::size_t a, std::size_t b) const {
    return question_.rules.Conflict(question_.groups[a].task_type, question_.groups[b].task_type);
  }

  [[nodiscard]] bool AnyConflict() const {
    for (std::size_t a = 0; a < candidates_.size(); ++a) {
      for (std::size_t b = 0; b < candidates_.size(); ++b) {
        if (Conflict(a, b)) return true;
      }
    }
    return false;
  }

  /// A plan for the whole gang says who needs which hosts.
  bool Reserve(placement::Space space) {
    placement::PlaceGangOptions options{.space = space, .occupants = question_.occupants};
    options.excluded_hosts.assign(question_.excluded_hosts.begin(), question_.excluded_hosts.end());
    const auto plan = placement::PlaceGang(question_.groups, question_.inventory, options);
    if (plan.found != placement::Found::kPlaced) return false;
    for (std::size_t g = 0; g < plan.assignment.groups.size(); ++g) {
      for (const placement::Placed& placed : plan.assignment.groups[g]) {
        Own(g, question_.inventory.nodes()[placed.node]);
      }
    }
    return true;
  }

  void Own(std::size_t g, const Node& node) {
    owners_[node.id.host].insert(g);
    ++dealt_[g];
  }

  [[nodiscard]] bool MayUse(std::size_t g, const Node& node) const {
    const auto owners = owners_.find(node.id.host);
    if (owners == owners_.end()) return true;
    return std::none_of(owners->second.begin(), owners->second.end(),
                        [&](std::size_t owner) { return Conflict(g, owner); });
  }

  [[nodiscard]] std::vector<const Node*> HostsByTurn() const {
    std::vector<const Node*> hosts;
    for (const Node& node : question_.inventory.nodes()) hosts.push_back(&node);
    if (!hosts.empty()) {
      const auto shift = static_cast<std::size_t>(question_.turn) % hosts.size();
      std::rotate(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(shift), hosts.end());
    }
    return hosts;
  }

  /// To the group that has the fewest hosts for its size, then to each group that may share it.
  void DealHost(const Node& node) {
    std::vector<std::size_t> takers;
    for (std::size_t g = 0; g < candidates_.size(); ++g) {
      if (std::find(candidates_[g].begin(), candidates_[g].end(), &node) != candidates_[g].end())
        takers.push_back(g);
    }
    std::stable_sort(takers.begin(), takers.end(), [&](std::size_t a, std::size_t b) {
      return dealt_[a] * question_.groups[b].count < dealt_[b] * question_.groups[a].count;
    });
    for (const std::size_t g : takers) {
      const auto owners = owners_.find(node.id.host);
      if (owners != owners_.end() && owners->second.contains(g)) continue;
      if (MayUse(g, node)) Own(g, node);
    }
  }

  const HostQuestion& question_;
  std::vector<Candidates>& candidates_;
  std::map<std::string, std::set<std::size_t>> owners_;
  std::vector<std::int64_t> dealt_;  // hosts owned, by group
};

/// No more hosts than are of use; each turn the next ones.
void KeepFew(const SlotGroup& group, std::int32_t turn, Candidates& candidates) {
  const std::size_t most =
      std::max(kFewestHosts, kHostsPerSlot * static_cast<std::size_t>(group.count));
  if (candidates.size() <= most) return;
  const std::size_t shift = static_cast<std::size_t>(turn) * most % candidates.size();
  std::rotate(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(shift),
              candidates.end());
  candidates.resize(most);
}

HostChoice LimitsFor(const SlotGroup& group, const Candidates& candidates) {
  HostChoice choice;
  for (const Node* node : candidates) {
    const std::int64_t room = placement::OnePerNode(group) ? 1 : RoomOn(group, node->capability);
    choice.hosts[node->id.host] = {.rack = node->rack, .count = static_cast<std::int32_t>(room)};
    std::int32_t& rack = choice.racks[node->rack];
    const std::int32_t most = group.placement.spread == PlacementScope::kRack ? 1 : group.count;
    rack = static_cast<std::int32_t>(std::min<std::int64_t>(rack + room, most));
  }
  return choice;
}

}  // namespace

bool MayTake(const SlotGroup& group, const Node& node, const HostQuestion& question) {
  return node.up && node.partition == group.node_label &&
         !question.excluded_hosts.contains(node.id.host) &&
         FitsIn(group.resource, node.capability) &&
         question.rules.Allows(group.task_type, node.id.host, node.rack);
}

std::vector<HostChoice> ChooseHosts(const HostQuestion& question) {
  std::vector<Candidates> candidates;
  for (const SlotGroup& group : question.groups) {
    candidates.push_back(question.rules.Constrains(group.task_type) ? CandidatesFor(group, question)
                                                                    : Candidates());
  }
  KeepToRacks(question, candidates);
  HostDealer(question, candidates).Deal();
  std::vector<HostChoice> choices;
  for (std::size_t g = 0; g < question.groups.size(); ++g) {
    KeepFew(question.groups[g], question.turn, candidates[g]);
    choices.push_back(LimitsFor(question.groups[g], candidates[g]));
  }
  return choices;
}

}  // namespace tfyarn::allocation
