// Nodes and NodeManagers: loss, restart, decommission, health; and what an NM accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::nodes_test {
namespace {

using ::testing::HasSubstr;
using yarn::RpcErrorCode;

class NodesTest : public ::testing::Test {
 protected:
  explicit NodesTest(RmOptions rm = {}) : cluster_({.rm = std::move(rm)}) {
    a_ = cluster_.AddNode("a", Amount(64, 16, 8));
    cluster_.RunFor(2s);
    app_ = cluster_.Submit();
    EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(app_); }, 10s));  // the AM is on a
    b_ = cluster_.AddNode("b", Amount(64, 16, 8));
    cluster_.RunFor(2s);
    am().next.blacklist_additions = {"a"};
  }
  ScriptedAm& am() { return cluster_.Am(app_); }
  void FillB(std::int32_t count, bool start = true) {
    am().starts_containers = start;
    am().next.ask = {Ask(count, Amount(1, 1, 1))};
    ASSERT_TRUE(cluster_.RunUntil(
        [&] { return static_cast<std::int32_t>(am().granted.size()) == count; }, 60s));
    cluster_.RunFor(3s);
  }
  yarn::NmResponse Start(const yarn::Container& container, yarn::Token token) {
    return cluster_.CallNm(
        container.node, am().attempt, token,
        yarn::StartContainersRequest{
            .containers = {
                {.container = container.id, .container_token = container.token, .context = {}}}});
  }
  yarn::RpcError FailedStart(const yarn::Container& container) {
    return std::get<yarn::StartContainersResponse>(
               Start(container, am().nm_tokens.at(container.node)))
        .failed.at(0)
        .error;
  }
  FakeCluster cluster_;
  NodeId a_;
  NodeId b_;
  ApplicationId app_;
};

// 10.6: not back before the expiry.
TEST_F(NodesTest, ANodeThatComesBackAfterItsLossIsToldToKillWhatItRan) {
  FillB(2);
  const auto granted = am().granted;
  cluster_.StopNm(b_);
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 2; }, 700s));
  EXPECT_EQ(am().completed[0].exit_status, -100);
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kLost);
  for (const auto& container : granted)
    EXPECT_TRUE(cluster_.Runs(container.id));  // processes run on
  cluster_.StartNm(b_);
  cluster_.RunFor(5s);
  for (const auto& container : granted) EXPECT_FALSE(cluster_.Runs(container.id));
  EXPECT_EQ(am().completed.size(), 2U);
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kRunning);
}

// RMAppImpl takes node updates in every state before its end, and the first answers bring them.
TEST_F(NodesTest, AnAmIsToldOfNodesThatCameAfterItsSubmission) {
  const ApplicationId later = cluster_.Submit();
  const NodeId c = cluster_.AddNode("c", Amount(64, 16, 8));
  cluster_.RunFor(1ms);
  ASSERT_FALSE(cluster_.HasAm(later));
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(later); }, 10s));
  cluster_.RunFor(2s);
  const auto& told = cluster_.Am(later).updated_nodes;
  EXPECT_EQ(
      std::count_if(told.begin(), told.end(), [&](const auto& node) { return node.node == c; }), 1);
}

// 10.6: back before the expiry; an exit code reached meanwhile is reported correctly.
TEST_F(NodesTest, TheBooksNameEachPartition) {
  using ::testing::ElementsAre;
  EXPECT_THAT(cluster_.rm().books().partitions, ElementsAre(""));
  cluster_.AddNode("c", Amount(64, 16, 8), "gpu");
  cluster_.RunFor(2s);
  EXPECT_THAT(cluster_.rm().books().partitions, ElementsAre("", "gpu"));
}

TEST_F(NodesTest, AnNmRestartLosesNothing) {
  FillB(2);
  const auto granted = am().granted;
  cluster_.StopNm(b_);
  cluster_.RunFor(15s);
  cluster_.Exit(granted[0].id, 9);
  cluster_.RunFor(1s);
  cluster_.StartNm(b_);
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 1; }, 10s));
  EXPECT_EQ(am().completed[0].exit_status, 9);
  EXPECT_TRUE(cluster_.Runs(granted[1].id));
  yarn::GetContainerStatusesRequest ask{.containers = {granted[1].id}};
  const auto status = cluster_.CallNm(b_, am().attempt, am().nm_tokens.at(b_), ask);
  EXPECT_EQ(std::get<yarn::GetContainerStatusesResponse>(status).statuses.at(0).state,
            yarn::ContainerState::kRunning);
  EXPECT_EQ(cluster_.rm().books().applications.at(app_)->containers.size(), 2U);
}

TEST_F(NodesTest, TheTokenOfANodeThatRegistersAgainComesAgain) {
  FillB(1);
  am().starts_containers = false;
  for (const bool registers : {false, true}) {
    if (registers) {
      cluster_.StopNm(b_);
      cluster_.RunFor(5s);
      cluster_.StartNm(b_);
      cluster_.RunFor(3s);
    }
    am().nm_tokens.clear();
    const std::size_t granted = am().granted.size();
    am().next.ask = {Ask(1, Amount(1, 1, 1))};
    ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() > granted; }, 10s));
    EXPECT_EQ(am().nm_tokens.contains(b_), registers);
  }
}

// Contract: Failures.ANodeManagerThatComesBackInTimeLostNothingButWhatKilledItsContainers.
TEST_F(NodesTest, ARestartedNmDoesNotKnowWhatKilledItsContainersNorThatItStoppedThem) {
  FillB(3);
  const auto granted = am().granted;
  cluster_.StopNm(b_);
  cluster_.RunFor(1s);
  cluster_.Exit(granted[0].id, 137);
  cluster_.StartNm(b_);
  cluster_.RunFor(5s);
  cluster_.Exit(granted[1].id, 139);
  (void)cluster_.CallNm(b_, am().attempt, am().nm_tokens.at(b_),
                        yarn::StopContainersRequest{.containers = {granted[2].id}});
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 3; }, 10s));
  std::map<ContainerId, std::int32_t> exits;
  for (const auto& status : am().completed) exits[status.id] = status.exit_status;
  EXPECT_EQ(exits[granted[0].id], 154);
  EXPECT_EQ(exits[granted[1].id], 154);
  EXPECT_EQ(exits[granted[2].id], 143);
}

TEST_F(NodesTest, AnUnhealthyNodeLosesItsContainersAndComesBackHealthy) {
  FillB(2);
  cluster_.StepNm(b_, HealthChanged{.healthy = false, .report = "disk"});
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 2; }, 5s));
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kUnhealthy);
  cluster_.RunFor(5s);
  EXPECT_TRUE(cluster_.nm(b_).registered());
  cluster_.StepNm(b_, HealthChanged{});
  am().next.ask = {Ask(1, Amount(1, 1, 1))};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 3; }, 10s));
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kRunning);
}

// It reports an end once: what the RM does not answer then would stay with the node.
TEST_F(NodesTest, AnUnhealthyNodeMayForgetTheContainersThatItReportsAsEnded) {
  FillB(2);
  cluster_.StepNm(b_, HealthChanged{.healthy = false, .report = "disk"});
  cluster_.RunFor(5s);
  EXPECT_EQ(cluster_.rm().books().nodes.at(1)->state, yarn::NodeState::kUnhealthy);
  EXPECT_TRUE(cluster_.nm(b_).containers().empty());
}

TEST_F(NodesTest, ADecommissionedNodeIsShutDownAndMayComeBackWhenAllowed) {
  FillB(2);
  cluster_.StepRm(DecommissionNode{.node = b_});
  cluster_.RunFor(3s);
  EXPECT_EQ(am().completed.size(), 2U);
  EXPECT_TRUE(cluster_.nm(b_).is_shut_down());
  cluster_.StepNm(b_, NmStarted{});
  cluster_.RunFor(1s);
  EXPECT_TRUE(cluster_.nm(b_).is_shut_down());
  cluster_.StepRm(RecommissionNode{.node = b_});
  cluster_.StepNm(b_, NmStarted{});
  cluster_.RunFor(1s);
  EXPECT_TRUE(cluster_.nm(b_).registered());
}

// Source: RMNodeImpl.deactivateNode makes it inactive, and ResourceManager.NodeEventDispatcher
// passes the expiry of an inactive node on to no RMNode.
TEST_F(NodesTest, ASilentNodeThatIsDecommissionedIsNotLostInTheEnd) {
  const Duration expiry = RmOptions().nm_expiry;
  cluster_.RunFor(expiry / 2);
  cluster_.StopNm(b_);
  // The watch that began when it registered is over; that from its last heartbeat on goes on.
  cluster_.RunFor(expiry * 3 / 4);
  cluster_.StepRm(DecommissionNode{.node = b_});
  cluster_.RunFor(expiry / 2);
  EXPECT_EQ(cluster_.rm().books().nodes.at(1)->state, yarn::NodeState::kDecommissioned);
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kDecommissioned);
}

TEST_F(NodesTest, AGracefulDecommissionWaitsForTheNodesApplications) {
  FillB(1);
  cluster_.StepRm(DecommissionNode{.node = b_, .graceful = true});
  cluster_.RunFor(5s);
  EXPECT_TRUE(am().completed.empty());
  EXPECT_EQ(am().updated_nodes.back().state, yarn::NodeState::kDecommissioning);
  am().next.ask = {Ask(1, Amount(1, 1, 1))};
  cluster_.RunFor(10s);
  EXPECT_EQ(am().granted.size(), 1U);  // nothing new there, and a is blacklisted
  cluster_.FinishAm(app_, yarn::FinalApplicationStatus::kSucceeded);
  cluster_.RunFor(5s);
  EXPECT_TRUE(cluster_.nm(b_).is_shut_down());
}

// Source: DecommissioningNodesWatcher.java: a node whose timeout has passed is decommissioned.
TEST_F(NodesTest, TheEndOfAGracefulDecommissionsTimeEndsWhatRuns) {
  FillB(1);
  cluster_.StepRm(DecommissionNode{.node = b_, .graceful = true});
  cluster_.RunFor(5s);
  cluster_.StepRm(DecommissionNode{.node = b_, .graceful = false});
  cluster_.RunFor(3s);
  EXPECT_EQ(am().completed.size(), 1U);
  EXPECT_TRUE(cluster_.nm(b_).is_shut_down());
  EXPECT_FALSE(cluster_.Runs(am().granted.at(0).id));
}

// Source: ResourceTrackerService.registerNodeManager: the list of excluded hosts comes first.
TEST_F(NodesTest, ANodeThatIsExcludedBeforeItRegistersIsRefusedUntilItIsTakenIn) {
  const NodeId c{.host = "c", .port = b_.port};
  cluster_.StepRm(DecommissionNode{.node = c});
  cluster_.AddNode("c", Amount(64, 16, 8));
  cluster_.RunFor(2s);
  ASSERT_TRUE(cluster_.nm(c).is_shut_down());
  cluster_.StepRm(RecommissionNode{.node = c});
  cluster_.StepNm(c, NmStarted{});
  cluster_.RunFor(2s);
  EXPECT_TRUE(cluster_.nm(c).registered());
}

TEST_F(NodesTest, ACapacityThatChangesWhileTheNodeRegistersIsToldNext) {
  cluster_.StepNm(b_, CapacityChanged{.capacity = Amount(64, 16, 4)});
  cluster_.StepNm(b_, CapacityChanged{.capacity = Amount(64, 16, 6)});
  cluster_.RunFor(3s);
  EXPECT_EQ(cluster_.rm().books().nodes.at(1)->capacity.gpus, 6);
}

TEST_F(NodesTest, ALostGpuIsToldByRegisteringAgainAndContainersStay) {
  FillB(8);
  cluster_.StepNm(b_, CapacityChanged{.capacity = Amount(64, 16, 4)});
  cluster_.RunFor(3s);
  EXPECT_TRUE(am().completed.empty());
  const BookedNode* node = cluster_.rm().books().nodes.at(1);
  EXPECT_EQ(node->capacity.gpus, 4);
  EXPECT_EQ(node->free.gpus, -4);
}

TEST_F(NodesTest, AnNmThatMissedAnAnswerBeatsAgainUnderTheSameId) {
  // The RM answers a repeated id with what it said before; an older one is too far behind.
  const auto beat = [&](std::int32_t id) {
    return std::get<yarn::NodeHeartbeatResponse>(
        cluster_.CallRm({.kind = CallerKind::kNm, .user = {}, .attempt = {}, .node = a_},
                        yarn::NodeHeartbeatRequest{.node = a_, .response_id = id}));
  };
  const NodeId c{"c", 1};
  EXPECT_EQ(std::get<yarn::NodeHeartbeatResponse>(
                cluster_.CallRm({.kind = CallerKind::kNm, .user = {}, .attempt = {}, .node = c},
                                yarn::NodeHeartbeatRequest{.node = c}))
                .action,
            yarn::NodeAction::kResync);
  cluster_.StopNm(a_);
  cluster_.RunFor(1s);
  std::int32_t id = 0;
  while (beat(id).action == yarn::NodeAction::kNormal && beat(id).response_id != id + 1) ++id;
  EXPECT_EQ(beat(id + 40).action, yarn::NodeAction::kResync);
}

// ---------------------------------------------------------------- what an NM accepts (3.6)

TEST_F(NodesTest, StartingTwiceIsRefused) {
  FillB(1);
  EXPECT_THAT(FailedStart(am().granted[0]).message,
              HasSubstr("Attempt to relaunch the same container with id"));
}

TEST_F(NodesTest, ATokenOfAnotherNodeOpensNothing) {
  FillB(1, false);
  yarn::Container container = am().granted[0];
  container.node = a_;
  const auto answer = Start(container, am().nm_tokens.at(b_));
  EXPECT_EQ(std::get<yarn::RpcError>(answer).code, RpcErrorCode::kInvalidToken);
  EXPECT_THAT(std::get<yarn::RpcError>(answer).message,
              HasSubstr("is not valid for current node manager.expected : a"));
}

TEST_F(NodesTest, AnExpiredContainerTokenIsRefused) {
  FillB(1, false);
  cluster_.StepNm(b_, ClockChanged{.offset = 601s});
  EXPECT_THAT(FailedStart(am().granted[0]).message, HasSubstr("This token is expired"));
}

// A bad container token ends the call; entries before it are started, those behind it are not.
TEST_F(NodesTest, ABadContainerTokenAbortsTheCallInTheMiddle) {
  FillB(3, false);
  yarn::StartContainersRequest start;
  for (const auto& container : am().granted) {
    start.containers.push_back(
        {.container = container.id, .container_token = container.token, .context = {}});
  }
  start.containers[1].container_token.serial ^= 1;
  const auto answer = cluster_.CallNm(b_, am().attempt, am().nm_tokens.at(b_), start);
  EXPECT_EQ(std::get<yarn::RpcError>(answer).code, RpcErrorCode::kInvalidToken);
  EXPECT_EQ(cluster_.nm(b_).containers().count(am().granted[0].id), 1U);
  EXPECT_EQ(cluster_.nm(b_).containers().count(am().granted[1].id), 0U);
  EXPECT_EQ(cluster_.nm(b_).containers().count(am().granted[2].id), 0U);
}

TEST_F(NodesTest, AStoppedContainerEndsByTermOrByKillAndReportsMinus105) {
  FillB(2);
  cluster_.ignores_term.insert(am().granted[1].id);
  yarn::StopContainersRequest stop{.containers = {am().granted[0].id,
                                                  am().granted[1].id,
                                                  {.application_attempt = am().attempt, .id = 99}}};
  const auto answer = std::get<yarn::StopContainersResponse>(
      cluster_.CallNm(b_, am().attempt, am().nm_tokens.at(b_), stop));
  EXPECT_EQ(answer.succeeded.size(), 2U);
  EXPECT_THAT(answer.failed.at(0).error.message, HasSubstr("is not handled by this NodeManager"));
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 2; }, 5s));
  for (const auto& status : am().completed) EXPECT_EQ(status.exit_status, -105);
  EXPECT_THAT(am().completed[0].diagnostics, HasSubstr("Exit code is 143"));
  EXPECT_THAT(am().completed[1].diagnostics, HasSubstr("Exit code is 137"));
}

TEST_F(NodesTest, WhatRunsWhenItsApplicationIsOverIsKilledAndTheApplicationForgotten) {
  FillB(2);
  cluster_.ignores_term.insert(am().granted[1].id);
  cluster_.FinishAm(app_, yarn::FinalApplicationStatus::kSucceeded);
  cluster_.RunFor(10s);
  for (const yarn::Container& container : am().granted) EXPECT_FALSE(cluster_.Runs(container.id));
  EXPECT_TRUE(cluster_.nm(b_).containers().empty());
  EXPECT_TRUE(cluster_.nm(b_).state().applications.empty());
}

// An exit is reported out of turn: the AM's poll is the whole delay.
TEST_F(NodesTest, AnExitIsReportedAtOnce) {
  FillB(1);
  cluster_.Exit(am().granted[0].id, 3);
  cluster_.RunFor(2ms);
  EXPECT_EQ(cluster_.rm().books().applications.at(app_)->containers.size(), 1U);
}

TEST_F(NodesTest, AContainerThatTheRmAcknowledgedWasRecentlyStopped) {
  FillB(1);
  cluster_.Exit(am().granted[0].id, 0);
  cluster_.RunFor(5s);
  yarn::GetContainerStatusesRequest ask{.containers = {am().granted[0].id}};
  const auto answer = std::get<yarn::GetContainerStatusesResponse>(
      cluster_.CallNm(b_, am().attempt, am().nm_tokens.at(b_), ask));
  EXPECT_THAT(answer.failed.at(0).error.message, HasSubstr("was recently stopped on node manager"));
}

TEST_F(NodesTest, FailedLocalisationIsMinus1000) {
  am().next.ask = {Ask(1, Amount(1, 1, 1))};
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 1; }, 10s));
  cluster_.RunFor(10ms);
  cluster_.StepNm(b_, LocalizationFailed{.container = am().granted[0].id,
                                         .diagnostics = "changed on src filesystem"});
  ASSERT_TRUE(cluster_.RunUntil([&] { return am().completed.size() == 1; }, 5s));
  EXPECT_EQ(am().completed[0].exit_status, -1000);
  EXPECT_THAT(am().completed[0].diagnostics, HasSubstr("changed on src filesystem"));
}

// 2.9: an old NM token keeps opening an NM on which something was started with it; elsewhere it
// dies with the second roll.
TEST(NodeKeysTest, OldNmTokensOpenOnlyWhereTheyWereUsed) {
  FakeCluster cluster({.rm = {.nm_expiry = 20s, .nm_token_roll = 60s}});
  const NodeId a = cluster.AddNode("a", Amount(64, 16));
  const NodeId b = cluster.AddNode("b", Amount(64, 16));
  cluster.RunFor(2s);
  const ApplicationId id = cluster.Submit();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.HasAm(id); }, 10s));
  ScriptedAm& am = cluster.Am(id);
  am.starts_containers = false;
  am.next.ask = {Ask(8, Amount(1, 1))};
  ASSERT_TRUE(cluster.RunUntil([&] { return am.granted.size() == 8; }, 20s));
  ASSERT_EQ(am.nm_tokens.size(), 2U);
  const auto tokens = am.nm_tokens;
  const auto on_a = std::find_if(am.granted.begin(), am.granted.end(),
                                 [&](const auto& c) { return c.node == a; });
  (void)cluster.CallNm(
      a, am.attempt, tokens.at(a),
      yarn::StartContainersRequest{
          .containers = {{.container = on_a->id, .container_token = on_a->token, .context = {}}}});
  cluster.RunFor(200s);
  const yarn::GetContainerStatusesRequest ask{.containers = {on_a->id}};
  EXPECT_TRUE(std::holds_alternative<yarn::GetContainerStatusesResponse>(
      cluster.CallNm(a, am.attempt, tokens.at(a), ask)));
  const auto refused = cluster.CallNm(b, am.attempt, tokens.at(b), ask);
  EXPECT_THAT(std::get<yarn::RpcError>(refused).message,
              HasSubstr("seems to have been generated illegally."));
  // The first grant after a roll brings a new one.
  am.next.ask = {Ask(4, Amount(1, 1))};
  cluster.RunFor(10s);
  EXPECT_NE(am.nm_tokens.at(b), tokens.at(b));
  EXPECT_TRUE(std::holds_alternative<yarn::GetContainerStatusesResponse>(
      cluster.CallNm(b, am.attempt, am.nm_tokens.at(b), ask)));
  // And the container tokens of then are no longer good.
  const auto on_b = std::find_if(am.granted.begin(), am.granted.end(),
                                 [&](const auto& c) { return c.node == b; });
  const auto old = cluster.CallNm(
      b, am.attempt, am.nm_tokens.at(b),
      yarn::StartContainersRequest{
          .containers = {{.container = on_b->id, .container_token = on_b->token, .context = {}}}});
  EXPECT_THAT(std::get<yarn::RpcError>(old).message,
              HasSubstr("seems to have an illegally generated token."));
}

}  // namespace
}  // namespace tfyarn::fakes::nodes_test
