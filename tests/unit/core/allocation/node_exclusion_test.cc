#include "core/allocation/node_exclusion.h"

#include <gtest/gtest.h>

#include "core/model/random_stream.h"

namespace tfyarn::allocation::node_exclusion_test {
namespace {

constexpr Instant kStart{};
using Hosts = std::set<std::string>;

TEST(NodeExclusionTest, OneFailureIsNotEnoughAndTwoSoonAfterEachOtherAre) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 6);
  exclusion.Suspect(kStart, "a", Suspicion::kLaunchFailed);
  EXPECT_FALSE(exclusion.OnTime(kStart));
  exclusion.Suspect(kStart, "a", Suspicion::kLaunchFailed);
  EXPECT_TRUE(exclusion.OnTime(kStart));
  EXPECT_EQ(exclusion.excluded(), Hosts{"a"});
  EXPECT_FALSE(exclusion.OnTime(kStart)) << "told once";
}

// Fails when a threshold of two whole failures meets a score that fades from the first instant on.
TEST(NodeExclusionTest, TwoFailuresNeedNotBeSimultaneous) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 6);
  exclusion.Suspect(kStart, "a", Suspicion::kLaunchFailed);
  exclusion.Suspect(kStart + 8min, "a", Suspicion::kLaunchFailed);
  EXPECT_TRUE(exclusion.OnTime(kStart + 8min));
  EXPECT_EQ(exclusion.excluded(), Hosts{"a"});
}

TEST(NodeExclusionTest, ABadNodeIsExcludedAtOnce) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 6);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  EXPECT_TRUE(exclusion.OnTime(kStart));
}

TEST(NodeExclusionTest, OldFailuresCountLess) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 6);
  exclusion.Suspect(kStart, "a", Suspicion::kLaunchFailed);
  EXPECT_EQ(exclusion.ScoreOf("a", kStart + 5min), 750);
  EXPECT_EQ(exclusion.ScoreOf("a", kStart + 10min), 500);
  EXPECT_EQ(exclusion.ScoreOf("a", kStart + 20min), 250);
  exclusion.Suspect(kStart + 10min, "a", Suspicion::kLaunchFailed);
  EXPECT_FALSE(exclusion.OnTime(kStart + 10min));
}

TEST(NodeExclusionTest, AnExcludedHostIsReadmittedExactlyAtItsDeadline) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 3);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  EXPECT_TRUE(exclusion.OnTime(kStart));
  ASSERT_EQ(exclusion.next_deadline(), kStart + 10min);
  EXPECT_FALSE(exclusion.OnTime(kStart + 10min - 1ms));
  EXPECT_TRUE(exclusion.OnTime(kStart + 10min));
  EXPECT_TRUE(exclusion.excluded().empty());
  EXPECT_EQ(exclusion.next_deadline(), std::nullopt);
}

TEST(NodeExclusionTest, AtMostAThirdOfTheClusterAndTheWorstFirst) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 7);
  for (const char* host : {"a", "b", "c", "d"})
    exclusion.Suspect(kStart, host, Suspicion::kNodeBad);
  exclusion.Suspect(kStart, "d", Suspicion::kDiedEarly);
  exclusion.OnTime(kStart);
  EXPECT_EQ(exclusion.excluded(), (Hosts{"a", "d"}));
}

// Fails when the ranks of hosts are looked at as time goes on: the simulator may skip that moment.
TEST(NodeExclusionTest, TimeAloneDoesNotPutOneHostInAnothersPlace) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 3);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  exclusion.Suspect(kStart + 7min, "b", Suspicion::kNodeBad);
  exclusion.Suspect(kStart + 7min, "b", Suspicion::kDiedEarly);
  EXPECT_TRUE(exclusion.OnTime(kStart + 7min));
  EXPECT_EQ(exclusion.excluded(), Hosts{"a"});
  EXPECT_GT(exclusion.ScoreOf("b", kStart + 12min), exclusion.ScoreOf("a", kStart + 12min));
  EXPECT_FALSE(exclusion.OnTime(kStart + 12min));
  EXPECT_EQ(exclusion.excluded(), Hosts{"a"});
  exclusion.Suspect(kStart + 12min, "c", Suspicion::kDiedEarly);
  EXPECT_EQ(exclusion.excluded(), Hosts{"b"}) << "the worst when the next failure comes";
}

TEST(NodeExclusionTest, InAClusterOfTwoNobodyIsExcluded) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 2);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  EXPECT_FALSE(exclusion.OnTime(kStart));
}

TEST(NodeExclusionTest, AnRmThatHasJustRestartedReportsNoNodesAndChangesNothing) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(kStart, 6);
  exclusion.Suspect(kStart, "a", Suspicion::kNodeBad);
  exclusion.SetClusterSize(kStart, 0);
  exclusion.OnTime(kStart);
  EXPECT_EQ(exclusion.excluded(), Hosts{"a"});
}

TEST(NodeExclusionTest, ScoresOnlyFallAndTheDeadlineIsTheFirstChangeWhateverHappened) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStream random(seed, "exclusion-test");
    NodeExclusion exclusion({.half_life = random.Between(1s, 1h)});
    exclusion.SetClusterSize(kStart, 9);
    Instant now = kStart;
    for (int i = 0; i < 40; ++i) {
      const std::string host(1, static_cast<char>('a' + random.Below(6)));
      exclusion.Suspect(now, host, static_cast<Suspicion>(random.Below(4)));
      exclusion.OnTime(now);
      ASSERT_LE(exclusion.excluded().size(), 3U);
      const auto next = exclusion.next_deadline();
      ASSERT_EQ(next.has_value(), !exclusion.excluded().empty());
      const std::int64_t score = exclusion.ScoreOf(host, now);
      now += random.Between(0s, 10min);
      EXPECT_LE(exclusion.ScoreOf(host, now), score);
      if (!next.has_value() || *next > now) continue;
      NodeExclusion until_then = exclusion;
      EXPECT_FALSE(until_then.OnTime(*next - 1ms));
      EXPECT_TRUE(until_then.OnTime(*next));
    }
  }
}

// Where this AM can launch nothing it need not try, however many such hosts there are.
TEST(NodeExclusionTest, ClosedHostsAreExcludedAsLongAsThereIsAnother) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(Instant{}, 3);
  exclusion.Close(Instant{}, "n1", Instant{} + 24h);
  exclusion.Close(Instant{}, "n2", Instant{} + 25h);
  EXPECT_EQ(exclusion.excluded(), (std::set<std::string>{"n1", "n2"}));
  EXPECT_EQ(exclusion.next_deadline(), Instant{} + 24h);
  exclusion.Close(Instant{} + 1s, "n3", Instant{} + 25h);
  EXPECT_TRUE(exclusion.excluded().empty());
  EXPECT_TRUE(exclusion.OnTime(Instant{} + 24h));
  EXPECT_EQ(exclusion.excluded(), (std::set<std::string>{"n2", "n3"}));
}

TEST(NodeExclusionTest, ClosedHostsAreOpenedAndSuspectsStayExcluded) {
  NodeExclusion exclusion;
  exclusion.SetClusterSize(Instant{}, 3);
  for (int i = 0; i < 3; ++i) exclusion.Suspect(Instant{}, "n1", Suspicion::kNodeBad);
  exclusion.Close(Instant{}, "n2", Instant{} + 24h);
  EXPECT_EQ(exclusion.excluded(), (std::set<std::string>{"n1", "n2"}));
  exclusion.Open(Instant{}, "n2");
  exclusion.Open(Instant{}, "n1");
  EXPECT_EQ(exclusion.excluded(), std::set<std::string>{"n1"});
  exclusion.Close(Instant{}, "n2", Instant{} + 24h);
  exclusion.OpenAll(Instant{} + 1s);
  EXPECT_EQ(exclusion.excluded(), std::set<std::string>{"n1"});
  EXPECT_TRUE(exclusion.OnTime(Instant{} + 1s));
  EXPECT_LT(exclusion.next_deadline(), Instant{} + 24h);
}

}  // namespace
}  // namespace tfyarn::allocation::node_exclusion_test
