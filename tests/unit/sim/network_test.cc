#include "sim/network.h"

#include <gtest/gtest.h>

#include "sim/message_faults.h"

namespace tfyarn::sim::network_test {
namespace {

Network TwoRacks(double loss = 0) {
  config::NetworkSpec spec;
  spec.loss = loss;
  return Network(spec, {0, 0, 1}, 1);
}

TEST(NetworkTest, OtherRacksAreFartherAndMastersAreNear) {
  Network network = TwoRacks();
  EXPECT_EQ(network.Latency(0, 1, 7), 200us);
  EXPECT_EQ(network.Latency(0, 2, 7), 500us);
  EXPECT_EQ(network.Latency(2, kRmPlace, 7), 200us);
  EXPECT_EQ(network.PollRoundTrip(0, 2, 7), 1ms);
}

TEST(NetworkTest, ACutHasADirection) {
  Network network = TwoRacks();
  network.AddCut(1, {.from = {0}, .to = {2}, .forward = true, .backward = false});
  EXPECT_FALSE(network.Reachable(0, 2));
  EXPECT_TRUE(network.Reachable(2, 0));
  EXPECT_TRUE(network.Reachable(0, 1));
  EXPECT_FALSE(network.Undisturbed(2, 0)) << "half a link carries no answer";
  network.RemoveCut(1);
  EXPECT_TRUE(network.Undisturbed(2, 0));
}

TEST(NetworkTest, APlaceThatIsInBothGroupsReachesItself) {
  Network network = TwoRacks();
  network.AddCut(1, {.from = {0, 1}, .to = {0, 1}});
  EXPECT_TRUE(network.Reachable(0, 0));
  EXPECT_FALSE(network.Reachable(0, 1));
}

TEST(NetworkTest, AGroupWithoutCounterpartIsCutFromEverybodyElse) {
  Network network = TwoRacks();
  network.AddCut(1, {.from = {0, 1}, .to = {}});
  EXPECT_TRUE(network.Reachable(0, 1));
  EXPECT_FALSE(network.Reachable(0, 2));
  EXPECT_FALSE(network.Reachable(kRmPlace, 1));
}

TEST(NetworkTest, DelaysAndLossTouchOnlyTheirPlaces) {
  Network network = TwoRacks();
  network.AddDelay(1, {2}, 100ms);
  EXPECT_EQ(network.Latency(0, 2, 7), 100ms + 500us);
  EXPECT_EQ(network.Latency(0, 1, 7), 200us);
  EXPECT_EQ(network.PollRoundTrip(0, 2, 7), 1ms) << "who starts now polls when the fault is over";
  network.AddLoss(2, {1}, 1.0);
  EXPECT_TRUE(network.Lost(0, 1, 7));
  EXPECT_FALSE(network.Lost(0, 2, 7));
  network.RemoveLoss(2);
  EXPECT_FALSE(network.Lost(0, 1, 7));
}

TEST(NetworkTest, BadLuckWithEveryRepetitionEndsAtOneInABillion) {
  EXPECT_EQ(TwoRacks().LongestBadLuck(20s), 0s);
  // Lost on its way or on the way back: 27.75 % of the calls, and 0.2775^17 < 10^-9 < 0.2775^16.
  EXPECT_EQ(TwoRacks(0.15).LongestBadLuck(20s), 17 * 20s);
  EXPECT_EQ(TwoRacks(1).LongestBadLuck(20s), 1h) << "nothing gets through, ever";
}

TEST(NetworkTest, LossFollowsItsProbability) {
  Network network = TwoRacks(0.25);
  int lost = 0;
  for (int i = 0; i < 10'000; ++i) lost += network.Lost(0, 1, 7) ? 1 : 0;
  EXPECT_NEAR(lost, 2500, 3 * 43.3);  // 3 standard errors
}

TEST(MessageFaultsTest, TheNthMessageOfItsNameAndPartyIsStruckAndNoOther) {
  MessageFaults faults;
  MessageFaults::Rule rule;
  rule.message = "RegisterAgent";
  rule.first = 2;
  rule.job = "a";
  rule.task = {"worker", 1};
  faults.Add(rule);
  const Party worker1{.job = "a", .task = {"worker", 1}, .place = 0};
  EXPECT_FALSE(faults.Decide("RegisterAgent", worker1).dropped);
  EXPECT_FALSE(
      faults.Decide("RegisterAgent", {.job = "a", .task = {"worker", 0}, .place = 0}).dropped);
  EXPECT_FALSE(faults.Decide("ProcessRunning", worker1).dropped);
  EXPECT_TRUE(faults.Decide("RegisterAgent", worker1).dropped);
  EXPECT_FALSE(faults.Decide("RegisterAgent", worker1).dropped);
  EXPECT_TRUE(faults.empty()) << "a spent rule is gone";
}

TEST(MessageFaultsTest, WhatIsYetToBeDroppedIsCounted) {
  MessageFaults faults;
  faults.Add({.message = "*Response", .first = 2, .count = 3});
  faults.Add({.message = "NodeHeartbeatResponse", .count = 0});
  faults.Add({.message = "NodeHeartbeatResponse", .effect = MessageEffect::kDelay, .count = 7});
  const Party node{.job = "", .task = {}, .place = 0};
  for (const std::int64_t left : {0, 0, 2, 1, 0}) {
    EXPECT_EQ(faults.yet_to_drop(), left);
    (void)faults.Decide("NodeHeartbeatResponse", node);
  }
}

TEST(MessageFaultsTest, AnyAnswerMeansEveryAnswerOfTheRm) {
  MessageFaults faults;
  MessageFaults::Rule rule;
  rule.message = "*Response";
  rule.count = 2;
  rule.effect = MessageEffect::kDuplicate;
  faults.Add(rule);
  EXPECT_TRUE(faults.TouchesBeats());
  EXPECT_EQ(faults.Decide("AllocateResponse", {}).copies, 2);
  EXPECT_EQ(faults.Decide("Allocate", {}).copies, 1);
  EXPECT_EQ(faults.Decide("SubmitApplicationResponse", {}).copies, 2);
  EXPECT_EQ(faults.Decide("AllocateResponse", {}).copies, 1);
}

}  // namespace
}  // namespace tfyarn::sim::network_test
