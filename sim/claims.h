// What a ResourceManager that is restarted has yet to hear of: containers that its predecessor
// allocated, on nodes that have not registered since.
//
// What a new RM knows of containers it has from their nodes (hadoop-yarn, work-preserving recovery;
// without that recovery everything ends). A node takes the tokens of the RM that it has registered
// with: until it has done so again, it may start what that RM allocated. What it does not report
// then has never been started, or has ended meanwhile; the new RM gives nothing back for it.
//
// It uses the kernel, the cluster's records and the ResourceManager's side.
#pragma once

#include <map>
#include <vector>

#include "core/model/ids.h"
#include "core/model/time.h"
#include "sim/cluster.h"
#include "sim/kernel.h"
#include "sim/rm_side.h"
#include "sim/run_setup.h"

namespace tfyarn::sim {

class Claims {
 public:
  /// All must outlive it.
  Claims(Kernel& kernel, const RunSetup& setup, Cluster& cluster, RmSide& rm)
      : kernel_(kernel), setup_(setup), cluster_(cluster), rm_(rm) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// The ResourceManager is about to end: its allocations wait for their nodes.
  void SetAside();
  /// Another one has started: a node that has not come back in time counts as lost.
  void Await();
  /// The ResourceManager stood still, and goes on.
  void RmGoesOn();
  /// The node has heard that it is registered, and has reported what it has: to the RM that runs,
  /// or to the one before. Then it still takes what that one allocated, and has yet to tell the
  /// next.
  void NodeHasReported(Place node);
  /// A container on the node has ended.
  void ContainerEnded(Place node);

 private:
  void ForgetAll();
  void Forget(Place node);
  /// With the RM that runs.
  [[nodiscard]] bool IsRegistered(Place node) const;

  Kernel& kernel_;
  const RunSetup& setup_;
  Cluster& cluster_;
  RmSide& rm_;
  std::map<Place, std::vector<ContainerId>> unclaimed_;
  Instant end_;                               ///< A node that has not come back by then is lost.
  bool nodes_have_their_time_again_ = false;  ///< When the RM goes on.
};

}  // namespace tfyarn::sim
