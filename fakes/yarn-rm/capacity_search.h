// Which container a node heartbeat gets: the capacity scheduler's decision, one container at a
// time.
//
// Find() only looks; schedulers/capacity.cc carries out what it found. So the same code answers
// whether a heartbeat would do anything at all, which lets a host leave out those that would not.
//
// As YARN: a node kept for somebody serves only him; queues in order of used share of their
// capacity, applications in order of priority and submission, their asks strictly by priority; an
// ask that fits no free space but would fit the node keeps it (reservation), and an application
// that has kept enough gives one up when it finds space elsewhere. Assumptions: reservations do not
// count as used, are not repeated (YARN lets a starving application keep more nodes than it wants),
// and asks are compared by their "*" row's size for reservations.
//
// Source: CapacityScheduler.java, AbstractParentQueue.java, AbstractLeafQueue.java,
// RegularContainerAllocator.java, PriorityUtilizationQueueOrderingPolicy.java (3.4.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fakes/yarn-rm/asks.h"
#include "fakes/yarn-rm/demand_index.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

struct Proposal {
  enum class What { kNothing, kAllocate, kReserve, kUnreserve };
  What what = What::kNothing;
  RmApplication* application = nullptr;
  AskEntry* ask = nullptr;
  Locality locality = Locality::kOffSwitch;
  Resource resource;
  bool from_reserved = false;      ///< The node was kept for this container.
  bool give_up_one = false;        ///< Another node kept for the same ask must be given up.
  std::vector<AskEntry*> counted;  ///< Asks for which this heartbeat is a missed opportunity.
  [[nodiscard]] bool DoesSomething() const { return what != What::kNothing || !counted.empty(); }
};

class CapacitySearch {
 public:
  /// `demand`: of activated applications, by queue. Both outlive this.
  CapacitySearch(const RmRecords& records, const std::vector<DemandIndex>& demand)
      : records_(records), demand_(demand) {}

  [[nodiscard]] Proposal Find(const RmNode& node) const;

  /// Refreshes what MayInterest looks at. True when something became wanted that was not before, so
  /// that a node that was of no interest may be now.
  [[nodiscard]] bool RefreshInterest();
  /// A quick look: false means that Find finds nothing.
  [[nodiscard]] bool MayInterest(const RmNode& node) const {
    if (!node.schedulable) return false;
    return (node.reserved_for != nullptr || IsWanted(node.partition_number)) && FitsInterest(node);
  }

  /// False: no node is of interest but one that is reserved.
  [[nodiscard]] bool WantsAnything() const {
    for (std::size_t p = 0; p < interests_.size(); ++p) {
      if (IsWanted(static_cast<std::int32_t>(p))) return true;
    }
    return false;
  }

 private:
  struct Interest {
    std::int32_t shape = 0;
    bool reservable = false;
    friend auto operator<=>(const Interest&, const Interest&) = default;
  };
  enum class Verdict { kTake, kNextAsk, kSkipApplication, kStopQueue };

  [[nodiscard]] Proposal FromReservation(const RmNode& node) const;
  [[nodiscard]] bool SearchQueue(std::int32_t queue, const RmNode& node, Proposal& proposal) const;
  [[nodiscard]] bool SearchLeaf(std::int32_t leaf, const RmNode& node, Proposal& proposal) const;
  [[nodiscard]] Verdict TryLocated(RmApplication& application, const RmNode& node,
                                   Proposal& proposal) const;
  [[nodiscard]] Verdict TryAsk(RmApplication& application, AskEntry& ask, const RmNode& node,
                               bool from_reserved, Proposal& proposal) const;
  [[nodiscard]] bool TryPlace(RmApplication& application, AskEntry& ask, const AskRow& row,
                              Locality locality, const RmNode& node, bool from_reserved,
                              Proposal& proposal) const;
  [[nodiscard]] bool MayGoOffSwitch(const AskEntry& ask, std::int64_t missed) const;
  /// An application asks for a container of that partition, and its queue may have it.
  [[nodiscard]] bool IsWanted(std::int32_t partition) const {
    const auto at = static_cast<std::size_t>(partition);
    return at < interests_.size() && (located_[at] || !interests_[at].empty());
  }
  [[nodiscard]] bool FitsInterest(const RmNode& node) const;
  [[nodiscard]] bool HasMinimum(const RmNode& node) const;
  [[nodiscard]] std::vector<Interest> InterestsIn(std::int32_t partition, bool& located) const;

  [[nodiscard]] const DemandIndex& DemandOf(std::int32_t leaf) const {
    return demand_[static_cast<std::size_t>(leaf)];
  }

  const RmRecords& records_;
  const std::vector<DemandIndex>& demand_;
  std::vector<std::vector<Interest>> interests_;  // by partition, sorted
  std::vector<bool> located_;                     // by partition: an application names places
};

}  // namespace tfyarn::fakes
