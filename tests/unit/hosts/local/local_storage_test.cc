#include "hosts/local/local_storage.h"

#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/model/text.h"
#include "tests/unit/hosts/runtime/host_rig.h"

namespace tfyarn::hosts::local_storage_test {
namespace {

namespace fs = std::filesystem;
using hdfs::HdfsErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

/// Root may write everywhere: while it lives files are touched as user "nobody", who owns `paths`.
class NotRoot {
 public:
  explicit NotRoot(const std::vector<std::string>& paths) {
    if (::geteuid() != 0) return;
    for (const std::string& path : paths) EXPECT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    ::setfsuid(kNobody);
    EXPECT_EQ(::setfsuid(kNobody), static_cast<int>(kNobody));
  }
  ~NotRoot() {
    if (::geteuid() == 0) ::setfsuid(0);
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
};

class LocalStorageTest : public HostRig {
 protected:
  hdfs::HdfsResponse Create(const std::string& path, const std::string& bytes,
                            bool overwrite = true) {
    return storage_.Carry(hdfs::CreateRequest{
        .path = path, .bytes = bytes, .size = std::ssize(bytes), .overwrite = overwrite});
  }
  hdfs::HdfsResponse Append(const std::string& path, const std::string& bytes,
                            const std::string& writer = "") {
    return storage_.Carry(hdfs::AppendRequest{.path = path, .bytes = bytes, .writer = writer});
  }
  hdfs::HdfsResponse Read(const std::string& path, const std::string& writer = "") {
    return storage_.Carry(hdfs::ReadRequest{.path = path, .writer = writer});
  }
  static std::string BytesOf(const hdfs::HdfsResponse& response) {
    const auto* read = std::get_if<hdfs::ReadResponse>(&response);
    return read == nullptr ? ToText(response) : read->bytes;
  }
  static std::string CodeOf(const hdfs::HdfsResponse& response) {
    const auto* error = std::get_if<hdfs::HdfsError>(&response);
    return error == nullptr ? ToText(response) : KebabName(error->code);
  }
  /// Names in a directory below the root.
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(storage_.Locate(path)))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  LocalStorage storage_{io_, PathOf("root"), PathOf("kept")};
};

TEST_F(LocalStorageTest, MakesItsRootForItsOwnerOnly) {
  struct stat root {};
  ASSERT_EQ(::stat(PathOf("root").c_str(), &root), 0);
  EXPECT_EQ(root.st_mode & 0777, 0700u);
  (void)Create("/secret.pem", "key");
  struct stat file {};
  ASSERT_EQ(::stat(PathOf("root/secret.pem").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(LocalStorageTest, AnswersFromTheEventLoop) {
  std::vector<std::string> answers;
  storage_.Call(hdfs::MkdirsRequest{.path = "/a/b"},
                [&](const hdfs::HdfsResponse& response) { answers.push_back(ToText(response)); });
  EXPECT_TRUE(answers.empty());
  Settle();
  EXPECT_THAT(answers, ElementsAre("Done{}"));
}

TEST_F(LocalStorageTest, CreatesWithItsDirectoriesAndReplacesOnlyWhenTold) {
  const auto created = Create("/a/b/file", "one");
  const auto* status = std::get_if<hdfs::FileStatus>(&created);
  ASSERT_NE(status, nullptr) << ToText(created);
  EXPECT_EQ(status->path, "/a/b/file");
  EXPECT_FALSE(status->directory);
  EXPECT_EQ(status->size, 3);
  EXPECT_GT(status->modification_time, 1'700'000'000'000);
  EXPECT_EQ(CodeOf(Create("/a/b/file", "two", false)), "already-exists");
  EXPECT_EQ(BytesOf(Read("/a/b/file")), "one");
  (void)Create("/a/b/file", "three");
  EXPECT_EQ(BytesOf(Read("/a/b/file")), "three");
  EXPECT_THAT(Names("/a/b"), ElementsAre("file"));
}

TEST_F(LocalStorageTest, OfTwoThatCreateAtOnceOneComesFirst) {
  for (int round = 0; round < 100; ++round) {
    const std::string path = "/authority-" + std::to_string(round);
    const pid_t other = ::fork();
    if (other == 0)
      ::_exit(std::holds_alternative<hdfs::FileStatus>(Create(path, "other", false)) ? 0 : 1);
    const bool first = std::holds_alternative<hdfs::FileStatus>(Create(path, "this", false));
    const std::string read = BytesOf(Read(path));
    int status = 0;
    ASSERT_EQ(::waitpid(other, &status, 0), other);
    ASSERT_NE(first, WEXITSTATUS(status) == 0) << "round " << round;
    ASSERT_EQ(read, first ? "this" : "other");
    ASSERT_EQ(BytesOf(Read(path)), read);
  }
}

TEST_F(LocalStorageTest, AppendsAndMakesTheFile) {
  EXPECT_EQ(ToText(Append("/log", "one ")), "Done{}");
  EXPECT_EQ(ToText(Append("/log", "two")), "Done{}");
  EXPECT_EQ(BytesOf(Read("/log")), "one two");
}

TEST_F(LocalStorageTest, SaysWhatIsThere) {
  EXPECT_EQ(ToText(storage_.Carry(hdfs::MkdirsRequest{.path = "/a/b"})), "Done{}");
  EXPECT_EQ(ToText(storage_.Carry(hdfs::MkdirsRequest{.path = "/a/b"})), "Done{}");
  const auto response = storage_.Carry(hdfs::GetFileStatusRequest{.path = "/a/b"});
  EXPECT_TRUE(std::get<hdfs::FileStatus>(response).directory);
  EXPECT_EQ(CodeOf(storage_.Carry(hdfs::GetFileStatusRequest{.path = "/a/c"})), "not-found");
  EXPECT_EQ(CodeOf(Read("/a/c")), "not-found");
}

TEST_F(LocalStorageTest, DeletesFilesAndKeepsDirectories) {
  (void)Create("/a/file", "one");
  EXPECT_EQ(ToText(storage_.Carry(hdfs::DeleteRequest{.path = "/a/file"})), "Done{}");
  EXPECT_EQ(CodeOf(Read("/a/file")), "not-found");
  EXPECT_EQ(ToText(storage_.Carry(hdfs::DeleteRequest{.path = "/a/file"})), "Done{}");
  (void)Create("/a/journal", "two");
  EXPECT_EQ(ToText(storage_.Carry(hdfs::DeleteRequest{.path = "/a", .recursive = true})), "Done{}");
  EXPECT_EQ(CodeOf(Read("/a/journal")), "not-found");
  EXPECT_EQ(ReadFile(PathOf("kept/a/journal")), "two");
}

TEST_F(LocalStorageTest, DeletesDirectoriesWhereNothingIsKept) {
  LocalStorage storage(io_, PathOf("root"), "");
  (void)Create("/a/journal", "two");
  EXPECT_EQ(CodeOf(storage.Carry(hdfs::DeleteRequest{.path = "/a"})), "invalid-path");
  EXPECT_EQ(BytesOf(Read("/a/journal")), "two");
  EXPECT_EQ(ToText(storage.Carry(hdfs::DeleteRequest{.path = "/a", .recursive = true})), "Done{}");
  EXPECT_FALSE(fs::exists(PathOf("root/a")));
}

// ---------------------------------------------------------------- writers

TEST_F(LocalStorageTest, AWriterThatReadTakesTheFileFromEarlierOnes) {
  LocalStorage second(io_, PathOf("root"), "");  // Another process has one of its own.
  const auto append = [&second](const std::string& bytes) {
    return second.Carry(
        hdfs::AppendRequest{.path = "/a/journal", .bytes = bytes, .writer = "attempt 2"});
  };
  (void)storage_.Carry(hdfs::MkdirsRequest{.path = "/a"});
  EXPECT_EQ(CodeOf(Read("/a/journal", "attempt 1")), "not-found");  // Taken, although not there.
  EXPECT_EQ(CodeOf(append("early")), "lease-lost");
  EXPECT_EQ(ToText(Append("/a/journal", "one ", "attempt 1")), "Done{}");

  const auto taken = second.Carry(hdfs::ReadRequest{.path = "/a/journal", .writer = "attempt 2"});
  EXPECT_EQ(BytesOf(taken), "one ");
  const auto refused = Append("/a/journal", "lost", "attempt 1");
  EXPECT_EQ(CodeOf(refused), "lease-lost");
  EXPECT_THAT(std::get<hdfs::HdfsError>(refused).message, HasSubstr("attempt 2"));
  EXPECT_EQ(ToText(append("two")), "Done{}");
  EXPECT_EQ(BytesOf(Read("/a/journal")), "one two");  // One who only looks takes nothing.
  EXPECT_EQ(ToText(append(" three")), "Done{}");
}

// ---------------------------------------------------------------- what goes wrong

TEST_F(LocalStorageTest, NoPathLeadsOutOfItsRoot) {
  WriteBytes(PathOf("outside"), "precious");
  const std::string nul("/a\0b", 4);
  for (const std::string& path :
       {std::string("/../outside"), std::string("/a/../../outside"), std::string("outside"),
        std::string(""), std::string("/.."), nul}) {
    for (const hdfs::HdfsRequest& request :
         {hdfs::HdfsRequest(hdfs::CreateRequest{.path = path, .bytes = "x", .size = 1}),
          hdfs::HdfsRequest(hdfs::AppendRequest{.path = path, .bytes = "x"}),
          hdfs::HdfsRequest(hdfs::ReadRequest{.path = path}),
          hdfs::HdfsRequest(hdfs::GetFileStatusRequest{.path = path}),
          hdfs::HdfsRequest(hdfs::MkdirsRequest{.path = path}),
          hdfs::HdfsRequest(hdfs::DeleteRequest{.path = path, .recursive = true})})
      EXPECT_EQ(CodeOf(storage_.Carry(request)), "invalid-path") << ToText(request);
  }
  EXPECT_EQ(ReadFile(PathOf("outside")), "precious");
  (void)Create("/a..b/..c", "allowed");
  EXPECT_EQ(BytesOf(Read("/a..b/..c")), "allowed");
}

TEST_F(LocalStorageTest, AFullDiskIsAQuotaAndLeavesTheOldFile) {
  (void)Create("/file", "old");
  std::vector<hdfs::HdfsResponse> responses;
  {
    const FullDisk full(8);
    responses.push_back(Create("/file", "something longer"));
    responses.push_back(Create("/fresh", "something longer"));
    responses.push_back(Append("/log", "something longer"));
  }
  for (const auto& response : responses) EXPECT_EQ(CodeOf(response), "quota-exceeded");
  EXPECT_EQ(BytesOf(Read("/file")), "old");
  EXPECT_EQ(CodeOf(Read("/fresh")), "not-found");
  EXPECT_THAT(Names("/"), ElementsAre("file", "log"));
}

TEST_F(LocalStorageTest, ADirectoryThatMayNotBeWrittenIsDenied) {
  const NotRoot not_root({directory_, PathOf("root")});
  (void)Create("/a/file", "one");
  fs::permissions(PathOf("root/a"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(CodeOf(Create("/a/other", "two")), "access-denied");
  EXPECT_EQ(CodeOf(Append("/a/other", "two")), "access-denied");
  EXPECT_EQ(CodeOf(storage_.Carry(hdfs::MkdirsRequest{.path = "/a/b"})), "access-denied");
  EXPECT_EQ(CodeOf(storage_.Carry(hdfs::DeleteRequest{.path = "/a/file"})), "access-denied");
  EXPECT_EQ(BytesOf(Read("/a/file")), "one");
  fs::permissions(PathOf("root/a"), fs::perms::owner_all);
}

TEST_F(LocalStorageTest, ADirectoryIsNoFileAndAFileNoDirectory) {
  (void)Create("/a/file", "one");
  EXPECT_EQ(CodeOf(Read("/a")), "invalid-path");
  EXPECT_EQ(CodeOf(Create("/a", "two")), "invalid-path");
  EXPECT_EQ(CodeOf(Append("/a", "two")), "invalid-path");
  EXPECT_EQ(CodeOf(Read("/a/file/deeper")), "not-found");
  EXPECT_EQ(CodeOf(Create("/" + std::string(300, 'x'), "two")), "invalid-path");
  EXPECT_THAT(Names("/"), ElementsAre("a")) << "a part of a file was left";
}

}  // namespace
}  // namespace tfyarn::hosts::local_storage_test
