// How an application lives through its AMs.
#include <gmock/gmock.h>

#include "hosts/local/local_rm.h"
#include "tests/unit/hosts/local/rm_rig.h"

namespace tfyarn::hosts::local_rm_attempts_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using yarn::FinalApplicationStatus;
using yarn::YarnApplicationState;

class LocalRmAttemptsTest : public RmRig {
 protected:
  /// The second attempt's AM runs.
  void NextAm(std::int32_t attempt) {
    EXPECT_THAT(Orders(), Contains("launch " + ToString(IdOf(attempt, 1)) + " ./tfyarn-am"));
    started_.insert(IdOf(attempt, 1));
  }
  static std::vector<ContainerId> Ids(const std::vector<yarn::Container>& containers) {
    std::vector<ContainerId> ids;
    for (const yarn::Container& container : containers) ids.push_back(container.id);
    return ids;
  }
  static std::vector<std::pair<ContainerId, std::int32_t>> Ends(
      const yarn::AllocateResponse& response) {
    std::vector<std::pair<ContainerId, std::int32_t>> ends;
    for (const yarn::ContainerStatus& status : response.completed_containers)
      ends.emplace_back(status.id, status.exit_status);
    return ends;
  }
  void FinishAll(std::int32_t attempt) {
    Finish(attempt);
    End(IdOf(attempt, 1), 0);
    EndAll();
    EXPECT_TRUE(rm_.idle());
    EXPECT_EQ(rm_.used(), Resource{});
    EXPECT_EQ(Seen("ApplicationEnded"), 1);
  }
};

TEST_F(LocalRmAttemptsTest, ContainersThatRunAreKeptForTheNextAttempt) {
  Submit(2, true);
  (void)Register();
  const auto running = Run({Row(2)});
  (void)Allocate({Row(5)});  // One that is not started, and four that wait.
  End(IdOf(1, 1), 137);
  NextAm(2);
  EXPECT_EQ(Report().state, YarnApplicationState::kAccepted);
  EXPECT_EQ(Report().current_attempt, 2);

  const auto registered = Register(2);
  EXPECT_THAT(Ids(registered.containers_from_previous_attempts),
              ElementsAre(running[0], running[1]));
  EXPECT_THAT(registered.nm_tokens_from_previous_attempts, SizeIs(1));
  // No AM would ever start what the first attempt had not; and its asks ended with it.
  const auto response = Allocate({}, {}, 2);
  EXPECT_THAT(Ends(response), ElementsAre(std::pair(IdOf(1, 4), container_exit::kAborted)));
  EXPECT_THAT(response.allocated_containers, IsEmpty());

  End(running[0], 1);
  EXPECT_THAT(Ends(Allocate({}, {}, 2)), ElementsAre(std::pair(running[0], 1)));
  EXPECT_THAT(Ids(Allocate({Row(1)}, {}, 2).allocated_containers), ElementsAre(IdOf(2, 2)));
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, WhatEndsBetweenTwoAttemptsIsToldToTheSecond) {
  Submit(2, true);
  (void)Register();
  const auto running = Run({Row(2)});
  End(running[0], 1);
  End(IdOf(1, 1), 137);
  NextAm(2);
  End(running[1], 2);
  (void)Register(2);
  EXPECT_THAT(Ends(Allocate({}, {}, 2)),
              UnorderedElementsAre(std::pair(running[0], 1), std::pair(running[1], 2)));
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, ContainersThatAreNotKeptAreStoppedAndTheNextAttemptHearsNothing) {
  Submit(2, false);
  (void)Register();
  const auto running = Run({Row(2)});
  (void)Allocate({Row(1)});  // Granted, not started.
  End(running[0], 1);
  (void)Orders();
  End(IdOf(1, 1), 137);
  EXPECT_THAT(orders_, Contains("stop " + ToString(running[1]) + " -100"));
  NextAm(2);
  // It is on its way out, and belongs to no attempt any more.
  EXPECT_THAT(Register(2).containers_from_previous_attempts, IsEmpty());
  End(running[1], 143);
  EXPECT_THAT(Ends(Allocate({}, {}, 2)), IsEmpty());
  EXPECT_EQ(rm_.used(), (Resource{.memory_mb = 1024, .vcores = 1}));
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, AnAmOfAnEarlierAttemptHasNoSay) {
  Submit();
  (void)Register();
  End(IdOf(1, 1), 137);
  NextAm(2);
  for (const yarn::RmRequest& request : {yarn::RmRequest(yarn::RegisterApplicationMasterRequest{}),
                                         yarn::RmRequest(yarn::AllocateRequest{.ask = {Row(1)}}),
                                         yarn::RmRequest(yarn::FinishApplicationMasterRequest{})}) {
    const auto response = Am(1, request);
    const auto* error = std::get_if<yarn::RpcError>(&response);
    ASSERT_NE(error, nullptr) << ToText(response);
    EXPECT_EQ(error->code, yarn::RpcErrorCode::kApplicationAttemptNotFound);
  }
  EXPECT_EQ(Report().state, YarnApplicationState::kAccepted);
  (void)Register(2);
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, TheLastAttemptsEndIsTheApplications) {
  Submit(2);
  (void)Register();
  const auto running = Run({Row(1)});
  End(IdOf(1, 1), 137);
  NextAm(2);
  (void)Register(2);
  End(IdOf(2, 1), 1, "no such file");
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(running[0]) + " -107"));
  EXPECT_EQ(Report().state, YarnApplicationState::kFailed);
  EXPECT_EQ(Report().final_status, FinalApplicationStatus::kFailed);
  EXPECT_THAT(Report().diagnostics, HasSubstr("failed 2 times due to AM Container"));
  EXPECT_THAT(Report().diagnostics, HasSubstr("exitCode: 1: no such file"));
  EXPECT_EQ(Seen("ApplicationEnded"), 1);
  EndAll();
  EXPECT_TRUE(rm_.idle());
}

TEST_F(LocalRmAttemptsTest, WithoutANumberOfItsOwnItHasTheRms) {
  Submit(0);
  End(IdOf(1, 1), 1);
  NextAm(2);
  End(IdOf(2, 1), 1);
  EXPECT_EQ(Report().state, YarnApplicationState::kFailed);
  EXPECT_TRUE(rm_.idle());
}

TEST_F(LocalRmAttemptsTest, AnAmThatFinishedEndsTheApplicationHoweverItExits) {
  Submit();
  (void)Register();
  const auto running = Run({Row(1)});
  Finish();
  (void)Orders();
  End(IdOf(1, 1), 139);
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(running[0]) + " -107"));
  EXPECT_EQ(Report().final_status, FinalApplicationStatus::kSucceeded);
  EndAll();
  EXPECT_TRUE(rm_.idle());
}

TEST_F(LocalRmAttemptsTest, ASilentAmIsStoppedAndAnotherComes) {
  Submit();
  (void)Register();
  const auto running = Run({Row(1)});
  (void)Orders();
  now_ += 59s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), IsEmpty());
  (void)Allocate();
  now_ += 59s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), IsEmpty()) << "it has just been heard";
  now_ += 1s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(IdOf(1, 1)) + " -100"));
  End(IdOf(1, 1), container_exit::kAborted, "silent");
  NextAm(2);
  EXPECT_THAT(Ids(Register(2).containers_from_previous_attempts), ElementsAre(running[0]));
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, ATimeInWhichThisProcessStoodStillIsNoAmsSilence) {
  Submit();
  (void)Register();
  (void)Orders();
  now_ += 90s;
  rm_.ExpireAms(now_, 85s);
  EXPECT_THAT(Orders(), IsEmpty());
  now_ += 54s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), IsEmpty());
  now_ += 1s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(IdOf(1, 1)) + " -100"));
  End(IdOf(1, 1), container_exit::kAborted, "silent");
  NextAm(2);
  (void)Register(2);
  FinishAll(2);
}

TEST_F(LocalRmAttemptsTest, AnAmThatNeverRegistersIsSilentToo) {
  Submit(1);
  (void)Orders();
  now_ += 60s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), ElementsAre("stop " + ToString(IdOf(1, 1)) + " -100"));
  End(IdOf(1, 1), container_exit::kAborted, "silent");
  EXPECT_EQ(Report().state, YarnApplicationState::kFailed);
  EXPECT_TRUE(rm_.idle());
}

TEST_F(LocalRmAttemptsTest, AnAmThatHasEndedOrFinishedIsNotSilent) {
  Submit();
  (void)Register();
  Finish();
  (void)Orders();
  now_ += 100s;
  rm_.ExpireAms(now_);
  End(IdOf(1, 1), 0);
  now_ += 100s;
  rm_.ExpireAms(now_);
  EXPECT_THAT(Orders(), IsEmpty());
}

}  // namespace
}  // namespace tfyarn::hosts::local_rm_attempts_test
