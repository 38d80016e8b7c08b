#include "sim/yarn_options.h"

#include "sim/random.h"

namespace tfyarn::sim {
fakes::RmOptions RmOptionsOf(const config::Scenario& scenario, const NodeTable& nodes) {
  const config::YarnSpec& yarn = scenario.yarn;
  fakes::RmOptions options;
  options.scheduler = yarn.scheduler;
  for (const config::QueueSpec& queue : yarn.queues) {
    options.queues.push_back({.path = queue.path,
                              .capacity_permille = queue.capacity_permille,
                              .max_capacity_permille = queue.max_capacity_permille,
                              .user_limit_permille = queue.user_limit_permille,
                              .user_limit_factor_permille = queue.user_limit_factor_permille,
                              .am_share_permille = queue.am_share_permille});
  }
  options.nm_heartbeat = yarn.nm_heartbeat;
  options.nm_expiry = yarn.nm_expiry;
  options.am_expiry = yarn.am_expiry;
  options.container_expiry = yarn.container_expiry;
  options.am_max_attempts = yarn.am_max_attempts;
  options.work_preserving_restart = yarn.work_preserving_restart;
  options.preemption = yarn.preemption;
  options.nm_token_roll = yarn.nm_token_roll;
  options.amrm_token_roll = yarn.amrm_token_roll;
  options.minimum_allocation = yarn.minimum_allocation;
  options.maximum_allocation = yarn.maximum_allocation;
  options.offswitch_per_heartbeat = yarn.offswitch_per_heartbeat;
  options.node_locality_delay = yarn.node_locality_delay;
  options.scheduling_wait = yarn.scheduling_wait;
  options.preemption_notice = yarn.preemption_notice;
  for (const config::NodeClass& one : scenario.cluster.nodes) {
    if (!one.partition.empty()) options.partitions.push_back(one.partition);
  }
  for (const auto& [name, amount] : nodes.largest().others) options.resource_types.push_back(name);
  return options;
}

fakes::NmOptions NmOptionsOf(const config::YarnSpec& yarn, const NodeInfo& node, std::uint64_t seed,
                             std::int32_t index) {
  Random random(seed, "nm/phase", static_cast<std::uint64_t>(index));
  const auto period_us = static_cast<std::uint64_t>(yarn.nm_heartbeat / 1us);
  fakes::NmOptions options;
  options.node = node.id;
  options.rack = "/" + node.rack;
  options.partition = node.partition;
  options.capacity = node.now;
  options.heartbeat = yarn.nm_heartbeat;
  options.heartbeat_phase =
      std::chrono::microseconds(random.UniformInt(period_us == 0 ? 1 : period_us));
  options.sigkill_delay = yarn.sigkill_delay;
  options.work_preserving_restart = yarn.work_preserving_restart;
  options.clock_offset = node.clock_offset;
  return options;
}

fakes::NameNodeOptions NameNodeOptionsOf(const config::HdfsSpec& hdfs) {
  return {.replicas = hdfs.replicas, .quota_bytes = hdfs.quota_bytes};
}

}  // namespace tfyarn::sim
