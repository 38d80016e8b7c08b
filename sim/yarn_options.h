// From a scenario's yarn and hdfs blocks to the options of the fakes.
#pragma once

#include <cstdint>

#include "config/scenario.h"
#include "fakes/hdfs/name_node.h"
#include "fakes/yarn-rm/node_manager.h"
#include "fakes/yarn-rm/rm_options.h"
#include "sim/node_table.h"

namespace tfyarn::sim {

/// The simulated clock shows this when a run starts: 2026-01-01 00:00:00 UTC.
inline constexpr WallTime kWallStart{std::chrono::milliseconds(1'767'225'600'000)};
/// What it shows at that instant.
[[nodiscard]] inline WallTime WallAt(Instant now) {
  return CalendarAt(now, kWallStart);
}

[[nodiscard]] fakes::RmOptions RmOptionsOf(const config::Scenario& scenario,
                                           const NodeTable& nodes);
/// Heartbeats of different nodes are spread over the period; the phase depends on (seed, node)
/// only.
[[nodiscard]] fakes::NmOptions NmOptionsOf(const config::YarnSpec& yarn, const NodeInfo& node,
                                           std::uint64_t seed, std::int32_t index);
[[nodiscard]] fakes::NameNodeOptions NameNodeOptionsOf(const config::HdfsSpec& hdfs);

}  // namespace tfyarn::sim
