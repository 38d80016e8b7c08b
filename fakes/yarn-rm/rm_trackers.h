// What the ResourceManager answers to NodeManagers, and what they bring back after its restart.
//
// Source: ResourceTrackerService.java, RMNodeImpl.java, AbstractYarnScheduler.java
// (recoverContainersOnNode).
#pragma once

#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/rm_applications.h"
#include "fakes/yarn-rm/rm_context.h"
#include "fakes/yarn-rm/rm_nodes.h"
#include "fakes/yarn-rm/rm_outbox.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

class RmTrackerService {
 public:
  /// All outlive this.
  RmTrackerService(RmRecords& records, RmOutbox& out, RmApplications& applications, RmNodes& nodes)
      : records_(records), out_(out), applications_(applications), nodes_(nodes) {}

  [[nodiscard]] yarn::RmResponse Answer(const RmCall&,
                                        const yarn::RegisterNodeManagerRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall&, const yarn::NodeHeartbeatRequest& request);
  /// The answer to the node's next heartbeat has something for it.
  [[nodiscard]] bool HasOrders(const RmNode& node) const;

 private:
  // ------------------------------------------------------------ rm_trackers.cc
  void ForgetTokensGivenFor(const RmNode& node);
  void TakeNodeStatus(RmNode& node, const yarn::NodeHeartbeatRequest& request);
  void TakeContainerStatus(RmNode& node, const yarn::ContainerStatus& status);
  [[nodiscard]] yarn::NodeHeartbeatResponse TakeNodeOrders(RmNode& node);

  // ------------------------------------------------------------ rm_recovery.cc
  void TakeOverNode(RmNode& node, const yarn::RegisterNodeManagerRequest& request, bool is_new);
  void RecoverContainer(RmNode& node, const yarn::NmContainerStatus& status);

  RmRecords& records_;
  RmOutbox& out_;
  RmApplications& applications_;
  RmNodes& nodes_;
};

}  // namespace tfyarn::fakes
