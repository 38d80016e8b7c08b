#include "hosts/runtime/am_host.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/journal/journal.h"
#include "core/model/launch.h"
#include "core/model/text.h"
#include "hosts/runtime/recording.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::am_host_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr ApplicationAttemptId kAttempt{.application = {.cluster_timestamp = 5, .id = 1},
                                        .attempt = 1};
constexpr ContainerId kAm{.application_attempt = kAttempt, .id = 1};
constexpr ContainerId kWorker{.application_attempt = kAttempt, .id = 2};
const NodeId kNode{.host = "gpu-1", .port = 8041};
const Resource kCapacity{.memory_mb = 16384, .vcores = 8};

std::shared_ptr<const JobSpec> OneWorker() {
  JobSpec job;
  job.name = "mnist";
  job.tasks = {
      {.name = "worker", .instances = 1, .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 0}}};
  return std::make_shared<const JobSpec>(job);
}

class AmHostTest : public HostRig {
 protected:
  AmHostTest() {
    cluster_.rm = [this](const yarn::RmRequest& request) { return Answer(request); };
    cluster_.nm = [](const yarn::NmRequest& request) -> yarn::NmResponse {
      if (std::holds_alternative<yarn::StartContainersRequest>(request))
        return yarn::StartContainersResponse{.succeeded = {kWorker}};
      return yarn::GetContainerStatusesResponse{};
    };
    auto recorder = Recorder::Open(PathOf("am.record"), {.who = Recorded::kAm, .seed = 9});
    recorder_ = std::move(*recorder);
  }

  /// An RM that grants the worker's container to the first ask.
  yarn::RmResponse Answer(const yarn::RmRequest& request) {
    if (std::holds_alternative<yarn::RegisterApplicationMasterRequest>(request))
      return yarn::RegisterApplicationMasterResponse{.maximum_capability = kCapacity};
    const auto* allocate = std::get_if<yarn::AllocateRequest>(&request);
    if (allocate == nullptr) return yarn::RpcError{};
    yarn::AllocateResponse response{.response_id = allocate->response_id + 1};
    if (!allocate->ask.empty() && !std::exchange(granted_, true)) {
      const yarn::ResourceRequest& row = allocate->ask.front();
      response.allocated_containers = {{.id = kWorker,
                                        .node = kNode,
                                        .resource = row.capability,
                                        .priority = row.priority.value_or(0),
                                        .allocation_request_id = row.allocation_request_id}};
      response.nm_tokens = {{.node = kNode, .token = {.kind = yarn::TokenKind::kNm}}};
    }
    return response;
  }

  AmHost::Parts Parts() {
    return {
        .loop = io_,
        .cluster = cluster_,
        .storage = storage_,
        .record = [this](Instant at, trace::Fact fact) { recorder_.Write(at, std::move(fact)); },
        .send = [this](const ContainerId& to,
                       const AmToAgent& message) { sent_.emplace_back(to, ToText(message)); },
        .issue_identity = [](const ContainerId& id) { return "secret of " + ToString(id); },
        .exit = [this](std::int32_t code) { exits_.push_back(code); }};
  }

  void Start() {
    host_ = std::make_unique<AmHost>(job_, options_, 9, kAttempt, Parts());
    host_->Start({.attempt = kAttempt,
                  .container = kAm,
                  .address = {.host = "gpu-0", .port = 40000},
                  .wall = WallTime(1'700'000'000'000ms),
                  .nodes = std::vector<yarn::NodeReport>{{.node = kNode,
                                                          .rack = "/r1",
                                                          .state = yarn::NodeState::kRunning,
                                                          .capability = kCapacity}},
                  .queue_maximum = {{"", kCapacity}},
                  .maximum_container = kCapacity});
  }
  [[nodiscard]] std::ptrdiff_t CallOf(const std::string& line) const {
    const auto found = std::find(log_.begin(), log_.end(), line);
    EXPECT_NE(found, log_.end()) << line;
    return found - log_.begin();
  }

  std::shared_ptr<const JobSpec> job_ = OneWorker();
  am::AmOptions options_{.staging_directory = "/a", .rm_heartbeat = 20ms};
  std::vector<std::string> log_;
  ScriptedStorage storage_{io_, log_};
  ScriptedCluster cluster_{io_, log_};
  bool granted_ = false;
  Recorder recorder_;
  std::vector<std::pair<ContainerId, std::string>> sent_;
  std::vector<std::int32_t> exits_;
  std::unique_ptr<AmHost> host_;
};

TEST_F(AmHostTest, CarriesCallsAndFilesAndTellsTheAnswers) {
  Start();
  EXPECT_THAT(log_, ElementsAre("ReadRequest /a/journal"));
  Until([this] { return !cluster_.nm_calls.empty(); }, "a started container");
  EXPECT_LT(CallOf("AppendRequest /a/journal"), CallOf("RegisterApplicationMasterRequest"));
  EXPECT_LT(CallOf("RegisterApplicationMasterRequest"), CallOf("AllocateRequest"));
  EXPECT_EQ(ToText(AmAddressFrom(storage_.files["/a/am-address"]).address),
            "HostPort{host=\"gpu-0\" port=40000}");
}

TEST_F(AmHostTest, GivesEachStartedContainerItsSecretAndKeepsItOutOfItsEnvironment) {
  Start();
  Until([this] { return !cluster_.nm_calls.empty(); }, "a started container");
  EXPECT_THAT(cluster_.secrets.front(),
              ElementsAre(Pair(kWorker, "secret of " + ToString(kWorker))));
  EXPECT_THAT(ToText(cluster_.nm_calls.front()), testing::Not(testing::HasSubstr("secret of")));
}

TEST_F(AmHostTest, CarriesTheWordsOfAgentsBothWays) {
  Start();
  Until([this] { return !cluster_.nm_calls.empty(); }, "a started container");
  const auto& start = std::get<yarn::StartContainersRequest>(cluster_.nm_calls.front());
  const auto launch = AgentLaunchFrom(start.containers.front().context.environment);
  ASSERT_TRUE(launch) << launch.error().message;
  Settle();
  host_->AgentSays(
      RegisterAgent{.fence = launch->fence, .address = {.host = "gpu-1", .port = 40001}});
  const std::string fence = ToText(launch->fence);
  EXPECT_THAT(sent_, Contains(Pair(kWorker, "AgentAccepted{fence=" + fence + "}")));
}

TEST_F(AmHostTest, AnotherAttemptsJournalEndsIt) {
  Start();
  storage_.failures["/a/journal"] = {hdfs::HdfsErrorCode::kNotFound,
                                     hdfs::HdfsErrorCode::kLeaseLost};
  storage_.files["/a/journal"] =
      journal::EncodeJournalFrame({.am_attempt = 9, .heard = {}}, JournalSeq(1),
                                  journal::AttemptStarted{.am_attempt = 9, .at = {}}, true);
  Until([this] { return !exits_.empty(); }, "the end");
  const auto calls = log_.size();
  host_->AgentSays(AgentHeartbeat{});
  UntilIdle();
  EXPECT_EQ(exits_.size(), 1u);
  EXPECT_NE(exits_.front(), 0);
  EXPECT_EQ(log_.size(), calls);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(AmHostTest, ItsRecordingStepsTheSameMachineTheSameWay) {
  Start();
  Until([this] { return cluster_.rm_calls.size() > 5; }, "some heartbeats");
  const auto recording = ReadRecording(PathOf("am.record"));
  ASSERT_TRUE(recording) << recording.error().message;
  am::ApplicationMaster machine(job_, options_, recording->header.seed);
  std::vector<std::string> expected;
  std::vector<std::string> ordered;
  int told = 0;
  for (const trace::TraceRecord& record : recording->records) {
    if (const auto* order = std::get_if<trace::AmOrdered>(&record.fact))
      ordered.push_back(ToText(order->action));
    const auto* event = std::get_if<trace::AmTold>(&record.fact);
    if (event == nullptr) continue;
    if (told++ == 0) {
      EXPECT_TRUE(std::holds_alternative<AmStarted>(event->event));
    }
    std::vector<AmAction> actions;
    machine.Step(record.at, event->event, actions);
    for (const AmAction& action : actions) expected.push_back(ToText(action));
  }
  EXPECT_GT(told, 5);
  EXPECT_EQ(ordered, expected);
}

TEST_F(AmHostTest, AnswersAfterItsEndGoNowhere) {
  Start();
  Until([this] { return !cluster_.nm_calls.empty(); }, "a started container");
  host_.reset();
  UntilIdle();
  EXPECT_THAT(exits_, IsEmpty());
}

}  // namespace
}  // namespace tfyarn::hosts::am_host_test
