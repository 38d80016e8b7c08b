// Following the logs of a run: all of what is little, the newest of what is much, and how much is
// not shown.
#include "apps/local/log_printer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/files.h"

namespace tfyarn::local::log_printer_test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class LogPrinterTest : public testing::Test {
 protected:
  void Append(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::app | std::ios::binary) << text;
  }
  /// Lines of 64 bytes: "line 0000017 xxx...".
  static std::string Lines(int from, int count) {
    std::string text;
    for (int i = from; i < from + count; ++i) {
      std::string line = "line " + std::to_string(10'000'000 + i) + " ";
      line.resize(63, 'x');
      text += line + "\n";
    }
    return text;
  }
  /// Bytes of text that `shown` says are not shown, at least.
  static std::uint64_t LeftOutKib(const std::string& shown) {
    std::uint64_t sum = 0;
    for (std::size_t at = shown.find(" not shown;"); at != std::string::npos;
         at = shown.find(" not shown;", at + 1)) {
      const std::size_t begin = shown.rfind('(', at) + 1;
      const std::uint64_t number = std::stoull(shown.substr(begin, at - begin));
      sum += shown.compare(at - 3, 3, "MiB") == 0 ? number << 10 : number;
    }
    return sum;
  }

  const TemporaryFolder folder_;
  const fs::path directory_ = folder_.path();
};

TEST_F(LogPrinterTest, ShowsWholeLinesBehindTheirTaskAsTheyCome) {
  LogPrinter logs(directory_, false);
  EXPECT_EQ(logs.Take(), "");
  Append("worker-0.attempt-0.stdout", "one\ntw");
  Append("container_1.stderr", "an agent's own\n");
  EXPECT_EQ(logs.Take(), "worker:0   | one\n");
  EXPECT_EQ(logs.Take(), "");
  Append("worker-0.attempt-0.stdout", "o\n");
  Append("worker-1.attempt-2.stderr", "three");
  EXPECT_EQ(logs.Take(), "worker:0   | two\n");
  EXPECT_EQ(logs.TakeLast(), "worker:1   | three\n");
}

TEST_F(LogPrinterTest, TwentyMebibytesArePassedOverAndSaidSo) {
  Append("worker-0.attempt-0.stdout", "first\n");
  LogPrinter logs(directory_, false);
  EXPECT_EQ(logs.Take(), "worker:0   | first\n");
  const int count = (20 << 20) / 64;
  Append("worker-0.attempt-0.stdout", Lines(0, count));
  std::string shown = logs.Take();
  for (std::string more = logs.Take(); !more.empty(); more = logs.Take()) shown += more;
  EXPECT_THAT(shown, HasSubstr("worker:0   | (19 MiB not shown; whole in " +
                               (directory_ / "worker-0.attempt-0.stdout").string() + ")\n"));
  EXPECT_LT(shown.size(), 2 * LogPrinter::kPerFile);
  EXPECT_THAT(shown, EndsWith("worker:0   | " + Lines(count - 1, 1)));
  EXPECT_EQ(logs.TakeLast(), "");
}

TEST_F(LogPrinterTest, WhatIsLittleIsShownWhole) {
  const std::string text = Lines(0, static_cast<int>(LogPrinter::kLongestBacklog / 64));
  Append("worker-0.attempt-0.stdout", text);
  LogPrinter logs(directory_, false);
  std::string shown;
  for (std::string more = logs.Take(); !more.empty(); more = logs.Take()) shown += more;
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'),
            std::count(text.begin(), text.end(), '\n'));
  EXPECT_THAT(shown, Not(HasSubstr("not shown")));
}

TEST_F(LogPrinterTest, ManyLogsShareALook) {
  for (int i = 0; i < 10; ++i)
    Append("worker-" + std::to_string(i) + ".attempt-0.stdout", Lines(i, 2000));
  LogPrinter logs(directory_, false);
  std::string shown;
  std::size_t largest = 0;
  int looks = 0;
  for (std::string more = logs.Take(); !more.empty(); more = logs.Take()) {
    largest = std::max(largest, more.size());
    shown += more;
    ++looks;
  }
  // Each line of 64 bytes has 13 in front.
  EXPECT_LT(largest, LogPrinter::kPerLook * 3 / 2);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 10 * 2000);
  EXPECT_GE(looks, static_cast<int>(10 * 2000 * 64 / LogPrinter::kPerLook));
}

TEST_F(LogPrinterTest, TheEndIsBoundedHoweverManyLogsThereAre) {
  LogPrinter logs(directory_, false);
  EXPECT_EQ(logs.Take(), "");
  for (int i = 0; i < 600; ++i)
    Append("worker-" + std::to_string(i) + ".attempt-0.stdout", Lines(i, 200) + "unfinished");
  const std::string shown = logs.TakeLast();
  EXPECT_LT(shown.size(), LogPrinter::kLeastAtEnd * 600 * 3 / 2);
  for (int i = 0; i < 600; ++i) {
    const std::string path = directory_ / ("worker-" + std::to_string(i) + ".attempt-0.stdout");
    EXPECT_THAT(shown, HasSubstr("not shown; whole in " + path + ")"));
  }
  EXPECT_THAT(shown, EndsWith("| unfinished\n"));
  // Nothing is counted twice, and nothing forgotten: 600 logs of 12 KiB and a half.
  const std::uint64_t left_out = LeftOutKib(shown);
  EXPECT_GE(left_out, 600U * 8);
  EXPECT_LT(left_out, 600U * 10);
}

TEST_F(LogPrinterTest, AFloodIsShownInPiecesAndAllOfItIsAccountedFor) {
  LogPrinter logs(directory_, false);
  std::string shown = logs.Take();
  const int per_look = (1 << 20) / 64;
  for (int look = 0; look < 25; ++look) {
    Append("worker-0.attempt-0.stdout", Lines(look * per_look, per_look));
    shown += logs.Take();
  }
  shown += logs.TakeLast();
  const auto lines = static_cast<std::uint64_t>(std::count(shown.begin(), shown.end(), '\n'));
  const std::uint64_t all_kib = 25 * 1024;
  EXPECT_NEAR(static_cast<double>(LeftOutKib(shown) + lines * 64 / 1024),
              static_cast<double>(all_kib), 4 * 1024.0)
      << "each of at most four times is rounded to whole MiB";
  EXPECT_LT(shown.size(), 26 * LogPrinter::kPerFile * 3 / 2 + LogPrinter::kAtEnd);
}

}  // namespace
}  // namespace tfyarn::local::log_printer_test
