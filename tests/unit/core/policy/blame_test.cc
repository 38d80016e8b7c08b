#include "core/policy/blame.h"

#include <gtest/gtest.h>

namespace tfyarn::policy::blame_test {
namespace {

constexpr Instant kStart{};

TEST(BlameTest, TheFirstExitIsTheCauseWhenAllAreOfAKind) {
  EXPECT_EQ(FindFirstCause({{ExitClass::kUserPermanent, kStart + 2s},
                            {ExitClass::kUserPermanent, kStart + 1s},
                            {ExitClass::kUserPermanent, kStart + 1s}}),
            1U);
}

// Survivors of a dead node end within seconds, its silence is noticed after five.
TEST(BlameTest, WhatNoPeerCanGiveIsTheCauseHoweverLateItIsKnown) {
  EXPECT_EQ(FindFirstCause({{ExitClass::kUserPermanent, kStart + 1s},
                            {ExitClass::kUserPermanent, kStart + 2s},
                            {ExitClass::kHeartbeatLost, kStart + 5s},
                            {ExitClass::kNodeLost, kStart + 6s}}),
            2U);
}

TEST(BlameTest, ACrashComesBeforeExitsThatProgramsChoose) {
  EXPECT_EQ(FindFirstCause({{ExitClass::kUserPermanent, kStart + 1s},
                            {ExitClass::kSignalCrash, kStart + 1100ms}}),
            1U);
}

}  // namespace
}  // namespace tfyarn::policy::blame_test
