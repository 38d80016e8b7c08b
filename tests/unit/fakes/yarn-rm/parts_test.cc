// The small parts: tokens, the ring of heartbeats, comparing amounts, the table of schedulers.
#include <gtest/gtest.h>

#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/node_ring.h"
#include "fakes/yarn-rm/schedulers.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes::parts_test {
namespace {

const ContainerId kContainer{.application_attempt = {.application = {1, 2}, .attempt = 3}, .id = 4};
const NodeId kNode{"n1", 45454};

TEST(TokensTest, AContainerTokenSaysItsTermsAndExpiryForItsContainerAndNodeOnly) {
  TokenBook book;
  const ContainerTerms terms{.resource = {.memory_mb = 1024, .vcores = 1, .gpus = 1, .others = {}},
                             .priority = 7,
                             .rm_identifier = 99};
  const auto token = MakeContainerToken(5, book.Intern(terms), kContainer, kNode, Instant{} + 600s);
  const auto meaning = ReadContainerToken(book, token, kContainer, kNode);
  ASSERT_TRUE(meaning.has_value());
  EXPECT_EQ(*meaning->terms, terms);
  EXPECT_EQ(meaning->expires, Instant{} + 600s);
  ContainerId other = kContainer;
  other.id = 5;
  EXPECT_FALSE(ReadContainerToken(book, token, other, kNode).has_value());
  EXPECT_FALSE(ReadContainerToken(book, token, kContainer, {"n2", 45454}).has_value());
}

TEST(TokensTest, EqualTermsHaveOneNumber) {
  TokenBook book;
  const ContainerTerms terms{.resource = {.memory_mb = 1, .vcores = 1, .gpus = 0, .others = {}}};
  ContainerTerms other = terms;
  other.priority = 1;
  EXPECT_EQ(book.Intern(terms), book.Intern(terms));
  EXPECT_NE(book.Intern(terms), book.Intern(other));
}

TEST(TokensTest, NmAndAmRmTokensNameTheirAttempt) {
  const ApplicationAttemptId attempt = kContainer.application_attempt;
  ApplicationAttemptId next = attempt;
  ++next.attempt;
  EXPECT_TRUE(IsNmTokenOf(MakeNmToken(1, attempt, kNode), attempt, kNode));
  EXPECT_FALSE(IsNmTokenOf(MakeNmToken(1, attempt, kNode), next, kNode));
  EXPECT_TRUE(IsAmRmTokenOf(MakeAmRmToken(1, attempt), attempt));
  EXPECT_FALSE(IsAmRmTokenOf(MakeAmRmToken(1, attempt), next));
  EXPECT_FALSE(IsAmRmTokenOf(MakeNmToken(1, attempt, kNode), attempt));
}

TEST(NodeRingTest, ANodeIsInTheSlotOfItsLastHeartbeat) {
  NodeRing ring(1s, 10ms);
  ring.Heard(3, Instant{} + 5500ms, false);
  EXPECT_TRUE(ring.IsPlaced(3));
  const std::int64_t slot = ring.SlotAt(Instant{} + 17500ms);
  EXPECT_EQ(ring.NodesIn(slot), std::vector<std::int32_t>{3});
  EXPECT_TRUE(ring.NodesIn(slot + 1).empty());
  EXPECT_LE(ring.BeginOf(slot), Instant{} + 17500ms);
  EXPECT_GT(ring.BeginOf(slot + 1), Instant{} + 17500ms);
}

TEST(NodeRingTest, AnIrregularHeartbeatMakesTheTimeUnknownUntilTheNextRegularOne) {
  NodeRing ring(1s, 10ms);
  ring.Heard(0, Instant{} + 500ms, false);
  ring.Heard(0, Instant{} + 1800ms, false);
  EXPECT_FALSE(ring.IsPlaced(0));
  EXPECT_EQ(ring.unplaced(), std::vector<std::int32_t>{0});
  ring.Heard(0, Instant{} + 2805ms, false);
  EXPECT_TRUE(ring.IsPlaced(0));
  EXPECT_TRUE(ring.unplaced().empty());
}

TEST(NodeRingTest, AHeartbeatOutOfTurnMovesTheNode) {
  NodeRing ring(1s, 10ms);
  ring.Heard(0, Instant{} + 500ms, false);
  ring.Heard(0, Instant{} + 700ms, true);
  EXPECT_TRUE(ring.IsPlaced(0));
  EXPECT_EQ(ring.NodesIn(ring.SlotAt(Instant{} + 9700ms)), std::vector<std::int32_t>{0});
}

TEST(NodeRingTest, WhatIsForgottenIsInNoSlot) {
  NodeRing ring(1s, 10ms);
  ring.Heard(0, Instant{} + 500ms, false);
  ring.Forget(0);
  EXPECT_FALSE(ring.IsPlaced(0));
  EXPECT_EQ(ring.unplaced(), std::vector<std::int32_t>{0});
  EXPECT_TRUE(ring.NodesIn(ring.SlotAt(Instant{} + 500ms)).empty());
}

TEST(DominantTest, TheLargestShareDecidesThenTheNext) {
  const Resource whole{.memory_mb = 1000, .vcores = 100, .gpus = 10, .others = {}};
  const Resource gpu_heavy{.memory_mb = 0, .vcores = 0, .gpus = 5, .others = {}};
  const Resource memory_heavy{.memory_mb = 400, .vcores = 40, .gpus = 0, .others = {}};
  EXPECT_GT(CompareDominant(gpu_heavy, memory_heavy, whole), 0);
  const Resource both{.memory_mb = 500, .vcores = 1, .gpus = 0, .others = {}};
  EXPECT_LT(CompareDominant(gpu_heavy, both, whole), 0);
  EXPECT_EQ(DominantShare(gpu_heavy, whole), 500'000'000);
}

TEST(DominantTest, ResourcesWithNamesCountAsTheOthersDo) {
  const Resource whole{.memory_mb = 1000, .vcores = 100, .gpus = 0, .others = {{"fpga", 4}}};
  const Resource fpga{.memory_mb = 100, .vcores = 10, .gpus = 0, .others = {{"fpga", 2}}};
  const Resource plain{.memory_mb = 400, .vcores = 40, .gpus = 3, .others = {}};
  EXPECT_EQ(DominantShare(fpga, whole), 500'000'000);
  // GPUs of which the cluster has none are no share of it.
  EXPECT_EQ(DominantShare(plain, whole), 400'000'000);
  EXPECT_GT(CompareDominant(fpga, plain, whole), 0);
  EXPECT_LT(CompareDominant(plain, fpga, whole), 0);
  EXPECT_EQ(CompareDominant(fpga, fpga, whole), 0);
  EXPECT_EQ(DominantMax(fpga, plain, whole), fpga);
  EXPECT_EQ(DominantMin(fpga, plain, whole), plain);
  EXPECT_EQ(Scaled(fpga, 3, 4), (Resource{.memory_mb = 75, .vcores = 7, .others = {{"fpga", 1}}}));
  EXPECT_EQ(ScaledUp(fpga, 3, 4),
            (Resource{.memory_mb = 75, .vcores = 8, .others = {{"fpga", 2}}}));
}

TEST(DominantTest, AmountsAreRoundedUpToTheStepOfTheirOwnKind) {
  const Resource step{.memory_mb = 512, .vcores = 2, .gpus = 0, .others = {{"fpga", 4}}};
  const Resource asked{.memory_mb = 1025, .vcores = 3, .gpus = 5, .others = {{"fpga", 5}}};
  const Resource rounded{.memory_mb = 1536, .vcores = 4, .gpus = 5, .others = {{"fpga", 8}}};
  EXPECT_EQ(RoundedUp(asked, step), rounded);
  EXPECT_EQ(RoundedUp(rounded, step), rounded);
  EXPECT_EQ(RoundedUp(Resource{}, step), Resource{});
  const Resource half{.memory_mb = 513, .vcores = 2, .gpus = 3, .others = {{"fpga", 3}}};
  EXPECT_EQ(DividedUp(asked, 2), half);
}

TEST(DominantTest, RoomIsNeededOfEveryKindThatIsAskedFor) {
  const Resource free{.memory_mb = 100, .vcores = 0, .gpus = -1, .others = {{"fpga", 1}}};
  EXPECT_TRUE(HasRoomFor({.memory_mb = 100, .vcores = 0, .gpus = 0, .others = {}}, free));
  EXPECT_FALSE(HasRoomFor({.memory_mb = 101, .vcores = 0, .gpus = 0, .others = {}}, free));
  EXPECT_FALSE(HasRoomFor({.memory_mb = 1, .vcores = 1, .gpus = 0, .others = {}}, free));
  EXPECT_FALSE(HasRoomFor({.memory_mb = 1, .vcores = 0, .gpus = 1, .others = {}}, free));
  EXPECT_TRUE(HasRoomFor({.memory_mb = 1, .others = {{"fpga", 1}}}, free));
  EXPECT_FALSE(HasRoomFor({.memory_mb = 1, .others = {{"fpga", 2}}}, free));
  EXPECT_TRUE(AnyPositive({.others = {{"fpga", 1}}}));
  EXPECT_TRUE(AnyPositive({.gpus = 1}));
  EXPECT_FALSE(AnyPositive({.memory_mb = -1, .others = {{"fpga", 0}}}));
  EXPECT_TRUE(SumFitsIn({.memory_mb = 60}, {.memory_mb = 40}, {.memory_mb = 100}));
  EXPECT_FALSE(SumFitsIn({.memory_mb = 60}, {.memory_mb = 41}, {.memory_mb = 100}));
  EXPECT_FALSE(
      SumFitsIn({.others = {{"fpga", 1}}}, {.others = {{"fpga", 1}}}, {.others = {{"fpga", 1}}}));
  EXPECT_TRUE(
      SumFitsIn({.others = {{"fpga", 1}}}, {.others = {{"fpga", 1}}}, {.others = {{"fpga", 2}}}));
}

TEST(SchedulersTableTest, EachIsFoundByItsNameAndSaysWhatItDoesInASentence) {
  EXPECT_GE(AllSchedulers().size(), 4U);
  for (const SchedulerKind* kind : AllSchedulers()) {
    EXPECT_EQ(FindScheduler(kind->name), kind);
    EXPECT_TRUE(kind->text.ends_with('.')) << kind->name;
  }
  EXPECT_EQ(FindScheduler("fair"), nullptr);
}

}  // namespace
}  // namespace tfyarn::fakes::parts_test
