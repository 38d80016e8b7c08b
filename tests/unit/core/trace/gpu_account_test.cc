#include "core/trace/gpu_account.h"

#include <gtest/gtest.h>

#include "core/model/random_stream.h"
#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::gpu_account_test {
namespace {

GpuNanos Seconds(std::int64_t gpu_seconds) {
  return static_cast<GpuNanos>(gpu_seconds) * 1'000'000'000;
}

TEST(GpuAccountTest, TimeBeforeTrainingIsWaiting) {
  GpuAccount account;
  account.Hold(Second(10), 8);
  EXPECT_EQ(account.split(Second(15)).waiting, Seconds(40));
  EXPECT_EQ(account.split(Second(15)).sum(), Seconds(40));
}

TEST(GpuAccountTest, BeingIdleAfterTrainingBeganIsRecovery) {
  GpuAccount account;
  account.Hold(Second(0), 4);
  account.Enter(Second(10), TrainingPhase::kTraining);
  account.Add(
      {.job = JobIndex(0), .useful = 30s * 4, .checkpoint = 2s * 4, .lost = 8s * 4, .restore = 0s});
  account.Enter(Second(50), TrainingPhase::kIdle);
  account.Enter(Second(60), TrainingPhase::kRestore);
  account.Add({.job = JobIndex(0), .useful = 0s, .checkpoint = 0s, .lost = 0s, .restore = 5s * 4});
  account.Enter(Second(65), TrainingPhase::kDone);
  const GpuSplit split = account.split(Second(70));

  EXPECT_EQ(split.useful, Seconds(120));
  EXPECT_EQ(split.checkpoint, Seconds(8));
  EXPECT_EQ(split.lost, Seconds(32));
  EXPECT_EQ(split.recovery, Seconds(60));
  EXPECT_EQ(split.waiting, Seconds(60));
  EXPECT_EQ(split.sum(), Seconds(280));
  EXPECT_EQ(split.held, Seconds(280));
  EXPECT_EQ(split.overrun, 0);
}

// A node that the RM has given up trains on behind a partition: its GPU time is in no book of the
// RM.
TEST(GpuAccountTest, TrainingBeyondTheBooksIsOverrunAndTheSumStaysExact) {
  GpuAccount account;
  account.Hold(Second(0), 8);
  account.Enter(Second(0), TrainingPhase::kTraining);
  account.Hold(Second(100), -8);
  account.Add(
      {.job = JobIndex(0), .useful = 130s * 8, .checkpoint = 0s, .lost = 0s, .restore = 0s});
  const GpuSplit split = account.split(Second(200));

  EXPECT_EQ(split.held, Seconds(800));
  EXPECT_EQ(split.overrun, Seconds(240));
  EXPECT_EQ(split.waiting, 0);
  EXPECT_EQ(split.sum(), split.held + split.overrun);
}

TEST(GpuAccountTest, TheSumIsExactWhateverHappens) {
  RandomStream random(7, "gpu-account-test");
  for (int round = 0; round < 200; ++round) {
    GpuAccount account;
    Instant now{};
    GpuNanos held = 0;
    std::int64_t gpus = 0;
    for (int step = 0; step < 50; ++step) {
      const Duration passed(static_cast<std::int64_t>(random.Below(1'000'000'007)));
      now += passed;
      held += static_cast<GpuNanos>(passed.count()) * gpus;
      switch (random.Below(3)) {
        case 0:
          account.Hold(now, 3);
          gpus += 3;
          break;
        case 1:
          account.Enter(now, static_cast<TrainingPhase>(random.Below(5)));
          break;
        default:
          account.Add({.job = JobIndex(0),
                       .useful = Duration(static_cast<std::int64_t>(random.Below(1000))),
                       .checkpoint = 1ns,
                       .lost = 2ns,
                       .restore = 3ns});
      }
      const GpuSplit split = account.split(now);
      ASSERT_EQ(split.held, held);
      ASSERT_EQ(split.sum(), split.held + split.overrun);
    }
  }
}

}  // namespace
}  // namespace tfyarn::trace::gpu_account_test
