// How the wanted containers are asked for: anywhere, or on named hosts.
//
// A plain ask yields one container per node and node heartbeat, an ask with host rows all at once.
// So the first ask of a gang names hosts when the nodes seem to have room and that is faster; it
// falls back to "anywhere" when the grants do not come within a few heartbeats. Task types with
// placement constraints are always asked for on hosts, because stock clusters have scheduler-side
// constraints switched off: the hosts that may take them, each with a limit. Not here: whose
// container it becomes and when to give up (GangAllocator), and what the RM knows (AskBook).
//
// Source: hadoop-yarn-server-resourcemanager LocalityAppPlacementAllocator.java (which rows a grant
// needs and lowers).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/allocation/ask_book.h"
#include "core/allocation/host_choice.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "core/placement/inventory.h"
#include "core/placement/place_gang.h"
#include "core/placement/placement_rules.h"

namespace tfyarn::allocation {

/// Wanted containers that are equal to the RM.
struct WantedGroup {
  placement::SlotGroup slots;  ///< slots.count > 0.
  std::int32_t priority = 1;
};

/// What an ask was for.
struct AskedFor {
  std::string task_type;
  Resource resource;
  std::string node_label;
  friend auto operator<=>(const AskedFor& a, const AskedFor& b) {
    return std::tie(a.task_type, a.node_label, a.resource.memory_mb, a.resource.vcores,
                    a.resource.gpus, a.resource.others) <=>
           std::tie(b.task_type, b.node_label, b.resource.memory_mb, b.resource.vcores,
                    b.resource.gpus, b.resource.others);
  }
  friend bool operator==(const AskedFor&, const AskedFor&) = default;
};

struct AskPlannerOptions {
  Duration heartbeat = 1s;  ///< Of nodes to the RM, about: in which every node has had its turn.
  /// Whether the first ask of unconstrained types may name hosts.
  bool name_hosts = true;
  /// How long planned hosts are waited for: a node heartbeat, ours, and some slack.
  Duration planned_hosts_wait = 3500ms;
  /// What a plan leaves free on every node, if it can.
  Resource left_for_masters{.memory_mb = 2048, .vcores = 1, .gpus = 0, .others = {}};
  /// How old node reports may be for a plan on free space.
  Duration reports_fresh = 60s;
  /// How long constrained types keep their choice of hosts before others are tried.
  Duration constrained_wait = 30s;
};

class AskPlanner {
 public:
  explicit AskPlanner(AskPlannerOptions options);

  void SetNodes(Instant now, const SharedList<yarn::NodeReport>& nodes);
  void OnUpdatedNodes(const std::vector<yarn::NodeReport>& nodes);
  /// The RM has nodes of which there was no report: those that came between the client's look at
  /// the cluster and the AM's registration. True when Plan must be called again.
  [[nodiscard]] bool SetUnseenNodes(bool any);
  [[nodiscard]] const placement::Inventory& inventory() const { return inventory_; }

  /// Recomputes asks(): these are wanted, `rules` and `occupants` say who is where. Nothing wanted
  /// withdraws everything.
  void Plan(Instant now, const std::vector<WantedGroup>& wanted,
            const placement::PlacementRules& rules,
            const std::vector<placement::Occupant>& occupants,
            const std::set<std::string>& excluded_hosts);
  /// A container came for that ask: its host and rack are lowered as the RM did.
  void OnGranted(const yarn::Container& container);
  /// The gang was given back: what is planned next gets new keys, and the task types another order.
  void StartRound();
  /// Gives up plans that did not work; true when Plan must be called again.
  [[nodiscard]] bool OnTime(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  [[nodiscard]] const std::vector<Ask>& asks() const { return asks_; }
  /// Hosts that can take nothing of what is asked for, as each type of it is there already. Of
  /// hosts that are named there are none: only where all is asked for anywhere would a scheduler
  /// that serves the first node with room offer the same ones again and again.
  [[nodiscard]] const std::set<std::string>& useless_hosts() const { return useless_hosts_; }
  /// nullptr when the key was never used.
  [[nodiscard]] const AskedFor* Find(const AskKey& key) const;

 private:
  enum class Where { kAnywhere, kPlannedHosts, kConstrainedHosts };
  /// How one kind of container is being asked for.
  struct Line {
    AskKey key;
    Where where = Where::kAnywhere;
    std::int32_t wanted = 0;  // at the last Plan
    bool delivered = false;   // a container has come for it
    HostChoice choice;        // unless kAnywhere; lowered by grants as the RM lowers its rows
  };
  /// One Plan's arguments.
  struct Question {
    Instant now{};
    const std::vector<WantedGroup>& wanted;
    std::vector<placement::SlotGroup> groups;  // of `wanted`, in its order
    const placement::PlacementRules& rules;
    const std::vector<placement::Occupant>& occupants;
    const std::set<std::string>& excluded_hosts;
  };

  [[nodiscard]] std::int32_t RotatedPriority(std::int32_t priority) const;
  [[nodiscard]] Line NewLine(const WantedGroup& group, Where where);
  void ChoosePlannedHosts(const Question& question);
  [[nodiscard]] std::optional<placement::Assignment> PlanOnFreeSpace(
      const Question& question) const;
  void ChooseConstrainedHosts(const Question& question);
  [[nodiscard]] bool MayFitUnseen(const WantedGroup& group, const HostChoice& choice) const;
  [[nodiscard]] bool NeedsNewChoice(const Question& question) const;
  [[nodiscard]] bool NamingHostsIsFaster(const Question& question) const;
  void LeaveUnfitHosts(const Question& question);
  void KeepAnywhereLines(const Question& question);
  void FillAsks(const Question& question);
  void FindUselessHosts(const Question& question);

  AskPlannerOptions options_;
  placement::Inventory inventory_;
  std::optional<Instant> reports_from_;
  std::set<std::int32_t> priorities_;  // every base priority seen
  std::int32_t round_ = 0;
  std::int32_t turn_ = 0;      // of the constrained choice
  bool choose_again_ = false;  // constrained hosts, at the next Plan
  bool unseen_nodes_ = false;
  bool first_plan_done_ = false;
  std::int64_t next_request_id_ = 0;
  std::map<AskedFor, Line> lines_;     // what is asked for in this round
  std::map<AskKey, AskedFor> by_key_;  // every key ever used: late grants carry old ones
  Instant planned_since_{};
  std::optional<Instant> planned_until_;      // while a line is kPlannedHosts
  std::optional<Instant> constrained_until_;  // while a line is kConstrainedHosts
  std::vector<Ask> asks_;
  std::set<std::string> useless_hosts_;
};

}  // namespace tfyarn::allocation
