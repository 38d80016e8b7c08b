#include "fakes/yarn-rm/capacity_search.h"

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>

#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {

// Source: CapacityScheduler.allocateContainerOnSingleNode.
Proposal CapacitySearch::Find(const RmNode& node) const {
  if (!node.schedulable) return {};
  if (node.reserved_for != nullptr) return FromReservation(node);
  Proposal proposal;
  if (!HasMinimum(node)) return proposal;
  if (!SearchQueue(records_.queues.root(), node, proposal))
    proposal.what = Proposal::What::kNothing;
  return proposal;
}

bool CapacitySearch::HasMinimum(const RmNode& node) const {
  return HasRoomFor(records_.options.minimum_allocation, node.free);
}

Proposal CapacitySearch::FromReservation(const RmNode& node) const {
  Proposal proposal;
  RmApplication& application = *node.reserved_for;
  AskEntry& ask = *node.reserved_ask;
  Verdict verdict = Verdict::kNextAsk;
  // A node that was blacklisted meanwhile stays reserved, and nothing comes of it. Source:
  // RegularContainerAllocator.tryAllocateOnNode (checkIfNodeBlackListed).
  if (ask.wanted() > 0) {
    verdict = IsBlacklisted(application, node) ? Verdict::kSkipApplication
                                               : TryAsk(application, ask, node, true, proposal);
  }
  proposal.counted.clear();
  if (verdict == Verdict::kTake) return proposal;
  if (verdict == Verdict::kNextAsk) {
    proposal = Proposal{.what = Proposal::What::kUnreserve,
                        .application = &application,
                        .ask = &ask,
                        .resource = {},
                        .counted = {}};
  } else {
    proposal.what = Proposal::What::kNothing;
  }
  return proposal;
}

bool CapacitySearch::SearchQueue(std::int32_t queue, const RmNode& node, Proposal& proposal) const {
  const std::int32_t partition = node.partition_number;
  if (!records_.queues.MayAssign(queue, partition)) return false;
  const Queue& at = records_.queues[queue];
  if (at.leaf) return SearchLeaf(queue, node, proposal);
  if (at.children.size() == 1) return SearchQueue(at.children.front(), node, proposal);
  struct Turn {
    std::int64_t ratio;
    std::int64_t capacity;
    std::int32_t queue;
  };
  std::vector<Turn> turns;
  turns.reserve(at.children.size());
  for (const std::int32_t child : at.children) {
    if (!AnyPositive(records_.queues[child].pending[partition])) continue;
    turns.push_back(
        {records_.queues.UsedRatio(child, partition), records_.queues[child].capacity_ppb, child});
  }
  std::sort(turns.begin(), turns.end(), [this](const Turn& a, const Turn& b) {
    if (a.ratio != b.ratio) return a.ratio < b.ratio;
    if (a.capacity != b.capacity) return a.capacity > b.capacity;
    return records_.queues[a.queue].name < records_.queues[b.queue].name;
  });
  for (const Turn& turn : turns) {
    if (SearchQueue(turn.queue, node, proposal)) return true;
  }
  return false;
}

// Source: AbstractLeafQueue.assignContainers. An application whose ask is beyond the queue's
// headroom stops the queue; one whose user is at his limit is passed over.
bool CapacitySearch::SearchLeaf(std::int32_t leaf, const RmNode& node, Proposal& proposal) const {
  const DemandIndex& demand = DemandOf(leaf);
  const std::int32_t partition = node.partition_number;
  struct Candidate {
    const DemandClass* demand_class;
    bool allocate;  // else reserve
  };
  boost::container::small_vector<Candidate, 8> candidates;
  const DemandOrder* barrier = nullptr;
  boost::container::small_flat_map<std::int32_t, bool, 8> user_may;
  const auto may = [&](std::int32_t user) {
    const auto [known, is_new] = user_may.try_emplace(user, true);
    if (is_new) known->second = records_.queues.UserMayAssign(leaf, user, partition);
    return known->second;
  };
  for (const DemandClass* demand_class : demand.ClassesIn(partition)) {
    if (!may(demand_class->user)) continue;
    const Resource& shape = records_.shapes[demand_class->shape];
    if (!records_.queues.HasRoom(leaf, partition, shape)) {
      const DemandOrder& first = demand_class->all.begin()->first;
      if (barrier == nullptr || first < *barrier) {
        TF_PROBE("yarn/queue-at-its-limit");
        barrier = &first;
      }
      continue;
    }
    if (HasRoomFor(shape, node.free)) {
      candidates.push_back({demand_class, true});
    } else if (!demand_class->reservable.empty() && FitsIn(shape, node.capacity)) {
      candidates.push_back({demand_class, false});
    }
  }
  const DemandOrder* best_order = nullptr;
  Demand best;
  bool best_allocates = false;
  for (const Candidate& candidate : candidates) {
    const auto& orders =
        candidate.allocate ? candidate.demand_class->all : candidate.demand_class->reservable;
    for (const auto& [order, wanted] : orders) {
      if (best_order != nullptr && *best_order < order) break;
      if (IsBlacklisted(*wanted.application, node)) continue;
      best_order = &order;
      best = wanted;
      best_allocates = candidate.allocate;
      break;
    }
  }
  for (const auto& [order, application] : demand.LocatedIn(partition)) {
    if (best_order != nullptr && *best_order < order) break;
    if (barrier != nullptr && *barrier < order) break;
    if (!may(application->user_number)) continue;
    const Verdict verdict = TryLocated(*application, node, proposal);
    if (verdict == Verdict::kTake) return true;
    if (verdict == Verdict::kStopQueue) return false;
  }
  if (best_order == nullptr || (barrier != nullptr && *barrier < *best_order)) return false;
  const Resource& shape = records_.shapes[best.ask->shape];
  proposal.what = best_allocates ? Proposal::What::kAllocate : Proposal::What::kReserve;
  proposal.application = best.application;
  proposal.ask = best.ask;
  proposal.locality = Locality::kOffSwitch;
  proposal.resource = shape;
  proposal.give_up_one =
      best_allocates && static_cast<std::int64_t>(best.ask->reserved.size()) >= best.ask->wanted();
  return true;
}

// Source: RegularContainerAllocator.assignContainers: asks in order; the first that is not merely
// of no use on this node decides.
CapacitySearch::Verdict CapacitySearch::TryLocated(RmApplication& application, const RmNode& node,
                                                   Proposal& proposal) const {
  for (auto& [key, ask] : application.asks) {
    if (ask.wanted() == 0 || ask.partition != node.partition_number) continue;
    if (!records_.queues.HasRoom(application.leaf, node.partition_number, ask.any->capability))
      return Verdict::kStopQueue;
    if (IsBlacklisted(application, node)) return Verdict::kSkipApplication;
    const Verdict verdict = TryAsk(application, ask, node, false, proposal);
    if (verdict != Verdict::kNextAsk) return verdict;
  }
  return Verdict::kSkipApplication;
}

// Source: RegularContainerAllocator.tryAllocateOnNode, assignContainersOnNode, canAssign.
CapacitySearch::Verdict CapacitySearch::TryAsk(RmApplication& application, AskEntry& ask,
                                               const RmNode& node, bool from_reserved,
                                               Proposal& proposal) const {
  const std::int64_t missed = ask.missed + 1;
  const AskRow* host = ask.RowOf(node.host_place);
  const AskRow* rack = ask.RowOf(node.rack_place);
  const std::int64_t delay =
      std::min(records_.options.node_locality_delay, records_.nodes.schedulable());
  if (host != nullptr && host->count > 0 && rack != nullptr && rack->count > 0) {
    if (TryPlace(application, ask, *host, Locality::kNodeLocal, node, from_reserved, proposal))
      return Verdict::kTake;
    if (from_reserved) return Verdict::kSkipApplication;  // still waits for room here
  } else if (host != nullptr && host->count > 0) {
    // Proposed as node-local, and refused when it is to be booked, on every heartbeat again.
    // Source: LocalityAppPlacementAllocator.canAllocate.
    return Verdict::kSkipApplication;
  }
  if (rack != nullptr && rack->count > 0) {
    if (!rack->relax) return Verdict::kNextAsk;
    const bool rack_local = from_reserved || delay < missed;
    if (rack_local &&
        TryPlace(application, ask, *rack, Locality::kRackLocal, node, from_reserved, proposal)) {
      return Verdict::kTake;
    }
    if (from_reserved) return Verdict::kSkipApplication;
  }
  if (!ask.any->relax) return Verdict::kNextAsk;
  const bool off_switch = from_reserved || MayGoOffSwitch(ask, missed);
  if (off_switch &&
      TryPlace(application, ask, *ask.any, Locality::kOffSwitch, node, from_reserved, proposal)) {
    return Verdict::kTake;
  }
  // Counting beyond the point where it changes anything is left out.
  if (!ask.places.empty() && (!MayGoOffSwitch(ask, ask.missed) || ask.missed <= delay))
    proposal.counted.push_back(&ask);
  return Verdict::kSkipApplication;
}

bool CapacitySearch::MayGoOffSwitch(const AskEntry& ask, std::int64_t missed) const {
  if (records_.nodes.schedulable() == 0) return false;
  if (ask.places.empty()) return true;
  // min(nodes, required * min((rows - 1) / nodes, 1)) < missed, in integers; rows - 1 are those
  // that name places.
  const auto named = std::min<std::int64_t>(static_cast<std::int64_t>(ask.places.size()),
                                            records_.nodes.schedulable());
  return records_.nodes.schedulable() < missed ||
         ask.wanted() * named < missed * records_.nodes.schedulable();
}

// Source: RegularContainerAllocator.assignContainer.
bool CapacitySearch::TryPlace(RmApplication& application, AskEntry& ask, const AskRow& row,
                              Locality locality, const RmNode& node, bool from_reserved,
                              Proposal& proposal) const {
  if (!FitsIn(row.capability, node.capacity)) return false;
  const bool wants_more = static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted();
  const bool fits = HasRoomFor(row.capability, node.free);
  if (!fits && (from_reserved || !wants_more)) return false;
  proposal.what = fits ? Proposal::What::kAllocate : Proposal::What::kReserve;
  proposal.application = &application;
  proposal.ask = &ask;
  proposal.locality = locality;
  proposal.resource = row.capability;
  proposal.from_reserved = from_reserved;
  proposal.give_up_one = fits && !from_reserved && !wants_more;
  return true;
}

bool CapacitySearch::RefreshInterest() {
  bool grew = false;
  interests_.resize(records_.partitions.size());
  located_.resize(records_.partitions.size());
  for (std::size_t at = 0; at < records_.partitions.size(); ++at) {
    const auto partition = static_cast<std::int32_t>(at);
    bool located = false;
    std::vector<Interest> now = InterestsIn(partition, located);
    grew = grew || (located && !located_[at]) ||
           !std::includes(interests_[at].begin(), interests_[at].end(), now.begin(), now.end());
    interests_[at] = std::move(now);
    located_[at] = located;
  }
  return grew;
}

std::vector<CapacitySearch::Interest> CapacitySearch::InterestsIn(std::int32_t partition,
                                                                  bool& located) const {
  std::vector<Interest> interests;
  for (std::size_t q = 0; q < records_.queues.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    const DemandIndex& demand = DemandOf(leaf);
    if (demand.EmptyIn(partition)) continue;
    bool open = true;
    for (std::int32_t above = leaf; above >= 0 && open; above = records_.queues[above].parent) {
      open = records_.queues.MayAssign(above, partition);
    }
    if (!open) continue;
    if (!demand.LocatedIn(partition).empty()) located = true;
    for (const DemandClass* demand_class : demand.ClassesIn(partition)) {
      if (!records_.queues.HasRoom(leaf, partition, records_.shapes[demand_class->shape])) continue;
      if (!records_.queues.UserMayAssign(leaf, demand_class->user, partition)) continue;
      interests.push_back({demand_class->shape, false});
      if (!demand_class->reservable.empty()) interests.push_back({demand_class->shape, true});
    }
  }
  std::sort(interests.begin(), interests.end());
  interests.erase(std::unique(interests.begin(), interests.end()), interests.end());
  return interests;
}

bool CapacitySearch::FitsInterest(const RmNode& node) const {
  if (node.reserved_for != nullptr) {
    const AskEntry& ask = *node.reserved_ask;
    if (ask.wanted() == 0 || HasRoomFor(ask.any->capability, node.free)) return true;
    const AskRow* host = ask.RowOf(node.host_place);
    const AskRow* rack = ask.RowOf(node.rack_place);
    return (host != nullptr && HasRoomFor(host->capability, node.free)) ||
           (rack != nullptr && HasRoomFor(rack->capability, node.free));
  }
  const auto at = static_cast<std::size_t>(node.partition_number);
  if (!HasMinimum(node)) return false;
  if (located_[at]) return true;
  return std::any_of(interests_[at].begin(), interests_[at].end(), [&](const Interest& interest) {
    const Resource& shape = records_.shapes[interest.shape];
    return HasRoomFor(shape, interest.reservable ? node.capacity : node.free);
  });
}

}  // namespace tfyarn::fakes
