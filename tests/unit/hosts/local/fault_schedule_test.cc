#include "hosts/local/fault_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfyarn::hosts::fault_schedule_test {
namespace {

using testing::ElementsAre;

const Instant kBegan{100s};

config::FaultSpec At(Duration at) {
  config::FaultSpec fault;
  fault.when.at = at;
  return fault;
}

config::FaultSpec When(const std::string& state, Duration after, const std::string& task = "") {
  config::FaultSpec fault;
  fault.when.job = "a";
  fault.when.state = state;
  fault.when.after = after;
  fault.when.task = task;
  return fault;
}

config::FaultSpec Lasting(config::FaultSpec fault, double seconds) {
  fault.duration = config::Distribution::Constant(seconds);
  return fault;
}

/// "0+" begins, "0-" ends.
std::vector<std::string> Take(FaultSchedule& schedule, Instant now) {
  std::vector<std::string> strikes;
  for (const FaultStrike& strike : schedule.Take(now))
    strikes.push_back(std::to_string(strike.fault) + (strike.begins ? "+" : "-"));
  return strikes;
}

TEST(FaultScheduleTest, TimesCountFromTheBeginningOfTheRun) {
  const std::vector<config::FaultSpec> faults = {At(3s), At(1s)};
  FaultSchedule schedule(faults, kBegan);
  EXPECT_EQ(schedule.next_deadline(), kBegan + 1s);
  EXPECT_THAT(Take(schedule, kBegan + 999ms), ElementsAre());
  EXPECT_THAT(Take(schedule, kBegan + 1s), ElementsAre("1+"));
  EXPECT_THAT(Take(schedule, kBegan + 9s), ElementsAre("0+"));
  EXPECT_EQ(schedule.next_deadline(), std::nullopt);
}

TEST(FaultScheduleTest, AStateCountsFromWhenItWasReachedAndTheFirstTimeOnly) {
  const std::vector<config::FaultSpec> faults = {When("running", 2s), When("finished", 0s)};
  FaultSchedule schedule(faults, kBegan);
  EXPECT_TRUE(schedule.waits());
  EXPECT_EQ(schedule.next_deadline(), std::nullopt);
  schedule.OnJobState(kBegan + 1s, JobState::kLaunching);
  schedule.OnJobState(kBegan + 5s, JobState::kRunning);
  EXPECT_EQ(schedule.next_deadline(), kBegan + 7s);
  EXPECT_THAT(Take(schedule, kBegan + 8s), ElementsAre("0+"));
  schedule.OnJobState(kBegan + 9s, JobState::kRunning);
  EXPECT_THAT(Take(schedule, kBegan + 20s), ElementsAre());
  schedule.OnJobState(kBegan + 30s, JobState::kFinished);
  EXPECT_FALSE(schedule.waits());
  EXPECT_THAT(Take(schedule, kBegan + 30s), ElementsAre("1+"));
}

TEST(FaultScheduleTest, ARegisteredTaskIsOneTaskOrAnyOfAType) {
  const std::vector<config::FaultSpec> faults = {When("registered", 0s, "worker:1"),
                                                 When("registered", 0s, "ps")};
  FaultSchedule schedule(faults, kBegan);
  schedule.OnTaskRegistered(kBegan, {.type = "worker", .index = 0});
  EXPECT_THAT(Take(schedule, kBegan), ElementsAre());
  schedule.OnTaskRegistered(kBegan, {.type = "ps", .index = 7});
  schedule.OnTaskRegistered(kBegan, {.type = "worker", .index = 1});
  EXPECT_THAT(Take(schedule, kBegan), ElementsAre("0+", "1+"));
}

TEST(FaultScheduleTest, WhatLastsEndsItsLengthAfterItsBeginning) {
  const std::vector<config::FaultSpec> faults = {Lasting(At(1s), 2), At(3s)};
  FaultSchedule schedule(faults, kBegan);
  EXPECT_THAT(Take(schedule, kBegan + 1500ms), ElementsAre("0+"));
  EXPECT_EQ(schedule.next_deadline(), kBegan + 3s) << "late, and yet its end is not";
  EXPECT_THAT(Take(schedule, kBegan + 3s), ElementsAre("0-", "1+")) << "ends come first";
}

TEST(FaultScheduleTest, AShortFaultThatIsFoundLateStillBeginsAndEnds) {
  const std::vector<config::FaultSpec> faults = {Lasting(At(1s), 0.001)};
  FaultSchedule schedule(faults, kBegan);
  EXPECT_THAT(Take(schedule, kBegan + 10s), ElementsAre("0+", "0-"));
}

}  // namespace
}  // namespace tfyarn::hosts::fault_schedule_test
