#include "apps/cli/output.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/files.h"

namespace tfyarn::cli::output_test {
namespace {

class OutputTest : public testing::Test {
 protected:
  [[nodiscard]] std::size_t FilesThere() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
};

TEST_F(OutputTest, AFileAppearsWholeAndItsDirectoriesAreMade) {
  const auto path = directory_ / "a" / "b" / "result.json";
  ASSERT_TRUE(WriteFile(path.string(), "text"));
  EXPECT_EQ(ReadFile(path), "text");
}

TEST_F(OutputTest, UntilItIsCommittedTheOldFileIsThere) {
  const auto path = directory_ / "f";
  ASSERT_TRUE(WriteFile(path.string(), "old"));
  auto file = OutputFile::Create(path.string());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->Write(std::string(1 << 20, 'x')));
  EXPECT_EQ(ReadFile(path), "old");
  ASSERT_TRUE(file->Commit());
  EXPECT_EQ(ReadFile(path).size(), std::size_t{1 << 20});
  EXPECT_EQ(FilesThere(), 1U);
}

TEST_F(OutputTest, WhatIsNotCommittedLeavesNoTrace) {
  {
    auto file = OutputFile::Create((directory_ / "f").string());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Write("half"));
  }
  EXPECT_EQ(FilesThere(), 0U);
}

TEST_F(OutputTest, AFullDiskIsAnErrorThatNamesTheFile) {
  const auto written = WriteFile("/dev/full", "text");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/dev/full"), std::string::npos);
  EXPECT_NE(written.error().message.find("No space left"), std::string::npos);
}

TEST_F(OutputTest, UntilItIsCommittedThereIsNothingToSee) {
  auto file = OutputFile::Create((directory_ / "f").string());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->Write(std::string(1 << 20, 'x')));
  EXPECT_LE(FilesThere(), 1U);  // A temporary, where the file system has no files without names.
  EXPECT_FALSE(std::filesystem::exists(directory_ / "f"));
}

TEST_F(OutputTest, WhetherAFileCanBeWrittenIsKnownBeforeItIs) {
  EXPECT_TRUE(CheckWritable(""));
  EXPECT_TRUE(CheckWritable("/dev/null"));
  EXPECT_TRUE(CheckWritable((directory_ / "a" / "f").string()));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a" / "f"));
  EXPECT_FALSE(CheckWritable(directory_.string()));
  EXPECT_FALSE(CheckWritable("/proc/none/f"));
  ASSERT_TRUE(WriteFile((directory_ / "old").string(), "old"));
  EXPECT_TRUE(CheckWritable((directory_ / "old").string()));
  EXPECT_EQ(ReadFile(directory_ / "old"), "old");
}

TEST_F(OutputTest, AGrowingFileKeepsItsFirstError) {
  GrowingFile nowhere;
  ASSERT_TRUE(nowhere.Open(""));
  nowhere.Add("text");
  EXPECT_TRUE(nowhere.Commit());
  GrowingFile full;
  ASSERT_TRUE(full.Open("/dev/full"));
  full.Add(std::string(1 << 20, 'x'));
  full.Add("more");
  const auto committed = full.Commit();
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().message.find("No space left"), std::string::npos);
}

TEST_F(OutputTest, TextForATerminalCannotSteerIt) {
  EXPECT_EQ(TerminalText("a\x1b[31m\nb\a\n"), "a\\x1b[31m\nb\\x07\n");
  EXPECT_EQ(TerminalText("\u00e9 \u202e"), "\u00e9 \\u202e");
  EXPECT_EQ(TerminalText(""), "");
}

TEST_F(OutputTest, ADirectoryIsNoFile) {
  const auto written = WriteFile(directory_.string(), "text");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("Is a directory"), std::string::npos);
}

}  // namespace
}  // namespace tfyarn::cli::output_test
