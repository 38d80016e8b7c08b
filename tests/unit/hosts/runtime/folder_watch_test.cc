// What changed in a directory, and only that.
#include "hosts/runtime/folder_watch.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::folder_watch_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class FolderWatchTest : public HostRig {
 protected:
  void Append(const std::string& name) const {
    std::ofstream(PathOf(name), std::ios::app) << "text\n";
  }

  FolderWatch watch_{directory_};
};

TEST_F(FolderWatchTest, FirstEverythingThenWhatIsMadeWrittenOrMovedThere) {
  Append("old");
  EXPECT_EQ(watch_.Changed(), std::nullopt);
  EXPECT_THAT(watch_.Changed(), Optional(IsEmpty()));
  Append("old");
  Append("new");
  Append("new");
  EXPECT_THAT(watch_.Changed(), Optional(ElementsAre("new", "old")));
  EXPECT_THAT(watch_.Changed(), Optional(IsEmpty()));
  std::filesystem::rename(PathOf("old"), PathOf("moved"));
  EXPECT_THAT(watch_.Changed(), Optional(ElementsAre("moved")));
}

TEST_F(FolderWatchTest, WhatIsNotThereYetIsWatchedWhenItIs) {
  FolderWatch later(PathOf("later"));
  EXPECT_EQ(later.Changed(), std::nullopt);
  std::filesystem::create_directory(PathOf("later"));
  EXPECT_EQ(later.Changed(), std::nullopt);
  Append("later/file");
  EXPECT_THAT(later.Changed(), Optional(ElementsAre("file")));
}

TEST_F(FolderWatchTest, MoreThanTheKernelKeepsMeansEverything) {
  EXPECT_EQ(watch_.Changed(), std::nullopt);
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int most = 0;
  ASSERT_TRUE(limit >> most);
  if (most > 100'000) GTEST_SKIP() << "the kernel keeps " << most;
  // Equal ones in a row count as one.
  std::ofstream one(PathOf("one"));
  std::ofstream two(PathOf("two"));
  for (int i = 0; i <= most / 2; ++i) {
    one << "x" << std::flush;
    two << "x" << std::flush;
  }
  EXPECT_EQ(watch_.Changed(), std::nullopt);
  one << "x" << std::flush;
  EXPECT_THAT(watch_.Changed(), Optional(ElementsAre("one"))) << "and goes on";
}

}  // namespace
}  // namespace tfyarn::hosts::folder_watch_test
