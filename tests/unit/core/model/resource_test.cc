#include "core/model/resource.h"

#include <gtest/gtest.h>

namespace tfyarn::resource_test {
namespace {

Resource Of(std::int64_t memory_mb, std::int64_t vcores, std::int64_t gpus = 0,
            std::int64_t fpgas = 0) {
  Resource r{.memory_mb = memory_mb, .vcores = vcores, .gpus = gpus, .others = {}};
  r.Set("yarn.io/fpga", fpgas);
  return r;
}

TEST(ResourceTest, EveryTypeHasItsYarnName) {
  Resource r;
  r.Set("memory-mb", 1);
  r.Set("vcores", 2);
  r.Set("yarn.io/gpu", 3);
  r.Set("b", 4);
  r.Set("a", 5);
  EXPECT_EQ(r.memory_mb, 1);
  EXPECT_EQ(r.vcores, 2);
  EXPECT_EQ(r.gpus, 3);
  EXPECT_EQ(r.others, (std::vector<std::pair<std::string, std::int64_t>>{{"a", 5}, {"b", 4}}));
  EXPECT_EQ(r.Get("memory-mb"), 1);
  EXPECT_EQ(r.Get("b"), 4);
  EXPECT_EQ(r.Get("none"), 0);
}

TEST(ResourceTest, AnAmountOfZeroIsNotKept) {
  Resource r = Of(1, 1, 0, 2);
  r.Set("yarn.io/fpga", 0);
  EXPECT_TRUE(r.others.empty());
  EXPECT_EQ((Of(1, 1, 0, 2) - Of(0, 0, 0, 2)).others.size(), 0U);
}

TEST(ResourceTest, SumsAndDifferencesCoverEveryType) {
  EXPECT_EQ(Of(1, 2, 3, 4) + Of(10, 20, 30, 40), Of(11, 22, 33, 44));
  EXPECT_EQ(Of(11, 22, 33, 44) - Of(10, 20, 30, 40), Of(1, 2, 3, 4));
  EXPECT_TRUE(AnyNegative(Of(1, 1) - Of(0, 0, 0, 1)));
  EXPECT_FALSE(AnyNegative(Of(1, 1)));
  EXPECT_TRUE(IsZero(Of(5, 5) - Of(5, 5)));
}

TEST(ResourceTest, FittingAsksEveryType) {
  EXPECT_TRUE(FitsIn(Of(1, 1), Of(1, 1)));
  EXPECT_FALSE(FitsIn(Of(2, 1), Of(1, 1)));
  EXPECT_FALSE(FitsIn(Of(1, 1, 1), Of(1, 1)));
  EXPECT_FALSE(FitsIn(Of(1, 1, 0, 1), Of(1, 1)));
  EXPECT_TRUE(FitsIn(Of(1, 1), Of(1, 1, 8, 8)));
}

TEST(ResourceTest, TheFirstShortageIsNamed) {
  EXPECT_EQ(FirstShortage(Of(1, 1), Of(1, 1)), "");
  EXPECT_EQ(FirstShortage(Of(2, 2, 2, 2), Of(1, 1, 1, 1)), "memory-mb");
  EXPECT_EQ(FirstShortage(Of(1, 2, 2, 2), Of(1, 1, 1, 1)), "vcores");
  EXPECT_EQ(FirstShortage(Of(1, 1, 2, 2), Of(1, 1, 1, 1)), "yarn.io/gpu");
  EXPECT_EQ(FirstShortage(Of(1, 1, 1, 2), Of(1, 1, 1, 1)), "yarn.io/fpga");
}

TEST(ResourceTest, HowManyFitIsTheScarcestTypes) {
  EXPECT_EQ(HowManyFit(Of(2, 1, 1), Of(8, 8, 3)), 3);
  EXPECT_EQ(HowManyFit(Of(2, 1, 0, 1), Of(8, 8, 3)), 0);
  EXPECT_EQ(HowManyFit(Of(1, 0), Of(-5, 1)), 0);
  EXPECT_EQ(HowManyFit(Resource{}, Of(1, 1)), INT32_MAX);
}

TEST(ResourceTest, AShareIsRoundedDown) {
  EXPECT_EQ(Share(Of(1000, 7, 3, 5), 700'000), Of(700, 4, 2, 3));
  EXPECT_EQ(Share(Of(8192, 8, 4, 4), 1'000'000), Of(8192, 8, 4, 4));
  EXPECT_EQ(Share({.memory_mb = INT64_MAX}, 1'000'000).memory_mb, INT64_MAX);
  EXPECT_EQ(Share(Of(8192, 8, 4, 4), 0), Resource{});
}

TEST(ResourceTest, TimesAndMaximum) {
  EXPECT_EQ(Times(Of(1, 2, 3, 4), 3), Of(3, 6, 9, 12));
  EXPECT_EQ(Times(Of(1, 2, 3, 4), 0), Resource{});
  EXPECT_EQ(ComponentMax(Of(1, 9, 1), Of(9, 1, 0, 5)), Of(9, 9, 1, 5));
  EXPECT_EQ(ComponentMin(Of(1, 9, 1, 7), Of(9, 1, 0, 5)), Of(1, 1, 0, 5));
  EXPECT_EQ(ComponentMin(Of(1, 9, 1, 7), Of(9, 1, 0)), Of(1, 1, 0));
}

TEST(ResourceTest, TextIsForPeople) {
  EXPECT_EQ(ToString(Of(16384, 4, 8)), "16 GiB, 4 vcores, 8 GPUs");
  EXPECT_EQ(ToString(Of(512, 1, 1, 2)), "512 MiB, 1 vcore, 1 GPU, 2 yarn.io/fpga");
}

}  // namespace
}  // namespace tfyarn::resource_test
