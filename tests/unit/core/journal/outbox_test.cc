#include "core/journal/outbox.h"

#include <gtest/gtest.h>

#include <string>

#include "core/model/text.h"

namespace tfyarn::journal::outbox_test {
namespace {

constexpr Instant kStart{};

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() {
    out_.BeginStep(actions_);
    out_.OpenJournal(1, JournalSeq(1), true);
  }

  /// The appends among the actions since the last call.
  std::vector<AppendJournal> TakeAppends() {
    std::vector<AppendJournal> appends;
    for (const AmAction& action : actions_) {
      if (const auto* append = std::get_if<AppendJournal>(&action)) appends.push_back(*append);
    }
    actions_.clear();
    return appends;
  }

  Outbox out_;
  std::vector<AmAction> actions_;
};

TEST_F(OutboxTest, WhatComesWhileAnAppendIsUnderWayGoesTogetherInTheNext) {
  (void)out_.Append(TypeWaived{.task_type = "a"});
  out_.Flush();
  const auto first = TakeAppends();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].seq, JournalSeq(1));

  (void)out_.Append(TypeWaived{.task_type = "b"});
  out_.Flush();
  (void)out_.Append(TypeWaived{.task_type = "c"});
  out_.Flush();
  EXPECT_TRUE(TakeAppends().empty());

  EXPECT_TRUE(out_.OnAppended(JournalSeq(1)));
  out_.Flush();
  const auto second = TakeAppends();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].seq, JournalSeq(3));
  EXPECT_EQ(ReadJournalBytes(first[0].bytes + second[0].bytes).entries.size(), 3U);
}

TEST_F(OutboxTest, AnActionIsHeldUntilItsEntryIsDurableAndOthersAreNot) {
  const JournalSeq seq = out_.Append(TypeWaived{.task_type = "a"});
  out_.EmitWhenDurable(seq, ExitAm{.code = 7});
  out_.Note("goes on");
  out_.Flush();
  ASSERT_EQ(actions_.size(), 2U);  // the note and the append
  actions_.clear();

  EXPECT_TRUE(out_.OnAppended(seq));
  ASSERT_EQ(actions_.size(), 1U);
  EXPECT_EQ(std::get<ExitAm>(actions_[0]).code, 7);
}

TEST_F(OutboxTest, AFailedAppendIsRepeatedWithTheSameBytesAfterGrowingPauses) {
  (void)out_.Append(TypeWaived{.task_type = "a"});
  out_.Flush();
  const auto first = TakeAppends();
  Instant now = kStart;
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    out_.OnFailed(now, JournalSeq(1), "away");
    EXPECT_EQ(out_.retry_at(), now + pause);
    now += pause;
    out_.OnRetry();
    out_.Flush();
    const auto again = TakeAppends();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].bytes, first[0].bytes);
  }
}

TEST_F(OutboxTest, AnAnswerThatComesTwiceChangesNothing) {
  (void)out_.Append(TypeWaived{.task_type = "a"});
  out_.Flush();
  EXPECT_TRUE(out_.OnAppended(JournalSeq(1)));
  EXPECT_FALSE(out_.OnAppended(JournalSeq(1)));
}

}  // namespace
}  // namespace tfyarn::journal::outbox_test
