// The small parts: tokens, the ring of heartbeats, comparing amounts.
#include <gtest/gtest.h>

#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/node_ring.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {
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

TEST(DominantTest, TheLargestShareDecidesThenTheNext) {
  const Resource whole{.memory_mb = 1000, .vcores = 100, .gpus = 10, .others = {}};
  const Resource gpu_heavy{.memory_mb = 0, .vcores = 0, .gpus = 5, .others = {}};
  const Resource memory_heavy{.memory_mb = 400, .vcores = 40, .gpus = 0, .others = {}};
  EXPECT_GT(CompareDominant(gpu_heavy, memory_heavy, whole), 0);
  const Resource both{.memory_mb = 500, .vcores = 1, .gpus = 0, .others = {}};
  EXPECT_LT(CompareDominant(gpu_heavy, both, whole), 0);
  EXPECT_EQ(DominantShare(gpu_heavy, whole), 500'000'000);
}

}  // namespace
}  // namespace tfyarn::fakes
