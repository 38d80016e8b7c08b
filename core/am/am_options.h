// What an ApplicationMaster is told besides its job: facts about where it runs, never rules.
#pragma once

#include <string>

#include "core/model/describe.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn::am {

struct AmOptions {
  std::string staging_directory;  ///< HDFS directory of this application; agents look for the AM's
                                  ///< address there.
  std::string tracking_url;       ///< Given to the RM; "" = none. At the end a host says where the
                                  ///< report is.
  /// Every agent's command, files and environment; the AM adds what tells one agent from another.
  yarn::ContainerLaunchContext agent_context;
  Duration rm_heartbeat = 1s;  ///< Allocate's period; well below the RM's AM expiry.
  /// The same while asks are new; at most rm_heartbeat. See RmSessionOptions::fast_heartbeat.
  Duration rm_heartbeat_fast = 200ms;
  Duration container_expiry =
      600s;  ///< The RM takes back containers in which nothing was started for so long.
  /// What the cluster timestamp in an application's id counts from: 1970, unless it is simulated.
  WallTime cluster_timestamps_from{};
  WallTime surveyed{};  ///< When the client asked for what AmStarted says of the cluster.
  /// False: the nodes that the client saw are all that there will ever be.
  bool nodes_may_come = true;
};
BOOST_DESCRIBE_STRUCT(AmOptions, (),
                      (staging_directory, tracking_url, agent_context, rm_heartbeat,
                       rm_heartbeat_fast, container_expiry, cluster_timestamps_from, surveyed,
                       nodes_may_come))

}  // namespace tfyarn::am
