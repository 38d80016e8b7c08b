#include "sim/training_run.h"

#include <gtest/gtest.h>

namespace tfyarn::sim::training_run_test {
namespace {

using trace::TrainingPhase;

constexpr Instant kStart{};

TimeSplit Split(Duration useful, Duration checkpoint, Duration restore, Duration lost) {
  return {.useful = useful.count(),
          .checkpoint = checkpoint.count(),
          .restore = restore.count(),
          .lost = lost.count()};
}

/// 100 s of work, a checkpoint of 1 s every 10 s of work, 5 s to restore.
TrainingRun Usual() {
  return TrainingRun(100s, {.every = 10s, .cost = 1s}, 5s);
}

TEST(TrainingRunTest, AnUndisturbedTrainingTakesItsWorkAndItsCheckpoints) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  // Nine checkpoints: at the very end none is needed.
  EXPECT_EQ(run.done_at(), kStart + 109s);
  run.Advance(kStart + 109s - 1ns);
  EXPECT_FALSE(run.done());
  run.Advance(kStart + 109s);
  EXPECT_TRUE(run.done());
  EXPECT_EQ(run.TakeAccount(false).wall, Split(100s, 9s, 0s, 0s));
  EXPECT_EQ(run.TakeAccount(false), TrainingAccount{});
}

TEST(TrainingRunTest, PhasesFollowEachOther) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  EXPECT_EQ(run.phase(), TrainingPhase::kTraining);
  EXPECT_EQ(run.next_change(), kStart + 10s);
  run.Advance(kStart + 10s);
  EXPECT_EQ(run.phase(), TrainingPhase::kCheckpoint);
  EXPECT_EQ(run.next_change(), kStart + 11s);
  run.Advance(kStart + 11s);
  EXPECT_EQ(run.phase(), TrainingPhase::kTraining);
}

TEST(TrainingRunTest, BreakLosesWhatWasTrainedSinceTheLastFinishedCheckpoint) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  EXPECT_EQ(run.Break(kStart + 25s), 3s);  // 22 s of work and two checkpoints, then 3 s more.
  EXPECT_EQ(run.work(), 20s);
  EXPECT_EQ(run.TakeAccount(false).wall, Split(20s, 2s, 0s, 3s));
  EXPECT_EQ(run.phase(), TrainingPhase::kIdle);
}

TEST(TrainingRunTest, ACheckpointThatIsNotFinishedSavesNothing) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  EXPECT_EQ(run.Break(kStart + 11s - 1ns), 10s);
  EXPECT_EQ(run.work(), 0s);
}

TEST(TrainingRunTest, LaterSessionsRestoreFirstAndMayBreakWhileTheyDo) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  static_cast<void>(run.Break(kStart + 15s));
  run.Begin(kStart + 100s);
  EXPECT_EQ(run.phase(), TrainingPhase::kRestore);
  EXPECT_EQ(run.Break(kStart + 103s), 0s);
  run.Begin(kStart + 200s);
  EXPECT_EQ(run.next_change(), kStart + 205s);
  EXPECT_EQ(run.done_at(), kStart + 205s + 90s + 8s);
  run.Advance(kStart + 303s);
  EXPECT_TRUE(run.done());
  EXPECT_EQ(run.TakeAccount(false).wall, Split(100s, 9s, 8s, 4s));
}

TEST(TrainingRunTest, PausingCostsNothingButTime) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  run.Pause(kStart + 5s);
  EXPECT_EQ(run.phase(), TrainingPhase::kIdle);
  EXPECT_EQ(run.done_at(), std::nullopt);
  run.Resume(kStart + 50s);
  EXPECT_EQ(run.done_at(), kStart + 109s + 45s);
  run.Advance(kStart + 154s);
  EXPECT_EQ(run.TakeAccount(false).wall, Split(100s, 9s, 0s, 0s));
}

TEST(TrainingRunTest, ASlowPaceStretchesStepsAndNotCheckpoints) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  run.SetPace(kStart, 2000);
  EXPECT_EQ(run.done_at(), kStart + 209s);
  run.Advance(kStart + 10s);
  EXPECT_EQ(run.work(), 5s);
  run.SetPace(kStart + 10s, 1000);
  EXPECT_EQ(run.done_at(), kStart + 10s + 95s + 9s);
}

TEST(TrainingRunTest, SavingOutOfTurnKeepsTheWorkOnlyWhenItFinishes) {
  TrainingRun saved = Usual();
  saved.Begin(kStart);
  saved.StartSaving(kStart + 7s);
  EXPECT_EQ(saved.phase(), TrainingPhase::kCheckpoint);
  EXPECT_EQ(saved.next_change(), std::nullopt);
  saved.FinishSaving(kStart + 9s);
  EXPECT_EQ(saved.Break(kStart + 9s), 0s);
  EXPECT_EQ(saved.work(), 7s);
  EXPECT_EQ(saved.TakeAccount(false).wall, Split(7s, 2s, 0s, 0s));

  TrainingRun killed = Usual();
  killed.Begin(kStart);
  killed.StartSaving(kStart + 7s);
  EXPECT_EQ(killed.Break(kStart + 9s), 7s);
}

TEST(TrainingRunTest, GpuTimeFollowsTheNumberThatTakesPart) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  run.SetGpus(kStart, 8);
  run.SetGpus(kStart + 5s, 4);
  static_cast<void>(run.Break(kStart + 12s));
  EXPECT_EQ(run.TakeAccount(false).gpu, Split(60s, 4s, 0s, 4s));
}

// A machine that was stepped at every boundary and one that was stepped once must agree to the
// nanosecond.
TEST(TrainingRunTest, OneLongAdvanceEqualsManyShortOnes) {
  for (const std::int32_t pace : {1000, 1500, 3000}) {
    TrainingRun once(10000s, {.every = 7s, .cost = 300ms}, 0s);
    TrainingRun often(10000s, {.every = 7s, .cost = 300ms}, 0s);
    once.Begin(kStart);
    often.Begin(kStart);
    once.SetPace(kStart, pace);
    often.SetPace(kStart, pace);
    const Instant done = *once.done_at();
    while (const std::optional<Instant> next = often.next_change()) often.Advance(*next);
    once.Advance(done - 1ns);
    EXPECT_FALSE(once.done());
    once.Advance(done);
    EXPECT_TRUE(once.done());
    EXPECT_EQ(once.TakeAccount(false), often.TakeAccount(false));
  }
}

TEST(TrainingRunTest, NothingToDoIsDoneAtOnce) {
  TrainingRun run(0s, {}, 0s);
  run.Begin(kStart);
  EXPECT_TRUE(run.done());
}

TEST(TrainingRunTest, WithoutCheckpointsEverythingIsAtRisk) {
  TrainingRun run(100s, {}, 0s);
  run.Begin(kStart);
  EXPECT_EQ(run.done_at(), kStart + 100s);
  EXPECT_EQ(run.Break(kStart + 99s), 99s);
}

// A year on ten thousand GPUs has more GPU-nanoseconds than 64 bits can count.
TEST(TrainingRunTest, LargeSumsDoNotOverflow) {
  TrainingRun run(8760h, {.every = 1h, .cost = 1min}, 0s);
  run.Begin(kStart);
  run.SetGpus(kStart, 10000);
  run.Advance(*run.done_at());
  EXPECT_EQ(run.TakeAccount(false).gpu.useful, WideTime(Duration(8760h).count()) * 10000);
}

TEST(TrainingRunTest, SettlingCountsWhatIsUndecidedAsUseful) {
  TrainingRun run = Usual();
  run.Begin(kStart);
  run.Advance(kStart + 15s);
  EXPECT_EQ(run.TakeAccount(true).wall, Split(14s, 1s, 0s, 0s));
}

}  // namespace
}  // namespace tfyarn::sim::training_run_test
