#include "wire/hadoop/cluster_queries.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "wire/hadoop/yarn_client.pb.h"
#include "wire/hadoop/yarn_records.h"

namespace tfyarn::hadoop {
namespace {

using google::protobuf::MessageLite;

EncodedCall Call(std::string method, const MessageLite& message) {
  return {.protocol = kApplicationClientProtocol,
          .method = std::move(method),
          .body = message.SerializeAsString()};
}

/// A usage of a finished application is -1 %, and a new one has none.
std::int32_t Permille(float progress) {
  return std::isfinite(progress)
             ? static_cast<std::int32_t>(std::lround(std::clamp(progress, 0.0F, 1.0F) * 1000.0F))
             : 0;
}

void WriteDetails(const ApplicationDetails& in, pb::ApplicationReport& out) {
  Write(in.report, out);
  out.set_name(in.name);
  out.set_user(in.user);
  out.set_queue(in.queue);
  out.set_application_type(in.type);
  for (const std::string& tag : in.tags) out.add_application_tags(tag);
  out.set_start_time(in.started_ms);
  out.set_finish_time(in.finished_ms);
  out.set_progress(static_cast<float>(in.progress_permille) / 1000.0F);
  if (in.am_rm_token) Write(*in.am_rm_token, *out.mutable_am_rm_token());
}

ApplicationDetails ReadDetails(Reader& reader, const pb::ApplicationReport& in) {
  ApplicationDetails out{.report = reader.Report(in),
                         .name = in.name(),
                         .user = in.user(),
                         .queue = in.queue(),
                         .type = in.application_type(),
                         .tags = {in.application_tags().begin(), in.application_tags().end()},
                         .started_ms = in.start_time(),
                         .finished_ms = in.finish_time(),
                         .progress_permille = Permille(in.progress()),
                         .am_rm_token = {}};
  if (in.has_am_rm_token()) out.am_rm_token = Read(in.am_rm_token());
  return out;
}

void WriteAttempt(const AttemptReport& in, pb::ApplicationAttemptReport& out) {
  Write(in.id, *out.mutable_application_attempt_id());
  out.set_yarn_application_attempt_state(
      static_cast<pb::AttemptState>(static_cast<int>(in.state) + 1));
  if (in.am_container) Write(*in.am_container, *out.mutable_am_container_id());
  out.set_host(in.host);
  out.set_diagnostics(in.diagnostics);
  out.set_tracking_url(in.tracking_url);
}

AttemptReport ReadAttempt(Reader& reader, const pb::ApplicationAttemptReport& in) {
  AttemptReport out{
      .id = reader.Attempt(in.application_attempt_id()),
      .state = in.has_yarn_application_attempt_state()
                   ? static_cast<AttemptState>(in.yarn_application_attempt_state() - 1)
                   : AttemptState::kNew,
      .am_container = {},
      .host = in.host(),
      .diagnostics = in.diagnostics(),
      .tracking_url = in.tracking_url()};
  if (in.has_am_container_id()) out.am_container = reader.Container(in.am_container_id());
  return out;
}

ContainerReport ReadContainer(Reader& reader, const pb::ContainerReport& in) {
  return {.id = reader.Container(in.container_id()),
          .state = in.has_container_state()
                       ? static_cast<yarn::ContainerState>(in.container_state() - 1)
                       : yarn::ContainerState::kNew,
          .exit_status = in.container_exit_status(),
          .node = reader.Node(in.node_id()),
          .resource = Read(in.resource()),
          .web = in.node_http_address(),
          .log_url = in.log_url(),
          .diagnostics = in.diagnostics_info()};
}

}  // namespace

// ---------------------------------------------------------------- the cluster

EncodedCall GetClusterMetrics() {
  return Call("getClusterMetrics", pb::GetClusterMetricsRequest());
}

std::string Encode(const ClusterMetrics& metrics) {
  pb::GetClusterMetricsResponse message;
  pb::ClusterMetrics& out = *message.mutable_cluster_metrics();
  out.set_num_node_managers(metrics.nodes);
  out.set_num_active_nms(metrics.active);
  out.set_num_lost_nms(metrics.lost);
  out.set_num_unhealthy_nms(metrics.unhealthy);
  out.set_num_decommissioned_nms(metrics.decommissioned);
  return message.SerializeAsString();
}

Expected<ClusterMetrics> DecodeClusterMetrics(std::string_view body) {
  const auto message = Parse<pb::GetClusterMetricsResponse>(body, "answer to getClusterMetrics");
  if (!message) return tl::unexpected(message.error());
  const pb::ClusterMetrics& in = message->cluster_metrics();
  return ClusterMetrics{.nodes = in.num_node_managers(),
                        .active = in.num_active_nms(),
                        .lost = in.num_lost_nms(),
                        .unhealthy = in.num_unhealthy_nms(),
                        .decommissioned = in.num_decommissioned_nms()};
}

EncodedCall GetClusterNodeLabels() {
  return Call("getClusterNodeLabels", pb::GetClusterNodeLabelsRequest());
}

std::string Encode(const std::vector<NodeLabel>& labels) {
  pb::GetClusterNodeLabelsResponse message;
  for (const NodeLabel& label : labels) {
    message.add_deprecated_node_labels(label.name);
    pb::NodeLabel& out = *message.add_node_labels();
    out.set_name(label.name);
    out.set_is_exclusive(label.exclusive);
  }
  return message.SerializeAsString();
}

Expected<std::vector<NodeLabel>> DecodeNodeLabels(std::string_view body) {
  const auto message =
      Parse<pb::GetClusterNodeLabelsResponse>(body, "answer to getClusterNodeLabels");
  if (!message) return tl::unexpected(message.error());
  std::vector<NodeLabel> labels;
  for (const pb::NodeLabel& in : message->node_labels())
    labels.push_back({.name = in.name(), .exclusive = in.is_exclusive()});
  return labels;
}

EncodedCall GetNodeToLabels() {
  return Call("getNodeToLabels", pb::GetNodesToLabelsRequest());
}

std::string Encode(const NodeLabels& labels) {
  pb::GetNodesToLabelsResponse message;
  for (const auto& [node, names] : labels) {
    pb::NodeIdToLabels& out = *message.add_node_to_labels();
    Write(node, *out.mutable_node_id());
    for (const std::string& name : names) out.add_node_labels(name);
  }
  return message.SerializeAsString();
}

Expected<NodeLabels> DecodeNodeToLabels(std::string_view body) {
  const auto message = Parse<pb::GetNodesToLabelsResponse>(body, "answer to getNodeToLabels");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getNodeToLabels");
  NodeLabels labels;
  for (const pb::NodeIdToLabels& in : message->node_to_labels())
    labels.emplace_back(reader.Node(in.node_id()),
                        std::vector<std::string>(in.node_labels().begin(), in.node_labels().end()));
  return reader.Done(std::move(labels));
}

EncodedCall GetNodeWebAddresses() {
  return Call("getClusterNodes", pb::GetClusterNodesRequest());
}

std::string EncodeNodeWebAddresses(const NodeWebAddresses& addresses) {
  pb::GetClusterNodesResponse message;
  for (const auto& [node, web] : addresses) {
    pb::NodeReport& out = *message.add_node_reports();
    Write(node, *out.mutable_node_id());
    out.set_http_address(web);
  }
  return message.SerializeAsString();
}

Expected<NodeWebAddresses> DecodeNodeWebAddresses(std::string_view body) {
  const auto message = Parse<pb::GetClusterNodesResponse>(body, "answer to getClusterNodes");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getClusterNodes");
  NodeWebAddresses addresses;
  for (const pb::NodeReport& in : message->node_reports())
    addresses.emplace_back(reader.Node(in.node_id()), in.http_address());
  return reader.Done(std::move(addresses));
}

EncodedCall GetQueueRunState(const std::string& queue) {
  pb::GetQueueInfoRequest message;
  message.set_queue_name(queue);
  message.set_include_applications(false);
  message.set_include_child_queues(false);
  message.set_recursive(false);
  return Call("getQueueInfo", message);
}

std::string EncodeQueueRunState(QueueRunState state) {
  pb::GetQueueInfoResponse message;
  message.mutable_queue_info()->set_state(state == QueueRunState::kStopped ? pb::QUEUE_STATE_STOPPED
                                          : state == QueueRunState::kDraining
                                              ? pb::QUEUE_STATE_DRAINING
                                              : pb::QUEUE_STATE_RUNNING);
  return message.SerializeAsString();
}

Expected<std::optional<QueueRunState>> DecodeQueueRunState(std::string_view body) {
  const auto message = Parse<pb::GetQueueInfoResponse>(body, "answer to getQueueInfo");
  if (!message) return tl::unexpected(message.error());
  if (!message->has_queue_info() || !message->queue_info().has_state())
    return std::optional<QueueRunState>();
  switch (message->queue_info().state()) {
    case pb::QUEUE_STATE_STOPPED:
      return QueueRunState::kStopped;
    case pb::QUEUE_STATE_DRAINING:
      return QueueRunState::kDraining;
    default:
      return QueueRunState::kRunning;
  }
}

EncodedCall GetQueueRights() {
  return Call("getQueueUserAcls", pb::GetQueueUserAclsRequest());
}

std::string Encode(const std::vector<QueueRights>& rights) {
  pb::GetQueueUserAclsResponse message;
  for (const QueueRights& each : rights) {
    pb::QueueUserAclInfo& out = *message.add_queue_user_acls();
    out.set_queue_name(each.queue);
    if (each.submit) out.add_user_acls(pb::QUEUE_ACL_SUBMIT_APPLICATIONS);
  }
  return message.SerializeAsString();
}

Expected<std::vector<QueueRights>> DecodeQueueRights(std::string_view body) {
  const auto message = Parse<pb::GetQueueUserAclsResponse>(body, "answer to getQueueUserAcls");
  if (!message) return tl::unexpected(message.error());
  std::vector<QueueRights> rights;
  for (const pb::QueueUserAclInfo& in : message->queue_user_acls()) {
    rights.push_back({.queue = in.queue_name(),
                      .submit = std::count(in.user_acls().begin(), in.user_acls().end(),
                                           pb::QUEUE_ACL_SUBMIT_APPLICATIONS) > 0});
  }
  return rights;
}

EncodedCall GetResourceTypes() {
  return Call("getResourceTypeInfo", pb::GetResourceTypeInfoRequest());
}

std::string EncodeResourceTypes(const std::vector<std::string>& names) {
  pb::GetResourceTypeInfoResponse message;
  for (const std::string& name : names) {
    pb::ResourceTypeInfo& out = *message.add_resource_type_info();
    out.set_name(name);
    out.set_type(pb::RESOURCE_TYPE_COUNTABLE);
  }
  return message.SerializeAsString();
}

Expected<std::vector<std::string>> DecodeResourceTypes(std::string_view body) {
  const auto message =
      Parse<pb::GetResourceTypeInfoResponse>(body, "answer to getResourceTypeInfo");
  if (!message) return tl::unexpected(message.error());
  std::vector<std::string> names;
  for (const pb::ResourceTypeInfo& in : message->resource_type_info()) names.push_back(in.name());
  return names;
}

// ---------------------------------------------------------------- applications

EncodedCall GetApplications(const ApplicationFilter& filter) {
  pb::GetApplicationsRequest out;
  for (const std::string& type : filter.types) out.add_application_types(type);
  for (const std::string& tag : filter.tags) out.add_application_tags(tag);
  for (const yarn::YarnApplicationState state : filter.states)
    out.add_application_states(static_cast<pb::ApplicationState>(static_cast<int>(state) + 1));
  return Call("getApplications", out);
}

Expected<ApplicationFilter> DecodeGetApplications(std::string_view body) {
  const auto in = Parse<pb::GetApplicationsRequest>(body, "getApplications");
  if (!in) return tl::unexpected(in.error());
  ApplicationFilter filter{
      .types = {in->application_types().begin(), in->application_types().end()},
      .tags = {in->application_tags().begin(), in->application_tags().end()}};
  for (const int state : in->application_states())
    filter.states.push_back(static_cast<yarn::YarnApplicationState>(state - 1));
  return filter;
}

std::string EncodeApplications(const std::vector<ApplicationDetails>& applications) {
  pb::GetApplicationsResponse message;
  for (const ApplicationDetails& in : applications) WriteDetails(in, *message.add_applications());
  return message.SerializeAsString();
}

Expected<std::vector<ApplicationDetails>> DecodeApplications(std::string_view body) {
  const auto message = Parse<pb::GetApplicationsResponse>(body, "answer to getApplications");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getApplications");
  std::vector<ApplicationDetails> applications;
  for (const pb::ApplicationReport& in : message->applications())
    applications.push_back(ReadDetails(reader, in));
  return reader.Done(std::move(applications));
}

std::string EncodeApplicationReport(const ApplicationDetails& application) {
  pb::GetApplicationReportResponse message;
  WriteDetails(application, *message.mutable_application_report());
  return message.SerializeAsString();
}

Expected<ApplicationDetails> DecodeApplicationReport(std::string_view body) {
  const auto in = Parse<pb::GetApplicationReportResponse>(body, "answer to getApplicationReport");
  if (!in) return tl::unexpected(in.error());
  Reader reader("answer to getApplicationReport");
  return reader.Done(ReadDetails(reader, in->application_report()));
}

EncodedCall GetApplicationAttempts(const ApplicationId& application) {
  pb::GetApplicationAttemptsRequest out;
  Write(application, *out.mutable_application_id());
  return Call("getApplicationAttempts", out);
}

std::string Encode(const std::vector<AttemptReport>& attempts) {
  pb::GetApplicationAttemptsResponse message;
  for (const AttemptReport& in : attempts) WriteAttempt(in, *message.add_application_attempts());
  return message.SerializeAsString();
}

Expected<std::vector<AttemptReport>> DecodeApplicationAttempts(std::string_view body) {
  const auto message =
      Parse<pb::GetApplicationAttemptsResponse>(body, "answer to getApplicationAttempts");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getApplicationAttempts");
  std::vector<AttemptReport> attempts;
  for (const pb::ApplicationAttemptReport& in : message->application_attempts())
    attempts.push_back(ReadAttempt(reader, in));
  return reader.Done(std::move(attempts));
}

EncodedCall GetApplicationAttemptReport(const ApplicationAttemptId& attempt) {
  pb::GetApplicationAttemptReportRequest out;
  Write(attempt, *out.mutable_application_attempt_id());
  return Call("getApplicationAttemptReport", out);
}

std::string Encode(const AttemptReport& attempt) {
  pb::GetApplicationAttemptReportResponse message;
  WriteAttempt(attempt, *message.mutable_application_attempt_report());
  return message.SerializeAsString();
}

Expected<AttemptReport> DecodeApplicationAttemptReport(std::string_view body) {
  const auto message =
      Parse<pb::GetApplicationAttemptReportResponse>(body, "answer to getApplicationAttemptReport");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getApplicationAttemptReport");
  return reader.Done(ReadAttempt(reader, message->application_attempt_report()));
}

EncodedCall GetContainers(const ApplicationAttemptId& attempt) {
  pb::GetContainersRequest out;
  Write(attempt, *out.mutable_application_attempt_id());
  return Call("getContainers", out);
}

std::string Encode(const std::vector<ContainerReport>& containers) {
  pb::GetContainersResponse message;
  for (const ContainerReport& in : containers) {
    pb::ContainerReport& out = *message.add_containers();
    Write(in.id, *out.mutable_container_id());
    out.set_container_state(static_cast<pb::ContainerState>(static_cast<int>(in.state) + 1));
    out.set_container_exit_status(in.exit_status);
    Write(in.node, *out.mutable_node_id());
    Write(in.resource, *out.mutable_resource());
    out.set_node_http_address(in.web);
    out.set_log_url(in.log_url);
    out.set_diagnostics_info(in.diagnostics);
  }
  return message.SerializeAsString();
}

Expected<std::vector<ContainerReport>> DecodeContainers(std::string_view body) {
  const auto message = Parse<pb::GetContainersResponse>(body, "answer to getContainers");
  if (!message) return tl::unexpected(message.error());
  Reader reader("answer to getContainers");
  std::vector<ContainerReport> containers;
  for (const pb::ContainerReport& in : message->containers())
    containers.push_back(ReadContainer(reader, in));
  return reader.Done(std::move(containers));
}

}  // namespace tfyarn::hadoop
