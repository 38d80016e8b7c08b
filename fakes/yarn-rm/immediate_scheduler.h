// What the schedulers that YARN does not have share: they assign at once, wherever there is room,
// and know no queues' limits.
//
// For comparing policies and for closed forms. Whatever happens at one instant is served in one
// pass after it; what a pass does is all that they differ in. Room is looked for on the node with
// the fewest free GPUs that has enough, then by index. Named places and blacklists are respected;
// AM containers are asked for and placed like others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "fakes/yarn-rm/demand_index.h"
#include "fakes/yarn-rm/scheduler.h"

namespace tfyarn::fakes {

class ImmediateScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;

  void OnNodeAdded(RmNode& node) final { Rebucket(node); }
  void OnNodeRemoved(RmNode& node) final { Rebucket(node); }
  void OnNodeResized(RmNode& node) final { Rebucket(node); }

  void OnAttemptAdded(RmApplication& application) final;
  void OnAttemptRecovered(RmApplication& application) final { application.activated = true; }
  void OnAttemptRemoved(RmApplication& application) final { application.activated = false; }
  void BeforeAsksChange(RmApplication& application) final { demand_.Remove(application); }
  void OnAsksChanged(RmApplication& application) final;
  void OnBlacklistChanged(RmApplication&, bool) final { changed_ = true; }

  void OnContainerBooked(RmNode& node) final { Rebucket(node); }
  void OnContainerCompleted(RmNode& node) final { Rebucket(node); }

  void OnWake() final;

  [[nodiscard]] Resource HeadroomOf(const RmApplication&, std::int32_t partition) const final {
    return records_.queues.Headroom(records_.queues.root(), partition);
  }
  [[nodiscard]] Resource MaximumOf(std::int32_t, std::int32_t partition) const final {
    return records_.queues.Total(partition);
  }

 protected:
  struct Placement {
    RmNode* node = nullptr;  ///< nullptr: no room.
    Locality locality = Locality::kOffSwitch;
  };

  /// Grants what the scheduler grants now.
  virtual void Pass() = 0;

  /// How the ask may use the node, by its rows; nullopt: not at all.
  [[nodiscard]] static std::optional<Locality> MayUse(const AskEntry& ask, const RmNode& node);
  [[nodiscard]] Placement FindRoom(const RmApplication& application, const AskEntry& ask);
  void GrantAt(const Demand& demand, const Placement& placement);

  DemandIndex demand_;  // of all applications

 private:
  /// Where a node stands among those of its partition; not at all while it takes no part.
  struct Bucket {
    std::int32_t partition = 0;
    std::int64_t gpus = 0;
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  void OnChanged() final;
  void Rebucket(const RmNode& node);
  [[nodiscard]] Placement FindNamedRoom(const RmApplication& application, const AskEntry& ask);
  [[nodiscard]] std::map<std::int64_t, std::set<std::int32_t>>& FreeGpus(std::int32_t partition);

  std::vector<std::map<std::int64_t, std::set<std::int32_t>>>
      by_free_gpus_;                            // nodes, by partition and free GPUs
  std::vector<std::optional<Bucket>> buckets_;  // by node
  bool pass_wanted_ = false;
};

}  // namespace tfyarn::fakes
