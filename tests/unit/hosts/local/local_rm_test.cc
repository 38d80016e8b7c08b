// What a client and an AM ask of a ResourceManager, and what of it is refused.
#include "hosts/local/local_rm.h"

#include <gmock/gmock.h>

#include "tests/unit/hosts/local/rm_rig.h"

namespace tfyarn::hosts::local_rm_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using yarn::FinalApplicationStatus;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

class LocalRmTest : public RmRig {
 protected:
  static RpcErrorCode CodeOf(const yarn::RmResponse& response) {
    const auto* error = std::get_if<yarn::RpcError>(&response);
    EXPECT_NE(error, nullptr) << ToText(response);
    return error == nullptr ? RpcErrorCode::kNullPointer : error->code;
  }
  static std::string TextOf(const yarn::RmResponse& response) { return ToText(response); }
};

// ---------------------------------------------------------------- clients

TEST_F(LocalRmTest, GivesEveryApplicationAnIdOfItsOwn) {
  const auto first =
      std::get<yarn::GetNewApplicationResponse>(User(yarn::GetNewApplicationRequest{}));
  const auto second =
      std::get<yarn::GetNewApplicationResponse>(User(yarn::GetNewApplicationRequest{}));
  EXPECT_EQ(ToString(first.application), "application_5_0001");
  EXPECT_EQ(ToString(second.application), "application_5_0002");
  EXPECT_EQ(first.maximum_capability, Options().capacity);
}

TEST_F(LocalRmTest, ShowsItsOneNode) {
  Submit();
  const auto nodes =
      std::get<yarn::GetClusterNodesResponse>(User(yarn::GetClusterNodesRequest{})).nodes;
  ASSERT_THAT(nodes, SizeIs(1));
  const yarn::NodeReport& node = *nodes.begin();
  EXPECT_EQ(ToString(node.node), "here:1");
  EXPECT_EQ(node.rack, "/local");
  EXPECT_EQ(node.state, yarn::NodeState::kRunning);
  EXPECT_EQ(node.capability, Options().capacity);
  EXPECT_EQ(node.used, (Resource{.memory_mb = 1024, .vcores = 1}));
  const auto queue = User(yarn::GetQueueInfoRequest{.queue = "ml"});
  EXPECT_EQ(std::get<yarn::GetQueueInfoResponse>(queue).limits.at("").maximum, Options().capacity);
}

TEST_F(LocalRmTest, LaunchesTheAmOfASubmissionOnce) {
  Submit();
  Submit();  // The same again, as after an answer that was lost.
  EXPECT_THAT(Orders(), ElementsAre("launch container_5_0001_01_000001 ./tfyarn-am"));
  EXPECT_EQ(Report().state, YarnApplicationState::kAccepted);
  EXPECT_EQ(Report().current_attempt, 1);
  EXPECT_FALSE(rm_.idle());
}

TEST_F(LocalRmTest, RefusesAnAmThatThisMachineCannotHold) {
  auto submission = Submission();
  submission.am_resource.memory_mb = 8193;
  const auto response = User(submission);
  EXPECT_EQ(CodeOf(response), RpcErrorCode::kInvalidResourceRequest);
  EXPECT_THAT(TextOf(response), HasSubstr("8 GiB"));
  EXPECT_THAT(Orders(), IsEmpty());
  EXPECT_TRUE(rm_.idle());
}

TEST_F(LocalRmTest, AClientAsksNothingOfAnAmsAndAnAmNothingOfAClients) {
  Submit();
  EXPECT_EQ(CodeOf(User(yarn::AllocateRequest{})), RpcErrorCode::kYarn);
  EXPECT_EQ(CodeOf(User(yarn::NodeHeartbeatRequest{})), RpcErrorCode::kYarn);
  EXPECT_EQ(CodeOf(Am(1, yarn::KillApplicationRequest{.application = kApplication})),
            RpcErrorCode::kYarn);
  EXPECT_EQ(CodeOf(User(yarn::GetApplicationReportRequest{.application = {.id = 9}})),
            RpcErrorCode::kApplicationNotFound);
  EXPECT_EQ(CodeOf(User(yarn::KillApplicationRequest{.application = {.id = 9}})),
            RpcErrorCode::kApplicationNotFound);
  EXPECT_EQ(CodeOf(rm_.Answer(ApplicationAttemptId{}, yarn::AllocateRequest{}, now_)),
            RpcErrorCode::kApplicationNotFound);
}

// ---------------------------------------------------------------- registration and response ids

TEST_F(LocalRmTest, AnAmRegistersOnceAndThenFinishes) {
  Submit();
  EXPECT_EQ(CodeOf(Am(1, yarn::AllocateRequest{})), RpcErrorCode::kApplicationMasterNotRegistered);
  EXPECT_EQ(CodeOf(Am(1, yarn::FinishApplicationMasterRequest{})),
            RpcErrorCode::kApplicationMasterNotRegistered);
  const auto registered = Register();
  EXPECT_EQ(registered.maximum_capability, Options().capacity);
  EXPECT_THAT(registered.containers_from_previous_attempts, IsEmpty());
  EXPECT_EQ(Report().state, YarnApplicationState::kRunning);
  EXPECT_EQ(CodeOf(Am(1, yarn::RegisterApplicationMasterRequest{})),
            RpcErrorCode::kInvalidApplicationMasterRequest);
  Finish();
  Finish();  // Repeated until it is confirmed.
  EXPECT_EQ(CodeOf(Am(1, yarn::AllocateRequest{})), RpcErrorCode::kApplicationMasterNotRegistered);
  EXPECT_EQ(Report().state, YarnApplicationState::kFinished);
  EXPECT_EQ(Report().final_status, FinalApplicationStatus::kSucceeded);
  EXPECT_EQ(Report().diagnostics, "fine");
  EXPECT_EQ(Seen("ApplicationEnded"), 0);
  End(IdOf(1, 1), 0);
  EXPECT_EQ(Seen("ApplicationEnded"), 1);
  EXPECT_TRUE(rm_.idle());
  EXPECT_EQ(rm_.used(), Resource{});
}

TEST_F(LocalRmTest, ARepeatedAllocateIsAnsweredAgainAndDoneOnce) {
  Submit();
  (void)Register();
  const yarn::AllocateRequest ask{.response_id = 0, .ask = {Row(1)}};
  const auto first = Am(1, ask);
  const auto again = Am(1, ask);
  EXPECT_THAT(std::get<yarn::AllocateResponse>(first).allocated_containers, SizeIs(1));
  EXPECT_EQ(TextOf(first), TextOf(again));
  const auto next = Am(1, yarn::AllocateRequest{.response_id = 1});
  EXPECT_EQ(std::get<yarn::AllocateResponse>(next).response_id, 2);
  EXPECT_THAT(std::get<yarn::AllocateResponse>(next).allocated_containers, IsEmpty());
}

TEST_F(LocalRmTest, StaleAndFutureResponseIdsAreRefused) {
  Submit();
  (void)Register();
  for (int i = 0; i < 3; ++i) (void)Allocate();
  for (const std::int32_t id : {-1, 0, 1, 4, 2147483647}) {
    const auto response = Am(1, yarn::AllocateRequest{.response_id = id, .ask = {Row(1)}});
    EXPECT_EQ(CodeOf(response), RpcErrorCode::kInvalidApplicationMasterRequest) << id;
  }
  EXPECT_THAT(Allocate().allocated_containers, IsEmpty());
}

TEST_F(LocalRmTest, ANewAttemptIsNotAnsweredWithTheWordsToTheOldOne) {
  Submit();
  (void)Register();
  (void)Run({Row(1)});
  End(IdOf(1, 1), 1);
  (void)Register(2);
  const auto response = Am(2, yarn::AllocateRequest{.response_id = -1});
  if (const auto* allocated = std::get_if<yarn::AllocateResponse>(&response)) {
    EXPECT_THAT(allocated->allocated_containers, IsEmpty());
  }
}

// ---------------------------------------------------------------- kill

TEST_F(LocalRmTest, AKillStopsEverythingAndTheAmIsToldNothingMore) {
  Submit();
  (void)Register();
  const auto running = Run({Row(2)});
  (void)Allocate({Row(1)});  // Granted, not started.
  (void)Orders();
  const auto answer =
      User(yarn::KillApplicationRequest{.application = kApplication, .diagnostics = "by ann"});
  EXPECT_FALSE(std::get<yarn::KillApplicationResponse>(answer).is_kill_completed);
  EXPECT_THAT(Orders(), ElementsAre("stop container_5_0001_01_000001 -107",
                                    "stop container_5_0001_01_000002 -107",
                                    "stop container_5_0001_01_000003 -107"));
  EXPECT_EQ(CodeOf(Am(1, yarn::AllocateRequest{.response_id = response_id_})),
            RpcErrorCode::kApplicationAttemptNotFound);
  EndAll();
  EXPECT_TRUE(rm_.idle());
  EXPECT_EQ(rm_.used(), Resource{});
  EXPECT_EQ(Seen("ApplicationEnded"), 1);
  EXPECT_EQ(Report().state, YarnApplicationState::kKilled);
  EXPECT_EQ(Report().final_status, FinalApplicationStatus::kKilled);
  EXPECT_EQ(Report().diagnostics, "by ann");
  const auto again = User(yarn::KillApplicationRequest{.application = kApplication});
  EXPECT_TRUE(std::get<yarn::KillApplicationResponse>(again).is_kill_completed);
}

TEST_F(LocalRmTest, AKillBeforeTheAmRunsLeavesNothing) {
  EXPECT_EQ(ToText(User(Submission())), "SubmitApplicationResponse{}");
  const auto answer = User(yarn::KillApplicationRequest{.application = kApplication});
  EXPECT_TRUE(std::get<yarn::KillApplicationResponse>(answer).is_kill_completed);
  EXPECT_FALSE(rm_.GrantOf(IdOf(1, 1)));
  EXPECT_TRUE(rm_.idle());
  EXPECT_EQ(Seen("ApplicationEnded"), 1);
  rm_.ContainerEnded(IdOf(1, 1), 0, "", now_);
  EXPECT_EQ(Seen("ApplicationEnded"), 1);
}

TEST_F(LocalRmTest, AKillAfterTheEndChangesNothing) {
  Submit();
  (void)Register();
  Finish();
  const auto answer = User(yarn::KillApplicationRequest{.application = kApplication});
  EXPECT_FALSE(std::get<yarn::KillApplicationResponse>(answer).is_kill_completed);
  End(IdOf(1, 1), 0);
  EXPECT_EQ(Report().state, YarnApplicationState::kFinished);
  EXPECT_EQ(Report().final_status, FinalApplicationStatus::kSucceeded);
}

}  // namespace
}  // namespace tfyarn::hosts::local_rm_test
