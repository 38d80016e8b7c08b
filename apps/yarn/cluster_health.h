// Judges a cluster by what its daemons say: which jobs could not run there, and what would surprise
// those that can.
//
// Facts in, checks out; no server is asked here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/yarn/checks.h"
#include "core/model/hdfs.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/yarnweb/cluster_answers.h"

namespace tfyarn::apps {

/// One ResourceManager, by its client port.
struct ManagerFacts {
  std::string name;  ///< "ResourceManager rm1 (host:8032)"
  enum class State { kActive, kStandby, kSilent, kRefuses } state = State::kSilent;
  std::string error;  ///< Of kSilent and kRefuses.
};
[[nodiscard]] std::vector<Check> JudgeManagers(const std::vector<ManagerFacts>& managers);

struct NodeFacts {
  SharedList<yarn::NodeReport> nodes;     ///< All that the RM knows.
  std::vector<std::string> types;         ///< Of resources.
  std::vector<hadoop::NodeLabel> labels;  ///< But for the default partition.
};
[[nodiscard]] std::vector<Check> JudgeNodes(const NodeFacts& facts);

struct SchedulerFacts {
  wire::SchedulerAnswer scheduler;
  std::optional<std::vector<hadoop::QueueRights>> rights;
  Resource cluster;   ///< Of all nodes that are up.
  bool gpus = false;  ///< The RM knows yarn.io/gpu.
  std::string user;
};
[[nodiscard]] std::vector<Check> JudgeQueues(const SchedulerFacts& facts);
/// Whether what is scheduled by counts more than memory.
[[nodiscard]] Check JudgeCalculator(const SchedulerFacts& facts);

/// Values of daemons' configurations; nullopt = not said.
struct DaemonFacts {
  std::optional<std::string> least_memory_mb;  ///< yarn.scheduler.minimum-allocation-mb
  std::optional<std::string> am_attempts;      ///< yarn.resourcemanager.am.max-attempts
  std::string node;                            ///< The NodeManager that was asked, "host:port".
  std::optional<std::string> pmem_check;
  std::optional<std::string> vmem_check;
  std::optional<std::string> vmem_ratio;
  std::optional<std::string> collects_logs;
  bool collects_here = false;  ///< As this machine's configuration says.
};
[[nodiscard]] std::vector<Check> JudgeDaemons(const DaemonFacts& facts);

/// What a trial in HDFS came to.
struct HdfsFacts {
  std::string directory;
  std::string user;
  std::string step;                      ///< That failed: "create", "append", ...
  std::optional<hdfs::HdfsError> error;  ///< nullopt = all went well.
};
[[nodiscard]] Check JudgeHdfs(const HdfsFacts& facts);

/// How far a daemon's clock is from this machine's.
struct ClockFacts {
  std::string name;
  Duration ahead{};  ///< To the second.
};
[[nodiscard]] Check JudgeClocks(const std::vector<ClockFacts>& clocks);

}  // namespace tfyarn::apps
