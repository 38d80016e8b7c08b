#include "core/model/text.h"

#include <gtest/gtest.h>

#include "core/model/am.h"
#include "core/model/random_stream.h"
#include "core/model/rounded_text.h"

namespace tfyarn::text_test {
namespace {

TEST(TextTest, DurationsUseTheLargestUnits) {
  EXPECT_EQ(ToString(Duration::zero()), "0s");
  EXPECT_EQ(ToString(Duration(90s)), "1m30s");
  EXPECT_EQ(ToString(Duration(1500ms)), "1.5s");
  EXPECT_EQ(ToString(Duration(2h)), "2h");
  EXPECT_EQ(ToString(Duration(36h)), "1d12h");
  EXPECT_EQ(ToString(Duration(250ms)), "250ms");
  EXPECT_EQ(ToString(Duration(200us)), "200us");
  EXPECT_EQ(ToString(Duration(1ns)), "1ns");
  EXPECT_EQ(ToString(Duration(1001us)), "1.001ms");
  EXPECT_EQ(ToString(Duration(-1s)), "-1s");
  EXPECT_EQ(ToString(Duration::min()), "-106751d23h47m16.854775808s");
  EXPECT_EQ(ToString(Duration::max()), "106751d23h47m16.854775807s");
}

TEST(TextTest, AMeasuredDurationIsRounded) {
  EXPECT_EQ(RoundedText(Duration(599'799'816'191)), "10m");
  EXPECT_EQ(RoundedText(Duration::zero()), "0s");
  EXPECT_EQ(RoundedText(Duration(1ns)), "0s");
  EXPECT_EQ(RoundedText(Duration(12'345us)), "12ms");
  EXPECT_EQ(RoundedText(Duration(999'500us)), "1s");
  EXPECT_EQ(RoundedText(Duration(5'049ms)), "5s");
  EXPECT_EQ(RoundedText(Duration(5'050ms)), "5.1s");
  EXPECT_EQ(RoundedText(Duration(61'499ms)), "1m1s");
  EXPECT_EQ(RoundedText(Duration(90min + 31s)), "1h31m");
  EXPECT_EQ(RoundedText(Duration(-1'234ms)), "-1.2s");
  EXPECT_EQ(RoundedText(Duration::max()), "106751d23h47m");
  EXPECT_EQ(RoundedText(Duration::min()), "-106751d23h47m");
}

TEST(TextTest, InstantsAreSeconds) {
  EXPECT_EQ(ToString(Instant{} + 12s + 1us), "t=12.000001s");
}

TEST(TextTest, StructsShowWhatWasSaid) {
  EXPECT_EQ(ToText(StopProcess{.fence = {}, .attempt = TaskAttempt(1), .grace = 15s}),
            "StopProcess{fence=AgentFence{container=container_0_0000_00_000000 task=:0 "
            "incarnation=0 nonce=0} attempt=1 "
            "grace=15s}");
  EXPECT_EQ(ToText(Note{.text = "why"}), "Note{text=\"why\"}");
  EXPECT_EQ(ToText(Note{}), "Note{}");
  EXPECT_EQ(ToText(AmAction(GangReleased{.containers = 3, .backoff = 5s})),
            "GangReleased{containers=3 backoff=5s}");
}

TEST(TextTest, ListsMapsOptionalsAndEnumsHaveTheirForms) {
  RestartDecided decided;
  decided.unit = RestartUnit::kGang;
  decided.paid = Budget::kInfrastructure;
  decided.cause.exit_class = ExitClass::kNodeLost;
  decided.cause.exit = -100;
  decided.tasks = {{"ps", 0}, {"worker", 1}};
  const std::string text = ToText(decided);
  EXPECT_NE(text.find("unit=gang paid=infrastructure"), std::string::npos) << text;
  EXPECT_NE(text.find("exit=-100 exit_class=node-lost"), std::string::npos) << text;
  EXPECT_NE(text.find("tasks=[ps:0, worker:1]"), std::string::npos) << text;
  EXPECT_EQ(ToText(std::map<std::string, bool>{{"a", true}, {"b", false}}),
            "[\"a\":yes, \"b\":no]");
}

// 1,000 tasks would be megabytes in every record.
TEST(TextTest, ASharedSpecIsItsIdOnly) {
  ClusterSpec spec;
  spec.tasks["worker"] = {{.host = "n1", .port = 1}};
  const SpecRef shared = Share(spec);
  EXPECT_EQ(ToText(SpecAssembled{.spec = shared, .epoch = Epoch(1)}),
            "SpecAssembled{spec=#" + std::to_string(shared.id().value) + " epoch=1}");
}

TEST(SpecTest, TheIdIsThatOfTheContent) {
  ClusterSpec spec;
  spec.epoch = Epoch(1);
  spec.tasks["worker"] = {{.host = "n1", .port = 1}};
  const SpecId id = Share(spec).id();
  EXPECT_EQ(Share(spec).id(), id);
  spec.tasks["worker"][0].port = 2;
  EXPECT_NE(Share(spec).id(), id);
  EXPECT_EQ(Share(ClusterSpec{}).id(), SpecId(0xc77b3abb6f87acd9))
      << "ids must not change between builds";
}

TEST(DescribeTest, EnumeratorsHaveTwoSpellings) {
  EXPECT_EQ(EnumeratorName(ExitClass::kNodeLost), "NodeLost");
  EXPECT_EQ(KebabName(ExitClass::kNodeLost), "node-lost");
  EXPECT_EQ(EnumeratorFromKebab<ExitClass>("killed-by-us"), ExitClass::kKilledByUs);
  EXPECT_EQ(EnumeratorFromKebab<ExitClass>("KilledByUs"), std::nullopt);
  EXPECT_EQ(EnumeratorName(static_cast<ExitClass>(99)), "?");
}

TEST(DescribeTest, TypesHaveTheirOwnName) {
  EXPECT_EQ(TypeName<yarn::AllocateRequest>(), "AllocateRequest");
  EXPECT_EQ(TypeName<JobSpec>(), "JobSpec");
}

TEST(RandomStreamTest, EqualSeedNameAndEntityGiveEqualNumbersAndOthersDoNot) {
  RandomStream a(1, "retry");
  RandomStream b(1, "retry");
  RandomStream other_seed(2, "retry");
  RandomStream other_name(1, "nonce");
  RandomStream other_entity(1, "retry", 1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t draw = a.Next();
    EXPECT_EQ(draw, b.Next());
    EXPECT_NE(draw, other_seed.Next());
    EXPECT_NE(draw, other_name.Next());
    EXPECT_NE(draw, other_entity.Next());
  }
}

// As numpy 2.4 draws them: Philox(counter, key=[5, 0x2d06800538d394c2]).random_raw(6) from the
// counter before [0, 7, 0, 0] on; the second half of the key is XXH3 of no text. A change of these
// numbers changes every digest.
TEST(RandomStreamTest, DrawsThePhilox4x64OfSeedNameAndEntity) {
  RandomStream stream(5, "", 7);
  for (const std::uint64_t drawn :
       {0xf2447f691a395fe7ULL, 0x5a3d6c4172784da7ULL, 0x8407d8456eb6ba08ULL, 0x47654593f943d988ULL,
        0x8f18bf4a185fea55ULL, 0xe69ec13a36b7b390ULL})
    EXPECT_EQ(stream.Next(), drawn);
}

// The first number of SplitMix64 with seed 0, as its authors' program gives it.
TEST(MixBitsTest, IsTheFinaliserOfSplitMix64) {
  EXPECT_EQ(MixBits(kGoldenGamma), 0xe220a8397b1dcdafULL);
}

TEST(RandomStreamTest, DrawsStayInTheirRangeAndReachItsEnds) {
  RandomStream stream(1, "range");
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(stream.Below(3), 3U);
    const Duration wait = stream.Between(10us, 13us);
    EXPECT_EQ(wait % 1us, Duration::zero());
    EXPECT_GE(wait, 10us);
    EXPECT_LE(wait, 13us);
    low = low || wait == 10us;
    high = high || wait == 13us;
  }
  EXPECT_TRUE(low);
  EXPECT_TRUE(high);
  EXPECT_EQ(stream.Between(5s, 5s), 5s);
}

}  // namespace
}  // namespace tfyarn::text_test
