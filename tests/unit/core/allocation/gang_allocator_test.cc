#include "core/allocation/gang_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::allocation::gang_allocator_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Instant kStart{};
const Resource kSize{.memory_mb = 16384, .vcores = 4, .gpus = 8};

SlotRequest Slot(const std::string& type, std::int32_t index, std::int32_t priority = 1,
                 PlacementSpec placement = {}) {
  return {.task = {type, index},
          .resource = kSize,
          .placement = std::move(placement),
          .priority = priority};
}

std::vector<SlotRequest> Slots(const std::string& type, std::int32_t count,
                               std::int32_t priority = 1, const PlacementSpec& placement = {}) {
  std::vector<SlotRequest> slots;
  for (std::int32_t i = 0; i < count; ++i) slots.push_back(Slot(type, i, priority, placement));
  return slots;
}

ContainerId Id(std::int64_t id) {
  return {.application_attempt = {.application = {.id = 1}, .attempt = 1}, .id = id};
}

yarn::Container On(const Ask& ask, std::int64_t id, const std::string& host = "a") {
  return {.id = Id(id),
          .node = {host, 8041},
          .resource = ask.capability,
          .priority = ask.key.priority,
          .allocation_request_id = ask.key.allocation_request_id};
}

std::vector<yarn::NodeReport> Nodes(int count, int racks, std::int64_t gpus = 8) {
  std::vector<yarn::NodeReport> nodes;
  for (int i = 0; i < count; ++i) {
    nodes.push_back({.node = {std::string(1, static_cast<char>('a' + i)), 8041},
                     .rack = "/r" + std::to_string(i % racks),
                     .state = yarn::NodeState::kRunning,
                     .capability = {.memory_mb = 1 << 18, .vcores = 64, .gpus = gpus}});
  }
  return nodes;
}

GangAllocatorOptions Options(GangPolicy policy) {
  return {.gang = {.policy = policy}, .seed = 1};
}

// ---------------------------------------------------------------- asks and grants

TEST(GangAllocatorTest, OneAskPerTypeWithItsPriorityAndCount) {
  GangAllocator gang(Options(GangPolicy::kAll));
  std::vector<SlotRequest> slots = Slots("worker", 3, 2);
  slots.push_back(Slot("chief", 0, 1));
  gang.Want(kStart, slots);
  ASSERT_THAT(gang.asks(), SizeIs(2));
  EXPECT_EQ(gang.asks()[0].key.priority, 1);
  EXPECT_EQ(gang.asks()[0].count, 1);
  EXPECT_EQ(gang.asks()[1].key.priority, 2);
  EXPECT_EQ(gang.asks()[1].count, 3);
}

// The RM keeps the last row of a key, size included.
TEST(GangAllocatorTest, TwoSizesOfOneTypeHaveTwoKeys) {
  GangAllocator gang(Options(GangPolicy::kNone));
  std::vector<SlotRequest> slots = Slots("worker", 2);
  slots[1].resource.memory_mb *= 2;
  gang.Want(kStart, slots);
  ASSERT_THAT(gang.asks(), SizeIs(2));
  EXPECT_NE(gang.asks()[0].key, gang.asks()[1].key);
  const Ask large = gang.asks()[1];
  const std::vector<Grant> grants = gang.OnAllocated(kStart, {On(large, 1)});
  ASSERT_THAT(grants, SizeIs(1));
  EXPECT_EQ(grants[0].task.index, 1);
}

TEST(GangAllocatorTest, GrantsGoToTheLowestIndexAndCompleteTheGang) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 2));
  const Ask ask = gang.asks()[0];
  EXPECT_EQ(gang.OnAllocated(kStart, {On(ask, 1)})[0].task.index, 0);
  EXPECT_EQ(gang.asks()[0].count, 1);
  EXPECT_FALSE(gang.complete());
  EXPECT_EQ(gang.OnAllocated(kStart, {On(ask, 2)})[0].task.index, 1);
  EXPECT_TRUE(gang.complete());
  EXPECT_THAT(gang.asks(), IsEmpty());
  EXPECT_EQ(gang.next_deadline(), std::nullopt);
  EXPECT_EQ(gang.ContainerOf({"worker", 1})->id, Id(2));
}

TEST(GangAllocatorTest, WhatIsNotWantedIsReleasedAtOnceAndOnce) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetExcludedHosts({"bad"});
  gang.Want(kStart, Slots("worker", 2));
  const Ask ask = gang.asks()[0];
  yarn::Container small = On(ask, 3);
  small.resource.gpus = 4;
  yarn::Container stranger = On(ask, 4);
  stranger.priority = 9;
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 1), On(ask, 2, "bad"), small, stranger}),
              SizeIs(1));
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(2), Id(3), Id(4)));
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 5), On(ask, 6)}), SizeIs(1));
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(6)));
  // Told a second time: neither granted again nor taken from its task.
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 1), On(ask, 6)}), IsEmpty());
  EXPECT_THAT(gang.TakeReleases(), IsEmpty());
}

TEST(GangAllocatorTest, AContainerLostBeforeUseIsWantedAgainAndOneInUseIsNot) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 2));
  const Ask ask = gang.asks()[0];
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1), On(ask, 2)}));
  gang.Use({"worker", 0});
  EXPECT_EQ(gang.OnCompleted(kStart, Id(1)), CompletedContainer::kUsed);
  EXPECT_TRUE(gang.complete());
  EXPECT_EQ(gang.OnCompleted(kStart, Id(2)), CompletedContainer::kWantedAgain);
  EXPECT_EQ(gang.asks()[0].count, 1);
  EXPECT_EQ(gang.OnCompleted(kStart, Id(99)), CompletedContainer::kReleased);
  EXPECT_THAT(gang.TakeReleases(), IsEmpty());
}

TEST(GangAllocatorTest, AContainerThatEndedBeforeItWasToldIsNotGranted) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 1));
  EXPECT_EQ(gang.OnCompleted(kStart, Id(1)), CompletedContainer::kReleased);
  EXPECT_THAT(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}), IsEmpty());
  EXPECT_THAT(gang.TakeReleases(), IsEmpty());
  EXPECT_FALSE(gang.complete());
}

TEST(GangAllocatorTest, ADetachedTaskMayHaveANewContainerWhileTheOldOneEnds) {
  GangAllocator gang(Options(GangPolicy::kNone));
  gang.Want(kStart, Slots("worker", 1));
  static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}));
  gang.Use({"worker", 0});
  gang.Detach(kStart, {"worker", 0});
  gang.Want(kStart, Slots("worker", 1));
  EXPECT_THAT(gang.OnAllocated(kStart, {On(gang.asks()[0], 2)}), SizeIs(1));
  EXPECT_EQ(gang.OnCompleted(kStart, Id(1)), CompletedContainer::kReleased);
  EXPECT_EQ(gang.ContainerOf({"worker", 0})->id, Id(2));
  EXPECT_THAT(gang.TakeReleases(), IsEmpty());
}

TEST(GangAllocatorTest, CancelReleasesAndCancelAllOnlyStopsWanting) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 3));
  const Ask ask = gang.asks()[0];
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1), On(ask, 2)}));
  gang.Cancel(kStart, {"worker", 0});
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(1)));
  gang.CancelAll(kStart);
  EXPECT_TRUE(gang.complete());
  EXPECT_THAT(gang.TakeReleases(), IsEmpty());
  EXPECT_NE(gang.ContainerOf({"worker", 1}), nullptr);
  EXPECT_EQ(gang.next_deadline(), std::nullopt);
}

TEST(GangAllocatorTest, ARefusedContainerIsReleasedAndWantedAgain) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 1));
  static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}));
  gang.Refuse(kStart, Id(1));
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(1)));
  EXPECT_EQ(gang.asks()[0].count, 1);
  EXPECT_EQ(gang.OnCompleted(kStart, Id(1)), CompletedContainer::kReleased);
}

// ---------------------------------------------------------------- hold, backoff, deadline

TEST(GangAllocatorTest, AnIncompleteGangIsGivenBackExactlyWhenHoldEnds) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.Want(kStart, Slots("worker", 3));
  const Ask ask = gang.asks()[0];
  static_cast<void>(gang.OnAllocated(kStart + 10s, {On(ask, 1)}));
  static_cast<void>(gang.OnAllocated(kStart + 20s, {On(ask, 2)}));
  EXPECT_EQ(gang.next_deadline(), kStart + 310s);
  EXPECT_FALSE(gang.OnTime(kStart + 310s - 1ns).given_back.has_value());

  const GangTimeouts timeouts = gang.OnTime(kStart + 310s);
  ASSERT_TRUE(timeouts.given_back.has_value());
  EXPECT_THAT(timeouts.given_back->lost, SizeIs(2));
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(1), Id(2)));
  EXPECT_THAT(gang.asks(), IsEmpty());
  EXPECT_TRUE(gang.backing_off());
  EXPECT_GE(timeouts.given_back->backoff, 2500ms);
  EXPECT_LE(timeouts.given_back->backoff, 5s);

  // What the RM had allocated before it heard of it still comes, and goes.
  EXPECT_THAT(gang.OnAllocated(kStart + 311s, {On(ask, 3)}), IsEmpty());
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(3)));

  static_cast<void>(gang.OnTime(kStart + 310s + timeouts.given_back->backoff));
  ASSERT_THAT(gang.asks(), SizeIs(1));
  EXPECT_EQ(gang.asks()[0].count, 3);
  EXPECT_NE(gang.asks()[0].key, ask.key);
}

TEST(GangAllocatorTest, BackoffsDoubleUpToTheirMaximumAndStartAgainAfterACompleteGang) {
  GangAllocator gang({.gang = {.hold = 10s, .backoff = {.first = 4s, .max = 10s}}, .seed = 7});
  std::vector<Duration> most = {4s, 8s, 10s, 10s};
  Instant now = kStart;
  std::int64_t id = 0;
  gang.Want(now, Slots("worker", 2));
  for (const Duration span : most) {
    static_cast<void>(gang.OnAllocated(now, {On(gang.asks()[0], ++id)}));
    now += 10s;
    const GangTimeouts timeouts = gang.OnTime(now);
    ASSERT_TRUE(timeouts.given_back.has_value());
    EXPECT_GE(timeouts.given_back->backoff, span / 2);
    EXPECT_LE(timeouts.given_back->backoff, span);
    now += timeouts.given_back->backoff;
    static_cast<void>(gang.OnTime(now));
  }
  static_cast<void>(gang.OnAllocated(now, {On(gang.asks()[0], ++id), On(gang.asks()[0], ++id)}));
  ASSERT_TRUE(gang.complete());
  gang.Cancel(now, {"worker", 0});
  gang.Cancel(now, {"worker", 1});
  gang.Want(now, Slots("worker", 2));
  static_cast<void>(gang.OnAllocated(now, {On(gang.asks()[0], ++id)}));
  EXPECT_LE(gang.OnTime(now + 10s).given_back->backoff, 4s);
}

TEST(GangAllocatorTest, HoldStaysBelowTheRmsContainerExpiry) {
  GangAllocator gang({.gang = {.hold = 1h}, .container_expiry = 600s, .expiry_margin = 60s});
  gang.Want(kStart, Slots("worker", 2));
  static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}));
  EXPECT_EQ(gang.next_deadline(), kStart + 540s);
}

TEST(GangAllocatorTest, AnotherTypeIsServedFirstInEachRound) {
  GangAllocator gang({.gang = {.hold = 10s}});
  std::vector<SlotRequest> slots = Slots("ps", 1, 1);
  slots.push_back(Slot("worker", 0, 2));
  gang.Want(kStart, slots);
  const auto priority_of = [&gang](const std::string& type) {
    const std::int32_t low = gang.asks()[0].key.priority;
    return type == "ps" ? low : gang.asks()[1].key.priority;
  };
  EXPECT_LT(priority_of("ps"), priority_of("worker"));
  static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}));
  const Duration backoff = gang.OnTime(kStart + 10s).given_back->backoff;
  static_cast<void>(gang.OnTime(kStart + 10s + backoff));
  EXPECT_GT(priority_of("ps"), priority_of("worker"));
}

TEST(GangAllocatorTest, HoldNeverGivesBackAndNoneHasNoGang) {
  for (const GangPolicy policy : {GangPolicy::kHold, GangPolicy::kNone}) {
    GangAllocator gang(Options(policy));
    gang.Want(kStart, Slots("worker", 2));
    static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1)}));
    EXPECT_FALSE(gang.OnTime(kStart + 24h).given_back.has_value());
    EXPECT_THAT(gang.TakeReleases(), IsEmpty());
  }
}

TEST(GangAllocatorTest, TheDeadlineRunsFromTheFirstAskOverAllRoundsAndSaysWhatIsMissing) {
  GangAllocator gang({.gang = {.deadline = 30min, .hold = 10s}});
  gang.Want(kStart, Slots("worker", 4));
  static_cast<void>(gang.OnAllocated(kStart + 1s, {On(gang.asks()[0], 1)}));
  EXPECT_TRUE(gang.OnTime(kStart + 11s).given_back.has_value());
  static_cast<void>(gang.OnTime(kStart + 60s));
  static_cast<void>(
      gang.OnAllocated(kStart + 30min - 1s, {On(gang.asks()[0], 2), On(gang.asks()[0], 3)}));
  EXPECT_FALSE(gang.OnTime(kStart + 30min - 1ns).deadline_missed.has_value());
  EXPECT_EQ(gang.OnTime(kStart + 30min).deadline_missed,
            "2 of 4 worker containers (16 GiB, 4 vcores, 8 GPUs) still missing");
  EXPECT_FALSE(gang.OnTime(kStart + 31min).deadline_missed.has_value()) << "said once";
}

TEST(GangAllocatorTest, TheDeadlineBeginsWhenSomethingMayBeAskedFor) {
  GangAllocator gang({.gang = {.deadline = 1min}});
  static_cast<void>(gang.Suspend(kStart));
  gang.Want(kStart, Slots("worker", 2));
  EXPECT_FALSE(gang.OnTime(kStart + 1min).deadline_missed.has_value());
  gang.Resume(kStart + 3min);
  EXPECT_FALSE(gang.OnTime(kStart + 4min - 1ns).deadline_missed.has_value());
  // Waiting again for nodes does not prolong it.
  static_cast<void>(gang.Suspend(kStart + 3min + 30s));
  EXPECT_TRUE(gang.OnTime(kStart + 4min).deadline_missed.has_value());
}

TEST(GangAllocatorTest, ADeadlineThatBeginsWhereNothingIsAskedForIsNone) {
  GangAllocator gang({.gang = {.deadline = 1min}});
  static_cast<void>(gang.Suspend(kStart));
  gang.Want(kStart, Slots("worker", 2));
  gang.Resume(kStart + 1s);
  static_cast<void>(gang.Suspend(kStart + 1s));
  EXPECT_EQ(gang.next_deadline(), std::nullopt);
  gang.Resume(kStart + 3min);
  EXPECT_EQ(gang.next_deadline(), kStart + 4min);
}

TEST(GangAllocatorTest, TheDeadlineBeginsAgainWhereAWholeGangLosesOneBeforeItIsUsed) {
  GangAllocator gang({.gang = {.deadline = 1min}});
  gang.Want(kStart, Slots("worker", 2));
  static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1), On(gang.asks()[0], 2)}));
  EXPECT_FALSE(gang.OnTime(kStart + 2min).deadline_missed.has_value());
  EXPECT_EQ(gang.OnCompleted(kStart + 3min, Id(2)), CompletedContainer::kWantedAgain);
  EXPECT_FALSE(gang.OnTime(kStart + 4min - 1ns).deadline_missed.has_value());
  EXPECT_TRUE(gang.OnTime(kStart + 4min).deadline_missed.has_value());
}

TEST(GangAllocatorTest, AReplacementIsHeldAloneUnlessTheKeptOnesCountToo) {
  for (const bool kept_counts : {false, true}) {
    GangAllocator gang({.gang = {.hold = 100s}});
    gang.Want(kStart, Slots("worker", 2));
    static_cast<void>(gang.OnAllocated(kStart, {On(gang.asks()[0], 1), On(gang.asks()[0], 2)}));
    gang.Use({"worker", 0});
    gang.Use({"worker", 1});
    gang.OnCompleted(kStart + 1h, Id(2));
    gang.Want(kStart + 1h, {Slot("worker", 1)}, kept_counts);
    const GangTimeouts timeouts = gang.OnTime(kStart + 1h + 100s);
    EXPECT_EQ(timeouts.given_back.has_value(), kept_counts);
    EXPECT_THAT(gang.TakeReleases(), SizeIs(kept_counts ? 1 : 0));
    EXPECT_EQ(gang.wanted_count(), kept_counts ? 2U : 1U);
  }
}

TEST(GangAllocatorTest, TheKeptOnesCountUntilTheGangIsWholeAlsoWhereOneIsToBeWantedLater) {
  GangAllocator gang({.gang = {.hold = 100s}});
  gang.Want(kStart, {Slot("worker", 0), Slot("worker", 1), Slot("evaluator", 0)});
  std::vector<yarn::Container> granted;
  for (const Ask& ask : gang.asks()) {
    for (int i = 0; i < ask.count; ++i)
      granted.push_back(On(ask, static_cast<int>(granted.size()) + 1));
  }
  const auto grants = gang.OnAllocated(kStart, granted);
  ASSERT_THAT(grants, SizeIs(3));
  for (const Grant& grant : grants) gang.Use(grant.task);
  const auto lose = [&](const TaskId& task) {
    for (const Grant& grant : grants) {
      if (grant.task == task) gang.OnCompleted(kStart + 1h, grant.container.id);
    }
  };
  lose({"worker", 1});
  gang.Want(kStart + 1h, {Slot("worker", 1)}, true);
  lose({"evaluator", 0});
  gang.Postpone({"evaluator", 0});
  static_cast<void>(gang.OnAllocated(kStart + 1h, {On(gang.asks()[0], 4)}));
  gang.Want(kStart + 1h + 1s, {Slot("evaluator", 0)});
  const GangTimeouts timeouts = gang.OnTime(kStart + 1h + 100s);
  ASSERT_TRUE(timeouts.given_back.has_value());
  EXPECT_THAT(timeouts.given_back->lost, SizeIs(2));  // Both workers'.
}

// ---------------------------------------------------------------- hosts

TEST(GangAllocatorTest, HostsAreNamedWhenThatIsFasterAndLeftWhenTheyDoNotDeliver) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1, 32));
  gang.Want(kStart, Slots("worker", 6));
  ASSERT_THAT(gang.asks(), SizeIs(1));
  const Ask named = gang.asks()[0];
  EXPECT_EQ(named.count, 6);
  EXPECT_EQ(named.hosts, (std::vector<AskHost>{{"a", "/r0", 4}, {"b", "/r0", 2}}));
  EXPECT_EQ(named.racks, (std::vector<AskRack>{{"/r0", 6}}));

  ASSERT_EQ(gang.next_deadline(), kStart + 3500ms);
  static_cast<void>(gang.OnTime(kStart + 3500ms));
  ASSERT_THAT(gang.asks(), SizeIs(1));
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
  EXPECT_EQ(gang.asks()[0].count, 6);
  // A grant for the old ask may be on its way: it is as good.
  EXPECT_THAT(gang.OnAllocated(kStart + 4s, {On(named, 3, "b")}), SizeIs(1));
}

// All that a host has for a named ask comes in one heartbeat: what did not come then is not there.
TEST(GangAllocatorTest, HostsThatDeliverLessThanPlannedAreNotWaitedFor) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1, 32));
  gang.Want(kStart, Slots("worker", 6));
  const Ask named = gang.asks()[0];
  static_cast<void>(gang.OnAllocated(kStart + 500ms, {On(named, 1, "a")}));
  EXPECT_EQ(gang.asks()[0].hosts[0].count, 3) << "not every node has had its turn";
  static_cast<void>(gang.OnAllocated(kStart + 1s, {On(named, 2, "a")}));
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
  EXPECT_EQ(gang.asks()[0].count, 4);
}

// The node reports are older than our own AM: a plan that fills a node to the brim would wait for
// its place.
TEST(GangAllocatorTest, APlanLeavesRoomForMastersIfItCan) {
  GangAllocator gang(Options(GangPolicy::kAll));
  std::vector<yarn::NodeReport> nodes = Nodes(2, 1, 32);
  for (yarn::NodeReport& node : nodes) node.capability.vcores = 16;
  gang.SetNodes(kStart, nodes);
  gang.Want(kStart, Slots("worker", 6));
  EXPECT_EQ(gang.asks()[0].hosts, (std::vector<AskHost>{{"a", "/r0", 3}, {"b", "/r0", 3}}));

  GangAllocator tight(Options(GangPolicy::kAll));
  tight.SetNodes(kStart, nodes);
  tight.Want(kStart, Slots("worker", 8));
  EXPECT_EQ(tight.asks()[0].hosts, (std::vector<AskHost>{{"a", "/r0", 4}, {"b", "/r0", 4}}));
}

TEST(GangAllocatorTest, APlanLeavesExcludedHostsOut) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(3, 1, 32));
  gang.SetExcludedHosts({"a"});
  gang.Want(kStart, Slots("worker", 6));
  EXPECT_EQ(gang.asks()[0].hosts, (std::vector<AskHost>{{"b", "/r0", 4}, {"c", "/r0", 2}}));
}

TEST(GangAllocatorTest, AReplacementIsAskedForUnderTheKeyOfItsKind) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1, 32));
  gang.Want(kStart, Slots("worker", 4));
  const Ask named = gang.asks()[0];
  static_cast<void>(gang.OnAllocated(
      kStart + 1s, {On(named, 1, "a"), On(named, 2, "a"), On(named, 3, "a"), On(named, 4, "a")}));
  ASSERT_TRUE(gang.complete());
  gang.OnCompleted(kStart + 2s, Id(4));
  ASSERT_THAT(gang.asks(), SizeIs(1));
  EXPECT_EQ(gang.asks()[0].key, named.key);
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
}

TEST(GangAllocatorTest, HostsAreNotNamedWhenOneHeartbeatDoesAnyway) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(6, 2));
  gang.Want(kStart, Slots("worker", 6));
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
}

TEST(GangAllocatorTest, HostsAreNotNamedFromOldReports) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1, 32));
  gang.Want(kStart + 61s, Slots("worker", 6));
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
}

TEST(GangAllocatorTest, SpreadTypesAreAskedForOncePerHost) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(4, 2));
  gang.Want(kStart, Slots("worker", 3, 1, {.spread = PlacementScope::kNode}));
  const Ask ask = gang.asks()[0];
  ASSERT_THAT(ask.hosts, SizeIs(4));
  for (const AskHost& host : ask.hosts) EXPECT_EQ(host.count, 1);
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1, "a")}));
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(3));
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 2, "a")}), IsEmpty())
      << "a second one there does not suit";
  EXPECT_THAT(gang.TakeReleases(), ElementsAre(Id(2)));
}

TEST(GangAllocatorTest, HostsAreChosenAnewOnlyWhileAnyAreNeeded) {
  GangAllocator gang(Options(GangPolicy::kNone));
  gang.SetNodes(kStart, Nodes(4, 2));
  gang.Want(kStart, Slots("worker", 2, 1, {.spread = PlacementScope::kNode}));
  const Ask ask = gang.asks()[0];
  EXPECT_EQ(gang.next_deadline(), kStart + 30s);
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1, "a")}));
  EXPECT_EQ(gang.next_deadline(), kStart + 30s);
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 2, "b")}));
  EXPECT_EQ(gang.next_deadline(), std::nullopt);
}

// A node may come between the client's look at the cluster and the AM's registration: the RM counts
// it, and does not tell the AM of it.
TEST(GangAllocatorTest, WhatKnownHostsCannotHoldIsAskedForOnUnseenOnes) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1));
  gang.SetUnseenNodes(kStart, true);
  gang.Want(kStart, Slots("worker", 3, 1, {.spread = PlacementScope::kNode}));
  const Ask ask = gang.asks()[0];
  EXPECT_THAT(ask.hosts, IsEmpty());
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1, "a"), On(ask, 2, "b")}));
  ASSERT_THAT(gang.asks(), SizeIs(1));
  EXPECT_THAT(gang.asks()[0].hosts, IsEmpty());
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 3, "a")}), IsEmpty()) << "it is given back";
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 4, "new")}), SizeIs(1));
  EXPECT_TRUE(gang.complete());
}

// A scheduler may serve the first node that has room, each time.
TEST(GangAllocatorTest, HostsThatHaveOneOfEachTypeAlreadyWouldNotHelp) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetUnseenNodes(kStart, true);
  std::vector<SlotRequest> slots = Slots("ps", 2, 1, {.spread = PlacementScope::kNode});
  for (const SlotRequest& slot : Slots("worker", 2, 1, {.spread = PlacementScope::kNode}))
    slots.push_back(slot);
  gang.Want(kStart, slots);
  ASSERT_THAT(gang.asks(), SizeIs(2));
  const Ask ps = gang.asks()[0], worker = gang.asks()[1];
  EXPECT_THAT(gang.useless_hosts(), IsEmpty());
  static_cast<void>(gang.OnAllocated(kStart, {On(ps, 1, "a")}));
  EXPECT_THAT(gang.useless_hosts(), IsEmpty()) << "a worker may go there";
  static_cast<void>(gang.OnAllocated(kStart, {On(worker, 2, "a")}));
  EXPECT_THAT(gang.useless_hosts(), ElementsAre("a"));
  // Where hosts are named the RM offers no other.
  gang.OnUpdatedNodes(kStart, Nodes(3, 1));
  EXPECT_THAT(gang.asks()[0].hosts, Not(IsEmpty()));
  EXPECT_THAT(gang.useless_hosts(), IsEmpty());
}

TEST(GangAllocatorTest, HostsThatAreEnoughAreNamedAlthoughThereAreOthers) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(2, 1));
  gang.SetUnseenNodes(kStart, true);
  gang.Want(kStart, Slots("worker", 2, 1, {.spread = PlacementScope::kNode}));
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(2));
  gang.OnUpdatedNodes(kStart, Nodes(3, 1));
  gang.SetUnseenNodes(kStart, false);
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(3));
}

TEST(GangAllocatorTest, SpreadOverRacksLimitsTheRackRows) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(6, 3));
  gang.Want(kStart, Slots("worker", 2, 1, {.spread = PlacementScope::kRack}));
  const Ask ask = gang.asks()[0];
  EXPECT_EQ(ask.racks, (std::vector<AskRack>{{"/r0", 1}, {"/r1", 1}, {"/r2", 1}}));
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1, "a")}));
  EXPECT_EQ(gang.asks()[0].racks, (std::vector<AskRack>{{"/r1", 1}, {"/r2", 1}}));
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(4));
}

TEST(GangAllocatorTest, PackedTypesStayInTheRackOfTheirFirstContainer) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(4, 2));
  gang.Want(kStart, Slots("worker", 2, 1, {.pack_rack = true}));
  const Ask ask = gang.asks()[0];
  ASSERT_THAT(ask.racks, SizeIs(1));
  ASSERT_THAT(ask.hosts, SizeIs(2));
  static_cast<void>(gang.OnAllocated(kStart, {On(ask, 1, ask.hosts[0].host)}));
  EXPECT_EQ(gang.asks()[0].racks[0].rack, ask.racks[0].rack);
  const std::string elsewhere = ask.racks[0].rack == "/r0" ? "b" : "a";
  EXPECT_THAT(gang.OnAllocated(kStart, {On(ask, 2, elsewhere)}), IsEmpty());
}

TEST(GangAllocatorTest, TypesThatAvoidEachOtherAreAskedForOnDisjointHosts) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(4, 1, 16));
  std::vector<SlotRequest> slots = Slots("worker", 2, 2);
  slots.push_back(Slot("ps", 0, 1, {.avoid = {"worker"}}));
  gang.Want(kStart, slots);
  ASSERT_THAT(gang.asks(), SizeIs(2));
  std::set<std::string> seen;
  for (const Ask& ask : gang.asks()) {
    EXPECT_THAT(ask.hosts, ::testing::Not(IsEmpty()));
    for (const AskHost& host : ask.hosts) EXPECT_TRUE(seen.insert(host.host).second) << host.host;
  }
}

TEST(GangAllocatorTest, AHostThatGoesDownOrIsExcludedIsNotAskedAnyMoreAndReturns) {
  GangAllocator gang(Options(GangPolicy::kAll));
  gang.SetNodes(kStart, Nodes(3, 1));
  gang.Want(kStart, Slots("worker", 2, 1, {.spread = PlacementScope::kNode}));
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(3));
  gang.SetExcludedHosts({"a"});
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(2));
  yarn::NodeReport lost = Nodes(3, 1)[1];
  lost.state = yarn::NodeState::kLost;
  gang.OnUpdatedNodes(kStart, {lost});
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(1));
  gang.OnUpdatedNodes(kStart, {Nodes(3, 1)[1]});
  EXPECT_THAT(gang.asks()[0].hosts, SizeIs(2));
}

}  // namespace
}  // namespace tfyarn::allocation::gang_allocator_test
