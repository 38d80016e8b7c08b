// The client against a real Hadoop: an unmanaged AM by hand, from a new application to its end.
// Needs a ResourceManager without Kerberos, named by
//   TFYARN_HADOOP_RM=host:port TFYARN_HADOOP_SCHEDULER=host:port
// and skips without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>

#include "tests/unit/wire/hadoop/test_server.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/credentials.h"
#include "wire/hadoop/ipc_client.h"
#include "wire/hadoop/yarn_codec.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::hadoop::real_hadoop_test {
namespace {

std::vector<HostPort> AddressIn(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  return {ParseHostPort(text).value()};
}

class RealHadoopTest : public ::testing::Test {
 protected:
  void SetUp() override {
    rm_ = AddressIn("TFYARN_HADOOP_RM");
    scheduler_ = AddressIn("TFYARN_HADOOP_SCHEDULER");
    if (rm_.empty() || scheduler_.empty())
      GTEST_SKIP() << "needs a real Hadoop: TFYARN_HADOOP_RM and TFYARN_HADOOP_SCHEDULER";
    client_ = Open(rm_, kApplicationClientProtocol, {.user = "root"});
  }

  std::unique_ptr<IpcClient> Open(std::vector<HostPort> addresses, const IpcProtocol& protocol,
                                  IpcCredential credential) {
    return std::make_unique<IpcClient>(io_, std::move(addresses), protocol, std::move(credential),
                                       IpcClientOptions{.give_up = 0s});
  }
  Outcome Call(IpcClient& client, const EncodedCall& call) {
    Outcome outcome;
    client.Call(call.method, call.body, Repeatable::kAlways, Into(outcome));
    RunUntil(
        io_, [&] { return outcome.done; }, call.method.c_str());
    return outcome;
  }
  template <class Response, class Request>
  Response Ask(IpcClient& client, const Request& request, const SubmitTerms& submit = {}) {
    const auto call = EncodeRmRequest(request, submit);
    EXPECT_TRUE(call.has_value());
    const Outcome outcome = Call(client, *call);
    EXPECT_TRUE(outcome.ok()) << call->method << ": " << outcome.error.exception << ": "
                              << outcome.error.message;
    const auto response = DecodeRmResponse(request, outcome.body, tokens_);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? std::get<Response>(*response) : Response{};
  }
  template <class Response>
  Response AskNm(IpcClient& client, const yarn::NmRequest& request,
                 const std::map<ContainerId, LaunchTerms>& terms = {}) {
    const auto call = EncodeNmRequest(request, terms, tokens_);
    EXPECT_TRUE(call.has_value());
    const Outcome outcome = Call(client, *call);
    EXPECT_TRUE(outcome.ok()) << call->method << ": " << outcome.error.message;
    const auto response = DecodeNmResponse(request, outcome.body);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return std::get<Response>(*response);
  }
  void Pause() {
    boost::asio::steady_timer timer(io_, 100ms);
    bool over = false;
    timer.async_wait([&](const boost::system::error_code&) { over = true; });
    RunUntil(
        io_, [&] { return over; }, "a pause");
  }

  /// A new unmanaged application, and the token for its AM.
  void Submit();
  /// Containers as they are granted, up to `count`.
  std::vector<yarn::Container> Allocate(IpcClient& am, const yarn::ResourceRequest& ask,
                                        std::size_t count);

  boost::asio::io_context io_;
  std::vector<HostPort> rm_;
  std::vector<HostPort> scheduler_;
  TokenStore tokens_;
  std::unique_ptr<IpcClient> client_;
  ApplicationId application_;
  HadoopToken am_token_;
  std::map<NodeId, HadoopToken> nm_tokens_;
  std::int32_t response_id_ = 0;
  std::vector<yarn::ContainerStatus> completed_;
};

void RealHadoopTest::Submit() {
  application_ =
      Ask<yarn::GetNewApplicationResponse>(*client_, yarn::GetNewApplicationRequest{}).application;
  Ask<yarn::SubmitApplicationResponse>(
      *client_,
      yarn::SubmitApplicationRequest{
          .application = application_, .name = "wire test", .tags = {"tfyarn-wire-test"}},
      {.unmanaged_am = true});
  const auto report = EncodeRmRequest(
      yarn::GetApplicationReportRequest{.application = application_}, SubmitTerms{});
  for (int i = 0; i < 300 && am_token_.kind.empty(); ++i) {
    const auto details = DecodeApplicationReport(Call(*client_, *report).body);
    ASSERT_TRUE(details.has_value()) << details.error().message;
    if (details->am_rm_token)
      am_token_ = *details->am_rm_token;
    else
      Pause();
  }
  ASSERT_EQ(am_token_.kind, kAmRmTokenKind);
}

std::vector<yarn::Container> RealHadoopTest::Allocate(IpcClient& am,
                                                      const yarn::ResourceRequest& ask,
                                                      std::size_t count) {
  std::vector<yarn::Container> granted;
  yarn::AllocateRequest request{.ask = {ask}};
  for (int i = 0; i < 300; ++i) {
    request.response_id = response_id_;
    const auto answer = Ask<yarn::AllocateResponse>(am, request);
    response_id_ = answer.response_id;
    request.ask.clear();
    for (const auto& [node, token] : answer.nm_tokens) nm_tokens_[node] = *tokens_.Find(token);
    granted.insert(granted.end(), answer.allocated_containers.begin(),
                   answer.allocated_containers.end());
    completed_.insert(completed_.end(), answer.completed_containers.begin(),
                      answer.completed_containers.end());
    if (granted.size() >= count) break;
    Pause();
  }
  return granted;
}

TEST_F(RealHadoopTest, TheClusterAnswersEveryQuery) {
  const auto metrics = DecodeClusterMetrics(Call(*client_, GetClusterMetrics()).body);
  ASSERT_TRUE(metrics.has_value());
  EXPECT_GT(metrics->active, 0);
  const auto types = DecodeResourceTypes(Call(*client_, GetResourceTypes()).body);
  ASSERT_TRUE(types.has_value());
  EXPECT_THAT(*types, ::testing::IsSupersetOf({"memory-mb", "vcores"}));
  EXPECT_TRUE(DecodeNodeLabels(Call(*client_, GetClusterNodeLabels()).body).has_value());
  EXPECT_TRUE(DecodeNodeToLabels(Call(*client_, GetNodeToLabels()).body).has_value());
  const auto nodes =
      Ask<yarn::GetClusterNodesResponse>(*client_, yarn::GetClusterNodesRequest{}).nodes;
  EXPECT_EQ(nodes.size(), static_cast<std::size_t>(metrics->active));
  for (const yarn::NodeReport& node : nodes)
    std::cout << ToString(node.node) << " " << node.rack << " " << ToString(node.capability) << " '"
              << node.partition << "'\n";
  for (const char* name : {"default", "root", "no-such-queue"}) {
    const auto queue =
        Ask<yarn::GetQueueInfoResponse>(*client_, yarn::GetQueueInfoRequest{.queue = name});
    std::cout << name << ": " << queue.path << " exists " << queue.exists << " leaf "
              << queue.is_leaf << "\n";
    for (const auto& [partition, limit] : queue.limits)
      std::cout << "  '" << partition << "' at most " << ToString(limit.maximum) << ", "
                << limit.share_ppm << " ppm\n";
  }
}

TEST_F(RealHadoopTest, AnUnknownApplicationIsATypedError) {
  const auto call = EncodeRmRequest(
      yarn::GetApplicationReportRequest{.application = {.cluster_timestamp = 1, .id = 1}}, {});
  const Outcome outcome = Call(*client_, *call);
  EXPECT_EQ(ToYarnError(outcome.error).code, yarn::RpcErrorCode::kApplicationNotFound);
}

TEST_F(RealHadoopTest, AnUnmanagedAmRunsAndStopsContainers) {
  ASSERT_NO_FATAL_FAILURE(Submit());
  const auto am = Open(scheduler_, kApplicationMasterProtocol, {.token = am_token_});
  const auto early = Call(*am, *EncodeRmRequest(yarn::AllocateRequest{}, {}));
  EXPECT_EQ(ToYarnError(early.error).code, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  const auto registered = Ask<yarn::RegisterApplicationMasterResponse>(
      *am, yarn::RegisterApplicationMasterRequest{.host = "localhost"});
  EXPECT_EQ(registered.queue, "root.default");
  const auto granted = Allocate(*am,
                                {.priority = 1,
                                 .capability = {.memory_mb = 64, .vcores = 1},
                                 .num_containers = 2,
                                 .node_label_expression = ""},
                                2);
  ASSERT_EQ(granted.size(), 2U);

  // One that says what it sees and ends, one that sleeps until it is stopped.
  const std::string out = ::testing::TempDir() + "/tfyarn_wire_" + std::to_string(getpid());
  const std::vector<std::vector<std::string>> commands = {
      {"/bin/sh", "-c", "printf '%s|' \"$0\" \"$@\" \"$ODD\" \"$PATH\" > " + out + "; exit 3",
       "a$b", "{{X}} <LOG_DIR> `\"'\\"},
      {"sleep", "600"}};
  std::map<NodeId, std::unique_ptr<IpcClient>> nms;
  for (std::size_t i = 0; i < 2; ++i) {
    const yarn::Container& container = granted[i];
    auto& nm = nms[container.node];
    if (nm == nullptr)
      nm = Open({{.host = container.node.host, .port = container.node.port}},
                kContainerManagementProtocol, {.token = nm_tokens_.at(container.node)});
    Credentials credentials;
    credentials.secrets.emplace_back("secret", "of the agent");
    const auto started = AskNm<yarn::StartContainersResponse>(
        *nm,
        yarn::StartContainersRequest{
            {{.container = container.id,
              .container_token = container.token,
              .context = {.environment = {{"ODD", "$HOME {{X}} \"\\"}, {"PATH", "/bin:/odd"}},
                          .command = commands[i]}}}},
        {{container.id, {.credentials = EncodeCredentials(credentials)}}});
    ASSERT_EQ(started.succeeded, std::vector{container.id})
        << (started.failed.empty() ? "" : started.failed[0].error.message);
  }
  for (int i = 0; i < 100 && completed_.empty(); ++i) {
    Allocate(*am, {.priority = 1, .num_containers = 0}, 0);
    Pause();
  }
  ASSERT_EQ(completed_.size(), 1U);
  EXPECT_EQ(completed_[0].exit_status, 3) << completed_[0].diagnostics;
  std::ifstream file(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "a$b|{{X}} <LOG_DIR> `\"'\\|$HOME {{X}} \"\\|/bin:/odd|");

  const auto statuses = AskNm<yarn::GetContainerStatusesResponse>(
      *nms.at(granted[1].node), yarn::GetContainerStatusesRequest{{granted[1].id}});
  ASSERT_EQ(statuses.statuses.size(), 1U);
  EXPECT_EQ(statuses.statuses[0].state, yarn::ContainerState::kRunning);
  const auto attempts =
      DecodeApplicationAttempts(Call(*client_, GetApplicationAttempts(application_)).body);
  ASSERT_TRUE(attempts.has_value());
  ASSERT_EQ(attempts->size(), 1U);
  EXPECT_EQ(attempts->at(0).state, AttemptState::kRunning);
  const auto containers = DecodeContainers(Call(*client_, GetContainers(attempts->at(0).id)).body);
  ASSERT_TRUE(containers.has_value());
  EXPECT_FALSE(containers->empty());
  EXPECT_EQ(AskNm<yarn::StopContainersResponse>(*nms.at(granted[1].node),
                                                yarn::StopContainersRequest{{granted[1].id}})
                .succeeded,
            std::vector{granted[1].id});
  for (int i = 0; i < 100 && completed_.size() < 2; ++i) {
    Allocate(*am, {.priority = 1, .num_containers = 0}, 0);
    Pause();
  }
  ASSERT_EQ(completed_.size(), 2U);
  EXPECT_EQ(completed_[1].exit_status, -105) << completed_[1].diagnostics;

  EXPECT_TRUE(
      Ask<yarn::FinishApplicationMasterResponse>(
          *am, yarn::FinishApplicationMasterRequest{.final_status =
                                                        yarn::FinalApplicationStatus::kSucceeded})
          .is_unregistered);
  yarn::RpcErrorCode late = yarn::RpcErrorCode::kUnavailable;
  for (int i = 0; i < 100 && late != yarn::RpcErrorCode::kApplicationAttemptNotFound; ++i) {
    if (i > 0) Pause();  // For a moment it only complains about the response id.
    late = ToYarnError(Call(*am, *EncodeRmRequest(yarn::AllocateRequest{}, {})).error).code;
  }
  EXPECT_EQ(late, yarn::RpcErrorCode::kApplicationAttemptNotFound);
}

TEST_F(RealHadoopTest, AGpuInAPartitionIsGrantedAsAsked) {
  const auto labels = DecodeNodeLabels(Call(*client_, GetClusterNodeLabels()).body);
  ASSERT_TRUE(labels.has_value());
  if (labels->empty()) GTEST_SKIP() << "needs a partition with GPUs";
  ASSERT_NO_FATAL_FAILURE(Submit());
  const auto am = Open(scheduler_, kApplicationMasterProtocol, {.token = am_token_});
  Ask<yarn::RegisterApplicationMasterResponse>(*am, yarn::RegisterApplicationMasterRequest{});
  const auto granted = Allocate(*am,
                                {.priority = 1,
                                 .capability = {.memory_mb = 64, .vcores = 1, .gpus = 1},
                                 .num_containers = 1,
                                 .node_label_expression = labels->at(0).name},
                                1);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0].resource.gpus, 1);
  Ask<yarn::FinishApplicationMasterResponse>(*am, yarn::FinishApplicationMasterRequest{});
}

TEST_F(RealHadoopTest, APortThatWantsATokenSaysSo) {
  const auto am = Open(scheduler_, kApplicationMasterProtocol, {.user = "root"});
  const Outcome outcome = Call(*am, *EncodeRmRequest(yarn::AllocateRequest{}, {}));
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_THAT(outcome.error.message, ::testing::HasSubstr("this port needs a token"));
}

TEST_F(RealHadoopTest, AForgedTokenIsInvalid) {
  const auto am =
      Open(scheduler_, kApplicationMasterProtocol,
           {.token = HadoopToken{
                .identifier = std::string("\x0a\x08\x0a\x04\x08\x01\x10\x01\x10\x01\x10\x05"),
                .password = "x",
                .kind = kAmRmTokenKind}});
  const Outcome outcome = Call(*am, *EncodeRmRequest(yarn::AllocateRequest{}, {}));
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_EQ(ToYarnError(outcome.error).code, yarn::RpcErrorCode::kInvalidToken)
      << outcome.error.message;
}

}  // namespace
}  // namespace tfyarn::hadoop::real_hadoop_test
