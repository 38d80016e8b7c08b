// A log that others cannot fill.
#include "hosts/runtime/rare_notes.h"

#include <gtest/gtest.h>

namespace tfyarn::hosts::rare_notes_test {
namespace {

TEST(RareNotesTest, TheFirstAreWrittenAndThenOneInAPeriodThatCountsTheOthers) {
  RareNotes notes(2, 60s);
  EXPECT_EQ(notes.Take(Instant(1s), "a"), "a");
  EXPECT_EQ(notes.Take(Instant(2s), "b"), "b");
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(notes.Take(Instant(3s), "c"), std::nullopt);
  EXPECT_EQ(notes.Take(Instant(61s), "d"), std::nullopt);
  EXPECT_EQ(notes.Take(Instant(62s), "e"), "e (and 1001 more such messages before)");
  EXPECT_EQ(notes.Take(Instant(63s), "f"), std::nullopt);
  EXPECT_EQ(notes.Take(Instant(200s), "g"), "g (and 1 more such messages before)");
  EXPECT_EQ(notes.Take(Instant(300s), "h"), "h");
}

}  // namespace
}  // namespace tfyarn::hosts::rare_notes_test
