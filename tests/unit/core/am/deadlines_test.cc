#include "core/am/deadlines.h"

#include <gtest/gtest.h>

namespace tfyarn::am::deadlines_test {
namespace {

constexpr Instant kStart{};

TEST(DeadlineIndexTest, TheEarliestComesFirstThenEnumOrderThenKey) {
  DeadlineIndex index;
  index.Set({.at = kStart + 1s, .what = Deadline::kOrder, .key = 2});
  index.Set({.at = kStart + 1s, .what = Deadline::kOrder, .key = 1});
  index.Set({.at = kStart + 1s, .what = Deadline::kRegistration, .key = 7});
  index.Set({.at = kStart + 500ms, .what = Deadline::kRested, .key = 3});

  for (const std::uint32_t key : {3U, 7U, 1U, 2U}) {
    EXPECT_EQ(index.first().key, key);
    index.Set({.key = key});
  }
  EXPECT_EQ(index.first().at, kNever);
}

TEST(DeadlineIndexTest, WhatIsSetAgainMoves) {
  DeadlineIndex index;
  index.Set({.at = kStart + 1s, .what = Deadline::kOrder, .key = 1});
  index.Set({.at = kStart + 3s, .what = Deadline::kOrder, .key = 1});
  EXPECT_EQ(index.first().at, kStart + 3s);

  index.Set({.at = kStart + 1s, .what = Deadline::kStopOverdue, .key = 1});
  EXPECT_EQ(index.first().what, Deadline::kStopOverdue);
  index.Set({.key = 1});
  EXPECT_EQ(index.first().at, kNever);
  EXPECT_EQ(index.of(1), Due{.key = 1});
}

TEST(DeadlineIndexTest, WhatHasNoneIsNotHeardOf) {
  DeadlineIndex index;
  index.Set({.at = kStart + 1s, .what = Deadline::kOrder, .key = 1});
  index.Set({.at = kStart + 2s, .what = Deadline::kOrder, .key = 2});
  index.Set({.key = 1});
  index.Set({.key = 99});  // never set: no harm
  EXPECT_EQ(index.first(), (Due{.at = kStart + 2s, .what = Deadline::kOrder, .key = 2}));
}

TEST(PutOffTest, OnlyWhatHasPassedIsPutOff) {
  Instant passed = kStart + 1s;
  Instant ahead = kStart + 3s;
  Instant never = kNever;
  for (Instant* wait : {&passed, &ahead, &never}) PutOff(*wait, kStart + 2s, kStart + 9s);
  EXPECT_EQ(passed, kStart + 9s);
  EXPECT_EQ(ahead, kStart + 3s);
  EXPECT_EQ(never, kNever);
}

}  // namespace
}  // namespace tfyarn::am::deadlines_test
