// The AM protocol, and how attempts and applications end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::masters_test {
namespace {

using ::testing::HasSubstr;
using yarn::FinalApplicationStatus;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

class MastersTest : public ::testing::Test {
 protected:
  MastersTest() : MastersTest(ClusterOptions{}) {}
  explicit MastersTest(ClusterOptions options) : cluster_(std::move(options)) {
    for (int i = 1; i <= 3; ++i) cluster_.AddNode("n" + std::to_string(i), Amount(64, 16, 8));
    cluster_.RunFor(2s);
  }
  ApplicationId Start(yarn::SubmitApplicationRequest request = {}) {
    const ApplicationId id = cluster_.Submit(std::move(request));
    EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 20s));
    return id;
  }
  Caller As(const ApplicationAttemptId& attempt) {
    return {.kind = CallerKind::kAm, .user = {}, .attempt = attempt, .node = {}};
  }
  void Fill(const ApplicationId& id, std::int32_t count) {
    cluster_.Am(id).next.ask = {Ask(count, Amount(2, 1, 1))};
    ASSERT_TRUE(cluster_.RunUntil(
        [&] { return static_cast<std::int32_t>(cluster_.Am(id).granted.size()) == count; }, 60s));
    cluster_.RunFor(3s);
  }
  FakeCluster cluster_;
};

// Row "response id".
TEST_F(MastersTest, TheResponseBeforeIsRepeatedAndOtherIdsAreRefusedByTheExpectedOne) {
  const ApplicationId id = Start();
  ScriptedAm& am = cluster_.Am(id);
  am.beats = false;
  cluster_.RunFor(2s);
  am.next.ask = {Ask(1, Amount(1, 1))};
  cluster_.AmBeatsNow(id);
  cluster_.RunFor(3s);
  const std::int32_t before = am.response_id;
  cluster_.AmBeatsNow(id);
  ASSERT_EQ(am.granted.size(), 1U);

  const auto again =
      cluster_.CallRm(As(am.attempt), yarn::AllocateRequest{.response_id = before}, *am.token);
  EXPECT_EQ(std::get<yarn::AllocateResponse>(again).allocated_containers.size(), 1U);
  EXPECT_EQ(std::get<yarn::AllocateResponse>(again).response_id, am.response_id);

  const auto wrong =
      cluster_.CallRm(As(am.attempt), yarn::AllocateRequest{.response_id = before - 1}, *am.token);
  const auto& error = std::get<yarn::RpcError>(wrong);
  EXPECT_EQ(error.code, RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_THAT(error.message, HasSubstr("expect responseId to be " + std::to_string(am.response_id) +
                                       ", but get " + std::to_string(before - 1)));
}

// Row "register twice".
TEST_F(MastersTest, RegisteringTwiceIsRefused) {
  const ApplicationId id = Start();
  const auto again =
      cluster_.CallRm(As(cluster_.Am(id).attempt), yarn::RegisterApplicationMasterRequest{},
                      *cluster_.Am(id).token);
  EXPECT_EQ(std::get<yarn::RpcError>(again).code, RpcErrorCode::kInvalidApplicationMasterRequest);
}

// Row "attempt unknown".
TEST_F(MastersTest, AnAttemptThatIsOverIsUnknown) {
  const ApplicationId id = Start();
  const ApplicationAttemptId attempt = cluster_.Am(id).attempt;
  (void)cluster_.CallRm({}, yarn::KillApplicationRequest{.application = id});
  const auto answer = cluster_.CallRm(As(attempt), yarn::AllocateRequest{}, *cluster_.Am(id).token);
  EXPECT_EQ(std::get<yarn::RpcError>(answer).code, RpcErrorCode::kApplicationAttemptNotFound);
}

TEST_F(MastersTest, AForeignTokenIsRefused) {
  const ApplicationId id = Start();
  yarn::Token token = *cluster_.Am(id).token;
  ++token.serial;
  const auto answer = cluster_.CallRm(As(cluster_.Am(id).attempt), yarn::AllocateRequest{}, token);
  EXPECT_EQ(std::get<yarn::RpcError>(answer).code, RpcErrorCode::kInvalidToken);
  EXPECT_THAT(std::get<yarn::RpcError>(answer).message,
              HasSubstr("Invalid AMRMToken from appattempt_0_0001_000001"));
}

// Contract: Asks.TheHeadroomIsWhatTheUserHasLeft.
TEST_F(MastersTest, TheHeadroomIsWhatIsLeftFromTheAmsOwnContainerOn) {
  const ApplicationId id = Start();
  cluster_.RunFor(2s);
  EXPECT_EQ(cluster_.Am(id).last->limit, Amount(192 - 1, 48 - 1, 24));
  EXPECT_EQ(cluster_.Am(id).last->num_cluster_nodes, 3);
  Fill(id, 3);
  EXPECT_EQ(cluster_.Am(id).last->limit, Amount(192 - 6 - 1, 48 - 3 - 1, 24 - 3));
}

// Row "release": answered at once while the process may still run; twice is once; foreign ids are
// refused.
TEST_F(MastersTest, AReleaseIsAnsweredInTheSameResponse) {
  const ApplicationId id = Start();
  Fill(id, 2);
  ScriptedAm& am = cluster_.Am(id);
  const ContainerId released = am.granted.front().id;
  am.next.release = {released, released};
  cluster_.AmBeatsNow(id);
  ASSERT_EQ(am.completed.size(), 1U);
  EXPECT_EQ(am.completed.front().exit_status, -100);
  EXPECT_EQ(am.completed.front().diagnostics, "Container released by application");
  EXPECT_TRUE(cluster_.Runs(released));
  cluster_.RunFor(3s);
  EXPECT_FALSE(cluster_.Runs(released));
  EXPECT_EQ(am.completed.size(), 1U);

  am.next.release = {
      ContainerId{.application_attempt = {.application = id, .attempt = 7}, .id = 1}};
  cluster_.AmBeatsNow(id);
  EXPECT_EQ(am.error->code, RpcErrorCode::kInvalidContainerRelease);
}

// A released but not yet started container can still be started; the NM kills it a heartbeat later.
TEST_F(MastersTest, AReleasedContainerCanStillBeStartedForAMoment) {
  const ApplicationId id = Start();
  ScriptedAm& am = cluster_.Am(id);
  am.starts_containers = false;
  am.next.ask = {Ask(1, Amount(1, 1))};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.granted.size() == 1; }, 20s));
  const yarn::Container container = am.granted.front();
  am.next.release = {container.id};
  cluster_.AmBeatsNow(id);
  yarn::StartContainersRequest start{
      .containers = {
          {.container = container.id, .container_token = container.token, .context = {}}}};
  const auto answer =
      cluster_.CallNm(container.node, am.attempt, am.nm_tokens.at(container.node), start);
  EXPECT_EQ(std::get<yarn::StartContainersResponse>(answer).succeeded.size(), 1U);
  cluster_.RunFor(5s);
  EXPECT_FALSE(cluster_.Runs(container.id));
}

TEST_F(MastersTest, ANodeIsToldOnceThatThereAreOrdersForIt) {
  const ApplicationId id = Start();
  Fill(id, 4);
  ScriptedAm& am = cluster_.Am(id);
  const std::uint64_t before = cluster_.news_for_nodes;
  std::set<NodeId> nodes;
  for (const yarn::Container& container : am.granted) {
    nodes.insert(container.node);
    am.next.release = {container.id};
    cluster_.AmBeatsNow(id);
  }
  ASSERT_LT(nodes.size(), 4U);
  EXPECT_EQ(cluster_.news_for_nodes, before + nodes.size());
}

TEST_F(MastersTest, OneNmTokenPerNodeAndAttempt) {
  const ApplicationId id = Start();
  ScriptedAm& am = cluster_.Am(id);
  std::size_t tokens = 0;
  am.next.ask = {Ask(9, Amount(1, 1))};
  for (int i = 0; i < 20; ++i) {
    cluster_.RunFor(1s);
    tokens += am.last->nm_tokens.size();
  }
  EXPECT_EQ(am.granted.size(), 9U);
  EXPECT_EQ(tokens, 3U);
}

TEST_F(MastersTest, AGrantThatIsNotStartedExpires) {
  const ApplicationId id = Start();
  ScriptedAm& am = cluster_.Am(id);
  am.starts_containers = false;
  am.next.ask = {Ask(1, Amount(1, 1))};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.granted.size() == 1; }, 20s));
  const Instant delivered = cluster_.now();
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.completed.size() == 1; }, 700s));
  EXPECT_EQ(am.completed.front().exit_status, -100);
  EXPECT_GE(cluster_.now(), delivered + 600s);
  EXPECT_LE(cluster_.now(), delivered + 602s);
}

// Row "finish": false first, true at the second call; nothing kills the AM.
TEST_F(MastersTest, FinishingTakesTwoCallsAndDoesNotKillTheAm) {
  const ApplicationId id = Start();
  ScriptedAm& am = cluster_.Am(id);
  const yarn::FinishApplicationMasterRequest finish{.final_status = FinalApplicationStatus::kFailed,
                                                    .diagnostics = "worker:0 failed"};
  auto answer = cluster_.CallRm(As(am.attempt), finish, *am.token);
  EXPECT_FALSE(std::get<yarn::FinishApplicationMasterResponse>(answer).is_unregistered);
  cluster_.RunFor(100ms);
  answer = cluster_.CallRm(As(am.attempt), finish, *am.token);
  EXPECT_TRUE(std::get<yarn::FinishApplicationMasterResponse>(answer).is_unregistered);
  // A job that failed in order is FINISHED.
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kFinished);
  EXPECT_EQ(cluster_.Report(id).final_status, FinalApplicationStatus::kFailed);
  EXPECT_EQ(cluster_.Report(id).diagnostics, "worker:0 failed");
  cluster_.RunFor(20s);
  EXPECT_TRUE(cluster_.Runs(am.container));
  am.beats = false;
  cluster_.RunFor(1000s);
  EXPECT_FALSE(cluster_.Runs(am.container));
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kFinished);
}

// Its AM may not have heard the answer. Source: ApplicationMasterService.finishApplicationMaster,
// RMAppImpl.isAppFinalStateStored.
TEST_F(MastersTest, TheAmOfAnApplicationThatHasFinishedIsUnregistered) {
  const ApplicationId id = Start();
  const ScriptedAm am = cluster_.Am(id);
  const yarn::FinishApplicationMasterRequest finish{.final_status =
                                                        FinalApplicationStatus::kSucceeded};
  (void)cluster_.CallRm(As(am.attempt), finish, *am.token);
  cluster_.Exit(am.container, 0);
  cluster_.RunFor(3s);
  ASSERT_EQ(cluster_.Report(id).state, YarnApplicationState::kFinished);
  const auto answer = cluster_.CallRm(As(am.attempt), finish, *am.token);
  ASSERT_TRUE(std::holds_alternative<yarn::FinishApplicationMasterResponse>(answer));
  EXPECT_TRUE(std::get<yarn::FinishApplicationMasterResponse>(answer).is_unregistered);
}

// 10.3: exit 5 or exit 0 without finish.
TEST_F(MastersTest, AnAmThatExitsIsTriedAgainAndFailsAfterTheLastAttempt) {
  const ApplicationId id = Start();
  cluster_.Exit(cluster_.Am(id).container, 0);
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kRunning);
  ASSERT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == 2; }, 20s));
  cluster_.Exit(cluster_.Am(id).container, 5);
  cluster_.RunFor(2s);
  const auto report = cluster_.Report(id);
  EXPECT_EQ(report.state, YarnApplicationState::kFailed);
  EXPECT_EQ(report.final_status, FinalApplicationStatus::kFailed);
  EXPECT_THAT(
      report.diagnostics,
      HasSubstr("failed 2 times due to AM Container for appattempt_0_0001_000002 exited with"
                "  exitCode: 5"));
}

// The scheduler hears of the next attempt by an event of its own, when that heartbeat is over.
// Source: RMAppAttemptImpl.FinalTransition, CapacityScheduler.nodeUpdate.
TEST_F(MastersTest, TheHeartbeatThatReportsAnAmsEndGivesTheNextOneNoContainer) {
  const ApplicationId id = Start();
  const ContainerId first = cluster_.Am(id).container;
  const NodeId node = cluster_.Am(id).node;
  cluster_.Exit(first, 137);
  ASSERT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == 2; }, 20s));
  // Each other node beats before that one beats again, a period later.
  EXPECT_NE(cluster_.Am(id).node, node);
}

TEST_F(MastersTest, ALocalLimitBelowTheGlobalOneIsNamed) {
  const ApplicationId id = Start({.max_app_attempts = 1});
  cluster_.Exit(cluster_.Am(id).container, 5);
  cluster_.RunFor(2s);
  EXPECT_THAT(cluster_.Report(id).diagnostics,
              HasSubstr("failed 1 times (global limit =2; local limit is =1) due to AM Container"));
}

TEST_F(MastersTest, ASilentAmExpires) {
  const ApplicationId id = Start({.max_app_attempts = 1});
  cluster_.Am(id).beats = false;
  ASSERT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.Report(id).state == YarnApplicationState::kFailed; }, 1200s));
  EXPECT_THAT(cluster_.Report(id).diagnostics,
              HasSubstr("ApplicationMaster for attempt appattempt_0_0001_000001 timed out"));
}

// 3.7: which exits do not count.
TEST_F(MastersTest, APreemptedAmOrALostNodeDoesNotCountAsAFailure) {
  const ApplicationId id = Start();
  for (int attempt = 1; attempt <= 4; ++attempt) {
    ASSERT_TRUE(cluster_.RunUntil(
        [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == attempt; }, 30s));
    cluster_.StepRm(PreemptContainer{.container = cluster_.Am(id).container});
  }
  EXPECT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == 5; }, 30s));
}

// 10.4: AM killed with kept containers.
TEST_F(MastersTest, KeptContainersAreGivenToTheNextAttempt) {
  const ApplicationId id = Start({.keep_containers_across_application_attempts = true});
  Fill(id, 3);
  ScriptedAm& first = cluster_.Am(id);
  std::vector<ContainerId> kept;
  for (const yarn::Container& container : first.granted) kept.push_back(container.id);
  first.starts_containers = false;
  first.next.ask = {Ask(1, Amount(2, 1, 1))};
  ASSERT_TRUE(cluster_.RunUntil([&] { return first.granted.size() == 4; }, 20s));
  const ContainerId unstarted = first.granted.back().id;
  first.next.ask = {Ask(5, Amount(2, 1, 1), 3)};  // will never be sent again by the successor
  cluster_.AmBeatsNow(id);
  cluster_.Exit(first.container, 137);
  ASSERT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == 2; }, 30s));
  ScriptedAm& second = cluster_.Am(id);
  std::vector<ContainerId> given;
  for (const auto& container : second.registration.containers_from_previous_attempts)
    given.push_back(container.id);
  EXPECT_THAT(given, ::testing::ElementsAre(kept[2], kept[1], kept[0]));  // newest first
  EXPECT_FALSE(second.registration.nm_tokens_from_previous_attempts.empty());
  for (const ContainerId& container : kept) EXPECT_TRUE(cluster_.Runs(container));
  cluster_.RunFor(5s);
  ASSERT_EQ(second.completed.size(), 1U);
  EXPECT_EQ(second.completed.front().id, unstarted);
  EXPECT_EQ(second.completed.front().exit_status, -100);
  EXPECT_EQ(second.completed.front().diagnostics, "Container of a completed application");
  EXPECT_TRUE(second.granted.empty());

  // Old ids can be stopped with the new token, released, and their ends arrive here.
  const auto& old = second.registration.containers_from_previous_attempts[0];
  yarn::StopContainersRequest stop{.containers = {old.id}};
  const auto stopped =
      cluster_.CallNm(old.node, second.attempt, second.nm_tokens.at(old.node), stop);
  EXPECT_EQ(std::get<yarn::StopContainersResponse>(stopped).succeeded.size(), 1U);
  second.next.release = {kept[0]};
  cluster_.RunFor(3s);
  EXPECT_EQ(second.completed.size(), 3U);
}

TEST_F(MastersTest, WithoutKeepingAllContainersEndWithTheAttempt) {
  const ApplicationId id = Start();
  Fill(id, 3);
  const auto granted = cluster_.Am(id).granted;
  cluster_.Exit(cluster_.Am(id).container, 1);
  cluster_.RunFor(3s);
  for (const yarn::Container& container : granted) EXPECT_FALSE(cluster_.Runs(container.id));
}

// Row "application killed".
TEST_F(MastersTest, KillIsAsynchronousAndEndsEverything) {
  const ApplicationId id = Start();
  Fill(id, 3);
  const ContainerId am = cluster_.Am(id).container;
  auto answer =
      cluster_.CallRm({}, yarn::KillApplicationRequest{.application = id, .diagnostics = "enough"});
  EXPECT_FALSE(std::get<yarn::KillApplicationResponse>(answer).is_kill_completed);
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kKilled);
  EXPECT_EQ(cluster_.Report(id).final_status, FinalApplicationStatus::kKilled);
  EXPECT_EQ(cluster_.Report(id).diagnostics, "enough");
  answer = cluster_.CallRm({}, yarn::KillApplicationRequest{.application = id});
  EXPECT_TRUE(std::get<yarn::KillApplicationResponse>(answer).is_kill_completed);
  EXPECT_TRUE(cluster_.Runs(am));
  cluster_.RunFor(2s);
  EXPECT_FALSE(cluster_.Runs(am));
}

TEST_F(MastersTest, PreemptionComesWithNoticeAndEndsWithMinus102) {
  const ApplicationId id = Start();
  Fill(id, 2);
  ScriptedAm& am = cluster_.Am(id);
  const ContainerId victim = am.granted.front().id;
  const Instant noticed = cluster_.now();
  cluster_.StepRm(PreemptContainer{.container = victim, .notice = 15s});
  cluster_.RunFor(2s);
  EXPECT_THAT(am.preempt_strict, ::testing::ElementsAre(victim));
  EXPECT_TRUE(cluster_.Runs(victim));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !am.completed.empty(); }, 20s));
  EXPECT_GE(cluster_.now(), noticed + 15s);
  EXPECT_EQ(am.completed.front().exit_status, -102);
}

// Source: FiCaSchedulerApp.containerCompleted (containersToPreempt). Found by tests/lockstep.
TEST_F(MastersTest, WhatHasEndedIsNotToBePreemptedAnyMore) {
  const ApplicationId id = Start();
  Fill(id, 1);
  ScriptedAm& am = cluster_.Am(id);
  am.beats = false;
  cluster_.RunFor(2s);
  cluster_.StepRm(PreemptContainer{.container = am.granted.front().id, .notice = 15s});
  cluster_.Exit(am.granted.front().id, 3);
  cluster_.RunFor(2s);
  cluster_.AmBeatsNow(id);
  EXPECT_EQ(am.completed.size(), 1U);
  EXPECT_TRUE(am.preempt_strict.empty());
}

// Source: RMAppAttemptImpl.transferStateFromAttempt,
// SchedulerApplicationAttempt.transferStateFromPreviousAttempt. Found by tests/lockstep.
TEST_F(MastersTest, TheNextAttemptHearsAgainWhatWasNotAcknowledgedAndKeepsTheBlacklist) {
  const ApplicationId id =
      Start({.max_app_attempts = 2, .keep_containers_across_application_attempts = true});
  Fill(id, 2);
  ScriptedAm& am = cluster_.Am(id);
  am.beats = false;
  cluster_.RunFor(2s);
  const ContainerId released = am.granted.front().id;
  am.next.release = {released};
  am.next.blacklist_additions = {"n1", "n2"};
  cluster_.AmBeatsNow(id);
  ASSERT_EQ(am.completed.size(), 1U);
  cluster_.Exit(am.container, 1);
  ASSERT_TRUE(cluster_.RunUntil(
      [&] { return cluster_.HasAm(id) && cluster_.Am(id).attempt.attempt == 2; }, 20s));
  ScriptedAm& next = cluster_.Am(id);
  next.next.ask = {Ask(3, Amount(2, 1, 1), 2)};
  ASSERT_TRUE(cluster_.RunUntil([&] { return next.granted.size() == 3; }, 60s));
  ASSERT_EQ(next.completed.size(), 1U);
  EXPECT_EQ(next.completed.front().id, released);
  for (const yarn::Container& container : next.granted) EXPECT_EQ(container.node.host, "n3");
}

// Source: ApplicationMasterService.throwApplicationDoesNotExistInCacheException. Found by
// tests/contract (Sequences).
TEST_F(MastersTest, AnAttemptThatIsOverCannotRegisterOrFinish) {
  const ApplicationId id = Start();
  const ApplicationAttemptId attempt = cluster_.Am(id).attempt;
  (void)cluster_.CallRm({}, yarn::KillApplicationRequest{.application = id});
  for (const yarn::RmRequest& request : {yarn::RmRequest(yarn::RegisterApplicationMasterRequest{}),
                                         yarn::RmRequest(yarn::FinishApplicationMasterRequest{})}) {
    const auto answer = cluster_.CallRm(As(attempt), request, *cluster_.Am(id).token);
    EXPECT_EQ(std::get<yarn::RpcError>(answer).code,
              RpcErrorCode::kInvalidApplicationMasterRequest);
    EXPECT_THAT(std::get<yarn::RpcError>(answer).message, HasSubstr("doesn't exist in cache"));
  }
}

// 2.9, AMRM roll-over: field 12 is repeated until the AM uses the new token; the old one dies at
// the activation.
TEST(MasterTokensTest, ANewAmRmTokenIsOfferedUntilItIsUsedAndTheOldOneDies) {
  FakeCluster cluster({.rm = {.am_expiry = 20s, .amrm_token_roll = 60s}});
  cluster.AddNode("n1", Amount(64, 16));
  cluster.RunFor(2s);
  const ApplicationId id = cluster.Submit();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.HasAm(id); }, 20s));
  ScriptedAm& am = cluster.Am(id);
  const yarn::Token old = *am.token;
  ASSERT_TRUE(cluster.RunUntil([&] { return !am.new_tokens.empty(); }, 70s));
  EXPECT_NE(*am.token, old);
  cluster.RunFor(5s);
  EXPECT_EQ(am.new_tokens.size(), 1U);
  const Caller caller{.kind = CallerKind::kAm, .user = {}, .attempt = am.attempt, .node = {}};
  // Until the activation the old token still opens the RM, and the new one is offered again.
  am.beats = false;
  cluster.RunFor(2s);
  const auto offered =
      cluster.CallRm(caller, yarn::AllocateRequest{.response_id = am.response_id}, old);
  EXPECT_TRUE(std::get<yarn::AllocateResponse>(offered).am_rm_token.has_value());
  ASSERT_TRUE(cluster.RunUntil(
      [&] {
        const auto refused = cluster.CallRm(caller, yarn::AllocateRequest{.response_id = 77}, old);
        return std::get<yarn::RpcError>(refused).code == RpcErrorCode::kInvalidToken;
      },
      40s));
}

}  // namespace
}  // namespace tfyarn::fakes::masters_test
