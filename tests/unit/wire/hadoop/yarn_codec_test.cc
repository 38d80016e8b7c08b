// Calls of YARN through bytes and back, and the traps in them. A client's end meets a daemon's.
#include "wire/hadoop/yarn_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/text.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/yarn_client.pb.h"
#include "wire/hadoop/yarn_errors.h"
#include "wire/hadoop/yarn_master.pb.h"
#include "wire/hadoop/yarn_tokens.pb.h"

namespace tfyarn::hadoop::yarn_codec_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ApplicationId kApplication{.cluster_timestamp = 1700000000000, .id = 12};
const ApplicationAttemptId kAttempt{.application = kApplication, .attempt = 2};
/// Number 7 of the RM's third life.
const ContainerId kContainer{.application_attempt = kAttempt, .id = (std::int64_t{2} << 40) + 7};
const NodeId kNode{.host = "n1.example", .port = 45454};
const Resource kResource{.memory_mb = std::int64_t{1} << 40,
                         .vcores = 8,
                         .gpus = 4,
                         .others = {{"example.com/disk", 3}, {"yarn.io/fpga", INT64_MAX}}};

HadoopToken TokenOf(const char* kind, const char* identifier) {
  return {.identifier = identifier, .password = "secret", .kind = kind, .service = ""};
}

class YarnCodecTest : public ::testing::Test {
 protected:
  /// `request` to a daemon, as text; the daemon's words for what it got.
  std::string ThereAndBack(const yarn::RmRequest& request, const SubmitTerms& submit = {}) {
    const auto call = EncodeRmRequest(request, submit);
    if (!call) return call.error().message;
    const auto decoded = DecodeRmRequest(call->protocol, call->method, call->body);
    return decoded ? ToText(*decoded) : decoded.error().message;
  }
  std::string AnswerAndBack(const yarn::RmRequest& request, const yarn::RmResponse& response) {
    const auto decoded = DecodeRmResponse(request, EncodeRmResponse(response, tokens_), tokens_);
    return decoded ? ToText(*decoded) : decoded.error().message;
  }
  template <class Message>
  Message BodyOf(const yarn::RmRequest& request, const SubmitTerms& submit = {}) {
    Message message;
    const auto call = EncodeRmRequest(request, submit);
    EXPECT_TRUE(call.has_value());
    EXPECT_TRUE(message.ParseFromString(call->body));
    return message;
  }
  yarn::Container ContainerRecord() {
    return {.id = kContainer,
            .node = kNode,
            .resource = kResource,
            .priority = 3,
            .allocation_request_id = 9,
            .token = tokens_.Keep(TokenOf(kContainerTokenKind, ""))};
  }

  TokenStore tokens_;
};

TEST_F(YarnCodecTest, RequestsToTheRmComeBack) {
  const std::vector<yarn::RmRequest> requests = {
      yarn::GetNewApplicationRequest{},
      yarn::GetApplicationReportRequest{.application = kApplication},
      yarn::KillApplicationRequest{.application = kApplication, .diagnostics = "enough"},
      yarn::GetClusterNodesRequest{},
      yarn::GetQueueInfoRequest{.queue = "root.default"},
      yarn::RegisterApplicationMasterRequest{.host = "h", .rpc_port = 0, .tracking_url = "u"},
      yarn::AllocateRequest{},
      yarn::AllocateRequest{.response_id = 2147483647,
                            .ask = {{.priority = 0,
                                     .resource_name = "/rack1",
                                     .capability = kResource,
                                     .num_containers = 0,
                                     .relax_locality = false,
                                     .node_label_expression = "",
                                     .allocation_request_id = -1},
                                    {.priority = 5,
                                     .resource_name = "*",
                                     .capability = {.memory_mb = 1},
                                     .num_containers = 1000000,
                                     .relax_locality = true,
                                     .node_label_expression = "gpu",
                                     .allocation_request_id = 77}},
                            .release = {kContainer},
                            .blacklist_additions = {"bad"},
                            .blacklist_removals = {"good"},
                            .progress_permille = 333},
      yarn::FinishApplicationMasterRequest{.final_status = yarn::FinalApplicationStatus::kEnded,
                                           .diagnostics = "d",
                                           .tracking_url = "t"},
  };
  for (const yarn::RmRequest& request : requests) EXPECT_EQ(ThereAndBack(request), ToText(request));
}

TEST_F(YarnCodecTest, ASubmissionComesBackButForTheShellsText) {
  const yarn::SubmitApplicationRequest request{
      .application = kApplication,
      .name = "job",
      .queue = "root.ml",
      .priority = 4,
      .user = {},
      .am_container = {.local_resources = {{"am",
                                            {.path = "/user/a/am",
                                             .size = 5,
                                             .timestamp = 1700000000001,
                                             .archive = false}},
                                           {"lib",
                                            {.path = "/user/a/lib.tar.gz",
                                             .size = 6,
                                             .timestamp = 2,
                                             .archive = true,
                                             .shared = true}}},
                       .environment = {{"A", "1"}},
                       .command = {"./am"}},
      .am_resource = kResource,
      .am_node_label = "gpu",
      .max_app_attempts = 3,
      .keep_containers_across_application_attempts = true,
      .tags = {"t1", "t2"}};
  yarn::SubmitApplicationRequest expected = request;
  expected.am_container.command = {"exec -- ./am 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"};
  EXPECT_EQ(ThereAndBack(request), ToText(yarn::RmRequest(expected)));
}

TEST_F(YarnCodecTest, AnAddressWithoutPortSaysMinusOne) {
  const yarn::SubmitApplicationRequest request{
      .application = kApplication,
      .am_container = {.local_resources = {{"am", {.path = "/am"}}}, .command = {"./am"}}};
  const auto url = [&](const FileSystemAddress& file_system) {
    return BodyOf<pb::SubmitApplicationRequest>(request, {.am = {.file_system = file_system}})
        .application_submission_context()
        .am_container_spec()
        .local_resources(0)
        .value()
        .resource();
  };
  EXPECT_TRUE(url({.server = {"ns1"}}).has_port());
  EXPECT_EQ(url({.server = {"ns1"}}).port(), -1);
  EXPECT_EQ(url({.server = {"nn", 8020}}).port(), 8020);
  EXPECT_EQ(url({.server = {"nn", 8020}}).scheme(), "hdfs");
  EXPECT_EQ(url({.server = {"nn", 8020}}).file(), "/am");
}

// Source: RMAppManager and ClientRMService: without am_container_spec a NullPointerException.
TEST_F(YarnCodecTest, AnUnmanagedAmHasAnEmptyLaunchContextThatIsThere) {
  const auto message = BodyOf<pb::SubmitApplicationRequest>(
      yarn::SubmitApplicationRequest{.application = kApplication}, {.unmanaged_am = true});
  const auto& context = message.application_submission_context();
  EXPECT_TRUE(context.unmanaged_am());
  EXPECT_TRUE(context.has_am_container_spec());
  EXPECT_EQ(context.application_type(), "TFYARN");
}

// A negative count, or a row without priority or name, harms the whole queue of a real RM.
TEST_F(YarnCodecTest, ARowIsAlwaysWholeAndNeverNegative) {
  const auto message = BodyOf<pb::AllocateRequest>(
      yarn::AllocateRequest{.ask = {{.resource_name = "",
                                     .capability = {.memory_mb = -1, .gpus = -2},
                                     .num_containers = -3}}});
  const pb::ResourceRequest& row = message.ask(0);
  EXPECT_TRUE(row.has_priority() && row.priority().has_priority());
  EXPECT_EQ(row.resource_name(), "*");
  EXPECT_TRUE(row.has_num_containers());
  EXPECT_EQ(row.num_containers(), 0);
  EXPECT_EQ(row.capability().memory(), 0);
  EXPECT_EQ(row.capability().resource_value_map(0).value(), 0);
  EXPECT_FALSE(row.has_node_label_expression()) << "unset is the application's, empty the default";
}

TEST_F(YarnCodecTest, GpusAreACountableTypeInItsOwnUnits) {
  const auto message = BodyOf<pb::AllocateRequest>(
      yarn::AllocateRequest{.ask = {{.priority = 1, .capability = kResource}}});
  const pb::Resource& capability = message.ask(0).capability();
  ASSERT_EQ(capability.resource_value_map_size(), 3);
  EXPECT_EQ(capability.resource_value_map(0).key(), "yarn.io/gpu");
  EXPECT_EQ(capability.resource_value_map(0).value(), 4);
  EXPECT_FALSE(capability.resource_value_map(0).has_units());
}

// Source: ResourcePBImpl.initResources(): fields 1 and 2 count, the map repeats them.
TEST_F(YarnCodecTest, MemoryAndCoresAreTakenFromTheirFields) {
  pb::GetNewApplicationResponse message;
  message.mutable_application_id()->set_id(1);
  message.mutable_application_id()->set_cluster_timestamp(2);
  pb::Resource& resource = *message.mutable_maximum_capability();
  resource.set_memory(100);
  resource.set_virtual_cores(10);
  for (const char* key : {"memory-mb", "vcores", "yarn.io/gpu"}) {
    auto& entry = *resource.add_resource_value_map();
    entry.set_key(key);
    entry.set_value(7);
  }
  const auto response =
      DecodeRmResponse(yarn::GetNewApplicationRequest{}, message.SerializeAsString(), tokens_);
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(std::get<yarn::GetNewApplicationResponse>(*response).maximum_capability,
            (Resource{.memory_mb = 100, .vcores = 10, .gpus = 7}));
}

TEST_F(YarnCodecTest, AnswersOfTheRmComeBack) {
  const yarn::ContainerStatus ended{.id = kContainer,
                                    .state = yarn::ContainerState::kComplete,
                                    .exit_status = -100,
                                    .diagnostics = "Container released on a *lost* node"};
  const yarn::NodeReport node{.node = kNode,
                              .rack = "/rack1",
                              .state = yarn::NodeState::kDecommissioning,
                              .capability = kResource,
                              .used = {.memory_mb = 1},
                              .partition = "gpu"};
  const yarn::NmToken nm{.node = kNode, .token = tokens_.Keep(TokenOf(kNmTokenKind, ""))};
  const std::vector<std::pair<yarn::RmRequest, yarn::RmResponse>> answers = {
      {yarn::GetNewApplicationRequest{},
       yarn::GetNewApplicationResponse{.application = kApplication,
                                       .maximum_capability = kResource}},
      {yarn::SubmitApplicationRequest{}, yarn::SubmitApplicationResponse{}},
      {yarn::GetApplicationReportRequest{},
       yarn::GetApplicationReportResponse{{.application = kApplication,
                                           .state = yarn::YarnApplicationState::kKilled,
                                           .final_status = yarn::FinalApplicationStatus::kKilled,
                                           .current_attempt = -1,
                                           .diagnostics = "d",
                                           .tracking_url = "u"}}},
      {yarn::KillApplicationRequest{}, yarn::KillApplicationResponse{.is_kill_completed = true}},
      {yarn::GetClusterNodesRequest{},
       yarn::GetClusterNodesResponse{.nodes = SharedList<yarn::NodeReport>({node})}},
      {yarn::GetQueueInfoRequest{},
       yarn::GetQueueInfoResponse{.path = "root.a",
                                  .is_leaf = true,
                                  .exists = true,
                                  .limits = {{"", {.maximum = kResource, .share_ppm = 700'000}},
                                             {"gpu", {.share_ppm = 1'000'000}}}}},
      {yarn::GetQueueInfoRequest{.queue = "q"},
       yarn::GetQueueInfoResponse{.path = "q", .is_leaf = false, .exists = false}},
      {yarn::RegisterApplicationMasterRequest{},
       yarn::RegisterApplicationMasterResponse{
           .maximum_capability = kResource,
           .queue = "root.a",
           .containers_from_previous_attempts = {ContainerRecord()},
           .nm_tokens_from_previous_attempts = {nm}}},
      {yarn::AllocateRequest{},
       yarn::AllocateResponse{.response_id = 5,
                              .am_command = yarn::AmCommand::kShutdown,
                              .allocated_containers = {ContainerRecord()},
                              .completed_containers = {ended},
                              .updated_nodes = {node},
                              .nm_tokens = {nm},
                              .preempt_strict = {kContainer},
                              .preempt_contract = {kContainer, kContainer},
                              .containers_from_previous_attempts = {ContainerRecord()},
                              .am_rm_token = tokens_.Keep(TokenOf(kAmRmTokenKind, "")),
                              .limit = {.memory_mb = 1},
                              .num_cluster_nodes = 4}},
      {yarn::FinishApplicationMasterRequest{},
       yarn::FinishApplicationMasterResponse{.is_unregistered = true}},
  };
  for (const auto& [request, response] : answers)
    EXPECT_EQ(AnswerAndBack(request, response), ToText(response));
}

// proto2 keeps a number that is no enumerator among the unknown fields, so that it reads as unset.
TEST_F(YarnCodecTest, StatesOfALaterHadoopReadAsTheFirst) {
  std::string node(
      "\x0a\x05\x0a\x01h\x10\x01"
      "\x38\x63",
      9);  // 1 {1 "h" 2: 1} 7: 99
  const std::string body = std::string("\x0a\x09", 2) + node;
  const auto response = DecodeRmResponse(yarn::GetClusterNodesRequest{}, body, tokens_);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(std::get<yarn::GetClusterNodesResponse>(*response).nodes[0].state,
            yarn::NodeState::kNew);
}

TEST_F(YarnCodecTest, ACompletedContainerIsCompleteWhateverItsState) {
  pb::AllocateResponse message;
  message.set_response_id(1);
  pb::ContainerStatus& status = *message.add_completed_container_statuses();
  pb::ApplicationAttemptId& attempt = *status.mutable_container_id()->mutable_app_attempt_id();
  attempt.mutable_application_id()->set_id(1);
  attempt.mutable_application_id()->set_cluster_timestamp(1);
  const auto response =
      DecodeRmResponse(yarn::AllocateRequest{}, message.SerializeAsString(), tokens_);
  ASSERT_TRUE(response.has_value());
  const auto& completed = std::get<yarn::AllocateResponse>(*response).completed_containers;
  EXPECT_EQ(completed.at(0).state, yarn::ContainerState::kComplete);
  EXPECT_EQ(completed.at(0).exit_status, -1000) << "the schema's default";
}

TEST_F(YarnCodecTest, WhatMustBeThereIsMissed) {
  const auto fault = [this](const yarn::RmRequest& request, const std::string& body) {
    const auto response = DecodeRmResponse(request, body, tokens_);
    return response ? std::string("accepted") : response.error().message;
  };
  EXPECT_THAT(fault(yarn::GetNewApplicationRequest{}, ""), HasSubstr("application id is missing"));
  EXPECT_THAT(fault(yarn::AllocateRequest{}, ""), HasSubstr("response id is missing"));
  EXPECT_THAT(fault(yarn::AllocateRequest{}, "\xff"), HasSubstr("cannot be decoded"));
  EXPECT_THAT(fault(yarn::GetClusterNodesRequest{}, std::string("\x0a\x00", 2)),
              HasSubstr("node's host"));
  pb::GetNewApplicationResponse negative;
  negative.mutable_application_id()->set_id(-1);
  negative.mutable_application_id()->set_cluster_timestamp(1);
  EXPECT_THAT(fault(yarn::GetNewApplicationRequest{}, negative.SerializeAsString()),
              HasSubstr("application's id is -1; least is 0"));
}

TEST_F(YarnCodecTest, AnUnknownMethodIsNotFound) {
  EXPECT_EQ(DecodeRmRequest(kApplicationClientProtocol, "allocate", "").error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(DecodeNmRequest("localize", "", tokens_).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(EncodeRmRequest(yarn::NodeHeartbeatRequest{}, {}).error().code,
            ErrorCode::kInvalidArgument);
}

// ---------------------------------------------------------------- NodeManagers

TEST_F(YarnCodecTest, AStartCarriesTokenCredentialsAndText) {
  pb::ContainerTokenIdentifier identifier;
  auto& id = *identifier.mutable_container_id();
  id.set_id(kContainer.id);
  id.mutable_app_attempt_id()->set_attempt_id(2);
  id.mutable_app_attempt_id()->mutable_application_id()->set_id(12);
  id.mutable_app_attempt_id()->mutable_application_id()->set_cluster_timestamp(1700000000000);
  HadoopToken whole = TokenOf(kContainerTokenKind, "");
  whole.identifier = identifier.SerializeAsString();
  const yarn::Token handle = tokens_.Keep(whole);
  const yarn::StartContainersRequest request{
      {{.container = kContainer,
        .container_token = handle,
        .context = {.environment = {{"A", "$x"}, {"PATH", "/p"}}, .command = {"./agent", "a b"}}}}};
  const auto call = EncodeNmRequest(request, {{kContainer, {.credentials = "HDTS"}}}, tokens_);
  ASSERT_TRUE(call.has_value()) << call.error().message;
  pb::StartContainersRequest message;
  ASSERT_TRUE(message.ParseFromString(call->body));
  EXPECT_EQ(message.start_container_request(0).container_launch_context().tokens(), "HDTS");

  TokenStore nm;
  const auto decoded = DecodeNmRequest(call->method, call->body, nm);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  const auto& start = std::get<yarn::StartContainersRequest>(*decoded).containers.at(0);
  EXPECT_EQ(start.container, kContainer);
  EXPECT_EQ(*nm.Find(start.container_token), whole);
  EXPECT_THAT(start.context.command,
              ElementsAre("exec /usr/bin/env -- 'PATH=/p' ./agent 'a b' 1><LOG_DIR>/stdout "
                          "2><LOG_DIR>/stderr"));
  EXPECT_EQ(start.context.environment, (std::map<std::string, std::string>{{"A", "\\$x"}}));
}

TEST_F(YarnCodecTest, AStartWithoutItsTokenIsNotSent) {
  const yarn::StartContainersRequest request{
      {{.container = kContainer, .context = {.command = {"x"}}}}};
  EXPECT_EQ(EncodeNmRequest(request, {{kContainer, {}}}, tokens_).error().code,
            ErrorCode::kNotFound);
}

TEST_F(YarnCodecTest, OtherCallsOfTheNmComeBack) {
  const std::vector<yarn::NmRequest> requests = {
      yarn::StopContainersRequest{{kContainer}},
      yarn::GetContainerStatusesRequest{{kContainer, kContainer}}};
  for (const yarn::NmRequest& request : requests) {
    const auto call = EncodeNmRequest(request, {}, tokens_);
    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(ToText(*DecodeNmRequest(call->method, call->body, tokens_)), ToText(request));
  }
  const yarn::FailedContainer failed{
      .container = kContainer,
      .error = {.code = yarn::RpcErrorCode::kInvalidContainer, .message = "by a previous RM"}};
  const std::vector<std::pair<yarn::NmRequest, yarn::NmResponse>> answers = {
      {yarn::StartContainersRequest{},
       yarn::StartContainersResponse{.succeeded = {kContainer}, .failed = {failed}}},
      {yarn::StopContainersRequest{},
       yarn::StopContainersResponse{.succeeded = {kContainer}, .failed = {failed}}},
      {yarn::GetContainerStatusesRequest{},
       yarn::GetContainerStatusesResponse{.statuses = {{.id = kContainer,
                                                        .state = yarn::ContainerState::kRunning,
                                                        .exit_status = -1000,
                                                        .diagnostics = ""}},
                                          .failed = {failed}}}};
  for (const auto& [request, response] : answers)
    EXPECT_EQ(ToText(*DecodeNmResponse(request, EncodeNmResponse(response))), ToText(response));
}

// ---------------------------------------------------------------- errors and queries

TEST(YarnErrorsTest, EveryCodeHasAnExceptionThatMeansIt) {
  for (int code = 0; code <= static_cast<int>(yarn::RpcErrorCode::kNullPointer); ++code) {
    const auto ours = static_cast<yarn::RpcErrorCode>(code);
    EXPECT_EQ(CodeOfException(ExceptionOfCode(ours)), ours);
  }
  EXPECT_EQ(CodeOfException("java.lang.AssertionError"), yarn::RpcErrorCode::kYarn);
}

TEST(YarnErrorsTest, OnlyWhatMayComeRightByItselfIsUnavailable) {
  const auto code = [](IpcErrorKind kind, std::string exception = "") {
    return ToYarnError({.kind = kind, .exception = std::move(exception), .message = "m"}).code;
  };
  for (const auto kind : {IpcErrorKind::kConnect, IpcErrorKind::kBroken, IpcErrorKind::kTimeout})
    EXPECT_EQ(code(kind), yarn::RpcErrorCode::kUnavailable);
  for (const auto kind : {IpcErrorKind::kSecurity, IpcErrorKind::kProtocol})
    EXPECT_EQ(code(kind), yarn::RpcErrorCode::kYarn);
  EXPECT_EQ(
      code(IpcErrorKind::kSecurity, "org.apache.hadoop.security.token.SecretManager$InvalidToken"),
      yarn::RpcErrorCode::kInvalidToken);
  EXPECT_EQ(code(IpcErrorKind::kSecurity, std::string(kStandbyException)),
            yarn::RpcErrorCode::kUnavailable);
}

TEST(ClusterQueriesTest, AnswersComeBack) {
  const ClusterMetrics metrics{
      .nodes = 5, .active = 3, .lost = 1, .unhealthy = 1, .decommissioned = 2};
  EXPECT_EQ(*DecodeClusterMetrics(Encode(metrics)), metrics);
  const std::vector<NodeLabel> labels = {{.name = "gpu", .exclusive = true},
                                         {.name = "ssd", .exclusive = false}};
  EXPECT_EQ(*DecodeNodeLabels(Encode(labels)), labels);
  const NodeLabels by_node = {{kNode, {"gpu"}}};
  EXPECT_EQ(*DecodeNodeToLabels(Encode(by_node)), by_node);
  const std::vector<QueueRights> rights{{.queue = "a", .submit = true}, {.queue = "b"}};
  EXPECT_EQ(*DecodeQueueRights(Encode(rights)), rights);
  for (const QueueRunState state :
       {QueueRunState::kRunning, QueueRunState::kStopped, QueueRunState::kDraining})
    EXPECT_EQ(*DecodeQueueRunState(EncodeQueueRunState(state)), state);
  EXPECT_EQ(*DecodeQueueRunState(""), std::nullopt) << "there is no such queue";
  const NodeWebAddresses web{{kNode, "n1:8042"}};
  EXPECT_EQ(*DecodeNodeWebAddresses(EncodeNodeWebAddresses(web)), web);
  EXPECT_THAT(*DecodeResourceTypes(EncodeResourceTypes({"memory-mb", "yarn.io/gpu"})),
              ElementsAre("memory-mb", "yarn.io/gpu"));
  const AttemptReport attempt{.id = kAttempt,
                              .state = AttemptState::kFinishing,
                              .am_container = kContainer,
                              .host = "h",
                              .diagnostics = "d",
                              .tracking_url = "u"};
  EXPECT_EQ(*DecodeApplicationAttemptReport(Encode(attempt)), attempt);
  EXPECT_THAT(*DecodeApplicationAttempts(Encode(std::vector{attempt})), ElementsAre(attempt));
}

TEST(ClusterQueriesTest, ApplicationsAndContainersComeBack) {
  const ApplicationDetails details{
      .report = {.application = kApplication, .state = yarn::YarnApplicationState::kRunning},
      .name = "n",
      .user = "u",
      .queue = "q",
      .type = "TFYARN",
      .tags = {"t"},
      .started_ms = 3,
      .finished_ms = 4,
      .progress_permille = 500,
      .am_rm_token = TokenOf(kAmRmTokenKind, "i")};
  for (const auto& read : {*DecodeApplicationReport(EncodeApplicationReport(details)),
                           DecodeApplications(EncodeApplications({details}))->at(0)}) {
    EXPECT_EQ(ToText(read.report), ToText(details.report));
    EXPECT_EQ(read.am_rm_token, details.am_rm_token);
    EXPECT_EQ(read.progress_permille, 500);
    EXPECT_EQ(read.tags, details.tags);
    EXPECT_EQ(read.finished_ms, 4);
  }
  const auto containers = DecodeContainers(
      Encode(std::vector<ContainerReport>{{.id = kContainer,
                                           .state = yarn::ContainerState::kComplete,
                                           .exit_status = 137,
                                           .node = kNode,
                                           .resource = kResource,
                                           .web = "n:8042",
                                           .log_url = "l",
                                           .diagnostics = "d"}}));
  ASSERT_TRUE(containers.has_value());
  EXPECT_EQ(containers->at(0).id, kContainer);
  EXPECT_EQ(containers->at(0).exit_status, 137);
  EXPECT_EQ(containers->at(0).resource, kResource);
  EXPECT_EQ(containers->at(0).web, "n:8042");
}

TEST(ClusterQueriesTest, AFilterIsSentAndRead) {
  const EncodedCall call = GetApplications(
      {.types = {"TFYARN"}, .tags = {"t"}, .states = {yarn::YarnApplicationState::kAccepted}});
  pb::GetApplicationsRequest message;
  ASSERT_TRUE(message.ParseFromString(call.body));
  EXPECT_EQ(message.application_states(0), pb::APPLICATION_STATE_ACCEPTED);
  EXPECT_EQ(message.application_types(0), "TFYARN");
  EXPECT_EQ(message.application_tags(0), "t");
  const auto filter = DecodeGetApplications(call.body);
  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->types, std::vector<std::string>{"TFYARN"});
  EXPECT_EQ(filter->tags, std::vector<std::string>{"t"});
  EXPECT_EQ(filter->states,
            std::vector<yarn::YarnApplicationState>{yarn::YarnApplicationState::kAccepted});
}

}  // namespace
}  // namespace tfyarn::hadoop::yarn_codec_test
