// What a client asks a ResourceManager about the cluster and its applications, beyond what core's
// machines ask: for the commands that show it, and for refusing a job before it is submitted.
//
// Each query is a request and the answer to it, as bytes, both ways. Answers keep what is shown and
// leave out the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/error.h"
#include "core/model/yarn.h"
#include "wire/hadoop/token.h"
#include "wire/hadoop/yarn_codec.h"

namespace tfyarn::hadoop {

struct ClusterMetrics {
  std::int32_t nodes = 0;
  std::int32_t active = 0;
  std::int32_t lost = 0;
  std::int32_t unhealthy = 0;
  std::int32_t decommissioned = 0;
  friend bool operator==(const ClusterMetrics&, const ClusterMetrics&) = default;
};
[[nodiscard]] EncodedCall GetClusterMetrics();
[[nodiscard]] std::string Encode(const ClusterMetrics& metrics);
[[nodiscard]] Expected<ClusterMetrics> DecodeClusterMetrics(std::string_view body);

/// Partitions of the cluster, but for the default one.
struct NodeLabel {
  std::string name;
  bool exclusive = true;
  friend bool operator==(const NodeLabel&, const NodeLabel&) = default;
};
[[nodiscard]] EncodedCall GetClusterNodeLabels();
[[nodiscard]] std::string Encode(const std::vector<NodeLabel>& labels);
[[nodiscard]] Expected<std::vector<NodeLabel>> DecodeNodeLabels(std::string_view body);

/// Labels by node; nodes of the default partition are not there.
using NodeLabels = std::vector<std::pair<NodeId, std::vector<std::string>>>;
[[nodiscard]] EncodedCall GetNodeToLabels();
[[nodiscard]] std::string Encode(const NodeLabels& labels);
[[nodiscard]] Expected<NodeLabels> DecodeNodeToLabels(std::string_view body);

/// Where each node's web server is, "host:port"; of all nodes that the RM knows.
using NodeWebAddresses = std::vector<std::pair<NodeId, std::string>>;
[[nodiscard]] EncodedCall GetNodeWebAddresses();
[[nodiscard]] std::string EncodeNodeWebAddresses(const NodeWebAddresses& addresses);
[[nodiscard]] Expected<NodeWebAddresses> DecodeNodeWebAddresses(std::string_view body);

/// Whether a queue takes applications: only a running one does, and another refuses each at once.
enum class QueueRunState { kRunning, kStopped, kDraining };
[[nodiscard]] EncodedCall GetQueueRunState(const std::string& queue);
[[nodiscard]] std::string EncodeQueueRunState(QueueRunState state);
/// nullopt: there is no such queue, or the RM does not say.
[[nodiscard]] Expected<std::optional<QueueRunState>> DecodeQueueRunState(std::string_view body);

/// What the caller may do with a queue. The RM names queues by the last part of their path, or by
/// all of it.
struct QueueRights {
  std::string queue;
  bool submit = false;
  friend bool operator==(const QueueRights&, const QueueRights&) = default;
};
[[nodiscard]] EncodedCall GetQueueRights();
[[nodiscard]] std::string Encode(const std::vector<QueueRights>& rights);
[[nodiscard]] Expected<std::vector<QueueRights>> DecodeQueueRights(std::string_view body);

/// Names of what can be asked for: memory-mb, vcores, yarn.io/gpu, ... An RM drops what it does not
/// know from an ask without a word, so a job that needs it has to be refused before.
[[nodiscard]] EncodedCall GetResourceTypes();
[[nodiscard]] std::string EncodeResourceTypes(const std::vector<std::string>& names);
[[nodiscard]] Expected<std::vector<std::string>> DecodeResourceTypes(std::string_view body);

/// core's report and what else the RM tells of an application.
struct ApplicationDetails {
  yarn::ApplicationReport report;
  std::string name;
  std::string user;
  std::string queue;
  std::string type;
  std::vector<std::string> tags;
  std::int64_t started_ms = 0;   ///< Since 1970.
  std::int64_t finished_ms = 0;  ///< 0 = not yet.
  std::int32_t progress_permille = 0;
  /// Of an unmanaged AM, for its owner alone, and between LAUNCHED and registered.
  std::optional<HadoopToken> am_rm_token;
};
/// Those with one of `tags`, of one of `types` (in any case) and in one of `states`; empty = any.
/// Answered by DecodeApplications().
struct ApplicationFilter {
  std::vector<std::string> types;
  std::vector<std::string> tags;
  std::vector<yarn::YarnApplicationState> states;
};
[[nodiscard]] EncodedCall GetApplications(const ApplicationFilter& filter);
[[nodiscard]] Expected<ApplicationFilter> DecodeGetApplications(std::string_view body);
[[nodiscard]] std::string EncodeApplications(const std::vector<ApplicationDetails>& applications);
[[nodiscard]] Expected<std::vector<ApplicationDetails>> DecodeApplications(std::string_view body);
/// The whole of an answer to getApplicationReport.
[[nodiscard]] std::string EncodeApplicationReport(const ApplicationDetails& application);
[[nodiscard]] Expected<ApplicationDetails> DecodeApplicationReport(std::string_view body);

/// State of one AM process. Order and meaning are YARN's (YarnApplicationAttemptState.java).
enum class AttemptState {
  kNew,
  kSubmitted,
  kScheduled,
  kAllocatedSaving,
  kAllocated,
  kLaunched,
  kFailed,
  kRunning,
  kFinishing,
  kFinished,
  kKilled
};
struct AttemptReport {
  ApplicationAttemptId id;
  AttemptState state = AttemptState::kNew;
  std::optional<ContainerId> am_container;
  std::string host;
  std::string diagnostics;
  std::string tracking_url;
  friend bool operator==(const AttemptReport&, const AttemptReport&) = default;
};
[[nodiscard]] EncodedCall GetApplicationAttempts(const ApplicationId& application);
[[nodiscard]] std::string Encode(const std::vector<AttemptReport>& attempts);
[[nodiscard]] Expected<std::vector<AttemptReport>> DecodeApplicationAttempts(std::string_view body);
[[nodiscard]] EncodedCall GetApplicationAttemptReport(const ApplicationAttemptId& attempt);
[[nodiscard]] std::string Encode(const AttemptReport& attempt);
[[nodiscard]] Expected<AttemptReport> DecodeApplicationAttemptReport(std::string_view body);

struct ContainerReport {
  ContainerId id;
  yarn::ContainerState state = yarn::ContainerState::kNew;
  std::int32_t exit_status = 0;  ///< Of a container that is complete.
  NodeId node;
  Resource resource;
  std::string web;  ///< "host:port" of its node's web server.
  std::string log_url;
  std::string diagnostics;
};
[[nodiscard]] EncodedCall GetContainers(const ApplicationAttemptId& attempt);
[[nodiscard]] std::string Encode(const std::vector<ContainerReport>& containers);
[[nodiscard]] Expected<std::vector<ContainerReport>> DecodeContainers(std::string_view body);

}  // namespace tfyarn::hadoop
