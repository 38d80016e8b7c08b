// What counts as progress, and that no log can hold the event loop.
#include "hosts/agent/progress_watch.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "hosts/agent/line_follower.h"
#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::progress_watch_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LineFollowerTest : public ProcessRig {
 protected:
  void Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary | std::ios::app) << text;
  }
  std::vector<std::string> Look() {
    std::vector<std::string> lines;
    follower_.Look([&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  }

  std::string path_ = directory_ / "log";
  LineFollower follower_{path_, 4};
};

TEST_F(LineFollowerTest, LinesComeOnceAndWhole) {
  EXPECT_THAT(Look(), IsEmpty());
  Write("old\none\ntw");
  EXPECT_THAT(Look(), ElementsAre("one"));
  EXPECT_THAT(Look(), IsEmpty());
  Write("o\n\nthree\r4/10\r");
  EXPECT_THAT(Look(), ElementsAre("two", "three", "4/10"));
}

TEST_F(LineFollowerTest, OfALongLineTheBeginningIsSeen) {
  Write("old\nstep 7 " + std::string(300'000, 'x'));
  EXPECT_THAT(Look(), IsEmpty());
  Write("\nstep 8\n");
  const std::vector<std::string> lines = Look();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "step 7 " + std::string(LineFollower::kLongestLine - 7, 'x'));
  EXPECT_EQ(lines[1], "step 8");
}

TEST_F(LineFollowerTest, AFileStartedAnewIsReadFromItsBeginning) {
  Write("old\nunfinished");
  EXPECT_THAT(Look(), IsEmpty());
  std::filesystem::resize_file(path_, 0);
  Write("new\n");
  EXPECT_THAT(Look(), ElementsAre("new"));
}

TEST_F(LineFollowerTest, ALookIsBoundedAndAHugeBacklogIsPassedOver) {
  Write("old\n");
  const std::string line(999, 'x');
  std::string block;
  for (int i = 0; i < 2000; ++i) block += line + "\n";
  Write(block);
  EXPECT_LE(Look().size(), LineFollower::kPerLook / 1000);
  for (int i = 0; i < 10; ++i) Write(block);
  Write("newest\n");
  const std::vector<std::string> lines = Look();
  ASSERT_FALSE(lines.empty());
  EXPECT_LE(lines.size(), LineFollower::kPerLook / 1000 + 1);
  EXPECT_EQ(lines.front(), line) << "the torn first line is left out";
  EXPECT_EQ(lines.back(), "newest");
}

TEST_F(LineFollowerTest, AGigabyteWithoutALineEndIsNoTrouble) {
  Write("old\n");
  std::filesystem::resize_file(path_, 1U << 30);  // A hole: zeros that take no room.
  Write("step 1\nstep 2\n");
  EXPECT_THAT(Look(), ElementsAre("step 2"));
}

TEST(ProgressPatternTest, WithoutAGroupEveryMatchIsProgress) {
  auto pattern = ProgressPattern::Compile("^saved").value();
  EXPECT_TRUE(pattern.Advances("saved"));
  EXPECT_TRUE(pattern.Advances("saved"));
  EXPECT_FALSE(pattern.Advances("not saved"));
}

TEST(ProgressPatternTest, AGroupHasToChange) {
  auto pattern = ProgressPattern::Compile("step (\\d+)").value();
  EXPECT_TRUE(pattern.Advances("at step 1 of 9"));
  EXPECT_FALSE(pattern.Advances("still at step 1"));
  EXPECT_FALSE(pattern.Advances("waiting"));
  EXPECT_TRUE(pattern.Advances("step 2"));
  EXPECT_TRUE(pattern.Advances("step 1")) << "resumed from an older checkpoint";
}

TEST(ProgressPatternTest, LinesNeedNotBeUtf8) {
  auto pattern = ProgressPattern::Compile("schritt für (.)").value();
  EXPECT_TRUE(pattern.Advances("\xff schritt f\xc3\xbcr \x80"));
}

TEST(ProgressPatternTest, WhatRe2DoesNotKnowIsRefused) {
  for (const char* text : {"(", "a(?=b)", "(a)\\1", "(a)(b)"}) {
    const auto pattern = ProgressPattern::Compile(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(pattern.error().message, testing::HasSubstr(text));
  }
}

TEST(ProgressPatternTest, AHostileLineCostsNoMoreThanItsLength) {
  // Backtracking matchers need longer than the age of the universe, or the whole stack.
  auto pattern = ProgressPattern::Compile("^(a|aa)+$").value();
  EXPECT_FALSE(pattern.Advances(std::string(LineFollower::kLongestLine, 'a') + "b"));
}

class ProgressWatchTest : public ProcessRig {
 protected:
  /// Counts the sightings of what `watch` asks for.
  void Watch(const WatchSpec& watch) {
    auto source = MakeProgressSource(
        watch, {.stdout_path = directory_ / "stdout", .directory = directory_.string()});
    ASSERT_TRUE(source) << source.error().message;
    watch_ = std::make_unique<ProgressWatch>(
        io_, std::move(*source), [this] { ++seen_; }, 1ms);
  }

  int seen_ = 0;
  std::unique_ptr<ProgressWatch> watch_;
};

TEST_F(ProgressWatchTest, SeesWhatAProcessPrints) {
  Watch({.progress = "step (\\d+)"});
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", "echo step 1; read x < fifo; echo step 1; echo step 2; exec sleep 1000"};
  ASSERT_EQ(::system(("mkfifo " + (directory_ / "fifo").string()).c_str()), 0);
  Start(spec);
  Until([&] { return seen_ == 1; }, "step 1");
  std::ofstream(directory_ / "fifo") << "go\n";
  Until([&] { return seen_ == 2; }, "step 2");
  tree().Kill();
  End();
  EXPECT_EQ(seen_, 2);
}

TEST_F(ProgressWatchTest, SeesAFileMove) {
  Watch({.progress_file = "checkpoint"});
  std::ofstream(directory_ / "checkpoint") << "1";
  Until([&] { return seen_ == 1; }, "the new file");
  std::ofstream(directory_ / "checkpoint", std::ios::app) << "2";
  Until([&] { return seen_ == 2; }, "the longer file");
  std::filesystem::remove(directory_ / "checkpoint");
  std::ofstream(directory_ / "other") << "3";
  std::filesystem::rename(directory_ / "other", directory_ / "checkpoint");
  Until([&] { return seen_ == 3; }, "the replaced file");
}

TEST_F(ProgressWatchTest, AFileThatWasThereBeforeIsNoProgress) {
  std::ofstream(directory_ / "checkpoint") << "1";
  const auto source =
      MakeProgressSource({.progress_file = "checkpoint"}, {.directory = directory_.string()});
  ASSERT_TRUE(source);
  EXPECT_FALSE((*source)->HasMoved());
  std::filesystem::remove(directory_ / "checkpoint");
  EXPECT_FALSE((*source)->HasMoved());
}

TEST_F(ProgressWatchTest, MayBeDestroyedByWhatItSays) {
  auto source = MakeProgressSource({.progress_file = "f"}, {.directory = directory_.string()});
  watch_ = std::make_unique<ProgressWatch>(
      io_, std::move(*source), [this] { watch_.reset(); }, 1ms);
  std::ofstream(directory_ / "f") << "1";
  Until([&] { return watch_ == nullptr; }, "progress");
}

TEST_F(ProgressWatchTest, ABadPatternIsRefused) {
  EXPECT_FALSE(MakeProgressSource({.progress = "("}, {}));
}

}  // namespace
}  // namespace tfyarn::agent_host::progress_watch_test
