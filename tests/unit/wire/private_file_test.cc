#include "wire/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/files.h"

namespace tfyarn::wire::private_file_test {
namespace {

namespace fs = std::filesystem;

class PrivateFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Path(const char* name) const { return directory_ / name; }
  [[nodiscard]] std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

 private:
  const TemporaryFolder folder_;
  const fs::path directory_ = folder_.path();
};

TEST_F(PrivateFileTest, WhatWasWrittenIsReadBackAndNobodyElseCanReadIt) {
  const std::string bytes("a\0b\n", 4);
  const auto mask = ::umask(0);
  ASSERT_TRUE(WritePrivateFile(Path("key"), bytes).has_value());
  ::umask(mask);
  EXPECT_EQ(fs::status(Path("key")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(ReadPrivateFile(Path("key")), bytes);
  EXPECT_EQ(Files(), 1U);
}

TEST_F(PrivateFileTest, AnOlderFileIsReplacedWithItsMode) {
  std::ofstream(Path("key")) << "older and longer";
  fs::permissions(Path("key"), fs::perms::all);
  ASSERT_TRUE(WritePrivateFile(Path("key"), "new").has_value());
  EXPECT_EQ(ReadPrivateFile(Path("key")), "new");
}

TEST_F(PrivateFileTest, ALinkIsReplacedAndNotFollowed) {
  std::ofstream(Path("target")) << "untouched";
  fs::create_symlink(Path("target"), Path("key"));
  ASSERT_TRUE(WritePrivateFile(Path("key"), "secret").has_value());
  EXPECT_FALSE(fs::is_symlink(Path("key")));
  std::string target;
  std::ifstream(Path("target")) >> target;
  EXPECT_EQ(target, "untouched");
}

TEST_F(PrivateFileTest, AFileThatOthersCanUseIsRefusedWithWhatToDo) {
  for (const auto others : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write,
                            fs::perms::others_exec}) {
    ASSERT_TRUE(WritePrivateFile(Path("key"), "secret").has_value());
    fs::permissions(Path("key"), others, fs::perm_options::add);
    const auto read = ReadPrivateFile(Path("key"));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_NE(read.error().message.find("chmod 600"), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().message.find("secret"), std::string::npos);
  }
}

TEST_F(PrivateFileTest, OnlyAPlainFileIsRead) {
  ASSERT_TRUE(WritePrivateFile(Path("key"), "secret").has_value());
  fs::create_symlink(Path("key"), Path("link"));
  EXPECT_EQ(ReadPrivateFile(Path("link")).error().code, ErrorCode::kFailedPrecondition);
  fs::create_directory(Path("directory"));
  EXPECT_EQ(ReadPrivateFile(Path("directory")).error().code, ErrorCode::kFailedPrecondition);
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadPrivateFile(Path("pipe")).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(PrivateFileTest, AFileBeyondAMebibyteIsRefused) {
  ASSERT_TRUE(WritePrivateFile(Path("key"), std::string((1 << 20) + 1, 'x')).has_value());
  EXPECT_EQ(ReadPrivateFile(Path("key")).error().code, ErrorCode::kFailedPrecondition);
  ASSERT_TRUE(WritePrivateFile(Path("key"), std::string(1 << 20, 'x')).has_value());
  EXPECT_EQ(ReadPrivateFile(Path("key"))->size(), std::size_t{1} << 20);
}

TEST_F(PrivateFileTest, WhatIsMissingIsSaidSo) {
  EXPECT_EQ(ReadPrivateFile(Path("none")).error().code, ErrorCode::kNotFound);
  const auto written = WritePrivateFile(Path("none/key"), "secret");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Files(), 0U);
}

}  // namespace
}  // namespace tfyarn::wire::private_file_test
