// An RM dies and another takes over (10.5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::restart_test {
namespace {

using ::testing::HasSubstr;
using yarn::RpcErrorCode;

class RestartTest : public ::testing::TestWithParam<bool> {
 protected:
  RestartTest() : cluster_({.rm = {.work_preserving_restart = GetParam()}}) {
    for (int i = 1; i <= 3; ++i) cluster_.AddNode("n" + std::to_string(i), Amount(64, 16, 8));
    cluster_.RunFor(2s);
    app_ = cluster_.Submit();
    EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(app_); }, 10s));
    am().next.ask = {Ask(3, Amount(1, 1, 1))};
    EXPECT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 3; }, 20s));
    cluster_.RunFor(3s);
  }
  ScriptedAm& am() { return cluster_.Am(app_); }
  void Restart(Duration down) {
    cluster_.StopRm();
    cluster_.RunFor(down);
    cluster_.StartRm();
  }
  FakeCluster cluster_;
  ApplicationId app_;
};

using WorkPreservingTest = RestartTest;

TEST_P(WorkPreservingTest, ContainersRunOnAndTheAmRegistersAgain) {
  // One more is granted but not started when the RM dies.
  am().starts_containers = false;
  am().next.ask = {Ask(1, Amount(2, 1, 1), 2)};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 4; }, 20s));
  const yarn::Container unstarted = am().granted[3];
  Restart(15s);
  cluster_.RunFor(1100ms);
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kApplicationMasterNotRegistered);
  am().registered = false;
  am().next = {};
  cluster_.AmBeatsNow(app_);
  EXPECT_TRUE(am().registered);
  EXPECT_TRUE(am().registration.containers_from_previous_attempts.empty());

  cluster_.RunFor(5s);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(cluster_.Runs(am().granted[static_cast<std::size_t>(i)].id));
  EXPECT_EQ(cluster_.rm().books().applications.at(app_)->containers.size(), 4U);  // AM and three

  const auto refused = cluster_.CallNm(
      unstarted.node, am().attempt, am().nm_tokens.at(unstarted.node),
      yarn::StartContainersRequest{
          .containers = {
              {.container = unstarted.id, .container_token = unstarted.token, .context = {}}}});
  const auto& failed = std::get<yarn::StartContainersResponse>(refused).failed.at(0);
  EXPECT_EQ(failed.error.code, RpcErrorCode::kInvalidContainer);
  EXPECT_THAT(failed.error.message, HasSubstr("rejected as it is allocated by a previous RM"));

  // New grants carry the epoch and count from 1; tokens are sent again.
  am().nm_tokens.clear();
  am().next.ask = {Ask(1, Amount(2, 1, 1), 2)};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 5; }, 20s));
  EXPECT_EQ(ToString(am().granted[4].id), "container_e01_0_0001_01_000001");
  EXPECT_EQ(am().nm_tokens.size(), 1U);

  // Ends of old containers arrive as usual; the lost one is never reported.
  cluster_.Exit(am().granted[0].id, 0);
  cluster_.RunFor(5s);
  ASSERT_EQ(am().completed.size(), 1U);
  EXPECT_EQ(am().completed[0].id, am().granted[0].id);
}

TEST_P(WorkPreservingTest, NothingIsScheduledUntilAllNodesAreBackOrTheWaitIsOver) {
  cluster_.StopNm({"n3", 45454});
  Restart(2s);
  const Instant back = cluster_.now();
  am().registered = false;
  am().next = {};
  cluster_.AmBeatsNow(app_);
  cluster_.AmBeatsNow(app_);
  EXPECT_TRUE(IsZero(am().last->limit));
  EXPECT_EQ(am().registration.maximum_capability.gpus, INT64_MAX);
  am().next.ask = {Ask(1, Amount(1, 1, 1), 2)};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 4; }, 60s));
  EXPECT_GE(cluster_.now(), back + 10s);
  EXPECT_LE(cluster_.now(), back + 12s);
}

// Its types are settings of the ResourceManager; here they are known by the nodes that have them.
TEST(ResourceTypesAfterARestart, AreKnownBeforeTheirNodesAreBack) {
  FakeCluster cluster({.rm = {.work_preserving_restart = true}});
  Resource with_fpga = Amount(64, 16, 8);
  with_fpga.Set("fpga", 2);
  cluster.AddNode("n1", with_fpga);
  cluster.RunFor(2s);
  const ApplicationId app = cluster.Submit();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.HasAm(app); }, 10s));
  ScriptedAm& am = cluster.Am(app);
  ASSERT_TRUE(cluster.RunUntil([&] { return am.registered; }, 10s));
  cluster.StopRm();
  cluster.StartRm();
  am.registered = false;
  am.next = {};
  cluster.AmBeatsNow(app);
  ASSERT_TRUE(am.registered);
  Resource wanted = Amount(1, 1, 0);
  wanted.Set("fpga", 1);
  am.next.ask = {Ask(1, wanted)};
  cluster.AmBeatsNow(app);
  ASSERT_TRUE(cluster.RunUntil([&] { return am.granted.size() == 1; }, 20s));
  EXPECT_EQ(am.granted[0].resource.others, wanted.others);
}

TEST_P(WorkPreservingTest, WhatEndedMeanwhileIsReportedToTheNewRm) {
  cluster_.StopRm();
  cluster_.RunFor(3s);
  cluster_.Exit(am().granted[1].id, 7);
  cluster_.RunFor(3s);
  cluster_.StartRm();
  cluster_.RunFor(2s);
  am().registered = false;
  am().next = {};
  cluster_.AmBeatsNow(app_);
  cluster_.RunFor(5s);
  ASSERT_EQ(am().completed.size(), 1U);
  EXPECT_EQ(am().completed[0].exit_status, 7);
}

TEST_P(WorkPreservingTest, OnlyTheFirstRegistrationBringsContainersBack) {
  am().starts_containers = false;
  am().next.ask = {Ask(1, Amount(2, 1, 1), 2)};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 4; }, 20s));
  const yarn::Container late = am().granted[3];
  Restart(15s);
  cluster_.RunFor(1100ms);
  // The answer to its registration was lost; the node has started one more for the AM since, and
  // registers again.
  cluster_.CallRm({}, yarn::RegisterNodeManagerRequest{
                          .node = late.node,
                          .rack = "/r1",
                          .resource = Amount(64, 16, 8),
                          .containers = {{.id = late.id, .resource = Amount(2, 1, 1)}},
                          .running_applications = {app_}});
  EXPECT_EQ(cluster_.rm().books().applications.at(app_)->containers.count(late.id), 0U);
  const auto answer = cluster_.CallRm({}, yarn::NodeHeartbeatRequest{.node = late.node});
  EXPECT_EQ(std::get<yarn::NodeHeartbeatResponse>(answer).containers_to_cleanup,
            std::vector<ContainerId>{late.id});
}

TEST_P(WorkPreservingTest, AnAmThatEndedMeanwhileIsReplaced) {
  cluster_.StopRm();
  cluster_.Exit(am().container, 1);
  cluster_.RunFor(3s);
  cluster_.StartRm();
  EXPECT_TRUE(
      cluster_.RunUntil([&] { return cluster_.HasAm(app_) && am().attempt.attempt == 2; }, 30s));
}

TEST_P(WorkPreservingTest, EndedAndWaitingApplicationsAreRemembered) {
  const ApplicationId failed = cluster_.Submit({.queue = "nope"});
  cluster_.StopNm({"n1", 45454});
  cluster_.StopNm({"n2", 45454});
  cluster_.StopNm({"n3", 45454});
  const ApplicationId waiting = cluster_.Submit();
  Restart(5s);
  EXPECT_EQ(cluster_.Report(failed).state, yarn::YarnApplicationState::kFailed);
  EXPECT_EQ(cluster_.Report(waiting).state, yarn::YarnApplicationState::kAccepted);
  cluster_.StartNm({"n1", 45454});
  EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(waiting); }, 30s))
      << cluster_.Report(waiting).diagnostics << cluster_.log().back();
}

INSTANTIATE_TEST_SUITE_P(Restart, WorkPreservingTest, ::testing::Values(true));

class ColdRestartTest : public RestartTest {};

TEST_P(ColdRestartTest, EverythingIsKilledAndTheAmStartsAgainWithoutCountingAFailure) {
  const auto granted = am().granted;
  Restart(5s);
  ASSERT_TRUE(
      cluster_.RunUntil([&] { return cluster_.HasAm(app_) && am().attempt.attempt == 2; }, 60s));
  for (const auto& container : granted) EXPECT_FALSE(cluster_.Runs(container.id));
  Restart(5s);
  EXPECT_TRUE(
      cluster_.RunUntil([&] { return cluster_.HasAm(app_) && am().attempt.attempt == 3; }, 60s));
}

INSTANTIATE_TEST_SUITE_P(Restart, ColdRestartTest, ::testing::Values(false));

}  // namespace
}  // namespace tfyarn::fakes::restart_test
