// What the AM's containers depend on besides its job.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::allocation {

struct AllocationOptions {
  std::uint64_t seed = 0;   ///< Of the pauses between two tries to collect a gang.
  Duration heartbeat = 1s;  ///< See RmSessionOptions.
  Duration fast_heartbeat = 1s;
  Duration container_expiry = 600s;  ///< See GangAllocatorOptions.
  /// Every agent's command, files and environment.
  yarn::ContainerLaunchContext agent_context;
  /// What the cluster timestamp in an application's id counts from: 1970, unless it is simulated.
  WallTime cluster_timestamps_from{};
  WallTime surveyed{};         ///< When the client asked for what AmStarted says of the cluster.
  bool nodes_may_come = true;  ///< False: those that the client saw are all that there will be.
};

}  // namespace tfyarn::allocation
