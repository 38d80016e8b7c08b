#include "core/trace/usage.h"

#include <gtest/gtest.h>

#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::usage_test {
namespace {

GpuNanos At(const UseIntegral& integral, Use use) {
  return integral[static_cast<std::size_t>(use)];
}

TEST(UsageSeriesTest, EveryUnitIsInOneUseAtEveryMoment) {
  UsageSeries usage;
  usage.Change(Second(0), Use::kFree, 16);
  usage.Move(Second(10), Use::kFree, Use::kIncomplete, 8);
  usage.Move(Second(20), Use::kIncomplete, Use::kTraining, 8);
  usage.Move(Second(30), Use::kFree, Use::kDown, 8);
  const UseIntegral until = usage.Until(Second(40));

  EXPECT_EQ(ToSeconds(At(until, Use::kFree)), 16 * 10 + 8 * 20);
  EXPECT_EQ(ToSeconds(At(until, Use::kIncomplete)), 8 * 10);
  EXPECT_EQ(ToSeconds(At(until, Use::kTraining)), 8 * 20);
  EXPECT_EQ(ToSeconds(At(until, Use::kDown)), 8 * 10);
}

TEST(UsageSeriesTest, ALongRunIsFoldedIntoABoundedNumberOfExactBuckets) {
  UsageSeries usage;
  usage.Change(Second(0), Use::kFree, 3);
  for (int hour = 1; hour <= 24 * 365; ++hour)
    usage.Move(Second(hour * 3600.0), Use::kFree, Use::kTraining, hour % 2 == 0 ? -1 : 1);
  const Instant end = Second(24 * 365 * 3600.0 + 1);
  const UseIntegral until = usage.Until(end);
  const UsageSeries::Points points = usage.TakePoints(end);

  EXPECT_LE(points.buckets.size(), UsageSeries::kMaxPoints);
  EXPECT_GT(points.buckets.size(), UsageSeries::kMaxPoints / 2 - 1);
  UseIntegral sum{};
  for (const UseIntegral& bucket : points.buckets) {
    for (std::size_t use = 0; use < kUses; ++use) sum[use] += bucket[use];
  }
  EXPECT_EQ(sum, until);
  EXPECT_EQ(At(until, Use::kFree) + At(until, Use::kTraining),
            static_cast<GpuNanos>(3) * end.time_since_epoch().count());
}

// The cluster stands there before its first job comes; the first record of a run need not be at 0.
TEST(UsageSeriesTest, CapacityIsFreeFromItsDeclarationOn) {
  TraceScript script;
  script.At(10).Node("n1", 8).At(100).Job("a").At(150).Grant(0, 1, "n1", 8).At(200);
  script.Fact(RunStopped{.reason = StopReason::kHorizon});
  const Result result = script.Finish();
  UseIntegral sum{};
  for (const UseIntegral& bucket : result.usage.buckets) {
    for (std::size_t use = 0; use < kUses; ++use) sum[use] += bucket[use];
  }
  EXPECT_EQ(ToSeconds(At(sum, Use::kFree)), 8 * 140);
  EXPECT_EQ(ToSeconds(At(sum, Use::kIncomplete)), 8 * 50);
}

}  // namespace
}  // namespace tfyarn::trace::usage_test
