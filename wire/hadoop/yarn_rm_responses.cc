// Answers of the ResourceManager, to clients and to AMs, both ways.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/model/check.h"
#include "wire/hadoop/yarn_client.pb.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_master.pb.h"
#include "wire/hadoop/yarn_records.h"

namespace tfyarn::hadoop {
namespace {

using DecodedRmResponse = Expected<yarn::RmResponse>;

std::vector<yarn::NmToken> ReadNmTokens(Reader& reader,
                                        const google::protobuf::RepeatedPtrField<pb::NmToken>& in,
                                        TokenStore& tokens) {
  std::vector<yarn::NmToken> out;
  for (const pb::NmToken& entry : in)
    out.push_back(
        {.node = reader.Node(entry.node_id()), .token = tokens.Keep(Read(entry.token()))});
  return out;
}

std::vector<yarn::Container> ReadContainers(
    Reader& reader, const google::protobuf::RepeatedPtrField<pb::Container>& in,
    TokenStore& tokens) {
  std::vector<yarn::Container> out;
  for (const pb::Container& entry : in) out.push_back(reader.GrantedContainer(entry, tokens));
  return out;
}

std::vector<ContainerId> ReadPreempted(
    Reader& reader, const google::protobuf::RepeatedPtrField<pb::PreemptionContainer>& in) {
  std::vector<ContainerId> out;
  for (const pb::PreemptionContainer& entry : in) out.push_back(reader.Container(entry.id()));
  return out;
}

yarn::AmCommand ReadCommand(const pb::AllocateResponse& in) {
  if (!in.has_a_m_command()) return yarn::AmCommand::kNone;
  return in.a_m_command() == pb::AM_COMMAND_RESYNC ? yarn::AmCommand::kResync
                                                   : yarn::AmCommand::kShutdown;
}

/// Of a share; 0 of a share that is no number.
std::int64_t Millionths(float share) {
  return std::isfinite(share)
             ? static_cast<std::int64_t>(std::lround(std::clamp(share, 0.0F, 1.0F) * 1e6F))
             : 0;
}

std::map<std::string, yarn::QueueLimit> ReadQueueLimits(const pb::QueueInfo& in) {
  std::map<std::string, yarn::QueueLimit> limits;
  for (const pb::QueueConfigurationsEntry& entry : in.queue_configurations_map()) {
    const pb::QueueConfigurations& configured = entry.queue_configurations();
    limits[entry.partition_name()] = {.maximum = Read(configured.effective_max_capacity()),
                                      .share_ppm = Millionths(configured.absolute_max_capacity())};
  }
  return limits;
}

struct RmResponseDecoder {
  std::string_view body;
  TokenStore& tokens;

  DecodedRmResponse operator()(const yarn::GetNewApplicationRequest&) const {
    const auto in = Parse<pb::GetNewApplicationResponse>(body, "answer to getNewApplication");
    if (!in) return tl::unexpected(in.error());
    Reader reader("answer to getNewApplication");
    const ApplicationId application = reader.Application(in->application_id());
    return reader.Done<yarn::RmResponse>(yarn::GetNewApplicationResponse{
        .application = application, .maximum_capability = Read(in->maximum_capability())});
  }
  DecodedRmResponse operator()(const yarn::SubmitApplicationRequest&) const {
    return yarn::SubmitApplicationResponse{};
  }
  DecodedRmResponse operator()(const yarn::GetApplicationReportRequest&) const {
    const auto in = Parse<pb::GetApplicationReportResponse>(body, "answer to getApplicationReport");
    if (!in) return tl::unexpected(in.error());
    Reader reader("answer to getApplicationReport");
    return reader.Done<yarn::RmResponse>(
        yarn::GetApplicationReportResponse{.report = reader.Report(in->application_report())});
  }
  DecodedRmResponse operator()(const yarn::KillApplicationRequest&) const {
    const auto in = Parse<pb::KillApplicationResponse>(body, "answer to forceKillApplication");
    if (!in) return tl::unexpected(in.error());
    return yarn::KillApplicationResponse{.is_kill_completed = in->is_kill_completed()};
  }
  DecodedRmResponse operator()(const yarn::GetClusterNodesRequest&) const;
  DecodedRmResponse operator()(const yarn::GetQueueInfoRequest&) const;
  DecodedRmResponse operator()(const yarn::RegisterApplicationMasterRequest&) const;
  DecodedRmResponse operator()(const yarn::AllocateRequest&) const;
  DecodedRmResponse operator()(const yarn::FinishApplicationMasterRequest&) const {
    const auto in =
        Parse<pb::FinishApplicationMasterResponse>(body, "answer to finishApplicationMaster");
    if (!in) return tl::unexpected(in.error());
    return yarn::FinishApplicationMasterResponse{.is_unregistered = in->is_unregistered()};
  }
  DecodedRmResponse operator()(const yarn::RegisterNodeManagerRequest&) const {
    return Fail(ErrorCode::kInvalidArgument, "registerNodeManager is no call of a client or an AM");
  }
  DecodedRmResponse operator()(const yarn::NodeHeartbeatRequest&) const {
    return Fail(ErrorCode::kInvalidArgument, "nodeHeartbeat is no call of a client or an AM");
  }
};

DecodedRmResponse RmResponseDecoder::operator()(const yarn::GetClusterNodesRequest&) const {
  const auto in = Parse<pb::GetClusterNodesResponse>(body, "answer to getClusterNodes");
  if (!in) return tl::unexpected(in.error());
  Reader reader("answer to getClusterNodes");
  std::vector<yarn::NodeReport> nodes;
  for (const pb::NodeReport& report : in->node_reports()) nodes.push_back(reader.Report(report));
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  return reader.Done<yarn::RmResponse>(
      yarn::GetClusterNodesResponse{.nodes = SharedList<yarn::NodeReport>(std::move(nodes))});
}

DecodedRmResponse RmResponseDecoder::operator()(const yarn::GetQueueInfoRequest& request) const {
  const auto in = Parse<pb::GetQueueInfoResponse>(body, "answer to getQueueInfo");
  if (!in) return tl::unexpected(in.error());
  const pb::QueueInfo& queue = in->queue_info();
  if (!in->has_queue_info())
    return yarn::GetQueueInfoResponse{.path = request.queue, .is_leaf = false, .exists = false};
  return yarn::GetQueueInfoResponse{
      .path = queue.has_queue_path() ? queue.queue_path() : queue.queue_name(),
      .is_leaf = queue.child_queues().empty(),
      .exists = true,
      .limits = ReadQueueLimits(queue)};
}

DecodedRmResponse RmResponseDecoder::operator()(
    const yarn::RegisterApplicationMasterRequest&) const {
  constexpr char kWhat[] = "answer to registerApplicationMaster";
  const auto in = Parse<pb::RegisterApplicationMasterResponse>(body, kWhat);
  if (!in) return tl::unexpected(in.error());
  Reader reader(kWhat);
  yarn::RegisterApplicationMasterResponse out{
      .maximum_capability = Read(in->maximum_capability()),
      .queue = in->queue(),
      .containers_from_previous_attempts =
          ReadContainers(reader, in->containers_from_previous_attempts(), tokens),
      .nm_tokens_from_previous_attempts =
          ReadNmTokens(reader, in->nm_tokens_from_previous_attempts(), tokens)};
  return reader.Done<yarn::RmResponse>(std::move(out));
}

DecodedRmResponse RmResponseDecoder::operator()(const yarn::AllocateRequest&) const {
  const auto in = Parse<pb::AllocateResponse>(body, "answer to allocate");
  if (!in) return tl::unexpected(in.error());
  Reader reader("answer to allocate");
  reader.Need(in->has_response_id(), "response id");
  yarn::AllocateResponse out{
      .response_id = in->response_id(),
      .am_command = ReadCommand(*in),
      .allocated_containers = ReadContainers(reader, in->allocated_containers(), tokens),
      .completed_containers = {},
      .updated_nodes = {},
      .nm_tokens = ReadNmTokens(reader, in->nm_tokens(), tokens),
      .preempt_strict = ReadPreempted(reader, in->preempt().strict_contract().container()),
      .preempt_contract = ReadPreempted(reader, in->preempt().contract().container()),
      .containers_from_previous_attempts =
          ReadContainers(reader, in->containers_from_previous_attempts(), tokens),
      .am_rm_token = {},
      .limit = Read(in->limit()),
      .num_cluster_nodes = in->num_cluster_nodes()};
  for (const pb::ContainerStatus& status : in->completed_container_statuses()) {
    out.completed_containers.push_back(reader.Status(status));
    // That it is in this list says so, whatever a later version calls the state.
    out.completed_containers.back().state = yarn::ContainerState::kComplete;
  }
  for (const pb::NodeReport& report : in->updated_nodes())
    out.updated_nodes.push_back(reader.Report(report));
  if (in->has_am_rm_token()) out.am_rm_token = tokens.Keep(Read(in->am_rm_token()));
  return reader.Done<yarn::RmResponse>(std::move(out));
}

// ---------------------------------------------------------------- a daemon's end

void WriteNmToken(const yarn::NmToken& in, const TokenStore& tokens, pb::NmToken& out) {
  Write(in.node, *out.mutable_node_id());
  if (const HadoopToken* token = tokens.Find(in.token)) Write(*token, *out.mutable_token());
}

struct RmResponseEncoder {
  const TokenStore& tokens;

  std::string operator()(const yarn::RpcError&) const { TF_CHECK(false); }
  std::string operator()(const yarn::GetNewApplicationResponse& in) const {
    pb::GetNewApplicationResponse out;
    Write(in.application, *out.mutable_application_id());
    Write(in.maximum_capability, *out.mutable_maximum_capability());
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::SubmitApplicationResponse&) const { return {}; }
  std::string operator()(const yarn::GetApplicationReportResponse& in) const {
    pb::GetApplicationReportResponse out;
    Write(in.report, *out.mutable_application_report());
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::KillApplicationResponse& in) const {
    pb::KillApplicationResponse out;
    out.set_is_kill_completed(in.is_kill_completed);
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::GetClusterNodesResponse& in) const {
    pb::GetClusterNodesResponse out;
    for (const yarn::NodeReport& node : in.nodes) Write(node, *out.add_node_reports());
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::GetQueueInfoResponse& in) const;
  std::string operator()(const yarn::RegisterApplicationMasterResponse& in) const;
  std::string operator()(const yarn::AllocateResponse& in) const;
  std::string operator()(const yarn::FinishApplicationMasterResponse& in) const {
    pb::FinishApplicationMasterResponse out;
    out.set_is_unregistered(in.is_unregistered);
    return out.SerializeAsString();
  }
  std::string operator()(const yarn::RegisterNodeManagerResponse&) const { TF_CHECK(false); }
  std::string operator()(const yarn::NodeHeartbeatResponse&) const { TF_CHECK(false); }
};

std::string RmResponseEncoder::operator()(const yarn::GetQueueInfoResponse& in) const {
  pb::GetQueueInfoResponse out;
  if (!in.exists) return out.SerializeAsString();
  pb::QueueInfo& queue = *out.mutable_queue_info();
  queue.set_queue_name(in.path.substr(in.path.rfind('.') + 1));
  queue.set_queue_path(in.path);
  queue.set_state(pb::QUEUE_STATE_RUNNING);
  if (!in.is_leaf) queue.add_child_queues();
  for (const auto& [partition, limit] : in.limits) {
    pb::QueueConfigurationsEntry& entry = *queue.add_queue_configurations_map();
    entry.set_partition_name(partition);
    pb::QueueConfigurations& out_limit = *entry.mutable_queue_configurations();
    if (!IsZero(limit.maximum)) Write(limit.maximum, *out_limit.mutable_effective_max_capacity());
    if (limit.share_ppm > 0)
      out_limit.set_absolute_max_capacity(static_cast<float>(limit.share_ppm) / 1e6F);
  }
  return out.SerializeAsString();
}

std::string RmResponseEncoder::operator()(const yarn::RegisterApplicationMasterResponse& in) const {
  pb::RegisterApplicationMasterResponse out;
  Write(in.maximum_capability, *out.mutable_maximum_capability());
  out.set_queue(in.queue);
  for (const yarn::Container& container : in.containers_from_previous_attempts)
    Write(container, tokens, *out.add_containers_from_previous_attempts());
  for (const yarn::NmToken& token : in.nm_tokens_from_previous_attempts)
    WriteNmToken(token, tokens, *out.add_nm_tokens_from_previous_attempts());
  return out.SerializeAsString();
}

std::string RmResponseEncoder::operator()(const yarn::AllocateResponse& in) const {
  pb::AllocateResponse out;
  out.set_response_id(in.response_id);
  if (in.am_command != yarn::AmCommand::kNone)
    out.set_a_m_command(in.am_command == yarn::AmCommand::kResync ? pb::AM_COMMAND_RESYNC
                                                                  : pb::AM_COMMAND_SHUTDOWN);
  for (const yarn::Container& container : in.allocated_containers)
    Write(container, tokens, *out.add_allocated_containers());
  for (const yarn::ContainerStatus& status : in.completed_containers)
    Write(status, *out.add_completed_container_statuses());
  for (const yarn::NodeReport& node : in.updated_nodes) Write(node, *out.add_updated_nodes());
  for (const yarn::NmToken& token : in.nm_tokens) WriteNmToken(token, tokens, *out.add_nm_tokens());
  for (const ContainerId& id : in.preempt_strict)
    Write(id, *out.mutable_preempt()->mutable_strict_contract()->add_container()->mutable_id());
  for (const ContainerId& id : in.preempt_contract)
    Write(id, *out.mutable_preempt()->mutable_contract()->add_container()->mutable_id());
  for (const yarn::Container& container : in.containers_from_previous_attempts)
    Write(container, tokens, *out.add_containers_from_previous_attempts());
  if (in.am_rm_token) {
    if (const HadoopToken* token = tokens.Find(*in.am_rm_token))
      Write(*token, *out.mutable_am_rm_token());
  }
  Write(in.limit, *out.mutable_limit());
  out.set_num_cluster_nodes(in.num_cluster_nodes);
  return out.SerializeAsString();
}

}  // namespace

Expected<yarn::RmResponse> DecodeRmResponse(const yarn::RmRequest& request, std::string_view body,
                                            TokenStore& tokens) {
  return std::visit(RmResponseDecoder{body, tokens}, request);
}

std::string EncodeRmResponse(const yarn::RmResponse& response, const TokenStore& tokens) {
  return std::visit(RmResponseEncoder{tokens}, response);
}

}  // namespace tfyarn::hadoop
