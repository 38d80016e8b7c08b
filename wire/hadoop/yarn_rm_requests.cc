// Requests to the ResourceManager, of clients and of AMs, both ways.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "wire/hadoop/yarn_client.pb.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_master.pb.h"
#include "wire/hadoop/yarn_records.h"

namespace tfyarn::hadoop {
namespace {

using google::protobuf::MessageLite;

/// Source: ApplicationSubmissionContext.java cuts what is longer.
constexpr std::size_t kMaxApplicationType = 20;
constexpr float kPermille = 1000.0F;

Expected<EncodedCall> Call(const IpcProtocol& protocol, std::string method,
                           const MessageLite& message) {
  return EncodedCall{
      .protocol = protocol, .method = std::move(method), .body = message.SerializeAsString()};
}
Expected<EncodedCall> ClientCall(std::string method, const MessageLite& message) {
  return Call(kApplicationClientProtocol, std::move(method), message);
}
Expected<EncodedCall> MasterCall(std::string method, const MessageLite& message) {
  return Call(kApplicationMasterProtocol, std::move(method), message);
}

struct RmRequestEncoder {
  const SubmitTerms& submit;

  Expected<EncodedCall> operator()(const yarn::GetNewApplicationRequest&) const {
    return ClientCall("getNewApplication", pb::GetNewApplicationRequest());
  }
  Expected<EncodedCall> operator()(const yarn::SubmitApplicationRequest& in) const;
  Expected<EncodedCall> operator()(const yarn::GetApplicationReportRequest& in) const {
    pb::GetApplicationReportRequest out;
    Write(in.application, *out.mutable_application_id());
    return ClientCall("getApplicationReport", out);
  }
  Expected<EncodedCall> operator()(const yarn::KillApplicationRequest& in) const {
    pb::KillApplicationRequest out;
    Write(in.application, *out.mutable_application_id());
    if (!in.diagnostics.empty()) out.set_diagnostics(in.diagnostics);
    return ClientCall("forceKillApplication", out);
  }
  Expected<EncodedCall> operator()(const yarn::GetClusterNodesRequest&) const {
    return ClientCall("getClusterNodes", pb::GetClusterNodesRequest());
  }
  Expected<EncodedCall> operator()(const yarn::GetQueueInfoRequest& in) const {
    pb::GetQueueInfoRequest out;
    out.set_queue_name(in.queue);
    out.set_include_applications(false);
    out.set_include_child_queues(true);  // Who has children is no leaf.
    out.set_recursive(false);
    return ClientCall("getQueueInfo", out);
  }
  Expected<EncodedCall> operator()(const yarn::RegisterApplicationMasterRequest& in) const {
    pb::RegisterApplicationMasterRequest out;
    out.set_host(in.host);
    out.set_rpc_port(in.rpc_port);
    out.set_tracking_url(in.tracking_url);
    return MasterCall("registerApplicationMaster", out);
  }
  Expected<EncodedCall> operator()(const yarn::AllocateRequest& in) const;
  Expected<EncodedCall> operator()(const yarn::FinishApplicationMasterRequest& in) const {
    pb::FinishApplicationMasterRequest out;
    out.set_diagnostics(in.diagnostics);
    out.set_tracking_url(in.tracking_url);
    out.set_final_application_status(static_cast<pb::FinalStatus>(in.final_status));
    return MasterCall("finishApplicationMaster", out);
  }
  Expected<EncodedCall> operator()(const yarn::RegisterNodeManagerRequest&) const {
    return Fail(ErrorCode::kInvalidArgument, "registerNodeManager is no call of a client or an AM");
  }
  Expected<EncodedCall> operator()(const yarn::NodeHeartbeatRequest&) const {
    return Fail(ErrorCode::kInvalidArgument, "nodeHeartbeat is no call of a client or an AM");
  }
};

Expected<EncodedCall> RmRequestEncoder::operator()(const yarn::SubmitApplicationRequest& in) const {
  pb::SubmitApplicationRequest message;
  pb::ApplicationSubmissionContext& out = *message.mutable_application_submission_context();
  Write(in.application, *out.mutable_application_id());
  out.set_application_name(in.name);
  out.set_queue(in.queue);
  out.mutable_priority()->set_priority(in.priority);
  out.set_unmanaged_am(submit.unmanaged_am);
  out.set_max_app_attempts(in.max_app_attempts);
  out.set_application_type(submit.application_type.substr(0, kMaxApplicationType));
  out.set_keep_containers_across_application_attempts(
      in.keep_containers_across_application_attempts);
  for (const std::string& tag : in.tags) out.add_application_tags(tag);
  if (!in.am_node_label.empty()) out.set_node_label_expression(in.am_node_label);
  pb::ContainerLaunchContext& launch = *out.mutable_am_container_spec();  // There even when empty.
  if (submit.unmanaged_am) return ClientCall("submitApplication", message);
  Write(in.am_resource, *out.mutable_resource());
  if (const auto written = Write(in.am_container, submit.am, launch); !written)
    return tl::unexpected(written.error());
  return ClientCall("submitApplication", message);
}

Expected<EncodedCall> RmRequestEncoder::operator()(const yarn::AllocateRequest& in) const {
  pb::AllocateRequest out;
  for (const yarn::ResourceRequest& row : in.ask) Write(row, *out.add_ask());
  for (const ContainerId& container : in.release) Write(container, *out.add_release());
  for (const std::string& host : in.blacklist_additions)
    out.mutable_blacklist_request()->add_blacklist_additions(host);
  for (const std::string& host : in.blacklist_removals)
    out.mutable_blacklist_request()->add_blacklist_removals(host);
  out.set_response_id(in.response_id);
  out.set_progress(static_cast<float>(in.progress_permille) / kPermille);
  return MasterCall("allocate", out);
}

// ---------------------------------------------------------------- a daemon's end

using DecodedRmRequest = Expected<yarn::RmRequest>;

DecodedRmRequest DecodeNewApplication(std::string_view) {
  return yarn::GetNewApplicationRequest{};
}

DecodedRmRequest DecodeSubmit(std::string_view body) {
  const auto message = Parse<pb::SubmitApplicationRequest>(body, "submitApplication");
  if (!message) return tl::unexpected(message.error());
  const pb::ApplicationSubmissionContext& in = message->application_submission_context();
  Reader reader("submitApplication");
  reader.Need(in.has_am_container_spec(), "AM container spec");
  yarn::SubmitApplicationRequest out{
      .application = reader.Application(in.application_id()),
      .name = in.application_name(),
      .queue = in.queue(),
      .priority = in.priority().priority(),
      .user = {},
      .am_container = reader.LaunchContext(in.am_container_spec()),
      .am_resource = Read(in.resource()),
      .am_node_label = in.node_label_expression(),
      .max_app_attempts = in.max_app_attempts(),
      .keep_containers_across_application_attempts =
          in.keep_containers_across_application_attempts(),
      .tags = {in.application_tags().begin(), in.application_tags().end()}};
  if (!in.am_container_resource_request().empty()) {
    const pb::ResourceRequest& row = in.am_container_resource_request(0);
    out.am_resource = Read(row.capability());
    if (row.has_node_label_expression()) out.am_node_label = row.node_label_expression();
  }
  return reader.Done<yarn::RmRequest>(std::move(out));
}

DecodedRmRequest DecodeReport(std::string_view body) {
  const auto in = Parse<pb::GetApplicationReportRequest>(body, "getApplicationReport");
  if (!in) return tl::unexpected(in.error());
  Reader reader("getApplicationReport");
  return reader.Done<yarn::RmRequest>(
      yarn::GetApplicationReportRequest{.application = reader.Application(in->application_id())});
}

DecodedRmRequest DecodeKill(std::string_view body) {
  const auto in = Parse<pb::KillApplicationRequest>(body, "forceKillApplication");
  if (!in) return tl::unexpected(in.error());
  Reader reader("forceKillApplication");
  const ApplicationId application = reader.Application(in->application_id());
  return reader.Done<yarn::RmRequest>(
      yarn::KillApplicationRequest{.application = application, .diagnostics = in->diagnostics()});
}

DecodedRmRequest DecodeClusterNodes(std::string_view) {
  return yarn::GetClusterNodesRequest{};
}

DecodedRmRequest DecodeQueueInfo(std::string_view body) {
  const auto in = Parse<pb::GetQueueInfoRequest>(body, "getQueueInfo");
  if (!in) return tl::unexpected(in.error());
  return yarn::GetQueueInfoRequest{.queue = in->queue_name()};
}

DecodedRmRequest DecodeRegister(std::string_view body) {
  const auto in = Parse<pb::RegisterApplicationMasterRequest>(body, "registerApplicationMaster");
  if (!in) return tl::unexpected(in.error());
  return yarn::RegisterApplicationMasterRequest{
      .host = in->host(), .rpc_port = in->rpc_port(), .tracking_url = in->tracking_url()};
}

DecodedRmRequest DecodeAllocate(std::string_view body) {
  const auto in = Parse<pb::AllocateRequest>(body, "allocate");
  if (!in) return tl::unexpected(in.error());
  Reader reader("allocate");
  const pb::ResourceBlacklistRequest& blacklist = in->blacklist_request();
  yarn::AllocateRequest out{.response_id = in->response_id(),
                            .ask = {},
                            .release = {},
                            .blacklist_additions = {blacklist.blacklist_additions().begin(),
                                                    blacklist.blacklist_additions().end()},
                            .blacklist_removals = {blacklist.blacklist_removals().begin(),
                                                   blacklist.blacklist_removals().end()}};
  // Source: ApplicationMasterService: not a number and less than 0 are 0, more than 1 is 1.
  const float progress = std::isnan(in->progress()) ? 0.0F : std::clamp(in->progress(), 0.0F, 1.0F);
  out.progress_permille = static_cast<std::int32_t>(std::lround(progress * kPermille));
  for (const pb::ResourceRequest& row : in->ask()) out.ask.push_back(reader.Row(row));
  for (const pb::ContainerId& container : in->release())
    out.release.push_back(reader.Container(container));
  return reader.Done<yarn::RmRequest>(std::move(out));
}

DecodedRmRequest DecodeFinish(std::string_view body) {
  const auto in = Parse<pb::FinishApplicationMasterRequest>(body, "finishApplicationMaster");
  if (!in) return tl::unexpected(in.error());
  return yarn::FinishApplicationMasterRequest{
      .final_status = static_cast<yarn::FinalApplicationStatus>(in->final_application_status()),
      .diagnostics = in->diagnostics(),
      .tracking_url = in->tracking_url()};
}

struct Method {
  const IpcProtocol& protocol;
  std::string_view name;
  DecodedRmRequest (*decode)(std::string_view body);
};

}  // namespace

Expected<EncodedCall> EncodeRmRequest(const yarn::RmRequest& request, const SubmitTerms& submit) {
  return std::visit(RmRequestEncoder{submit}, request);
}

Expected<yarn::RmRequest> DecodeRmRequest(const IpcProtocol& protocol, std::string_view method,
                                          std::string_view body) {
  static const std::array methods = {
      Method{kApplicationClientProtocol, "getNewApplication", DecodeNewApplication},
      Method{kApplicationClientProtocol, "submitApplication", DecodeSubmit},
      Method{kApplicationClientProtocol, "getApplicationReport", DecodeReport},
      Method{kApplicationClientProtocol, "forceKillApplication", DecodeKill},
      Method{kApplicationClientProtocol, "getClusterNodes", DecodeClusterNodes},
      Method{kApplicationClientProtocol, "getQueueInfo", DecodeQueueInfo},
      Method{kApplicationMasterProtocol, "registerApplicationMaster", DecodeRegister},
      Method{kApplicationMasterProtocol, "allocate", DecodeAllocate},
      Method{kApplicationMasterProtocol, "finishApplicationMaster", DecodeFinish},
  };
  for (const Method& known : methods) {
    if (known.protocol == protocol && known.name == method) return known.decode(body);
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("Unknown method {} called on {} protocol.", method, protocol.name));
}

Expected<SubmitTerms> DecodeSubmitTerms(std::string_view body) {
  const auto message = Parse<pb::SubmitApplicationRequest>(body, "submitApplication");
  if (!message) return tl::unexpected(message.error());
  const pb::ApplicationSubmissionContext& in = message->application_submission_context();
  return SubmitTerms{.am = Reader::Terms(in.am_container_spec()),
                     .unmanaged_am = in.unmanaged_am(),
                     .application_type = in.application_type()};
}

}  // namespace tfyarn::hadoop
