// What a fake ResourceManager is told at its start: the yarn-site.xml and capacity-scheduler.xml of
// the simulator.
//
// Names follow Hadoop's keys; each member cites its key. Values here are Hadoop's own defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/resource.h"
#include "core/model/time.h"

namespace tfyarn::fakes {

/// Source: CapacitySchedulerConfiguration.java; one set for all partitions.
struct QueueOptions {
  std::string path;                                ///< "root.ml".
  std::int32_t capacity_permille = 0;              ///< Of its parent.
  std::int32_t max_capacity_permille = 1000;       ///< Of its parent.
  std::int32_t user_limit_permille = 1000;         ///< minimum-user-limit-percent.
  std::int32_t user_limit_factor_permille = 1000;  ///< user-limit-factor.
  std::int32_t am_share_permille = 100;            ///< maximum-am-resource-percent.
};

struct RmOptions {
  std::string scheduler = "capacity";  ///< One of schedulers.h.
  /// What is missing to 1000 below root belongs to root.default; empty = root.default has
  /// everything.
  std::vector<QueueOptions> queues;
  Duration nm_heartbeat = 1s;  ///< nodemanagers.heartbeat-interval-ms.
  Duration nm_expiry = 600s;   ///< yarn.nm.liveness-monitor.expiry-interval-ms.
  Duration am_expiry =
      900s;  ///< yarn.am.liveness-monitor.expiry-interval-ms; counts from the launch.
  Duration container_expiry = 600s;  ///< rm.container-allocation.expiry-interval-ms.
  std::int32_t am_max_attempts =
      2;  ///< yarn.resourcemanager.am.max-attempts, and the global maximum.
  bool work_preserving_restart = true;  ///< work-preserving-recovery.enabled.
  bool preemption = false;              ///< scheduler.monitor.enable.
  Duration nm_token_roll = 24h;         ///< Keys of NM tokens and of container tokens.
  Duration amrm_token_roll = 24h;       ///< am-rm-tokens.master-key-rolling-interval-secs.
  Resource minimum_allocation{.memory_mb = 1024, .vcores = 1, .gpus = 0, .others = {}};
  Resource maximum_allocation;               ///< A zero member = as much as the largest node.
  std::int32_t offswitch_per_heartbeat = 1;  ///< per-node-heartbeat.maximum-offswitch-assignments.
  std::int32_t assignments_per_heartbeat =
      100;                                ///< per-node-heartbeat.maximum-container-assignments.
  std::int32_t node_locality_delay = 40;  ///< yarn.scheduler.capacity.node-locality-delay.
  Duration scheduling_wait = 10s;         ///< work-preserving-recovery.scheduling-wait-ms.
  Duration preemption_notice = 15s;       ///< capacity.preemption.max_wait_before_kill.
  Duration preemption_interval = 3s;      ///< capacity.preemption.monitoring_interval.
  Duration am_launch_retry = 10s;         ///< client.nodemanager-connect.retry-interval-ms.
  Duration am_launch_give_up = 180s;      ///< client.nodemanager-connect.max-wait-ms.
  std::int32_t max_completed_applications =
      1000;  ///< yarn.resourcemanager.max-completed-applications.
  /// Types that the RM knows besides memory-mb, vcores and yarn.io/gpu; those of registered nodes
  /// are added.
  std::vector<std::string> resource_types;
  /// Node labels (partitions) that the cluster has, whether or not a node of them is registered:
  /// they are the administrator's, in the RM's own store. Those of registered nodes are added.
  /// Source: CommonNodeLabelsManager.java (addToCluserNodeLabels, containsNodeLabel).
  std::vector<std::string> partitions;
  std::int64_t cluster_timestamp = 0;  ///< Start of the first RM in ms; application ids carry it.
  /// How far from its usual time within the period a node's heartbeat may arrive and still be the
  /// one expected. Only decides how early NewsForNode is said, never what is assigned.
  Duration heartbeat_jitter = 10ms;
};

}  // namespace tfyarn::fakes
