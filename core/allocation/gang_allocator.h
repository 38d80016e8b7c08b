// Which containers the job wants and holds, and for how long an incomplete gang may keep what it
// has.
//
// Two jobs that each hold half of a cluster wait for ever. So with policy `all` an incomplete gang
// gives everything back after `hold`, waits for a randomised, growing backoff, and asks again, in
// another order of task types. `hold` is the naive way, kept for comparison; `none` has no gang:
// every container is used as it comes. It also guards what comes: more than wanted, too small, on
// an excluded host or against the placement constraints is released at once, and a container is
// never granted twice. Not here: telling the RM (RmSession), launching, and what a lost container
// means (policy).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/allocation/ask_book.h"
#include "core/allocation/ask_planner.h"
#include "core/allocation/gang_timeouts.h"
#include "core/allocation/slot.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/random_stream.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "core/placement/inventory.h"
#include "core/placement/place_gang.h"
#include "core/placement/placement_rules.h"

namespace tfyarn::allocation {

struct GangAllocatorOptions {
  GangSpec gang;
  std::uint64_t seed = 0;
  Duration heartbeat = 1s;  ///< Of AM to RM, and about that of NM to RM.
  /// The RM takes back what is not started in this time; hold stays below it by the margin, in
  /// which the gang is launched.
  Duration container_expiry = 600s;
  Duration expiry_margin = 60s;
};

/// A container for a task. With `all` and `hold` it is only for launching once complete() is true.
struct Grant {
  TaskId task;
  yarn::Container container;
};

enum class CompletedContainer {
  kWantedAgain,  ///< Held and not yet used: its task is wanted again by itself.
  kUsed,         ///< In use: the task has no container now, and Want() asks for another.
  kReleased,     ///< Given back before, or never ours: nothing changes.
};

class GangAllocator {
 public:
  explicit GangAllocator(GangAllocatorOptions options);

  /// What is known of the cluster; before the first Want for the plan to be of use.
  void SetNodes(Instant now, const SharedList<yarn::NodeReport>& nodes);
  void OnUpdatedNodes(Instant now, const std::vector<yarn::NodeReport>& nodes);
  /// The RM has nodes that were in no report.
  void SetUnseenNodes(Instant now, bool any);
  /// Hosts from which nothing is taken and for which nothing is asked. Containers in use there
  /// stay.
  void SetExcludedHosts(const std::set<std::string>& hosts);

  /// These tasks need containers; none of them may be wanted or have one. The first Want while
  /// nothing is wanted starts the gang's deadline. With `kept_counts_as_held` the containers in use
  /// belong to the incomplete gang too: they are given back with it when hold, counted from now,
  /// runs out (policy `all`).
  void Want(Instant now, const std::vector<SlotRequest>& slots, bool kept_counts_as_held = false);
  /// All that trains has its containers: those in use are no part of an incomplete gang any more,
  /// whatever else is still wanted.
  void OnTrainingWhole() { kept_held_since_.reset(); }
  /// The task lacks a container and is to be wanted later: the gang is incomplete, and its deadline
  /// runs on. Until Want, Cancel or CancelAll.
  void Postpone(const TaskId& task) {
    postponed_.insert(task);
    news_ = true;
  }
  /// The task needs none any more; a container it has is released. Unknown tasks are ignored.
  void Cancel(Instant now, const TaskId& task);
  /// The task waits for a container.
  [[nodiscard]] bool Wants(const TaskId& task) const { return wanted_.contains(task); }
  /// Nothing more is wanted: the gang's clocks stop. Containers that tasks have stay with them.
  void CancelAll(Instant now);
  /// The caller sees to the end of the task's container itself: the task has none any more, nothing
  /// is released here, and its later completion is kReleased. Want() may ask for another at once. A
  /// task without container is ignored.
  void Detach(Instant now, const TaskId& task);
  /// A task has a container already, in use (a former AM attempt's).
  void Adopt(const SlotRequest& slot, const yarn::Container& container);

  /// Containers from one allocate answer. What is not granted is released.
  [[nodiscard]] std::vector<Grant> OnAllocated(Instant now,
                                               const std::vector<yarn::Container>& containers);
  /// The RM reports the end of a container.
  CompletedContainer OnCompleted(Instant now, const ContainerId& container);
  /// The task's held container is being launched: hold does not apply to it any more.
  void Use(const TaskId& task);
  /// Gives up a container that is lost or useless (its launch was refused): released, and its task
  /// wanted again as if it had completed unused. Unknown containers are ignored.
  void Refuse(Instant now, const ContainerId& container);

  /// Nothing is asked for from now on and nothing comes of what is granted, for no gang can be had
  /// of it; what an incomplete gang holds is given back, with policy `hold` too. The gang's
  /// deadline runs on. nullopt: there was nothing to give back.
  [[nodiscard]] std::optional<GangGivenBack> Suspend(Instant now);
  /// What is wanted is asked for again.
  void Resume(Instant now);
  [[nodiscard]] bool suspended() const { return suspended_; }

  [[nodiscard]] GangTimeouts OnTime(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  /// Every task has a container.
  [[nodiscard]] bool complete() const { return wanted_.empty() && postponed_.empty(); }
  [[nodiscard]] std::size_t wanted_count() const { return wanted_.size(); }
  [[nodiscard]] bool backing_off() const { return backoff_until_.has_value(); }
  /// The container of a task; nullptr when it has none.
  [[nodiscard]] const yarn::Container* ContainerOf(const TaskId& task) const;
  /// "2 of 4 worker containers (16 GiB, 4 vcores, 8 GPUs) still missing", joined by "; "; empty
  /// when complete.
  [[nodiscard]] std::string Missing() const;

  /// What is to be asked for, kept off or said to be missing may have changed since ForgetNews.
  [[nodiscard]] bool has_news() const { return news_; }
  void ForgetNews() { news_ = false; }
  /// Everything to ask the RM for now, for RmSession::SetAsks; empty during a backoff and while
  /// suspended.
  [[nodiscard]] const std::vector<Ask>& asks() const { return planner_.asks(); }
  /// Hosts on which none of it would help; see AskPlanner.
  [[nodiscard]] const std::set<std::string>& useless_hosts() const {
    return planner_.useless_hosts();
  }
  /// Containers to give back since the last call, each once ever.
  [[nodiscard]] std::vector<ContainerId> TakeReleases();
  [[nodiscard]] const placement::Inventory& inventory() const { return planner_.inventory(); }
  /// What is still wanted, by type and size: for feasibility while the gang waits.
  [[nodiscard]] std::vector<placement::SlotGroup> WantedGroups() const;

 private:
  struct Slot {
    SlotRequest request;
    std::optional<yarn::Container> container;
    Instant granted_at{};
    bool used = false;
  };

  /// The slot for a container that came; nullptr when it is to be given back.
  [[nodiscard]] Slot* SlotFor(const yarn::Container& container,
                              const placement::PlacementRules& rules);
  [[nodiscard]] placement::PlacementRules RulesNow() const;
  [[nodiscard]] std::vector<placement::Occupant> Occupants() const;
  [[nodiscard]] std::string RackOf(const NodeId& node) const;
  [[nodiscard]] std::vector<WantedGroup> Wanted() const;

  void TakeFrom(Slot& slot);
  void WantAgain(Instant now, const TaskId& task);
  void Forget(const TaskId& task);
  void GiveToRm(const ContainerId& container);
  [[nodiscard]] GangGivenBack GiveBack();
  [[nodiscard]] Duration DrawBackoff();
  /// Nothing is asked for, though something may be wanted.
  [[nodiscard]] bool silent() const {
    return wanted_.empty() || backoff_until_.has_value() || suspended_;
  }
  void BeginDeadline(Instant now);
  [[nodiscard]] Duration hold() const;
  [[nodiscard]] std::optional<Instant> HoldEnds() const;
  void Changed(Instant now);

  GangAllocatorOptions options_;
  AskPlanner planner_;
  RandomStream random_;
  Instant latest_{};  // when something last changed
  std::set<std::string> excluded_;
  std::map<std::string, PlacementSpec> placements_;  // of every type ever seen
  std::map<TaskId, Slot> slots_;
  std::set<TaskId> wanted_;     // exactly the slots without container
  std::set<TaskId> postponed_;  // have no slot, and will
  std::set<std::pair<Instant, TaskId>>
      held_;  // exactly the slots with an unused container, by time of the grant
  std::map<ContainerId, TaskId> by_container_;  // exactly the slots with a container
  std::set<ContainerId> parted_;                // released or detached, not yet reported completed
  std::set<ContainerId> ended_unseen_;          // reported completed before they were granted
  std::vector<ContainerId> releases_;           // not yet taken by the caller
  std::optional<Instant> kept_held_since_;
  std::optional<Instant> deadline_;
  std::optional<Instant> backoff_until_;
  bool suspended_ = false;
  bool news_ = false;
  bool over_ = false;        // all was cancelled: what is lost is not wanted again
  Duration next_backoff_{};  // doubles until a gang is complete
};

}  // namespace tfyarn::allocation
