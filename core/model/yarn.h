// YARN's records and calls, in our types: the vocabulary that the AM, the client, the fakes and the
// wire share.
//
// Field names and meanings are YARN's (hadoop-yarn-api yarn_protos.proto,
// yarn_service_protos.proto); what is not used here is left out. A Token is a handle: its secret
// bytes stay in the host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/describe.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"

namespace tfyarn::yarn {

// ---------------------------------------------------------------- tokens and errors

enum class TokenKind { kNone, kAmRm, kNm, kContainer, kClient };
BOOST_DESCRIBE_ENUM(TokenKind, kNone, kAmRm, kNm, kContainer, kClient)

/// Handle of a token: the host keeps the secret. Machines pass it on and compare it, nothing else;
/// the fakes, which issue tokens, find their meaning by (kind, key_id, serial).
struct Token {
  TokenKind kind = TokenKind::kNone;
  std::uint32_t key_id = 0;  ///< Which master key signed it; rolls every 24 h.
  std::uint64_t serial = 0;  ///< Distinct for every token issued.
  friend auto operator<=>(const Token&, const Token&) = default;
};
BOOST_DESCRIBE_STRUCT(Token, (), (kind, key_id, serial))

/// Exceptions by which a daemon answers a call, and what a caller sees when no answer comes.
enum class RpcErrorCode {
  kUnavailable,                     ///< Connection refused or reset, or no answer in time. Repeat.
  kApplicationMasterNotRegistered,  ///< Not registered, or the RM restarted: register, then resend
                                    ///< everything.
  kApplicationAttemptNotFound,      ///< Another attempt owns the application, or it ended: stop.
  kApplicationNotFound,
  kInvalidApplicationMasterRequest,  ///< Wrong response id, or registered twice.
  kInvalidResourceRequest,           ///< Nothing of that allocate was taken.
  kInvalidLabelResourceRequest,
  kInvalidResourceBlacklistRequest,
  kInvalidContainerRelease,
  kInvalidContainer,  ///< E.g. allocated by a previous RM.
  kInvalidToken,
  kNmNotYetReady,  ///< NM is recovering: repeat.
  kYarn,           ///< Any other YarnException.
  kNullPointer,    ///< What a real RM answers to a malformed row.
};
BOOST_DESCRIBE_ENUM(RpcErrorCode, kUnavailable, kApplicationMasterNotRegistered,
                    kApplicationAttemptNotFound, kApplicationNotFound,
                    kInvalidApplicationMasterRequest, kInvalidResourceRequest,
                    kInvalidLabelResourceRequest, kInvalidResourceBlacklistRequest,
                    kInvalidContainerRelease, kInvalidContainer, kInvalidToken, kNmNotYetReady,
                    kYarn, kNullPointer)

struct RpcError {
  RpcErrorCode code = RpcErrorCode::kUnavailable;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(RpcError, (), (code, message))

// ---------------------------------------------------------------- common records

enum class ContainerState { kNew, kRunning, kComplete };
BOOST_DESCRIBE_ENUM(ContainerState, kNew, kRunning, kComplete)
enum class NodeState {
  kNew,
  kRunning,
  kUnhealthy,
  kDecommissioned,
  kLost,
  kRebooted,
  kDecommissioning,
  kShutdown
};
BOOST_DESCRIBE_ENUM(NodeState, kNew, kRunning, kUnhealthy, kDecommissioned, kLost, kRebooted,
                    kDecommissioning, kShutdown)
enum class FinalApplicationStatus { kUndefined, kSucceeded, kFailed, kKilled, kEnded };
BOOST_DESCRIBE_ENUM(FinalApplicationStatus, kUndefined, kSucceeded, kFailed, kKilled, kEnded)
enum class YarnApplicationState {
  kNew,
  kNewSaving,
  kSubmitted,
  kAccepted,
  kRunning,
  kFinished,
  kFailed,
  kKilled
};
BOOST_DESCRIBE_ENUM(YarnApplicationState, kNew, kNewSaving, kSubmitted, kAccepted, kRunning,
                    kFinished, kFailed, kKilled)

struct Container {
  ContainerId id;
  NodeId node;
  Resource resource;  ///< At least what was asked: the RM rounds up.
  std::int32_t priority = 0;
  std::int64_t allocation_request_id = -1;
  Token token;
};
BOOST_DESCRIBE_STRUCT(Container, (), (id, node, resource, priority, allocation_request_id, token))

struct ContainerStatus {
  ContainerId id;
  ContainerState state = ContainerState::kNew;
  std::int32_t exit_status = -1000;
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(ContainerStatus, (), (id, state, exit_status, diagnostics))

struct NodeReport {
  NodeId node;
  std::string rack;  ///< "/r1".
  NodeState state = NodeState::kNew;
  Resource capability;
  Resource used;
  std::string partition;  ///< Exclusive node label; "" = default partition.
};
BOOST_DESCRIBE_STRUCT(NodeReport, (), (node, rack, state, capability, used, partition))

/// Amounts by partition; "" is the default one.
using PartitionAmounts = std::map<std::string, Resource>;

struct NmToken {
  NodeId node;
  Token token;
};
BOOST_DESCRIBE_STRUCT(NmToken, (), (node, token))

/// `path` in HDFS; localised under the map key's name in the work directory.
struct LocalResource {
  std::string path;
  std::int64_t size = 0;
  std::int64_t timestamp =
      0;  ///< Modification time in ms; the NM refuses a file whose time differs.
  bool archive = false;
  /// A node keeps it for all applications of its user (YARN's PRIVATE visibility); otherwise each
  /// application brings its own.
  bool shared = false;
};
BOOST_DESCRIBE_STRUCT(LocalResource, (), (path, size, timestamp, archive, shared))

struct ContainerLaunchContext {
  std::map<std::string, LocalResource> local_resources;
  std::map<std::string, std::string> environment;
  std::vector<std::string> command;
};
BOOST_DESCRIBE_STRUCT(ContainerLaunchContext, (), (local_resources, environment, command))

// ---------------------------------------------------------------- client protocol
// (ApplicationClientProtocol)

struct GetNewApplicationRequest {};
BOOST_DESCRIBE_STRUCT(GetNewApplicationRequest, (), ())
struct GetNewApplicationResponse {
  ApplicationId application;
  Resource maximum_capability;
};
BOOST_DESCRIBE_STRUCT(GetNewApplicationResponse, (), (application, maximum_capability))

struct SubmitApplicationRequest {
  ApplicationId application;
  std::string name;
  std::string queue = "default";
  std::int32_t priority = 0;
  std::string user;  ///< The connection's user; on the wire it is no field.
  ContainerLaunchContext am_container;
  Resource am_resource;
  std::string am_node_label;
  std::int32_t max_app_attempts = 0;  ///< <= 0: the RM's default.
  bool keep_containers_across_application_attempts = false;
  std::vector<std::string> tags;
};
BOOST_DESCRIBE_STRUCT(SubmitApplicationRequest, (),
                      (application, name, queue, priority, user, am_container, am_resource,
                       am_node_label, max_app_attempts, keep_containers_across_application_attempts,
                       tags))
struct SubmitApplicationResponse {};
BOOST_DESCRIBE_STRUCT(SubmitApplicationResponse, (), ())

struct GetApplicationReportRequest {
  ApplicationId application;
};
BOOST_DESCRIBE_STRUCT(GetApplicationReportRequest, (), (application))
struct ApplicationReport {
  ApplicationId application;
  YarnApplicationState state = YarnApplicationState::kNew;
  FinalApplicationStatus final_status = FinalApplicationStatus::kUndefined;
  std::int32_t current_attempt = -1;
  std::string diagnostics;
  std::string tracking_url;
};
BOOST_DESCRIBE_STRUCT(ApplicationReport, (),
                      (application, state, final_status, current_attempt, diagnostics,
                       tracking_url))
struct GetApplicationReportResponse {
  ApplicationReport report;
};
BOOST_DESCRIBE_STRUCT(GetApplicationReportResponse, (), (report))

struct KillApplicationRequest {
  ApplicationId application;
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(KillApplicationRequest, (), (application, diagnostics))
struct KillApplicationResponse {
  bool is_kill_completed = false;
};
BOOST_DESCRIBE_STRUCT(KillApplicationResponse, (), (is_kill_completed))

struct GetClusterNodesRequest {};
BOOST_DESCRIBE_STRUCT(GetClusterNodesRequest, (), ())
struct GetClusterNodesResponse {
  SharedList<NodeReport> nodes;  ///< All that the RM knows, in NodeId order.
};
BOOST_DESCRIBE_STRUCT(GetClusterNodesResponse, (), (nodes))

struct GetQueueInfoRequest {
  std::string queue;
};
BOOST_DESCRIBE_STRUCT(GetQueueInfoRequest, (), (queue))
/// The most that a queue may ever use of one partition (its absolute maximum capacity there).
struct QueueLimit {
  Resource maximum;  ///< Of the partition's nodes that are up; zero = not said (Hadoop before 3.1).
  std::int64_t share_ppm = 0;  ///< The same as a share of these nodes, in millionths.
};
BOOST_DESCRIBE_STRUCT(QueueLimit, (), (maximum, share_ppm))
/// One queue.
struct GetQueueInfoResponse {
  std::string path;
  bool is_leaf = true;
  bool exists = true;
  /// By partition; of one that is not there nothing is known.
  std::map<std::string, QueueLimit> limits;
};
BOOST_DESCRIBE_STRUCT(GetQueueInfoResponse, (), (path, is_leaf, exists, limits))

// ---------------------------------------------------------------- AM protocol
// (ApplicationMasterProtocol)

struct RegisterApplicationMasterRequest {
  std::string host;
  std::int32_t rpc_port = 0;
  std::string tracking_url;
};
BOOST_DESCRIBE_STRUCT(RegisterApplicationMasterRequest, (), (host, rpc_port, tracking_url))
struct RegisterApplicationMasterResponse {
  Resource maximum_capability;
  std::string queue;
  std::vector<Container> containers_from_previous_attempts;
  std::vector<NmToken> nm_tokens_from_previous_attempts;
};
BOOST_DESCRIBE_STRUCT(RegisterApplicationMasterResponse, (),
                      (maximum_capability, queue, containers_from_previous_attempts,
                       nm_tokens_from_previous_attempts))

/// One row of an ask. The RM keys rows by (priority, allocation_request_id, resource_name);
/// `num_containers` is the new absolute outstanding count for that key.
struct ResourceRequest {
  std::optional<std::int32_t>
      priority;  ///< Always set by our AM; a real RM takes a row without it, and suffers.
  std::string resource_name = "*";  ///< "*", a host, or a rack "/r1".
  Resource capability;
  std::int32_t num_containers = 0;
  bool relax_locality = true;
  std::optional<std::string> node_label_expression;  ///< Only on "*" rows.
  std::int64_t allocation_request_id = -1;
};
BOOST_DESCRIBE_STRUCT(ResourceRequest, (),
                      (priority, resource_name, capability, num_containers, relax_locality,
                       node_label_expression, allocation_request_id))

struct AllocateRequest {
  std::int32_t response_id = 0;
  std::vector<ResourceRequest> ask;
  std::vector<ContainerId> release;
  std::vector<std::string> blacklist_additions;  ///< Host names.
  std::vector<std::string> blacklist_removals;
  std::int32_t progress_permille = 0;
};
BOOST_DESCRIBE_STRUCT(AllocateRequest, (),
                      (response_id, ask, release, blacklist_additions, blacklist_removals,
                       progress_permille))

enum class AmCommand { kNone, kResync, kShutdown };
BOOST_DESCRIBE_ENUM(AmCommand, kNone, kResync, kShutdown)

struct AllocateResponse {
  std::int32_t response_id = 0;
  AmCommand am_command = AmCommand::kNone;
  std::vector<Container> allocated_containers;
  std::vector<ContainerStatus> completed_containers;
  std::vector<NodeReport> updated_nodes;
  std::vector<NmToken> nm_tokens;
  std::vector<ContainerId> preempt_strict;    ///< These will be taken (about 15 s of notice).
  std::vector<ContainerId> preempt_contract;  ///< Any choice of this much is wanted back.
  std::vector<Container> containers_from_previous_attempts;  ///< Of nodes that came back late.
  std::optional<Token> am_rm_token;
  Resource limit;  ///< Headroom now.
  std::int32_t num_cluster_nodes = 0;
};
BOOST_DESCRIBE_STRUCT(AllocateResponse, (),
                      (response_id, am_command, allocated_containers, completed_containers,
                       updated_nodes, nm_tokens, preempt_strict, preempt_contract,
                       containers_from_previous_attempts, am_rm_token, limit, num_cluster_nodes))

/// A request that only says "I am alive". Idle heartbeats are in neither trace nor digest.
[[nodiscard]] bool IsIdle(const AllocateRequest& request);
/// A response without news: limit, node count and response id do not count.
[[nodiscard]] bool IsIdle(const AllocateResponse& response);

struct FinishApplicationMasterRequest {
  FinalApplicationStatus final_status = FinalApplicationStatus::kUndefined;
  std::string diagnostics;
  std::string tracking_url;
};
BOOST_DESCRIBE_STRUCT(FinishApplicationMasterRequest, (), (final_status, diagnostics, tracking_url))
struct FinishApplicationMasterResponse {
  bool is_unregistered = false;  ///< Repeat the call until it is true.
};
BOOST_DESCRIBE_STRUCT(FinishApplicationMasterResponse, (), (is_unregistered))

// ---------------------------------------------------------------- NM protocol
// (ContainerManagementProtocol)

struct StartContainerRequest {
  ContainerId container;
  Token container_token;
  ContainerLaunchContext context;
};
BOOST_DESCRIBE_STRUCT(StartContainerRequest, (), (container, container_token, context))
struct StartContainersRequest {
  std::vector<StartContainerRequest> containers;
};
BOOST_DESCRIBE_STRUCT(StartContainersRequest, (), (containers))
struct FailedContainer {
  ContainerId container;
  RpcError error;
};
BOOST_DESCRIBE_STRUCT(FailedContainer, (), (container, error))
struct StartContainersResponse {
  std::vector<ContainerId> succeeded;
  std::vector<FailedContainer> failed;
};
BOOST_DESCRIBE_STRUCT(StartContainersResponse, (), (succeeded, failed))
struct StopContainersRequest {
  std::vector<ContainerId> containers;
};
BOOST_DESCRIBE_STRUCT(StopContainersRequest, (), (containers))
struct StopContainersResponse {
  std::vector<ContainerId> succeeded;
  std::vector<FailedContainer> failed;
};
BOOST_DESCRIBE_STRUCT(StopContainersResponse, (), (succeeded, failed))
struct GetContainerStatusesRequest {
  std::vector<ContainerId> containers;
};
BOOST_DESCRIBE_STRUCT(GetContainerStatusesRequest, (), (containers))
struct GetContainerStatusesResponse {
  std::vector<ContainerStatus> statuses;
  std::vector<FailedContainer> failed;
};
BOOST_DESCRIBE_STRUCT(GetContainerStatusesResponse, (), (statuses, failed))

// ---------------------------------------------------------------- NM to RM (ResourceTracker)

struct NmContainerStatus {
  ContainerId id;
  ContainerState state = ContainerState::kNew;
  Resource resource;
  std::int32_t priority = 0;
  std::int32_t exit_status = -1000;
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(NmContainerStatus, (),
                      (id, state, resource, priority, exit_status, diagnostics))
struct RegisterNodeManagerRequest {
  NodeId node;
  std::string rack;
  std::string partition;
  Resource resource;
  std::vector<NmContainerStatus> containers;
  std::vector<ApplicationId> running_applications;
};
BOOST_DESCRIBE_STRUCT(RegisterNodeManagerRequest, (),
                      (node, rack, partition, resource, containers, running_applications))
enum class NodeAction { kNormal, kResync, kShutdown };
BOOST_DESCRIBE_ENUM(NodeAction, kNormal, kResync, kShutdown)
struct RegisterNodeManagerResponse {
  NodeAction action = NodeAction::kNormal;
  std::int64_t rm_identifier = 0;
  std::uint32_t container_token_key = 0;
  std::uint32_t nm_token_key = 0;
};
BOOST_DESCRIBE_STRUCT(RegisterNodeManagerResponse, (),
                      (action, rm_identifier, container_token_key, nm_token_key))
struct NodeHeartbeatRequest {
  NodeId node;
  std::int32_t response_id = 0;
  bool healthy = true;
  std::string health_report;
  std::vector<ContainerStatus> containers;  ///< Changed ones; completed ones until acknowledged.
};
BOOST_DESCRIBE_STRUCT(NodeHeartbeatRequest, (),
                      (node, response_id, healthy, health_report, containers))
struct NodeHeartbeatResponse {
  std::int32_t response_id = 0;
  NodeAction action = NodeAction::kNormal;
  std::vector<ContainerId> containers_to_cleanup;
  std::vector<ApplicationId> applications_to_cleanup;
  std::vector<ContainerId> containers_to_be_removed;
  std::optional<std::uint32_t> container_token_key;
  std::optional<std::uint32_t> nm_token_key;
};
BOOST_DESCRIBE_STRUCT(NodeHeartbeatResponse, (),
                      (response_id, action, containers_to_cleanup, applications_to_cleanup,
                       containers_to_be_removed, container_token_key, nm_token_key))

// ---------------------------------------------------------------- all calls of one daemon

using RmRequest =
    std::variant<GetNewApplicationRequest, SubmitApplicationRequest, GetApplicationReportRequest,
                 KillApplicationRequest, GetClusterNodesRequest, GetQueueInfoRequest,
                 RegisterApplicationMasterRequest, AllocateRequest, FinishApplicationMasterRequest,
                 RegisterNodeManagerRequest, NodeHeartbeatRequest>;
using RmResponse =
    std::variant<RpcError, GetNewApplicationResponse, SubmitApplicationResponse,
                 GetApplicationReportResponse, KillApplicationResponse, GetClusterNodesResponse,
                 GetQueueInfoResponse, RegisterApplicationMasterResponse, AllocateResponse,
                 FinishApplicationMasterResponse, RegisterNodeManagerResponse,
                 NodeHeartbeatResponse>;
using NmRequest =
    std::variant<StartContainersRequest, StopContainersRequest, GetContainerStatusesRequest>;
using NmResponse = std::variant<RpcError, StartContainersResponse, StopContainersResponse,
                                GetContainerStatusesResponse>;

}  // namespace tfyarn::yarn
