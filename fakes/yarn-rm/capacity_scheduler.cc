#include "fakes/yarn-rm/capacity_scheduler.h"

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>

#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {

CapacityScheduler::CapacityScheduler(const RmOptions& options, const QueueTree& queues,
                                     const ShapeNumbers& shapes)
    : options_(options), queues_(queues), shapes_(shapes) {}

// Source: CapacityScheduler.allocateContainerOnSingleNode.
Proposal CapacityScheduler::Find(const RmNode& node) const {
  if (!node.schedulable) return {};
  if (node.reserved_for != nullptr) return FromReservation(node);
  Proposal proposal;
  if (!HasMinimum(node)) return proposal;
  if (!SearchQueue(queues_.root(), node, proposal)) proposal.what = Proposal::What::kNothing;
  return proposal;
}

bool CapacityScheduler::HasMinimum(const RmNode& node) const {
  return HasRoomFor(options_.minimum_allocation, node.free);
}

Proposal CapacityScheduler::FromReservation(const RmNode& node) const {
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

bool CapacityScheduler::SearchQueue(std::int32_t queue, const RmNode& node,
                                    Proposal& proposal) const {
  const std::int32_t partition = node.partition_number;
  if (!queues_.MayAssign(queue, partition)) return false;
  const Queue& at = queues_[queue];
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
    if (!AnyPositive(queues_[child].pending[partition])) continue;
    turns.push_back({queues_.UsedRatio(child, partition), queues_[child].capacity_ppb, child});
  }
  std::sort(turns.begin(), turns.end(), [this](const Turn& a, const Turn& b) {
    if (a.ratio != b.ratio) return a.ratio < b.ratio;
    if (a.capacity != b.capacity) return a.capacity > b.capacity;
    return queues_[a.queue].name < queues_[b.queue].name;
  });
  for (const Turn& turn : turns) {
    if (SearchQueue(turn.queue, node, proposal)) return true;
  }
  return false;
}

// Source: AbstractLeafQueue.assignContainers. An application whose ask is beyond the queue's
// headroom stops the queue; one whose user is at his limit is passed over.
bool CapacityScheduler::SearchLeaf(std::int32_t leaf, const RmNode& node,
                                   Proposal& proposal) const {
  const Queue& queue = queues_[leaf];
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
    if (is_new) known->second = queues_.UserMayAssign(leaf, user, partition);
    return known->second;
  };
  for (const DemandClass* demand_class : queue.demand.ClassesIn(partition)) {
    if (!may(demand_class->user)) continue;
    const Resource& shape = shapes_[demand_class->shape];
    if (!queues_.HasRoom(leaf, partition, shape)) {
      const DemandOrder& first = demand_class->all.begin()->first;
      if (barrier == nullptr || first < *barrier) {
        TF_PROBE("yarn/queue-at-its-limit");
        barrier = &first;
      }
      continue;
    }
    if (HasRoomFor(shape, node.free)) {
      candidates.push_back({demand_class, true});
    } else if (options_.reservations && !demand_class->reservable.empty() &&
               FitsIn(shape, node.capacity)) {
      candidates.push_back({demand_class, false});
    }
  }
  const DemandOrder* best_order = nullptr;
  Demand best;
  bool best_allocates = false;
  for (const Candidate& candidate : candidates) {
    const auto& orders =
        candidate.allocate ? candidate.demand_class->all : candidate.demand_class->reservable;
    for (const auto& [order, demand] : orders) {
      if (best_order != nullptr && *best_order < order) break;
      if (IsBlacklisted(*demand.application, node)) continue;
      best_order = &order;
      best = demand;
      best_allocates = candidate.allocate;
      break;
    }
  }
  for (const auto& [order, application] : queue.demand.LocatedIn(partition)) {
    if (best_order != nullptr && *best_order < order) break;
    if (barrier != nullptr && *barrier < order) break;
    if (!may(application->user_number)) continue;
    const Verdict verdict = TryLocated(*application, node, proposal);
    if (verdict == Verdict::kTake) return true;
    if (verdict == Verdict::kStopQueue) return false;
  }
  if (best_order == nullptr || (barrier != nullptr && *barrier < *best_order)) return false;
  const Resource& shape = shapes_[best.ask->shape];
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
CapacityScheduler::Verdict CapacityScheduler::TryLocated(RmApplication& application,
                                                         const RmNode& node,
                                                         Proposal& proposal) const {
  for (auto& [key, ask] : application.asks) {
    if (ask.wanted() == 0 || ask.partition != node.partition_number) continue;
    if (!queues_.HasRoom(application.leaf, node.partition_number, ask.any->capability))
      return Verdict::kStopQueue;
    if (IsBlacklisted(application, node)) return Verdict::kSkipApplication;
    const Verdict verdict = TryAsk(application, ask, node, false, proposal);
    if (verdict != Verdict::kNextAsk) return verdict;
  }
  return Verdict::kSkipApplication;
}

// Source: RegularContainerAllocator.tryAllocateOnNode, assignContainersOnNode, canAssign.
CapacityScheduler::Verdict CapacityScheduler::TryAsk(RmApplication& application, AskEntry& ask,
                                                     const RmNode& node, bool from_reserved,
                                                     Proposal& proposal) const {
  const std::int64_t missed = ask.missed + 1;
  const AskRow* host = ask.RowOf(node.host_place);
  const AskRow* rack = ask.RowOf(node.rack_place);
  const std::int64_t delay = std::min(options_.node_locality_delay, schedulable_nodes);
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

bool CapacityScheduler::MayGoOffSwitch(const AskEntry& ask, std::int64_t missed) const {
  if (schedulable_nodes == 0) return false;
  if (ask.places.empty()) return true;
  // min(nodes, required * min((rows - 1) / nodes, 1)) < missed, in integers; rows - 1 are those
  // that name places.
  const auto named =
      std::min<std::int64_t>(static_cast<std::int64_t>(ask.places.size()), schedulable_nodes);
  return schedulable_nodes < missed || ask.wanted() * named < missed * schedulable_nodes;
}

// Source: RegularContainerAllocator.assignContainer.
bool CapacityScheduler::TryPlace(RmApplication& application, AskEntry& ask, const AskRow& row,
                                 Locality locality, const RmNode& node, bool from_reserved,
                                 Proposal& proposal) const {
  if (!FitsIn(row.capability, node.capacity)) return false;
  const bool wants_more = static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted();
  const bool fits = HasRoomFor(row.capability, node.free);
  if (!fits && (from_reserved || !options_.reservations || !wants_more)) return false;
  proposal.what = fits ? Proposal::What::kAllocate : Proposal::What::kReserve;
  proposal.application = &application;
  proposal.ask = &ask;
  proposal.locality = locality;
  proposal.resource = row.capability;
  proposal.from_reserved = from_reserved;
  proposal.give_up_one = fits && !from_reserved && !wants_more;
  return true;
}

bool CapacityScheduler::RefreshInterest(std::int32_t partitions) {
  bool grew = false;
  interests_.resize(static_cast<std::size_t>(partitions));
  located_.resize(static_cast<std::size_t>(partitions));
  for (std::int32_t partition = 0; partition < partitions; ++partition) {
    const auto at = static_cast<std::size_t>(partition);
    bool located = false;
    std::vector<Interest> now = InterestsIn(partition, located);
    grew = grew || (located && !located_[at]) ||
           !std::includes(interests_[at].begin(), interests_[at].end(), now.begin(), now.end());
    interests_[at] = std::move(now);
    located_[at] = located;
  }
  return grew;
}

std::vector<CapacityScheduler::Interest> CapacityScheduler::InterestsIn(std::int32_t partition,
                                                                        bool& located) const {
  std::vector<Interest> interests;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    const Queue& queue = queues_[leaf];
    if (!queue.leaf || queue.demand.EmptyIn(partition)) continue;
    bool open = true;
    for (std::int32_t above = leaf; above >= 0 && open; above = queues_[above].parent) {
      open = queues_.MayAssign(above, partition);
    }
    if (!open) continue;
    if (!queue.demand.LocatedIn(partition).empty()) located = true;
    for (const DemandClass* demand_class : queue.demand.ClassesIn(partition)) {
      if (!queues_.HasRoom(leaf, partition, shapes_[demand_class->shape])) continue;
      if (!queues_.UserMayAssign(leaf, demand_class->user, partition)) continue;
      interests.push_back({demand_class->shape, false});
      if (options_.reservations && !demand_class->reservable.empty())
        interests.push_back({demand_class->shape, true});
    }
  }
  std::sort(interests.begin(), interests.end());
  interests.erase(std::unique(interests.begin(), interests.end()), interests.end());
  return interests;
}

bool CapacityScheduler::FitsInterest(const RmNode& node) const {
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
    const Resource& shape = shapes_[interest.shape];
    return HasRoomFor(shape, interest.reservable ? node.capacity : node.free);
  });
}

}  // namespace tfyarn::fakes
