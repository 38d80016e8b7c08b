// Carrying out what the capacity scheduler finds, and telling hosts which heartbeats matter.
//
// Source: CapacityScheduler.allocateContainersToNode, canAllocateMore, tryCommit.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {

bool RmCore::SchedulingAllowed() const {
  return !ready_at_.has_value();
}

// Node-local containers are assigned until nothing more fits; the first off-switch one ends the
// heartbeat (stock), and so does a reservation.
void RmCore::AssignOnHeartbeat(RmNode& node) {
  std::int32_t off_switch = 0;
  std::int32_t assigned = 0;
  while (true) {
    const Proposal proposal = capacity_.Find(node);
    for (AskEntry* ask : proposal.counted) ++ask->missed;
    if (proposal.what == Proposal::What::kNothing) break;
    CarryOut(node, proposal);
    if (proposal.what == Proposal::What::kReserve) break;
    if (proposal.what == Proposal::What::kUnreserve || proposal.from_reserved) continue;
    if (proposal.locality == Locality::kOffSwitch) ++off_switch;
    if (off_switch >= options_.offswitch_per_heartbeat ||
        ++assigned >= options_.assignments_per_heartbeat)
      break;
  }
  if (!ring_.IsPlaced(node.index)) AnnounceNode(node);
  if (!announce_at_ && capacity_.MayInterest(node)) announce_at_ = now_;
}

void RmCore::CarryOut(RmNode& node, const Proposal& proposal) {
  RmApplication& application = *proposal.application;
  AskEntry& ask = *proposal.ask;
  switch (proposal.what) {
    case Proposal::What::kNothing:
      break;
    case Proposal::What::kUnreserve:
      TF_PROBE("yarn/unreserved");
      DropReservation(node);
      break;
    case Proposal::What::kReserve:
      TF_PROBE("yarn/reserved");
      TF_CHECK(node.reserved_for == nullptr);
      node.reserved_for = &application;
      node.reserved_ask = &ask;
      ask.reserved.insert(std::upper_bound(ask.reserved.begin(), ask.reserved.end(), node.index),
                          node.index);
      ++reserved_nodes_;
      RefreshReservable(application, ask);
      scheduler_dirty_ = true;
      break;
    case Proposal::What::kAllocate:
      if (proposal.from_reserved) {
        TF_PROBE("yarn/granted-where-reserved");
        DropReservation(node);
      }
      if (proposal.give_up_one) {
        TF_PROBE("yarn/reservation-given-up");
        GiveUpReservation(ask, node);
      }
      (void)Grant(application, ask, node, proposal.locality, proposal.resource);
      break;
  }
}

void RmCore::GiveUpReservation(AskEntry& ask, const RmNode& except) {
  const auto other = std::find_if(ask.reserved.begin(), ask.reserved.end(),
                                  [&](std::int32_t index) { return index != except.index; });
  if (other != ask.reserved.end()) DropReservation(NodeAt(*other));
}

// ---------------------------------------------------------------- announcements

void RmCore::AnnounceNode(RmNode& node, bool again) {
  if (!SchedulingAllowed() || !capacity_.MayInterest(node)) return;
  if (!announce_at_) announce_at_ = now_;
  if (!capacity_.Find(node).DoesSomething()) {
    declined_.insert(node.index);
    return;
  }
  if (node.news_announced && !again) return;
  node.news_announced = true;
  Emit(NewsForNode{.node = node.id});
}

// A heartbeat that is due at once, and was of no use when it was looked at, may be of use after a
// change of limits, orders or blacklists.
void RmCore::AnnounceDeclined() {
  if (declined_.empty()) return;
  const std::set<std::int32_t> declined = std::move(declined_);
  declined_.clear();
  for (const std::int32_t index : declined) AnnounceNode(NodeAt(index));
}

// Slots up to a little after now are announced; then the next slot with a node of interest is
// looked for, one period ahead at most. A node that was told and has not beaten a period later is
// told again.
void RmCore::Announce() {
  announce_at_.reset();
  if (!is_capacity() || !SchedulingAllowed()) return;
  const Instant early = std::max(now_ - options_.heartbeat_jitter, Instant{});
  const std::int64_t last = ring_.SlotAt(now_ + options_.heartbeat_jitter) + 1;
  const std::int64_t first = std::max(ring_.SlotAt(early), announced_slots_);
  for (auto at = declined_.begin(); at != declined_.end();) {
    const bool over = ring_.IsPlaced(*at) && !ring_.IsWithin(*at, ring_.SlotAt(early), last);
    at = over ? declined_.erase(at) : std::next(at);
  }
  if (announced_slots_ == 0) {
    const std::vector<std::int32_t> unplaced = ring_.unplaced();
    for (const std::int32_t index : unplaced) AnnounceNode(NodeAt(index));
  }
  for (std::int64_t slot = first; slot <= last; ++slot) {
    for (const std::int32_t index : ring_.NodesIn(slot)) AnnounceNode(NodeAt(index), true);
  }
  announced_slots_ = last + 1;
  announce_at_.reset();
  if (!capacity_.WantsAnything() && reserved_nodes_ == 0) return;
  for (std::int64_t slot = last + 1; slot <= last + ring_.slots_per_period(); ++slot) {
    const auto& nodes = ring_.NodesIn(slot);
    if (std::any_of(nodes.begin(), nodes.end(),
                    [this](std::int32_t i) { return capacity_.MayInterest(NodeAt(i)); })) {
      announce_at_ = std::max(ring_.BeginOf(slot) - options_.heartbeat_jitter, now_ + Duration(1));
      return;
    }
  }
}

}  // namespace tfyarn::fakes
