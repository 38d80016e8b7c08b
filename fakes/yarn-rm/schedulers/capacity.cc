// `capacity`: YARN's CapacityScheduler: queues with limits, containers when nodes beat, locality,
// nodes kept for what does not fit yet, containers taken back for queues that starve.
//
// Which container a heartbeat gets is decided in capacity_search.h, what is taken back in
// capacity_preemption.h. Here that is carried out, applications are activated, and hosts are told
// which heartbeats matter.
//
// Source: CapacityScheduler.java (allocateContainersToNode, canAllocateMore, tryCommit),
// AbstractLeafQueue.java (activation).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/capacity_preemption.h"
#include "fakes/yarn-rm/capacity_search.h"
#include "fakes/yarn-rm/demand_index.h"
#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/node_ring.h"
#include "fakes/yarn-rm/scheduler.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::fakes {
namespace {

class CapacityScheduler final : public Scheduler {
 public:
  explicit CapacityScheduler(RmContext& rm)
      : Scheduler(rm),
        demand_(records_.queues.size()),
        inactive_(records_.queues.size()),
        search_(records_, demand_),
        preemption_(rm, demand_),
        ring_(records_.options.nm_heartbeat, records_.options.heartbeat_jitter) {}

  void OnNodeAdded(RmNode& node) override;
  void OnNodeRemoved(RmNode& node) override;
  void OnNodeResized(RmNode&) override { changed_ = true; }
  void OnNodeRegistered(RmNode& node) override;
  void OnNodeHeartbeat(RmNode& node, Beat beat) override;
  void OnNodeRecommissioned(RmNode& node) override { AnnounceNode(node); }

  void OnAttemptAdded(RmApplication& application) override;
  void OnAttemptRecovered(RmApplication& application) override;
  void OnAttemptRemoved(RmApplication& application) override;
  void BeforeAsksChange(RmApplication& application) override {
    DemandOf(application).Remove(application);
  }
  void OnAskReplaced(AskEntry& ask) override;
  void OnAsksChanged(RmApplication& application) override;
  void OnBlacklistChanged(RmApplication& application, bool shorter) override;

  void OnContainerBooked(RmNode&) override { changed_ = true; }
  void OnContainerCompleted(RmNode& node) override;

  void OnReady() override;
  void OnWake() override { preemption_.Monitor(); }

  [[nodiscard]] bool HasUseFor(const RmNode& node) const override;
  void OnHeartbeatLeftOut(RmNode& node) override;
  [[nodiscard]] bool IsStarved(std::int32_t partition) const override {
    return AnyPositive(preemption_.Starved(partition));
  }
  [[nodiscard]] Resource HeadroomOf(const RmApplication& application,
                                    std::int32_t partition) const override;
  [[nodiscard]] Resource MaximumOf(std::int32_t queue, std::int32_t partition) const override {
    return records_.queues[queue].max_capacity[partition];
  }

 private:
  void OnChanged() override;
  void Announce() override;

  void Assign(RmNode& node);
  void CarryOut(RmNode& node, const Proposal& proposal);
  void Grant(RmNode& node, const Proposal& proposal);
  void Reserve(RmApplication& application, AskEntry& ask, RmNode& node);
  void GiveUpReservation(AskEntry& ask, const RmNode& except);
  void DropReservation(RmNode& node);
  void Activate(std::int32_t leaf);
  void SetWanting(RmApplication& application, bool wanting);
  /// Says that the node's heartbeat matters, when it would be assigned something.
  void AnnounceNode(RmNode& node, bool again = false);
  void AnnounceDeclined();
  [[nodiscard]] DemandIndex& DemandOf(const RmApplication& application) {
    return demand_[static_cast<std::size_t>(application.leaf)];
  }

  std::vector<DemandIndex> demand_;  // of activated applications, by queue
  std::vector<std::map<std::pair<std::int64_t, std::uint64_t>, RmApplication*>>
      inactive_;  // by queue, then by (rank, sequence)
  CapacitySearch search_;
  CapacityPreemption preemption_;
  NodeRing ring_;
  std::int64_t announced_slots_ = 0;  // slots below this were announced
  std::set<std::int32_t> declined_;   // nodes whose slots were, but for whom nothing was found then
  std::int32_t reserved_nodes_ = 0;   // kept for an ask
};

// ---------------------------------------------------------------- nodes

void CapacityScheduler::OnNodeAdded(RmNode&) {
  changed_ = true;
  for (std::size_t q = 0; q < inactive_.size(); ++q) Activate(static_cast<std::int32_t>(q));
}

void CapacityScheduler::OnNodeRemoved(RmNode& node) {
  changed_ = true;
  if (node.reserved_for != nullptr) {
    TF_PROBE("yarn/reserved-node-goes");
    DropReservation(node);
  }
  const bool still_beats =
      node.state == yarn::NodeState::kUnhealthy || node.state == yarn::NodeState::kDecommissioning;
  if (!still_beats) ring_.Forget(node.index);
}

void CapacityScheduler::OnNodeRegistered(RmNode& node) {
  ring_.Forget(node.index);
  AnnounceNode(node);
}

// A node counts its period from a repeated heartbeat, too, if it has waited for the answer that it
// missed.
void CapacityScheduler::OnNodeHeartbeat(RmNode& node, Beat beat) {
  ring_.Heard(node.index, records_.now, beat == Beat::kOutOfTurn);
  if (beat != Beat::kRepeated && node.schedulable && records_.scheduling_allowed()) Assign(node);
}

// Node-local containers are assigned until nothing more fits; the first off-switch one ends the
// heartbeat (stock), and so does a reservation.
void CapacityScheduler::Assign(RmNode& node) {
  std::int32_t off_switch = 0;
  std::int32_t assigned = 0;
  while (true) {
    const Proposal proposal = search_.Find(node);
    for (AskEntry* ask : proposal.counted) ++ask->missed;
    if (proposal.what == Proposal::What::kNothing) break;
    CarryOut(node, proposal);
    if (proposal.what == Proposal::What::kReserve) break;
    if (proposal.what == Proposal::What::kUnreserve || proposal.from_reserved) continue;
    if (proposal.locality == Locality::kOffSwitch) ++off_switch;
    if (off_switch >= records_.options.offswitch_per_heartbeat ||
        ++assigned >= records_.options.assignments_per_heartbeat)
      break;
  }
  if (!ring_.IsPlaced(node.index)) AnnounceNode(node);
  if (!announce_at_ && search_.MayInterest(node)) announce_at_ = records_.now;
}

void CapacityScheduler::CarryOut(RmNode& node, const Proposal& proposal) {
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
      Reserve(application, ask, node);
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
      Grant(node, proposal);
      break;
  }
}

void CapacityScheduler::Grant(RmNode& node, const Proposal& proposal) {
  RmApplication& application = *proposal.application;
  AskEntry& ask = *proposal.ask;
  // Where a node was kept for every container, one of them was given up for this grant.
  TF_CHECK(static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted());
  const bool last = ask.wanted() == 1;
  rm_.Grant(application, ask, node, proposal.locality, proposal.resource);
  if (!last && !ask.reserved.empty()) DemandOf(application).RefreshReservable(application, ask);
}

void CapacityScheduler::Reserve(RmApplication& application, AskEntry& ask, RmNode& node) {
  TF_PROBE("yarn/reserved");
  TF_CHECK(node.reserved_for == nullptr);
  node.reserved_for = &application;
  node.reserved_ask = &ask;
  ask.reserved.insert(std::upper_bound(ask.reserved.begin(), ask.reserved.end(), node.index),
                      node.index);
  ++reserved_nodes_;
  DemandOf(application).RefreshReservable(application, ask);
  changed_ = true;
}

void CapacityScheduler::DropReservation(RmNode& node) {
  TF_PROBE("yarn/reservation-dropped");
  TF_CHECK(node.reserved_for != nullptr);
  AskEntry& ask = *node.reserved_ask;
  RmApplication& application = *node.reserved_for;
  ask.reserved.erase(std::find(ask.reserved.begin(), ask.reserved.end(), node.index));
  node.reserved_for = nullptr;
  node.reserved_ask = nullptr;
  --reserved_nodes_;
  DemandOf(application).RefreshReservable(application, ask);
  changed_ = true;
  AnnounceNode(node);
}

void CapacityScheduler::GiveUpReservation(AskEntry& ask, const RmNode& except) {
  const auto other = std::find_if(ask.reserved.begin(), ask.reserved.end(),
                                  [&](std::int32_t index) { return index != except.index; });
  if (other != ask.reserved.end()) DropReservation(records_.nodes.At(*other));
}

// ---------------------------------------------------------------- applications

void CapacityScheduler::OnAttemptAdded(RmApplication& application) {
  inactive_[static_cast<std::size_t>(application.leaf)].emplace(
      std::pair{application.rank, application.sequence}, &application);
  Activate(application.leaf);
}

void CapacityScheduler::OnAttemptRecovered(RmApplication& application) {
  application.activated = true;
  records_.queues.UseForAm(application.leaf, application.user_number, application.am_partition,
                           application.am_resource);
}

void CapacityScheduler::OnAttemptRemoved(RmApplication& application) {
  inactive_[static_cast<std::size_t>(application.leaf)].erase(
      std::pair{application.rank, application.sequence});
  if (application.activated) {
    application.activated = false;
    records_.queues.GiveBackOfAm(application.leaf, application.user_number,
                                 application.am_partition, application.am_resource);
  }
  Activate(application.leaf);
}

// Source: AbstractLeafQueue.activateApplications. (In submission order; an application that does
// not fit is passed over.)
void CapacityScheduler::Activate(std::int32_t leaf) {
  auto& inactive = inactive_[static_cast<std::size_t>(leaf)];
  if (inactive.empty() || records_.nodes.schedulable() == 0) return;
  QueueTree& queues = records_.queues;
  const Resource& minimum = records_.options.minimum_allocation;
  const Resource smallest = RoundedUp(minimum, minimum);
  for (auto at = inactive.begin(); at != inactive.end();) {
    RmApplication& application = *at->second;
    const std::int32_t user = application.user_number;
    const std::int32_t partition = application.am_partition;
    if (!queues.AmFits(leaf, user, partition, application.am_resource)) {
      TF_PROBE("yarn/am-over-its-share");
      // Once not even the smallest AM of the only user fits, no AM does.
      const bool hopeless = queues[leaf].users.size() <= 1 &&
                            !queues.AmFits(leaf, user, partition, smallest) &&
                            records_.partitions.size() == 1;
      if (hopeless) return;
      ++at;
      continue;
    }
    at = inactive.erase(at);
    application.activated = true;
    rm_.ReportChanged(application.id);  // What it waits for is another thing.
    queues.UseForAm(leaf, user, partition, application.am_resource);
    OnAsksChanged(application);
  }
}

void CapacityScheduler::OnAskReplaced(AskEntry& ask) {
  // The next heartbeats keep a node again if need be.
  while (!ask.reserved.empty()) DropReservation(records_.nodes.At(ask.reserved.back()));
}

// An application stands in the index with the first ask that stops those behind it.
void CapacityScheduler::OnAsksChanged(RmApplication& application) {
  DemandIndex& demand = DemandOf(application);
  demand.Remove(application);
  bool wanting = false;
  std::set<std::int32_t> closed;  // partitions whose deciding ask was found
  std::set<std::int32_t> located;
  for (auto& [key, ask] : application.asks) {
    if (ask.wanted() == 0) continue;
    wanting = true;
    if (!application.activated || closed.count(ask.partition) > 0) continue;
    if (!ask.any->relax && ask.places.empty()) continue;  // can never be granted
    if (ask.any->relax) closed.insert(ask.partition);
    if (ask.places.empty() && located.count(ask.partition) == 0) {
      demand.Add(application, ask);
    } else if (located.insert(ask.partition).second) {
      demand.AddLocated(application, ask);
    }
  }
  SetWanting(application, wanting && application.activated);
  changed_ = true;
}

void CapacityScheduler::SetWanting(RmApplication& application, bool wanting) {
  if (application.wanting == wanting) return;
  application.wanting = wanting;
  records_.queues.SetWanting(application.leaf, application.user_number, wanting);
}

void CapacityScheduler::OnBlacklistChanged(RmApplication&, bool shorter) {
  if (shorter) announce_at_ = records_.now;
  changed_ = true;
}

Resource CapacityScheduler::HeadroomOf(const RmApplication& application,
                                       std::int32_t partition) const {
  Resource left = records_.queues.Headroom(application.leaf, partition);
  Resource user = records_.queues.UserLimit(application.leaf, partition);
  const auto& users = records_.queues[application.leaf].users;
  if (const auto own = users.find(application.user_number); own != users.end())
    user -= own->second.used[partition];
  left.memory_mb = std::clamp<std::int64_t>(user.memory_mb, 0, left.memory_mb);
  left.vcores = std::clamp<std::int64_t>(user.vcores, 0, left.vcores);
  left.gpus = std::clamp<std::int64_t>(user.gpus, 0, left.gpus);
  return left;
}

// ---------------------------------------------------------------- announcements

void CapacityScheduler::OnContainerCompleted(RmNode& node) {
  changed_ = true;
  AnnounceNode(node);
}

void CapacityScheduler::OnReady() {
  changed_ = true;
  announced_slots_ = 0;
  announce_at_ = records_.now;
}

void CapacityScheduler::OnChanged() {
  if (search_.RefreshInterest()) {
    announced_slots_ = 0;  // what was of no interest may be now
    announce_at_ = records_.now;
  }
  AnnounceDeclined();
  preemption_.Arm();
}

bool CapacityScheduler::HasUseFor(const RmNode& node) const {
  return records_.scheduling_allowed() && search_.MayInterest(node) &&
         search_.Find(node).DoesSomething();
}

void CapacityScheduler::OnHeartbeatLeftOut(RmNode& node) {
  if (node.schedulable) declined_.insert(node.index);
}

void CapacityScheduler::AnnounceNode(RmNode& node, bool again) {
  if (!records_.scheduling_allowed() || !search_.MayInterest(node)) return;
  if (!announce_at_) announce_at_ = records_.now;
  if (!search_.Find(node).DoesSomething()) {
    declined_.insert(node.index);
    return;
  }
  if (!node.news_announced || again) rm_.SayNews(node);
}

// A heartbeat that is due at once, and was of no use when it was looked at, may be of use after a
// change of limits, orders or blacklists.
void CapacityScheduler::AnnounceDeclined() {
  if (declined_.empty()) return;
  const std::set<std::int32_t> declined = std::exchange(declined_, {});
  for (const std::int32_t index : declined) AnnounceNode(records_.nodes.At(index));
}

// Slots up to a little after now are announced; then the next slot with a node of interest is
// looked for, one period ahead at most. A node that was told and has not beaten a period later is
// told again.
void CapacityScheduler::Announce() {
  announce_at_.reset();
  if (!records_.scheduling_allowed()) return;
  const Instant early = std::max(records_.now - records_.options.heartbeat_jitter, Instant{});
  const std::int64_t last = ring_.SlotAt(records_.now + records_.options.heartbeat_jitter) + 1;
  const std::int64_t first = std::max(ring_.SlotAt(early), announced_slots_);
  for (auto at = declined_.begin(); at != declined_.end();) {
    const bool over = ring_.IsPlaced(*at) && !ring_.IsWithin(*at, ring_.SlotAt(early), last);
    at = over ? declined_.erase(at) : std::next(at);
  }
  if (announced_slots_ == 0) {
    const std::vector<std::int32_t> unplaced = ring_.unplaced();
    for (const std::int32_t index : unplaced) AnnounceNode(records_.nodes.At(index));
  }
  for (std::int64_t slot = first; slot <= last; ++slot) {
    for (const std::int32_t index : ring_.NodesIn(slot))
      AnnounceNode(records_.nodes.At(index), true);
  }
  announced_slots_ = last + 1;
  announce_at_.reset();
  if (!search_.WantsAnything() && reserved_nodes_ == 0) return;
  for (std::int64_t slot = last + 1; slot <= last + ring_.slots_per_period(); ++slot) {
    const auto& nodes = ring_.NodesIn(slot);
    if (std::any_of(nodes.begin(), nodes.end(),
                    [this](std::int32_t i) { return search_.MayInterest(records_.nodes.At(i)); })) {
      announce_at_ = std::max(ring_.BeginOf(slot) - records_.options.heartbeat_jitter,
                              records_.now + Duration(1));
      return;
    }
  }
}

}  // namespace

const SchedulerKind& CapacityKind() {
  static constexpr SchedulerKind kKind{
      .name = "capacity", .text = "YARN's CapacityScheduler.", .has_limits = true};
  return kKind;
}

std::unique_ptr<Scheduler> MakeCapacity(RmContext& rm, std::uint64_t) {
  return std::make_unique<CapacityScheduler>(rm);
}

}  // namespace tfyarn::fakes
