// Which application gets what: queues, limits, reservations, preemption, and the schedulers that
// YARN does not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::schedulers_test {
namespace {

class SchedulersTest : public ::testing::Test {
 protected:
  void Make(RmOptions rm, int nodes, Resource node, Resource am_node = Amount(64, 64)) {
    cluster_ = std::make_unique<FakeCluster>(ClusterOptions{.rm = std::move(rm)});
    for (int i = 1; i <= nodes; ++i) cluster_->AddNode("n" + std::to_string(i), node);
    // AMs have a node of their own.
    if (!IsZero(am_node)) cluster_->AddNode("am", am_node, "am");
    cluster_->RunFor(2s);
  }
  ApplicationId App(std::string queue = "default", std::string user = "u",
                    std::int32_t priority = 0) {
    const ApplicationId id = cluster_->Submit({.queue = std::move(queue),
                                               .priority = priority,
                                               .user = std::move(user),
                                               .am_node_label = "am"});
    EXPECT_TRUE(cluster_->RunUntil([&] { return cluster_->HasAm(id); }, 30s));
    return id;
  }
  void Want(const ApplicationId& id, std::int32_t count, Resource shape,
            std::int32_t priority = 1) {
    cluster_->Am(id).next.ask = {Ask(count, std::move(shape), priority)};
    cluster_->AmBeatsNow(id);
  }
  std::size_t Has(const ApplicationId& id) {
    return cluster_->rm().books().applications.at(id)->containers.size() - 1;
  }
  std::unique_ptr<FakeCluster> cluster_;
};

TEST_F(SchedulersTest, TheQueueThatUsesLeastOfItsCapacityIsServedFirst) {
  Make({.queues = {{.path = "root.a", .capacity_permille = 750, .user_limit_factor_permille = 9000},
                   {.path = "root.b",
                    .capacity_permille = 250,
                    .user_limit_factor_permille = 9000}}},
       4, Amount(16, 16, 10));
  const ApplicationId a = App("a");
  const ApplicationId b = App("b");
  Want(a, 100, Amount(1, 1, 1));
  Want(b, 100, Amount(1, 1, 1));
  cluster_->RunFor(30s);
  EXPECT_EQ(Has(a), 30U);
  EXPECT_EQ(Has(b), 10U);
}

TEST_F(SchedulersTest, AQueueNeverExceedsItsMaximum) {
  Make({.queues = {{.path = "root.a",
                    .capacity_permille = 250,
                    .max_capacity_permille = 500,
                    .user_limit_factor_permille = 9000}}},
       4, Amount(16, 16, 8));
  const ApplicationId a = App("a");
  Want(a, 100, Amount(1, 1, 1));
  cluster_->RunFor(40s);
  EXPECT_EQ(Has(a), 16U);
}

TEST_F(SchedulersTest, AUserIsLimitedToTheFactorTimesTheQueuesCapacity) {
  Make({.queues = {{.path = "root.a", .capacity_permille = 500}}}, 4, Amount(16, 16, 8));
  const ApplicationId a = App("a");
  Want(a, 100, Amount(1, 1, 1));
  cluster_->RunFor(40s);
  // As in YARN the container that crosses the limit is still granted.
  EXPECT_EQ(Has(a), 17U);
}

// Source: UsersManager.computeUserLimit. What those who want something have is theirs to share,
// beyond the least that each is sure of.
TEST_F(SchedulersTest, UsersWhoWantSomethingShareTheQueue) {
  Make({.queues = {{.path = "root.a", .capacity_permille = 1000, .user_limit_permille = 250}}}, 4,
       Amount(16, 16, 8));
  const ApplicationId a = App("a", "u");
  const ApplicationId b = App("a", "v");
  Want(a, 100, Amount(1, 1, 1));
  Want(b, 100, Amount(1, 1, 1));
  cluster_->RunFor(40s);
  // The container that crosses the limit is still granted.
  EXPECT_EQ(Has(a), 17U);
  EXPECT_EQ(Has(b), 15U);
}

TEST_F(SchedulersTest, WithinAQueueEarlierSubmissionsAndHigherPrioritiesGoFirst) {
  Make({}, 1, Amount(64, 64, 8));
  const ApplicationId first = App();
  const ApplicationId second = App();
  const ApplicationId urgent = App("default", "u", 5);
  const ApplicationId filler = App();
  Want(filler, 8, Amount(1, 1, 1));
  cluster_->RunFor(10s);
  ASSERT_EQ(Has(filler), 8U);
  Want(second, 2, Amount(1, 1, 1));
  Want(first, 2, Amount(1, 1, 1));
  Want(urgent, 2, Amount(1, 1, 1));
  cluster_->RunFor(2s);
  for (int i = 0; i < 4; ++i) {
    cluster_->Exit(cluster_->Am(filler).granted[static_cast<std::size_t>(i)].id, 0);
    cluster_->RunFor(3s);
  }
  EXPECT_EQ(Has(urgent), 2U);
  EXPECT_EQ(Has(first), 2U);
  EXPECT_EQ(Has(second), 0U);
}

TEST_F(SchedulersTest, OnlySoManyAmsAreActive) {
  Make({.queues = {{.path = "root.a", .capacity_permille = 1000, .am_share_permille = 100}}}, 1,
       Amount(20, 20), Resource{});
  std::vector<ApplicationId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(cluster_->Submit({.queue = "a"}));
  cluster_->RunFor(20s);
  EXPECT_TRUE(cluster_->HasAm(ids[0]));
  EXPECT_TRUE(cluster_->HasAm(ids[1]));
  EXPECT_FALSE(cluster_->HasAm(ids[2]));
  EXPECT_EQ(cluster_->Report(ids[2]).diagnostics,
            "Application is added to the scheduler and is not yet activated.");
  cluster_->FinishAm(ids[0], yarn::FinalApplicationStatus::kSucceeded);
  EXPECT_TRUE(cluster_->RunUntil([&] { return cluster_->HasAm(ids[2]); }, 20s));
  EXPECT_FALSE(cluster_->HasAm(ids[3]));
}

// Source: AbstractLeafQueue.calculateAndGetAMResourceLimitPerPartition. The queue's maximum counts
// in the default partition only.
TEST_F(SchedulersTest, OnlySoManyAmsAreActiveInAPartition) {
  Make({.queues = {{.path = "root.a", .capacity_permille = 1000, .am_share_permille = 100}}}, 4,
       Amount(64, 64), Amount(20, 20));
  std::vector<ApplicationId> ids;
  for (const char* user : {"u", "v", "w"})
    ids.push_back(cluster_->Submit({.queue = "a", .user = user, .am_node_label = "am"}));
  cluster_->RunFor(20s);
  EXPECT_TRUE(cluster_->HasAm(ids[1]));
  EXPECT_FALSE(cluster_->HasAm(ids[2]));
}

// Without reservations a large container would wait for ever behind small ones.
TEST_F(SchedulersTest, ANodeIsKeptForALargeContainer) {
  Make({}, 1, Amount(64, 64, 8));
  const ApplicationId small = App();
  const ApplicationId large = App();
  Want(small, 8, Amount(1, 1, 1));
  cluster_->RunFor(10s);
  Want(large, 1, Amount(1, 1, 8));
  cluster_->RunFor(3s);
  const ApplicationId later = App();
  Want(later, 8, Amount(1, 1, 1));
  const auto running = cluster_->Am(small).granted;
  for (const auto& container : running) {
    cluster_->Exit(container.id, 0);
    cluster_->RunFor(2s);
  }
  EXPECT_EQ(Has(large), 1U);
  EXPECT_EQ(Has(later), 0U);
}

TEST_F(SchedulersTest, AKeptNodeIsGivenUpWhenThereIsRoomElsewhere) {
  Make({}, 2, Amount(64, 64, 8));
  const ApplicationId filler = App();
  Want(filler, 16, Amount(1, 1, 1));
  cluster_->RunFor(20s);
  const ApplicationId large = App();
  Want(large, 1, Amount(1, 1, 8));
  cluster_->RunFor(5s);
  // One node is kept; the other becomes free first.
  const auto all = cluster_->Am(filler).granted;
  for (const auto& container : all) {
    if (container.node.host == "n2") cluster_->Exit(container.id, 0);
  }
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(large), 1U);
  Want(filler, 8, Amount(1, 1, 1));
  for (const auto& container : all) {
    if (cluster_->Runs(container.id)) cluster_->Exit(container.id, 0);
  }
  cluster_->RunFor(20s);
  EXPECT_EQ(Has(filler), 8U);  // no node is kept without an ask for it
}

/// Two queues that are to have half of the GPUs each.
class TwoHalvesTest : public SchedulersTest {
 protected:
  /// An application of the one that has taken them all.
  ApplicationId HasTakenAll() {
    Make({.queues =
              {{.path = "root.a", .capacity_permille = 500, .user_limit_factor_permille = 9000},
               {.path = "root.b", .capacity_permille = 500, .user_limit_factor_permille = 9000}},
          .preemption = true},
         2, Amount(64, 64, 8));
    const ApplicationId a = App("a");
    Want(a, 16, Amount(1, 1, 1));
    cluster_->RunFor(20s);
    return a;
  }
};

TEST_F(TwoHalvesTest, AStarvedQueueGetsItsShareBackByPreemption) {
  const ApplicationId a = HasTakenAll();
  ASSERT_EQ(Has(a), 16U);
  const ApplicationId b = App("b");
  Want(b, 20, Amount(1, 1, 1));
  cluster_->RunFor(8s);
  EXPECT_EQ(cluster_->Am(a).preempt_contract.size(), 8U);
  EXPECT_EQ(Has(a), 16U);
  cluster_->RunFor(30s);
  EXPECT_EQ(Has(a), 8U);
  EXPECT_EQ(Has(b), 8U);
  for (const auto& status : cluster_->Am(a).completed) EXPECT_EQ(status.exit_status, -102);
}

TEST_F(TwoHalvesTest, WhatAnEndedApplicationAskedForIsNotPreemptedFor) {
  const ApplicationId a = HasTakenAll();
  const ApplicationId ends = App("b");
  const ApplicationId stays = App("b");
  Want(ends, 1, Amount(1, 1, 1));
  (void)cluster_->CallRm({}, yarn::KillApplicationRequest{.application = ends});
  Want(stays, 1, Amount(1, 1, 1));
  cluster_->RunFor(40s);
  EXPECT_EQ(Has(a), 15U);
  EXPECT_EQ(Has(stays), 1U);
}

// ---------------------------------------------------------------- not YARN's

TEST_F(SchedulersTest, FifoGivesEachSlotToTheFirstThatCanUseIt) {
  Make({.scheduler = "fifo"}, 1, Amount(64, 64, 8));
  const ApplicationId first = App();
  const ApplicationId second = App();
  Want(first, 6, Amount(1, 1, 2));
  Want(second, 3, Amount(1, 1, 1));
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(first), 4U);
  EXPECT_EQ(Has(second), 0U);
  cluster_->Exit(cluster_->Am(first).granted[0].id, 0);
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(first), 4U);
  Want(first, 0, Amount(1, 1, 2));
  cluster_->Exit(cluster_->Am(first).granted[1].id, 0);
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(second), 2U);
}

TEST_F(SchedulersTest, AHostOfWhichNoneIsWantedAnyMoreGivesNone) {
  Make({.scheduler = "fifo"}, 1, Amount(64, 64, 8));
  const ApplicationId app = App();
  for (const std::int32_t at_host : {0, 1}) {
    auto any = Ask(1, Amount(1, 1, 1));
    any.relax_locality = false;
    auto rack = any;
    rack.resource_name = "/r1";
    auto host = any;
    host.resource_name = "n1";
    host.relax_locality = true;
    host.num_containers = at_host;
    cluster_->Am(app).next.ask = {any, rack, host};
    cluster_->RunFor(5s);
    EXPECT_EQ(Has(app), static_cast<std::size_t>(at_host));
  }
}

TEST_F(SchedulersTest, GangGivesAllOrNothingInOrderOfSubmission) {
  Make({.scheduler = "gang"}, 2, Amount(64, 64, 8));
  const ApplicationId first = App();
  const ApplicationId second = App();
  const ApplicationId third = App();
  Want(first, 10, Amount(1, 1, 1));
  cluster_->RunFor(1s);
  EXPECT_EQ(Has(first), 10U);
  Want(second, 8, Amount(1, 1, 1));
  Want(third, 2, Amount(1, 1, 1));
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(second), 0U);
  EXPECT_EQ(Has(third), 0U);  // no backfill
  for (int i = 0; i < 2; ++i)
    cluster_->Exit(cluster_->Am(first).granted[static_cast<std::size_t>(i)].id, 0);
  cluster_->RunFor(5s);
  EXPECT_EQ(Has(second), 8U);
  EXPECT_EQ(Has(third), 0U);
}

// J gangs of k, G slots, each to a uniformly random gang: P(no gang completes) = G! [x^G]
// (sum_{i<k} x^i/i!)^J / J^G. Here J = 2, k = 4, G = 5: 0.625.
TEST_F(SchedulersTest, UniformReproducesTheProbabilityOfHoldAndWaitDeadlock) {
  int deadlocks = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    RmOptions options{.scheduler = "uniform"};
    ResourceManager rm(options, static_cast<std::uint64_t>(run));
    std::vector<RmAction> actions;
    const auto call = [&](Caller caller, yarn::RmRequest request) {
      rm.Step(
          Instant{},
          RmCall{.id = 1, .caller = std::move(caller), .token = {}, .request = std::move(request)},
          actions);
    };
    const auto pass = [&] {
      while (rm.next_deadline() == Instant{}) rm.Step(Instant{}, RmDeadlineReached{}, actions);
    };
    call({}, yarn::RegisterNodeManagerRequest{.node = {"am", 1},
                                              .rack = "/r",
                                              .partition = "am",
                                              .resource = Amount(8, 8),
                                              .containers = {},
                                              .running_applications = {}});
    call({}, yarn::RegisterNodeManagerRequest{.node = {"n", 1},
                                              .rack = "/r",
                                              .partition = "",
                                              .resource = Amount(64, 64, 5),
                                              .containers = {},
                                              .running_applications = {}});
    std::vector<ApplicationAttemptId> attempts;
    for (std::int32_t i = 1; i <= 2; ++i) {
      call({}, yarn::SubmitApplicationRequest{.application = {0, i},
                                              .user = "u",
                                              .am_container = {},
                                              .am_resource = Amount(1, 1),
                                              .am_node_label = "am",
                                              .tags = {}});
      attempts.push_back({.application = {0, i}, .attempt = 1});
    }
    pass();
    for (const auto& attempt : attempts) {
      const Caller am{.kind = CallerKind::kAm, .user = {}, .attempt = attempt, .node = {}};
      call(am, yarn::RegisterApplicationMasterRequest{});
      yarn::AllocateRequest allocate;
      allocate.ask = {Ask(4, Amount(1, 1, 1))};
      call(am, allocate);
    }
    pass();
    bool complete = false;
    for (const auto& [id, application] : rm.books().applications)
      complete |= application->containers.size() == 5;
    deadlocks += complete ? 0 : 1;
  }
  const double p = 0.625;
  const double sigma = std::sqrt(p * (1 - p) / kRuns);
  EXPECT_NEAR(static_cast<double>(deadlocks) / kRuns, p, 3.5 * sigma);
}

}  // namespace
}  // namespace tfyarn::fakes::schedulers_test
