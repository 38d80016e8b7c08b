// A directory as an archive: what is in it, and what cannot be.
#include "hosts/yarn/archive_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace tfyarn::hosts::archive_writer_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PackDirectoryTest : public testing::Test {
 protected:
  PackDirectoryTest() { fs::create_directories(directory_ / "deep" / "none"); }
  ~PackDirectoryTest() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  [[nodiscard]] std::string Listed() const {
    const std::string command = fmt::format("tar --list --verbose --file {}", archive_.string());
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 4096> piece{};
    while (std::fgets(piece.data(), piece.size(), pipe.get()) != nullptr) text += piece.data();
    return text;
  }

  fs::path root_ = fs::path(testing::TempDir()) / fmt::format("pack-{}", ::getpid());
  fs::path directory_ = root_ / "data";
  fs::path archive_ = root_ / "data.tar.gz";
};

TEST_F(PackDirectoryTest, KeepsNamesPermissionsAndEmptyDirectories) {
  Write(root_ / "elsewhere", "linked");
  fs::create_symlink(root_ / "elsewhere", directory_ / "deep" / "link");
  Write(directory_ / "run", "#!/bin/sh\n");
  fs::permissions(directory_ / "run", fs::perms::owner_all);
  ASSERT_TRUE(PackDirectory(directory_, archive_));
  const std::string listed = Listed();
  EXPECT_THAT(listed, testing::ContainsRegex("drwxr-xr-x .* deep/none/"));
  EXPECT_THAT(listed, testing::ContainsRegex("-rwx------ .* run\n"));
  EXPECT_THAT(listed, testing::ContainsRegex("-rw-.* 6 .* deep/link\n"));
}

TEST_F(PackDirectoryTest, WhatIsNoFileIsNamed) {
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  const auto packed = PackDirectory(directory_, archive_);
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("data/pipe is neither a file nor a directory"));
}

TEST_F(PackDirectoryTest, ALinkInACircleEnds) {
  fs::create_directory_symlink(directory_, directory_ / "deep" / "again");
  EXPECT_FALSE(PackDirectory(directory_, archive_));
}

TEST_F(PackDirectoryTest, AMissingDirectoryIsNamed) {
  const auto packed = PackDirectory(root_ / "gone", archive_);
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("gone"));
}

}  // namespace
}  // namespace tfyarn::hosts::archive_writer_test
