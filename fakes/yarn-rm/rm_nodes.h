// Nodes as the ResourceManager sees them: coming, going, changing; and what that does to containers
// and applications there.
//
// Source: RMNodeImpl.java, NodesListManager.java, NMLivelinessMonitor.java,
// AbstractYarnScheduler.java.
#pragma once

#include <set>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_applications.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_outbox.h"
#include "fakes/yarn-rm/rm_records.h"
#include "fakes/yarn-rm/rm_timers.h"

namespace tfyarn::fakes {

class RmNodes {
 public:
  /// All outlive this.
  RmNodes(RmRecords& records, RmOutbox& out, RmTimers& timers, RmApplications& applications)
      : records_(records), out_(out), timers_(timers), applications_(applications) {}

  /// It may not register: it was taken out of service before it did so for the first time.
  [[nodiscard]] bool IsExcluded(const NodeId& id) const { return excluded_.contains(id); }
  RmNode& Add(const yarn::RegisterNodeManagerRequest& request);
  void SetState(RmNode& node, yarn::NodeState state);
  /// Lost, unhealthy, decommissioned or rebooted: its containers are completed, the scheduler no
  /// longer has it.
  void Deactivate(RmNode& node, yarn::NodeState state);

  void Decommission(const DecommissionNode& order);
  void Recommission(const RecommissionNode& order);
  void FinishDecommission(RmNode& node);

  /// The node counts as lost when nothing is heard of it for long.
  void Watch(RmNode& node);
  void OnVouched(const NodeVouched& vouched);
  void OnWatchOver(RmNode& node, Instant at);

 private:
  void SetCapacity(RmNode& node, const Resource& capacity);
  void TellApplications(const RmNode& node);
  void Unwatch(RmNode& node);

  RmRecords& records_;
  RmOutbox& out_;
  RmTimers& timers_;
  RmApplications& applications_;
  std::set<NodeId> excluded_;
};

}  // namespace tfyarn::fakes
