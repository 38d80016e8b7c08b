// What asks do, row by row as seen on a real CapacityScheduler (Hadoop 3.4.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::asks_test {
namespace {

using yarn::RpcErrorCode;

class AsksTest : public ::testing::Test {
 protected:
  AsksTest() : AsksTest(ClusterOptions{}) {}
  explicit AsksTest(ClusterOptions options) : cluster_(std::move(options)) {
    for (int i = 1; i <= 4; ++i) {
      cluster_.AddNode("n" + std::to_string(i), Amount(64, 16, 8), "", i % 2 == 0 ? "/r0" : "/r1");
    }
    cluster_.AddNode("g1", Amount(64, 16, 8), "gpu");
    cluster_.RunFor(2s);
    app_ = StartApp();
  }
  ApplicationId StartApp(std::string user = "u") {
    const ApplicationId id = cluster_.Submit({.user = std::move(user)});
    EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 20s));
    cluster_.Am(id).starts_containers = false;
    return id;
  }
  ScriptedAm& am() { return cluster_.Am(app_); }
  /// Sends rows now, in an allocate of their own.
  void Send(std::vector<yarn::ResourceRequest> rows) {
    am().next.ask = std::move(rows);
    am().error.reset();
    cluster_.AmBeatsNow(app_);
  }
  std::size_t GrantedAfter(Duration time) {
    cluster_.RunFor(time);
    return am().granted.size();
  }
  static yarn::ResourceRequest At(yarn::ResourceRequest row, std::string place, bool relax) {
    row.resource_name = std::move(place);
    row.relax_locality = relax;
    return row;
  }
  FakeCluster cluster_;
  ApplicationId app_;
};

// Row "count is absolute".
TEST_F(AsksTest, ACountReplacesTheOneBefore) {
  am().next.ask = {Ask(8, Amount(1, 1))};
  Send({Ask(8, Amount(1, 1))});
  Send({Ask(2, Amount(1, 1))});
  EXPECT_EQ(GrantedAfter(10s), 2U);
  Send({Ask(2, Amount(1, 1))});
  EXPECT_EQ(GrantedAfter(10s), 4U);
}

// Row "over-allocation race": the RM lowers a row when it allocates, the AM hears of it later.
TEST_F(AsksTest, AnUnchangedRowSentAgainBeforeItsGrantsArriveDoublesThem) {
  am().beats = false;
  cluster_.RunFor(2s);
  Send({Ask(3, Amount(1, 1))});
  cluster_.RunFor(3s);  // allocated, not delivered
  Send({Ask(3, Amount(1, 1))});
  EXPECT_EQ(am().granted.size(), 3U);
  cluster_.RunFor(3s);
  Send({});
  EXPECT_EQ(am().granted.size(), 6U);
}

TEST_F(AsksTest, WithdrawingDoesNotTakeBackWhatIsAlreadyAllocated) {
  am().beats = false;
  cluster_.RunFor(2s);
  Send({Ask(3, Amount(1, 1))});
  cluster_.RunFor(3s);
  Send({Ask(0, Amount(1, 1))});
  EXPECT_EQ(am().granted.size(), 3U);
}

// Row "negative num_containers": other applications of the queue get nothing until their asks
// outweigh the deficit.
TEST_F(AsksTest, ANegativeCountLowersTheQueuesPendingForGood) {
  Send({Ask(-3, Amount(1, 1))});
  EXPECT_FALSE(am().error.has_value());
  (void)cluster_.CallRm({}, yarn::KillApplicationRequest{.application = app_});
  cluster_.RunFor(2s);

  // Even an AM is not placed: one container is less than the deficit.
  const ApplicationId starved = cluster_.Submit();
  EXPECT_FALSE(cluster_.RunUntil([&] { return cluster_.HasAm(starved); }, 60s));
  // Asks of others fill it up.
  (void)cluster_.Submit();
  (void)cluster_.Submit();
  (void)cluster_.Submit();
  EXPECT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(starved); }, 60s));
}

// Row "row without priority".
TEST_F(AsksTest, ARowWithoutPriorityIsTakenAndEveryRowAfterItFails) {
  yarn::ResourceRequest row = Ask(1, Amount(1, 1));
  row.priority.reset();
  Send({row});
  EXPECT_FALSE(am().error.has_value());
  EXPECT_EQ(GrantedAfter(5s), 0U);
  Send({Ask(1, Amount(1, 1))});
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kNullPointer);
}

// Row "row without resource_name"; and: a failed allocate does not advance the response id.
TEST_F(AsksTest, ARowWithoutPlaceFailsTheWholeAllocate) {
  yarn::ResourceRequest row = Ask(1, Amount(1, 1));
  row.resource_name.clear();
  const std::int32_t id = am().response_id;
  Send({Ask(1, Amount(2, 1)), row});
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kNullPointer);
  EXPECT_EQ(am().response_id, id);
  am().next.ask.clear();
  EXPECT_EQ(GrantedAfter(5s),
            0U);  // beats go on under the same id, and the good row was not taken either
  EXPECT_GT(am().response_id, id);
}

TEST_F(AsksTest, ACapabilityAboveTheMaximumFailsTheWholeAllocate) {
  Send({Ask(1, Amount(1, 1)), Ask(1, Amount(65, 1), 2)});
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kInvalidResourceRequest);
  EXPECT_THAT(am().error->message, ::testing::HasSubstr("memory-mb"));
  am().next.ask.clear();
  EXPECT_EQ(GrantedAfter(5s), 0U);
}

// Row "two rows of one key, different sizes".
TEST_F(AsksTest, TheLastRowOfAKeyWins) {
  Send({Ask(3, Amount(8, 4)), Ask(1, Amount(2, 1))});
  ASSERT_EQ(GrantedAfter(5s), 1U);
  EXPECT_EQ(am().granted.front().resource, Amount(2, 1));
}

// Row "priority".
TEST_F(AsksTest, LowerPriorityNumbersAreServedFirstStrictly) {
  // The first can never be granted while the node's whole memory is elsewhere; those behind it
  // wait.
  Send({Ask(5, Amount(64, 16), 1), Ask(1, Amount(1, 1), 2)});
  cluster_.RunFor(10s);
  EXPECT_EQ(am().granted.size(), 3U);  // the AM's own node has no room, nor has the gpu partition's
  for (const yarn::Container& container : am().granted) EXPECT_EQ(container.priority, 1);
}

// Row "allocation_request_id".
TEST_F(AsksTest, RequestIdsOfOnePriorityAreServedInRisingOrder) {
  yarn::ResourceRequest second = Ask(1, Amount(2, 1));
  second.allocation_request_id = 9;
  yarn::ResourceRequest first = Ask(1, Amount(2, 1));
  first.allocation_request_id = 4;
  Send({second, first, Ask(1, Amount(2, 1))});
  ASSERT_EQ(GrantedAfter(10s), 3U);
  std::vector<std::int64_t> ids;
  for (const yarn::Container& container : am().granted)
    ids.push_back(container.allocation_request_id);
  EXPECT_THAT(ids, ::testing::ElementsAre(-1, 4, 9));
}

// Row "label".
TEST_F(AsksTest, ALabelMeansItsPartitionAndNoOther) {
  yarn::ResourceRequest row = Ask(2, Amount(2, 1));
  row.node_label_expression = "gpu";
  Send({row});
  ASSERT_EQ(GrantedAfter(10s), 2U);
  for (const yarn::Container& container : am().granted) EXPECT_EQ(container.node.host, "g1");
}

TEST_F(AsksTest, BadLabelsAreRefused) {
  for (const char* label : {"nope", "gpu&&nope"}) {
    yarn::ResourceRequest row = Ask(1, Amount(2, 1));
    row.node_label_expression = label;
    Send({row});
    ASSERT_TRUE(am().error.has_value()) << label;
    EXPECT_EQ(am().error->code, RpcErrorCode::kInvalidLabelResourceRequest);
  }
  yarn::ResourceRequest host = At(Ask(1, Amount(2, 1)), "g1", true);
  host.node_label_expression = "gpu";
  Send({host});
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kInvalidLabelResourceRequest);
}

// Row "strict host": all three rows, or nothing.
TEST_F(AsksTest, AStrictHostNeedsHostRackAndAnywhereRows) {
  const auto row = Ask(2, Amount(2, 1));
  Send({At(row, "n2", true)});
  EXPECT_EQ(GrantedAfter(5s), 0U);
  Send({At(row, "n2", true), At(row, "*", false)});
  EXPECT_EQ(GrantedAfter(5s), 0U);
  Send({At(row, "n2", true), At(row, "/r0", false), At(row, "*", false)});
  ASSERT_EQ(GrantedAfter(5s), 2U);
  for (const yarn::Container& container : am().granted) EXPECT_EQ(container.node.host, "n2");
}

TEST_F(AsksTest, AHostInAPartitionNeedsTheLabelOnTheAnywhereRowOnly) {
  auto any = At(Ask(1, Amount(2, 1)), "*", false);
  Send({At(Ask(1, Amount(2, 1)), "g1", true), At(Ask(1, Amount(2, 1)), "/r1", false), any});
  EXPECT_EQ(GrantedAfter(5s), 0U);
  any.node_label_expression = "gpu";
  Send({any});
  ASSERT_EQ(GrantedAfter(5s), 1U);
  EXPECT_EQ(am().granted.front().node.host, "g1");
}

// Row "grants per heartbeat": one container per node and heartbeat for "*", all at once for a host.
TEST_F(AsksTest, AnywhereYieldsOneContainerPerNodeAndHeartbeat) {
  Send({Ask(12, Amount(1, 1))});
  cluster_.RunFor(1s);
  EXPECT_EQ(am().granted.size() + cluster_.rm().books().applications.at(app_)->containers.size() -
                am().granted.size() - 1,
            4U);
  EXPECT_EQ(GrantedAfter(4s), 12U);
}

TEST_F(AsksTest, AHostsRowsAreGrantedInOneHeartbeat) {
  const auto row = Ask(9, Amount(1, 1));
  Send({At(row, "n3", true), At(row, "/r1", true), At(row, "*", true)});
  ASSERT_TRUE(cluster_.RunUntil([&] { return !am().granted.empty(); }, 10s));
  EXPECT_EQ(am().granted.size(), 9U);
}

TEST(AskOptionsTest, TheOffSwitchLimitCanBeRaised) {
  FakeCluster cluster({.rm = {.offswitch_per_heartbeat = 100}});
  cluster.AddNode("n1", Amount(64, 16));
  cluster.RunFor(2s);
  const ApplicationId id = cluster.Submit();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.HasAm(id); }, 20s));
  cluster.Am(id).next.ask = {Ask(6, Amount(1, 1))};
  cluster.AmBeatsNow(id);
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.Am(id).granted.empty(); }, 10s));
  EXPECT_EQ(cluster.Am(id).granted.size(), 6U);
}

TEST_F(AsksTest, ARelaxedHostAskGoesElsewhereAfterTheDelay) {
  Send({Ask(1, Amount(60, 1))});  // fills one node
  ASSERT_EQ(GrantedAfter(5s), 1U);
  const NodeId full = am().granted.front().node;
  const std::string rack = full.host == "n2" || full.host == "n4" ? "/r0" : "/r1";
  const auto row = Ask(1, Amount(32, 1), 2);
  Send({At(row, full.host, true), At(row, rack, true), At(row, "*", true)});
  EXPECT_TRUE(cluster_.RunUntil([&] { return am().granted.size() == 2; }, 60s));
  EXPECT_NE(am().granted.back().node, full);
}

// Row "blacklist".
TEST_F(AsksTest, ABlacklistedHostGetsNothingAndAPortMakesItAnotherName) {
  am().next.blacklist_additions = {"n1", "n2", "n3:45454"};
  Send({Ask(12, Amount(1, 1))});
  ASSERT_EQ(GrantedAfter(10s), 12U);
  std::set<std::string> hosts;
  for (const yarn::Container& container : am().granted) hosts.insert(container.node.host);
  EXPECT_THAT(hosts, ::testing::ElementsAre("n3", "n4"));
  am().next.blacklist_removals = {"n1"};
  am().next.blacklist_additions = {"n3", "n4"};
  Send({Ask(2, Amount(1, 1))});
  ASSERT_EQ(GrantedAfter(10s), 14U);
  EXPECT_EQ(am().granted.back().node.host, "n1");
}

TEST_F(AsksTest, AnywhereCannotBeBlacklisted) {
  am().next.blacklist_additions = {"*"};
  Send({});
  ASSERT_TRUE(am().error.has_value());
  EXPECT_EQ(am().error->code, RpcErrorCode::kInvalidResourceBlacklistRequest);
}

// Row "too big for the free space".
TEST_F(AsksTest, WhatDoesNotFitNowStaysPending) {
  Send({Ask(4, Amount(60, 1))});
  EXPECT_EQ(GrantedAfter(10s), 4U);
  Send({Ask(1, Amount(60, 1))});
  EXPECT_EQ(GrantedAfter(30s), 4U);
  am().next.release = {am().granted.front().id};
  cluster_.RunFor(5s);
  EXPECT_EQ(am().granted.size(), 5U);
}

TEST_F(AsksTest, AmountsAreRoundedUpToMultiplesOfTheMinimum) {
  Send({Ask(1, {.memory_mb = 1500, .vcores = 0, .gpus = 1, .others = {}})});
  ASSERT_EQ(GrantedAfter(5s), 1U);
  EXPECT_EQ(am().granted.front().resource, Amount(2, 1, 1));
}

TEST_F(AsksTest, ATypeThatTheRmDoesNotKnowIsDropped) {
  Resource asked = Amount(1, 1);
  asked.Set("yarn.io/nope", 2);
  Send({Ask(1, asked)});
  ASSERT_EQ(GrantedAfter(5s), 1U);
  EXPECT_EQ(am().granted.front().resource, Amount(1, 1));
}

TEST(AskOptionsTest, AKnownTypeIsCounted) {
  FakeCluster cluster(ClusterOptions{});
  Resource node = Amount(64, 16);
  node.Set("yarn.io/fpga", 2);
  cluster.AddNode("f1", node);
  cluster.RunFor(2s);
  const ApplicationId id = cluster.Submit();
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.HasAm(id); }, 20s));
  Resource asked = Amount(1, 1);
  asked.Set("yarn.io/fpga", 1);
  cluster.Am(id).next.ask = {Ask(3, asked)};
  cluster.RunFor(10s);
  EXPECT_EQ(cluster.Am(id).granted.size(), 2U);
}

}  // namespace
}  // namespace tfyarn::fakes::asks_test
