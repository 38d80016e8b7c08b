#include "hosts/runtime/growing_file.h"

#include <gmock/gmock.h>

#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::growing_file_test {
namespace {

class GrowingFileTest : public HostRig {};

TEST_F(GrowingFileTest, HasWhatWasAppended) {
  GrowingFile file(PathOf("events"), false);
  EXPECT_TRUE(file.Append("one\n"));
  EXPECT_TRUE(file.Append("two\n"));
  EXPECT_EQ(ReadFile(PathOf("events")), "one\ntwo\n");
  EXPECT_EQ(file.size(), 8u);
  EXPECT_EQ(file.Read(0, 100), "one\ntwo\n");
  EXPECT_EQ(file.Read(2, 4), "e\ntw");
  EXPECT_EQ(file.Read(8, 100), "");
  EXPECT_EQ(file.error(), 0);
}

TEST_F(GrowingFileTest, OneThatIsThereIsEmptiedOrAnError) {
  WriteBytes(PathOf("events"), "old");
  EXPECT_EQ(GrowingFile(PathOf("events"), true).error(), EEXIST);
  EXPECT_EQ(ReadFile(PathOf("events")), "old");
  const GrowingFile file(PathOf("events"), false);
  EXPECT_EQ(ReadFile(PathOf("events")), "");
}

TEST_F(GrowingFileTest, WhatAFullDiskDoesNotTakeIsReadAllTheSameAndWrittenLater) {
  GrowingFile file(PathOf("events"), false);
  {
    const FullDisk disk(6);
    EXPECT_TRUE(file.Append("one\n"));
    EXPECT_TRUE(file.Append("two\n"));
    EXPECT_TRUE(file.Append("three\n"));
    EXPECT_EQ(file.error(), EFBIG);
    EXPECT_EQ(ReadFile(PathOf("events")), "one\ntw");
    EXPECT_EQ(file.size(), 14u);
    EXPECT_EQ(file.Read(0, 100), "one\ntwo\nthree\n");
    EXPECT_EQ(file.Read(5, 4), "wo\nt");
    EXPECT_EQ(file.Read(8, 100), "three\n");
  }
  EXPECT_TRUE(file.Append("four\n"));
  EXPECT_EQ(ReadFile(PathOf("events")), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(file.error(), 0);
}

TEST_F(GrowingFileTest, WhatIsTooMuchToWaitIsNotTakenAtAll) {
  const std::string half(GrowingFile::kMostWaiting / 2, 'x');
  GrowingFile file(PathOf("events"), false);
  {
    const FullDisk disk(1);
    EXPECT_TRUE(file.Append(half));
    EXPECT_TRUE(file.Append(half));
    EXPECT_FALSE(file.Append("yy"));
    EXPECT_EQ(file.size(), 2 * half.size());
  }
  EXPECT_TRUE(file.Append("z"));
  EXPECT_EQ(ReadFile(PathOf("events")), half + half + "z");
}

TEST_F(GrowingFileTest, WritesWhatWaitsAtItsEndAndGoesOnWhereItIsMoved) {
  {
    GrowingFile file(PathOf("events"), false);
    GrowingFile moved;
    {
      const FullDisk disk(1);
      file.Append("one\n");
      moved = std::move(file);
    }
    EXPECT_EQ(ReadFile(PathOf("events")), "o");
  }
  EXPECT_EQ(ReadFile(PathOf("events")), "one\n");
}

TEST_F(GrowingFileTest, OneThatCannotBeMadeTakesNothing) {
  GrowingFile file(PathOf("no/such/folder"), false);
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(file.error(), ENOENT);
  EXPECT_FALSE(file.Append("one\n"));
  EXPECT_EQ(file.Read(0, 10), "");
}

}  // namespace
}  // namespace tfyarn::hosts::growing_file_test
