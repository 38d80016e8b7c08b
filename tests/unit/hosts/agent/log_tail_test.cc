// The tail of a log is text, whatever the program wrote.
#include "hosts/agent/log_tail.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::log_tail_test {
namespace {

TEST(CleanTextTest, OrdinaryTextStays) {
  const std::string text = "a\tb\nüber 漢字 😀\n";
  EXPECT_EQ(CleanText(text), text);
}

TEST(CleanTextTest, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(CleanText(std::string_view("a\0b\x1b[31mred\x7f\b", 13)), "a?b?[31mred??");
  EXPECT_EQ(CleanText("c1\xc2\x9b"
                      "31m\xc2\xa0"
                      "end"),
            "c1?31m\xc2\xa0"
            "end");
}

TEST(CleanTextTest, CarriageReturnsEndLines) {
  EXPECT_EQ(CleanText("1/10\r2/10\r\ndone\r"), "1/10\n2/10\ndone\n");
}

TEST(CleanTextTest, WhatIsNoUtf8BecomesQuestionMarks) {
  EXPECT_EQ(CleanText("\xff\xfe"), "??");
  EXPECT_EQ(CleanText("\xc3"), "?");                 // cut short
  EXPECT_EQ(CleanText("\xc3(\xe6\xbc|"), "?(??|");   // broken off
  EXPECT_EQ(CleanText("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(CleanText("\xe0\x80\xaf"), "???");       // overlong
  EXPECT_EQ(CleanText("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(CleanText("\xf4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(CleanText("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf");
}

TEST(CleanTextTest, IsNeverLongerAndCleanTwiceIsCleanOnce) {
  std::string every;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      every.push_back(static_cast<char>(first));
      every.push_back(static_cast<char>(second));
    }
  }
  const std::string clean = CleanText(every);
  EXPECT_LE(clean.size(), every.size());
  EXPECT_EQ(CleanText(clean), clean);
}

class LogTailTest : public ProcessRig {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = directory_ / "log";
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
    return path;
  }
};

TEST_F(LogTailTest, AMissingFileIsEmpty) {
  EXPECT_EQ(ReadLogTail(directory_ / "none", 0), "");
}

TEST_F(LogTailTest, ADirectoryOrADeviceIsEmpty) {
  EXPECT_EQ(ReadLogTail(directory_, 0), "");
  EXPECT_EQ(ReadLogTail("/dev/zero", 0), "");
}

TEST_F(LogTailTest, OnlyThisAttemptCounts) {
  const std::string path = Write("attempt 0\n");
  EXPECT_EQ(ReadLogTail(path, 10), "");
  Write("attempt 1\n");
  EXPECT_EQ(ReadLogTail(path, 10), "attempt 1\n");
}

TEST_F(LogTailTest, ALongOneIsCutAtTheFront) {
  const std::string path = Write(std::string(100'000, 'x') + std::string(kStderrTail, 'y'));
  EXPECT_EQ(ReadLogTail(path, 0), std::string(kStderrTail, 'y'));
  EXPECT_EQ(ReadLogTail(path, 0, 3), "yyy");
}

TEST_F(LogTailTest, ATornCharacterIsLeftOut) {
  const std::string path = Write("😀😀");
  EXPECT_EQ(ReadLogTail(path, 0, 7), "😀");
  EXPECT_EQ(ReadLogTail(path, 0, 5), "😀");
  EXPECT_EQ(ReadLogTail(path, 0, 4), "😀");
}

TEST_F(LogTailTest, AFileStartedAnewCountsFromItsBeginning) {
  EXPECT_EQ(ReadLogTail(Write("short"), 1000), "short");
}

}  // namespace
}  // namespace tfyarn::agent_host::log_tail_test
