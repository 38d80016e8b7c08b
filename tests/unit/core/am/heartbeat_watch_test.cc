#include "core/am/observe/heartbeat_watch.h"

#include <gtest/gtest.h>

namespace tfyarn::am::heartbeat_watch_test {
namespace {

constexpr Instant kStart{};
constexpr TaskIndex kWorker0(0);
constexpr TaskIndex kWorker1(1);
constexpr TaskIndex kPs0(2);

TEST(HeartbeatWatchTest, NobodyWatchedMeansNoDeadline) {
  EXPECT_EQ(HeartbeatWatch(5s, 3).next_deadline(), std::nullopt);
}

TEST(HeartbeatWatchTest, AnAgentIsSilentExactlyAtItsDeadlineAndIsReportedOnce) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart + 1s, kWorker0, Incarnation{0});

  EXPECT_EQ(watch.next_deadline(), kStart + 5s);
  EXPECT_TRUE(watch.TakeSilent(kStart + 6s - 1ns).empty());
  EXPECT_EQ(watch.next_deadline(), kStart + 6s);
  EXPECT_EQ(watch.TakeSilent(kStart + 6s),
            (std::vector<SilentAgent>{{kWorker0, Incarnation{0}, kStart + 1s}}));
  EXPECT_TRUE(watch.TakeSilent(kStart + 99s).empty());
}

TEST(HeartbeatWatchTest, SpeakingAgainPutsTheDeadlineOff) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Heard(kStart + 4s, kWorker0, Incarnation{0});

  EXPECT_TRUE(watch.TakeSilent(kStart + 5s).empty());
  EXPECT_EQ(watch.next_deadline(), kStart + 8s);
}

// The replaced agent on a cut-off node may still send when the network heals: it must not keep its
// successor alive.
TEST(HeartbeatWatchTest, AStaleIncarnationDoesNotSpeakForItsSuccessor) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Heard(kStart + 1s, kWorker0, Incarnation{1});
  watch.Heard(kStart + 4s, kWorker0, Incarnation{0});

  EXPECT_EQ(watch.next_deadline(), kStart + 5s);
}

TEST(HeartbeatWatchTest, TheLongestSilenceComesFirstAndTiesFollowTaskOrder) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart + 300ms, kWorker1, Incarnation{0});
  watch.Heard(kStart + 300ms, kPs0, Incarnation{0});
  watch.Heard(kStart, kWorker0, Incarnation{0});

  std::vector<TaskIndex> order;
  for (const SilentAgent& agent : watch.TakeSilent(kStart + 5300ms)) order.push_back(agent.task);
  EXPECT_EQ(order, (std::vector<TaskIndex>{kWorker0, kWorker1, kPs0}));
}

TEST(HeartbeatWatchTest, AForgottenTaskIsNeverReported) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Forget(kWorker0);
  watch.Forget(kPs0);  // never watched: no harm

  EXPECT_EQ(watch.next_deadline(), std::nullopt);
}

TEST(HeartbeatWatchTest, WhileTheHostVouchesSilenceIsNoDeadline) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Vouch(kWorker0, Incarnation{0});

  EXPECT_EQ(watch.next_deadline(), std::nullopt);
  EXPECT_TRUE(watch.TakeSilent(kStart + 1h).empty());
}

TEST(HeartbeatWatchTest, WhenVouchingEndsSilenceCountsFromTheLastBeatThatWasSpared) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Vouch(kWorker0, Incarnation{0});
  watch.Unvouch(kWorker0, Incarnation{0}, kStart + 1h);

  EXPECT_EQ(watch.next_deadline(), kStart + 1h + 4s);
}

TEST(HeartbeatWatchTest, AVouchedAgentThatSpeaksStaysVouchedFor) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Vouch(kWorker0, Incarnation{0});
  watch.Heard(kStart + 1s, kWorker0, Incarnation{0});

  EXPECT_EQ(watch.next_deadline(), std::nullopt);
}

// The host may know that an agent lives before a new AM has heard of it.
TEST(HeartbeatWatchTest, VouchingMayComeBeforeTheFirstWord) {
  HeartbeatWatch watch(5s, 3);
  watch.Vouch(kWorker0, Incarnation{2});
  watch.Heard(kStart, kWorker0, Incarnation{2});

  EXPECT_EQ(watch.next_deadline(), std::nullopt);
}

TEST(HeartbeatWatchTest, VouchingForAnAgentDoesNotCoverItsSuccessor) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Vouch(kWorker0, Incarnation{0});
  watch.Heard(kStart + 1s, kWorker0, Incarnation{1});
  EXPECT_EQ(watch.next_deadline(), kStart + 5s);

  watch.Vouch(kWorker0, Incarnation{0});  // late word about the one before
  EXPECT_EQ(watch.next_deadline(), kStart + 5s);
}

// A process that slept finds its mail full of heartbeats, behind the deadline that woke it.
TEST(HeartbeatWatchTest, AnAmThatSleptItselfBlamesNobody) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Heard(kStart, kWorker1, Incarnation{0});

  watch.Slept(kStart + 10s);
  EXPECT_TRUE(watch.TakeSilent(kStart + 10s).empty());
  EXPECT_EQ(watch.next_deadline(), kStart + 14s);
}

// Where it wakes in the very moment of the deadline, it was late for the one before.
TEST(HeartbeatWatchTest, BeforeAnAgentIsSilentThereIsADeadlineAtWhichNothingHappens) {
  HeartbeatWatch watch(5s, 3);
  watch.Heard(kStart, kWorker0, Incarnation{0});
  watch.Heard(kStart + 500ms, kWorker1, Incarnation{0});

  EXPECT_EQ(watch.next_deadline(), kStart + 4s);
  EXPECT_TRUE(watch.TakeSilent(kStart + 4s).empty());
  EXPECT_EQ(watch.next_deadline(), kStart + 4500ms);
  EXPECT_EQ(watch.TakeSilent(kStart + 6s),
            (std::vector<SilentAgent>{{kWorker0, Incarnation{0}, kStart},
                                      {kWorker1, Incarnation{0}, kStart + 500ms}}));
}

}  // namespace
}  // namespace tfyarn::am::heartbeat_watch_test
