#include "core/am/timers.h"

#include <gtest/gtest.h>

namespace tfyarn::am::timers_test {
namespace {

constexpr Instant kStart{};

TEST(TimerTableTest, TheEarliestComesFirstThenEnumOrderThenKey) {
  TimerTable timers;
  timers.Arm(Timer::kOrder, 2, kStart + 1s);
  timers.Arm(Timer::kRegistration, 7, kStart + 1s);
  timers.Arm(Timer::kOrder, 1, kStart + 1s);
  timers.ArmJob(Timer::kBlame, kStart + 500ms);

  EXPECT_EQ(timers.next(), kStart + 500ms);
  EXPECT_EQ(timers.TakeDue(kStart + 1s), (TimerTable::Due{Timer::kBlame, 0}));
  EXPECT_EQ(timers.TakeDue(kStart + 1s), (TimerTable::Due{Timer::kRegistration, 7}));
  EXPECT_EQ(timers.TakeDue(kStart + 1s), (TimerTable::Due{Timer::kOrder, 1}));
  EXPECT_EQ(timers.TakeDue(kStart + 1s), (TimerTable::Due{Timer::kOrder, 2}));
  EXPECT_EQ(timers.TakeDue(kStart + 1h), std::nullopt);
  EXPECT_EQ(timers.next(), std::nullopt);
}

TEST(TimerTableTest, ArmingAgainMovesATimer) {
  TimerTable timers;
  timers.Arm(Timer::kOrder, 1, kStart + 1s);
  timers.Arm(Timer::kOrder, 1, kStart + 3s);
  EXPECT_EQ(timers.next(), kStart + 3s);
  EXPECT_EQ(timers.TakeDue(kStart + 2s), std::nullopt);

  timers.Arm(Timer::kOrder, 1, kStart + 1s);
  EXPECT_EQ(timers.next(), kStart + 1s);
  EXPECT_TRUE(timers.TakeDue(kStart + 1s).has_value());
  EXPECT_EQ(timers.TakeDue(kStart + 9s), std::nullopt);
}

TEST(TimerTableTest, WhatIsDueIsPutOffAndNothingElse) {
  TimerTable timers;
  timers.Arm(Timer::kOrder, 1, kStart + 1s);
  timers.Arm(Timer::kBlame, 0, kStart + 2s);
  timers.Arm(Timer::kOrder, 2, kStart + 3s);
  timers.PutOff(kStart + 2s, kStart + 9s);

  EXPECT_EQ(timers.TakeDue(kStart + 8s), (TimerTable::Due{Timer::kOrder, 2}));
  EXPECT_EQ(timers.TakeDue(kStart + 8s), std::nullopt);
  EXPECT_EQ(timers.TakeDue(kStart + 9s), (TimerTable::Due{Timer::kBlame, 0}));
  EXPECT_EQ(timers.TakeDue(kStart + 9s), (TimerTable::Due{Timer::kOrder, 1}));
}

TEST(TimerTableTest, ADisarmedTimerIsNotHeardOf) {
  TimerTable timers;
  timers.Arm(Timer::kOrder, 1, kStart + 1s);
  timers.Arm(Timer::kOrder, 2, kStart + 2s);
  timers.Disarm(Timer::kOrder, 1);
  timers.Disarm(Timer::kOrder, 99);  // never set: no harm

  EXPECT_FALSE(timers.IsArmed(Timer::kOrder, 1));
  EXPECT_EQ(timers.next(), kStart + 2s);
}

}  // namespace
}  // namespace tfyarn::am::timers_test
