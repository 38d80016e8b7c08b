// What daemons say of themselves over HTTP: who is active, what the scheduler counts and allows,
// what a daemon was configured with, what its clock shows.
//
// Source: RMWebServices, CapacitySchedulerInfo, FairSchedulerInfo and ConfServlet of Hadoop 3.4,
// and what real daemons answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/time.h"

namespace tfyarn::wire {

inline constexpr const char* kClusterInfoTarget = "/ws/v1/cluster/info";
struct ClusterInfo {
  std::string ha_state;  ///< "ACTIVE", "STANDBY", ...
  std::string version;   ///< Of Hadoop.
};
[[nodiscard]] std::optional<ClusterInfo> ParseClusterInfo(std::string_view body);

inline constexpr const char* kSchedulerTarget = "/ws/v1/cluster/scheduler";
/// A queue that takes applications.
struct SchedulerQueue {
  std::string path;                ///< "root.a.b"
  std::string state;               ///< "RUNNING", "STOPPED", "DRAINING"; "" where there is none.
  std::string policy;              ///< Of the Fair Scheduler: "fair", "DRF", "fifo".
  std::int64_t capacity = -1;      ///< Of the cluster, in thousandths; -1 = not said.
  std::int64_t maximum = -1;       ///< The same.
  std::int64_t used = -1;          ///< The same.
  std::int64_t am_memory_mb = -1;  ///< Most for AMs; -1 = not said.
  std::int64_t am_vcores = -1;     ///< The same.
};
struct SchedulerAnswer {
  std::string type;                  ///< "capacityScheduler", "fairScheduler", "fifoScheduler".
  std::int64_t most_memory_mb = -1;  ///< Of a container; -1 = not said.
  std::int64_t most_vcores = -1;
  std::vector<SchedulerQueue> queues;
};
[[nodiscard]] std::optional<SchedulerAnswer> ParseScheduler(std::string_view body);

/// Of the servlet that shows one value of a daemon's configuration, as JSON if accepted.
[[nodiscard]] std::string ConfigurationTarget(std::string_view key);
[[nodiscard]] std::optional<std::string> ParseConfigurationValue(std::string_view body);

/// "Sun, 22 Nov 2026 04:31:24 GMT"; nullopt: it is none.
[[nodiscard]] std::optional<WallTime> ParseHttpDate(std::string_view text);

}  // namespace tfyarn::wire
