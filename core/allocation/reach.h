// Whether the cluster can hold what the job needs, as far as the AM knows the cluster: the nodes
// that the client saw and those that have come since, the queue's limits, the largest container.
//
// A ResourceManager that is young may not have seen all its nodes, nor has one that has restarted.
// What is not possible on the nodes so far may be so on those to come: they are waited for, for
// deadlines.nodes since then. Nothing is asked for meanwhile, for no gang can be had of it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/allocation/gang_allocator.h"
#include "core/allocation/node_exclusion.h"
#include "core/journal/outbox.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/placement/feasibility.h"

namespace tfyarn::allocation {

struct ReachOptions {
  WallTime cluster_timestamps_from{};  ///< See AllocationOptions.
  WallTime surveyed{};
  bool nodes_may_come = true;
  Duration nodes_come_in{};          ///< deadlines.nodes.
  Resource am;                       ///< Of the AM's own container.
  std::set<std::string> partitions;  ///< In which tasks of the job may run; "" = the default one.
};

class Reach {
 public:
  using Groups = std::vector<placement::SlotGroup>;

  Reach(ReachOptions options, GangAllocator& gang, NodeExclusion& exclusion, journal::Outbox& out);

  void OnStarted(Instant now, const AmStarted& started);
  /// The RM has accepted this attempt; `largest`: container so far, zero = not said.
  void OnRegistered(const Resource& largest);
  /// The RM has restarted: its nodes have to register once more.
  void NodesComeAgain(Instant now);
  /// So many nodes the RM counts now that it has registered this attempt. `needed`: what must be
  /// held at once; asked for only where that is judged now.
  void OnNodesCounted(Instant now, std::int32_t nodes, const Listener& needed);
  /// Reports that the gang has taken in.
  void OnNodesChanged(const std::vector<yarn::NodeReport>& changed);
  /// An answer of the RM: so many nodes it counts; `changed`: some were reported with it.
  void OnNodesTold(Instant now, std::int32_t counted, bool changed);

  [[nodiscard]] std::int32_t nodes_counted() const { return nodes_counted_; }
  // As Allocation has them.
  [[nodiscard]] std::int64_t largest_memory() const;
  [[nodiscard]] std::optional<std::string> BeyondSetting(const Groups& groups) const;
  [[nodiscard]] Judgement Judge(Instant now, const Groups& groups);
  void JudgeWhenCounted(Instant now, const Groups& groups, bool held);
  void JudgeAgain() { to_be_judged_ = true; }
  [[nodiscard]] bool to_be_judged() const { return to_be_judged_; }
  void OnJudged() { to_be_judged_ = false; }
  [[nodiscard]] std::optional<std::string> TooLargeSoFar(Instant now, const Groups& groups) const;
  [[nodiscard]] bool MayFitLater(Instant now, const Groups& groups);
  void AwaitNodes(Instant now, const std::string& limit);
  void WaitNoMore(Instant now);
  [[nodiscard]] bool awaits_nodes() const { return !limit_.empty(); }
  [[nodiscard]] Instant judges_at() const;
  [[nodiscard]] std::string AwaitedNodes() const;

 private:
  /// What the nodes that are known cannot hold, or the queue or a container because of them.
  [[nodiscard]] std::optional<placement::Infeasible> LimitOfNodes(Instant now,
                                                                  const Groups& groups) const;
  /// The RM has seen every node that we know.
  [[nodiscard]] bool RmKnowsThemAll() const { return known_ > 0 && nodes_counted_ >= known_; }
  [[nodiscard]] bool WasSurveyedTooEarly(const ApplicationId& application) const;

  ReachOptions options_;
  GangAllocator& gang_;
  NodeExclusion& exclusion_;
  journal::Outbox& out_;
  yarn::PartitionAmounts queue_maximum_;
  /// All nodes that were up when the client asked for the queue.
  yarn::PartitionAmounts counted_in_queue_;
  Resource maximum_container_;      ///< As the client was told, or the AM when it registered.
  Resource registered_maximum_;     ///< As the AM was told when it registered.
  std::int32_t nodes_counted_ = 0;  ///< By the RM, in its last answer with news; 0 = not yet.
  std::int32_t known_ = 0;          ///< Nodes that are up as far as we were told.
  std::int32_t out_of_reach_ = 0;   ///< Of these, in other partitions.
  Instant nodes_come_until_{};
  std::string limit_;          ///< Why nodes are waited for; "" = they are not.
  bool size_refused_ = false;  ///< By the RM, which knows of no node that is large enough.
  bool judge_when_counted_ = false;
  /// The cluster has shrunk, a task wants more than before, or nodes have had their time to come:
  /// what training waits for, now or next, may be out of reach for ever.
  bool to_be_judged_ = false;
};

}  // namespace tfyarn::allocation
