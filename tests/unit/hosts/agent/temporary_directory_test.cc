#include "hosts/agent/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "hosts/agent/unique_fd.h"
#include "tests/unit/files.h"

namespace tfyarn::agent_host::temporary_directory_test {
namespace {

namespace fs = std::filesystem;

/// A work directory with a name as long as YARN's.
class TemporaryDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectoryTest() : before_(fs::current_path()) {
    fs::create_directory(work_);
    fs::current_path(work_);
  }
  ~TemporaryDirectoryTest() override { fs::current_path(before_); }

  fs::path before_;
  const TemporaryFolder base_;
  fs::path work_ = base_.path() / std::string(130, 'w');
};

TEST_F(TemporaryDirectoryTest, IsInTheWorkDirectoryForItsUserAlone) {
  const auto path = MakeTemporaryDirectory(".tfyarn/tmp");
  ASSERT_TRUE(path) << path.error().message;
  std::ofstream(*path + "/file") << "here";
  EXPECT_TRUE(fs::exists(work_ / ".tfyarn/tmp/file"));
  EXPECT_EQ(fs::status(work_ / ".tfyarn/tmp").permissions(), fs::perms::owner_all);
  EXPECT_EQ(MakeTemporaryDirectory(".tfyarn/tmp"), path) << "it is there already";
}

TEST_F(TemporaryDirectoryTest, HasRoomForTheNameOfASocket) {
  const auto path = MakeTemporaryDirectory(".tfyarn/tmp");
  ASSERT_TRUE(path) << path.error().message;
  // As Python's multiprocessing calls it.
  const std::string name = *path + "/pymp-x1y2z3w4/listener-x1y2z3w4";
  fs::create_directory(*path + "/pymp-x1y2z3w4");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), name.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << std::strerror(errno);
}

TEST_F(TemporaryDirectoryTest, SaysWhyItCannotBeMade) {
  std::ofstream(".tfyarn") << "a file";
  const auto path = MakeTemporaryDirectory(".tfyarn/tmp");
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().message, "no directory for temporary files: .tfyarn/tmp: Not a directory");
}

}  // namespace
}  // namespace tfyarn::agent_host::temporary_directory_test
