#include "hosts/runtime/client_host.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::client_host_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Resource kCapacity{.memory_mb = 16384, .vcores = 8};
constexpr ApplicationId kApplication{.cluster_timestamp = 5, .id = 1};
const std::string kDirectory = "/staging/" + ToString(kApplication);

class ClientHostTest : public HostRig {
 protected:
  ClientHostTest() {
    cluster_.rm = [this](const yarn::RmRequest& request) { return Answer(request); };
    options_.poll = 5ms;
    options_.retry_first = 5ms;
    auto recorder = Recorder::Open(PathOf("client.record"), {.who = Recorded::kClient});
    recorder_ = std::move(*recorder);
  }

  yarn::RmResponse Answer(const yarn::RmRequest& request) {
    if (std::holds_alternative<yarn::GetNewApplicationRequest>(request))
      return yarn::GetNewApplicationResponse{.application = kApplication,
                                             .maximum_capability = kCapacity};
    if (std::holds_alternative<yarn::GetClusterNodesRequest>(request))
      return yarn::GetClusterNodesResponse{
          .nodes = std::vector<yarn::NodeReport>{{.node = {.host = "gpu-1", .port = 8041},
                                                  .state = yarn::NodeState::kRunning,
                                                  .capability = kCapacity}}};
    if (std::holds_alternative<yarn::GetQueueInfoRequest>(request))
      return yarn::GetQueueInfoResponse{.path = "root.default",
                                        .limits = {{"", {.maximum = kCapacity}}}};
    if (std::holds_alternative<yarn::SubmitApplicationRequest>(request))
      return yarn::SubmitApplicationResponse{};
    yarn::ApplicationReport report{.application = kApplication,
                                   .state = yarn::YarnApplicationState::kFinished,
                                   .final_status = yarn::FinalApplicationStatus::kSucceeded};
    return yarn::GetApplicationReportResponse{.report = report};
  }

  void Start() {
    host_ = std::make_unique<ClientHost>(
        job_, options_, 1,
        ClientHost::Parts{
            .loop = io_,
            .cluster = cluster_,
            .storage = storage_,
            .recorder = recorder_,
            .stage =
                [this](const std::string& directory, ClientHost::StagedAnswer answer) {
                  log_.push_back("stage " + directory);
                  stage_(std::move(answer));
                },
            .seen = {},
            .exit = [this](std::int32_t code) { exits_.push_back(code); }});
    host_->Submit({.user = "ann", .staging_directory = "/staging"});
  }
  /// What the first try to stage fails with is the end of the job; the exit code is returned.
  std::int32_t EndsWhenStagingFails(ErrorCode code, const std::string& message) {
    stage_ = [=](const ClientHost::StagedAnswer& answer) { answer(Fail(code, message)); };
    Start();
    Until([this] { return !exits_.empty(); }, "the end");
    EXPECT_EQ(Count("stage " + kDirectory), 1);
    EXPECT_EQ(Count("SubmitApplicationRequest"), 0);
    EXPECT_THAT(host_->snapshot().diagnostics, testing::HasSubstr(message));
    EXPECT_THAT(exits_, SizeIs(1));
    return exits_.front();
  }
  [[nodiscard]] std::ptrdiff_t Count(const std::string& line) const {
    return std::count(log_.begin(), log_.end(), line);
  }

  std::shared_ptr<const JobSpec> job_ = std::make_shared<const JobSpec>();
  client::ClientOptions options_{.job_file = "name: mnist\n"};
  std::vector<std::string> log_;
  ScriptedStorage storage_{io_, log_};
  ScriptedCluster cluster_{io_, log_};
  Recorder recorder_;
  std::function<void(ClientHost::StagedAnswer)> stage_ = [](ClientHost::StagedAnswer answer) {
    answer(yarn::ContainerLaunchContext{.command = {"/bin/tfyarn-agent"}});
  };
  std::vector<std::int32_t> exits_;
  std::unique_ptr<ClientHost> host_;
};

TEST_F(ClientHostTest, StagesAndStoresWhatItSawBeforeItSubmits) {
  Start();
  Until([this] { return !exits_.empty(); }, "the end");
  EXPECT_THAT(exits_, ElementsAre(0));
  EXPECT_THAT(
      log_, ElementsAre("GetNewApplicationRequest", "GetClusterNodesRequest", "GetQueueInfoRequest",
                        "MkdirsRequest " + kDirectory, "CreateRequest " + kDirectory + "/job.yaml",
                        "stage " + kDirectory, "CreateRequest " + kDirectory + "/cluster-facts",
                        "SubmitApplicationRequest", "GetApplicationReportRequest",
                        "DeleteRequest " + kDirectory));
  const auto facts = StagedFactsFrom(storage_.files[kDirectory + "/cluster-facts"]);
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->facts.nodes.size(), 1u);
  EXPECT_EQ(facts->facts.nodes.begin()->node.host, "gpu-1");
  EXPECT_EQ(facts->facts.maximum_container, kCapacity);
  EXPECT_THAT(facts->agent_context.command, ElementsAre("/bin/tfyarn-agent"));
  EXPECT_GT(facts->surveyed, WallTime(1'700'000'000'000ms));
}

TEST_F(ClientHostTest, StagesAgainWhenStagingFailedForNow) {
  int tries = 0;
  stage_ = [&](ClientHost::StagedAnswer answer) {
    if (++tries < 3) return answer(Fail(ErrorCode::kUnavailable, "busy"));
    answer(yarn::ContainerLaunchContext{});
  };
  Start();
  Until([this] { return !exits_.empty(); }, "the end");
  EXPECT_THAT(exits_, ElementsAre(0));
  EXPECT_EQ(Count("stage " + kDirectory), 3);
  EXPECT_EQ(Count("SubmitApplicationRequest"), 1);
}

TEST_F(ClientHostTest, WhatCanNeverBeStagedIsRefusedAtOnce) {
  EXPECT_EQ(EndsWhenStagingFails(ErrorCode::kNotFound, "train.py: no such file"),
            client::exit_code::kRefused);
}

TEST_F(ClientHostTest, WhatStorageRefusesIsNotTheJobsFault) {
  EXPECT_EQ(EndsWhenStagingFails(ErrorCode::kFailedPrecondition, "data.bin: the quota is exceeded"),
            client::exit_code::kUnreachable);
}

TEST_F(ClientHostTest, StoresTheFactsAgainWhenStorageFailedForNow) {
  stage_ = [this](const ClientHost::StagedAnswer& answer) {
    if (Count("stage " + kDirectory) == 1)
      storage_.failures[kDirectory + "/cluster-facts"] = {hdfs::HdfsErrorCode::kUnavailable};
    answer(yarn::ContainerLaunchContext{});
  };
  Start();
  Until([this] { return !exits_.empty(); }, "the end");
  EXPECT_THAT(exits_, ElementsAre(0));
  EXPECT_EQ(Count("CreateRequest " + kDirectory + "/cluster-facts"), 2);
  EXPECT_EQ(Count("SubmitApplicationRequest"), 1);
}

TEST_F(ClientHostTest, AKillWhileItStagesIsObeyedAfterwards) {
  ClientHost::StagedAnswer staged;
  stage_ = [&](ClientHost::StagedAnswer answer) { staged = std::move(answer); };
  bool killed = false;
  cluster_.rm = [&](const yarn::RmRequest& request) -> yarn::RmResponse {
    if (std::holds_alternative<yarn::KillApplicationRequest>(request)) {
      killed = true;
      return yarn::KillApplicationResponse{.is_kill_completed = true};
    }
    auto response = Answer(request);
    auto* report = std::get_if<yarn::GetApplicationReportResponse>(&response);
    if (report != nullptr && killed) report->report.state = yarn::YarnApplicationState::kKilled;
    if (report != nullptr && !killed) report->report.state = yarn::YarnApplicationState::kRunning;
    return response;
  };
  Start();
  Until([&] { return static_cast<bool>(staged); }, "staging");
  host_->Kill("enough");
  Settle();
  EXPECT_THAT(exits_, IsEmpty());
  staged(yarn::ContainerLaunchContext{});
  Until([this] { return !exits_.empty(); }, "the end");
  EXPECT_TRUE(killed);
  EXPECT_THAT(exits_, ElementsAre(client::exit_code::kKilled));
}

TEST_F(ClientHostTest, AnswersAfterItsEndGoNowhere) {
  ClientHost::StagedAnswer staged;
  stage_ = [&](ClientHost::StagedAnswer answer) { staged = std::move(answer); };
  Start();
  Until([&] { return static_cast<bool>(staged); }, "staging");
  host_.reset();
  staged(yarn::ContainerLaunchContext{});
  staged(Fail(ErrorCode::kUnavailable, "busy"));
  UntilIdle();
  EXPECT_EQ(Count("CreateRequest " + kDirectory + "/cluster-facts"), 0);
  EXPECT_THAT(exits_, IsEmpty());
}

TEST_F(ClientHostTest, RecordsWhatItsMachineWasToldAndOrdered) {
  Start();
  Until([this] { return !exits_.empty(); }, "the end");
  const auto recording = ReadRecording(PathOf("client.record"));
  ASSERT_TRUE(recording);
  const auto& first = std::get<trace::ClientTold>(recording->records.front().fact);
  EXPECT_TRUE(std::holds_alternative<SubmitRequested>(first.event));
  const auto& last = std::get<trace::ClientOrdered>(recording->records.back().fact);
  EXPECT_TRUE(std::holds_alternative<ExitClient>(last.action));
}

}  // namespace
}  // namespace tfyarn::hosts::client_host_test
