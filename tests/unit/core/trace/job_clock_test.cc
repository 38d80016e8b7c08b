#include "core/trace/job_clock.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::job_clock_test {
namespace {

using namespace std::chrono_literals;

Duration Of(const StageTimes& times, JobStage stage) {
  return times[static_cast<std::size_t>(stage)];
}

Duration Sum(const StageTimes& times) {
  return std::accumulate(times.begin(), times.end(), Duration::zero());
}

/// A job that has got as far as training, at 40 s.
JobClock Training() {
  JobClock clock(Second(0));
  clock.AmRegistered(Second(5));
  clock.StateChanged(Second(5), JobState::kAllocating);
  clock.GangComplete(Second(15), 2);
  clock.StateChanged(Second(15), JobState::kLaunching);
  clock.Launched(Second(20), 1);
  clock.Launched(Second(22), 1);
  clock.StateChanged(Second(30), JobState::kRunning);
  clock.Trains(Second(40), TrainingPhase::kTraining);
  return clock;
}

TEST(JobClockTest, EveryMomentOfAStartIsInOneStage) {
  const StageTimes times = Training().Until(Second(50));
  EXPECT_EQ(Of(times, JobStage::kQueued), 5s);
  EXPECT_EQ(Of(times, JobStage::kGang), 10s);
  EXPECT_EQ(Of(times, JobStage::kLocalizing), 7s);
  EXPECT_EQ(Of(times, JobStage::kRegistering), 8s);
  EXPECT_EQ(Of(times, JobStage::kRunning), 10s);
  EXPECT_EQ(Of(times, JobStage::kTraining), 10s);
  EXPECT_EQ(Sum(times), 50s);
}

TEST(JobClockTest, LostWorkMovesFromTrainingAndTheSumStays) {
  JobClock clock = Training();
  clock.Trains(Second(100), TrainingPhase::kCheckpoint);
  clock.Trains(Second(102), TrainingPhase::kTraining);
  clock.Lost(Second(110), 8s);
  clock.Trains(Second(110), TrainingPhase::kIdle);
  clock.StateChanged(Second(115), JobState::kAllocating);
  clock.Trains(Second(130), TrainingPhase::kRestore);
  clock.Trains(Second(133), TrainingPhase::kTraining);
  const StageTimes times = clock.Until(Second(140));
  EXPECT_EQ(Of(times, JobStage::kTraining), 60s + 7s);
  EXPECT_EQ(Of(times, JobStage::kLost), 8s);
  EXPECT_EQ(Of(times, JobStage::kCheckpoint), 2s);
  EXPECT_EQ(Of(times, JobStage::kRestart), 20s);
  EXPECT_EQ(Of(times, JobStage::kRestore), 3s);
  EXPECT_EQ(Sum(times), 140s);
}

TEST(JobClockTest, NoMoreIsLostThanWasTrained) {
  JobClock clock = Training();
  clock.Lost(Second(50), 1h);
  const StageTimes times = clock.Until(Second(60));
  EXPECT_EQ(Of(times, JobStage::kLost), 10s);
  EXPECT_EQ(Of(times, JobStage::kTraining), 10s);
}

TEST(JobClockTest, AJobWaitsForItsGangFromItsAmsRegistrationOn) {
  JobClock clock(Second(0));
  clock.AmRegistered(Second(5));
  EXPECT_EQ(clock.stage(), JobStage::kGang);
  EXPECT_EQ(Of(clock.Until(Second(8)), JobStage::kQueued), 5s);
  EXPECT_EQ(Of(clock.Until(Second(8)), JobStage::kGang), 3s);
}

TEST(JobClockTest, AGangThatIsGivenBackIsWaitedForAgain) {
  JobClock clock(Second(0));
  clock.AmRegistered(Second(1));
  clock.GangComplete(Second(2), 4);
  clock.GangIncomplete(Second(3));
  EXPECT_EQ(clock.stage(), JobStage::kGang);
}

TEST(JobClockTest, WhatFollowsTheVerdictIsEnding) {
  JobClock clock = Training();
  clock.Trains(Second(50), TrainingPhase::kIdle);
  clock.Deciding(Second(55));
  const StageTimes times = clock.Until(Second(60));
  EXPECT_EQ(Of(times, JobStage::kRestart), 5s);
  EXPECT_EQ(Of(times, JobStage::kEnding), 5s);
}

TEST(JobClockTest, ANewApplicationIsQueuedAgain) {
  JobClock clock(Second(0));
  clock.AmRegistered(Second(1));
  clock.Deciding(Second(2));
  clock.Resubmitted(Second(3));
  EXPECT_EQ(clock.stage(), JobStage::kQueued);
}

TEST(JobStagesTest, SumToTheTimeFromSubmissionToTheEnd) {
  TraceScript script;
  script.Node("n1", 8).At(1).Job("a");
  script.At(9).Client(JobEnded{.status = JobStatus::kKilled, .diagnostics = "by the user"});
  script.At(20).Job("b", 1);
  script.At(30);
  script.Fact(RunStopped{.reason = StopReason::kHorizon});
  const Result result = script.Finish();
  EXPECT_EQ(Of(result.jobs[0].stages, JobStage::kQueued), 8s);
  EXPECT_EQ(Sum(result.jobs[0].stages), *result.jobs[0].completion_time());
  EXPECT_EQ(Sum(result.jobs[1].stages), 10s) << "unfinished: up to the end of the run";
}

}  // namespace
}  // namespace tfyarn::trace::job_clock_test
