// Users of the fake HDFS: their rights, and streams that are open. That it answers as a real one
// does over HTTP is tests/hadoop/webhdfs_on_hadoop.cc's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/hdfs/name_node.h"

namespace tfyarn::fakes::name_node_users_test {
namespace {

using testing::HasSubstr;

constexpr WallTime kNow{std::chrono::milliseconds(1000)};
constexpr WallTime kLater{std::chrono::milliseconds(2000)};

class NameNodeUsersTest : public testing::Test {
 protected:
  /// Every user may make directories in /user; alice has a directory there.
  void SetUp() override {
    ASSERT_TRUE(node_.MkdirsFor(kNow, "hdfs", "/user", 0755).has_value());
    ASSERT_TRUE(node_.SetPermissionFor("hdfs", "/user", 0777).has_value());
    ASSERT_TRUE(node_.MkdirsFor(kNow, "alice", "/user/a", 0700).has_value());
  }
  HdfsStream Write(const std::string& path, const std::string& bytes) {
    const auto stream = node_.CreateFor(kNow, "alice", path, true, 0600);
    EXPECT_TRUE(stream.has_value()) << stream.error().message;
    EXPECT_TRUE(node_.WriteAndClose(kNow, *stream, bytes).has_value());
    return *stream;
  }
  std::string Read(const std::string& path) {
    return node_.ReadFor("alice", path, 0, std::nullopt).value_or("(none)");
  }
  template <class T>
  static std::string Exception(const NameNode::Told<T>& told) {
    if (told) return "";
    return told.error().name.substr(told.error().name.rfind('.') + 1);
  }

  NameNode node_{{.superuser = "hdfs"}};
};

TEST_F(NameNodeUsersTest, WhatAUserMakesIsHisOwnWithItsRights) {
  Write("/user/a/b/file", "hello");
  const auto file = node_.StatusFor("alice", "/user/a/b/file");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->owner, "alice");
  EXPECT_EQ(file->permission, 0600U);
  EXPECT_EQ(file->size, 5);
  EXPECT_EQ(node_.StatusFor("alice", "/user/a/b")->owner, "alice");
  EXPECT_EQ(node_.StatusFor("alice", "/user")->owner, "hdfs");
}

// Source: FSPermissionChecker: the way to a file counts as well as the file.
TEST_F(NameNodeUsersTest, OthersMayNotPassReadOrWriteWhatTheyHaveNoRightsTo) {
  Write("/user/a/file", "hello");
  EXPECT_EQ(Exception(node_.StatusFor("bob", "/user/a/file")), "AccessControlException");
  EXPECT_EQ(Exception(node_.ListFor("bob", "/user/a")), "AccessControlException");
  EXPECT_TRUE(node_.StatusFor("bob", "/user/a").has_value()) << "its parent may be passed";
  ASSERT_TRUE(node_.SetPermissionFor("alice", "/user/a", 0755).has_value());
  EXPECT_TRUE(node_.StatusFor("bob", "/user/a/file").has_value());
  EXPECT_EQ(Exception(node_.ReadFor("bob", "/user/a/file", 0, 1)), "AccessControlException");
  EXPECT_EQ(Exception(node_.AppendFor("bob", "/user/a/file")), "AccessControlException");
  EXPECT_EQ(Exception(node_.DeleteFor(kNow, "bob", "/user/a/file", false)),
            "AccessControlException");
  EXPECT_EQ(Exception(node_.RenameFor(kNow, "bob", "/user/a/file", "/user/mine")),
            "AccessControlException");
  EXPECT_EQ(Exception(node_.SetPermissionFor("bob", "/user/a/file", 0777)),
            "AccessControlException");
  const auto refused = node_.CreateFor(kNow, "bob", "/user/a/mine", false, 0644);
  EXPECT_THAT(refused.error().message,
              HasSubstr("user=bob, access=WRITE, inode=\"/user/a\":alice:supergroup:drwxr-xr-x"));
  EXPECT_EQ(node_.ReadFor("hdfs", "/user/a/file", 0, std::nullopt), "hello");
}

TEST_F(NameNodeUsersTest, AnOpenStreamKeepsOthersOutUntilItIsClosed) {
  Write("/user/a/file", "one ");
  const auto first = node_.AppendFor("alice", "/user/a/file");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(Exception(node_.AppendFor("alice", "/user/a/file")), "AlreadyBeingCreatedException");
  ASSERT_TRUE(node_.WriteAndClose(kLater, *first, "two").has_value());
  EXPECT_EQ(Read("/user/a/file"), "one two");
  EXPECT_EQ(node_.StatusFor("alice", "/user/a/file")->modified, kLater);
  EXPECT_TRUE(node_.AppendFor("alice", "/user/a/file").has_value());
}

// docs/decisions/0006-journal-on-hdfs.md stands on these two.
TEST_F(NameNodeUsersTest, AStreamFollowsItsFileToAnotherName) {
  Write("/user/a/file", "one ");
  const auto stream = node_.AppendFor("alice", "/user/a/file");
  const auto id = node_.StatusFor("alice", "/user/a/file")->id;
  EXPECT_EQ(node_.RenameFor(kNow, "alice", "/user/a/file", "/user/a/sealed"), true);
  EXPECT_EQ(node_.StatusFor("alice", "/user/a/sealed")->id, id);
  ASSERT_TRUE(node_.WriteAndClose(kNow, *stream, "two").has_value());
  EXPECT_EQ(Read("/user/a/sealed"), "one two");
}

TEST_F(NameNodeUsersTest, AStreamIntoWhatWasDeletedIsCut) {
  Write("/user/a/b/file", "one");
  const auto stream = node_.AppendFor("alice", "/user/a/b/file");
  EXPECT_EQ(node_.DeleteFor(kNow, "alice", "/user/a/b", true), true);
  EXPECT_EQ(Exception(node_.WriteAndClose(kNow, *stream, "two")), "LeaseExpiredException");
}

TEST_F(NameNodeUsersTest, OverwritingMakesAnotherFileAndCutsItsWriter) {
  const HdfsStream old = Write("/user/a/file", "one");
  const auto stream = node_.AppendFor("alice", "/user/a/file");
  EXPECT_EQ(Exception(node_.CreateFor(kNow, "alice", "/user/a/file", false, 0600)),
            "FileAlreadyExistsException");
  const HdfsStream next = Write("/user/a/file", "new");
  EXPECT_NE(old, next);
  EXPECT_EQ(Exception(node_.WriteAndClose(kNow, *stream, "two")), "LeaseExpiredException");
  EXPECT_EQ(Read("/user/a/file"), "new");
}

// Source: FSDirRenameOp.unprotectedRenameTo.
TEST_F(NameNodeUsersTest, RenamingGoesWhereThereIsNothingOrBelowADirectory) {
  Write("/user/a/file", "one");
  Write("/user/a/other", "two");
  ASSERT_TRUE(node_.MkdirsFor(kNow, "alice", "/user/a/d", 0700).has_value());
  const auto rename = [&](const char* from, const char* to) {
    return node_.RenameFor(kNow, "alice", from, to).value();
  };
  EXPECT_FALSE(rename("/user/a/none", "/user/a/x"));
  EXPECT_FALSE(rename("/user/a/file", "/user/a/other"));
  EXPECT_FALSE(rename("/user/a/file", "/user/a/none/x"));
  EXPECT_FALSE(rename("/user/a", "/user/a/d/x")) << "into itself";
  EXPECT_TRUE(rename("/user/a/file", "/user/a/d"));
  EXPECT_EQ(Read("/user/a/d/file"), "one");
  EXPECT_EQ(node_.total_bytes(), 6);
}

// Source: DirectoryWithQuotaFeature; a file is opened before a block is asked for.
TEST_F(NameNodeUsersTest, WhatDoesNotFitLeavesAnEmptyFile) {
  node_.SetQuota("/user/a", 0);
  const auto stream = node_.CreateFor(kNow, "alice", "/user/a/file", false, 0600);
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(Exception(node_.WriteAndClose(kNow, *stream, "bytes")), "DSQuotaExceededException");
  EXPECT_EQ(node_.StatusFor("alice", "/user/a/file")->size, 0);
  node_.SetQuota("/user/a", std::nullopt);
  EXPECT_TRUE(node_.AppendFor("alice", "/user/a/file").has_value()) << "no client has it open";
}

// Source: FSDirXAttrOp; limits of hdfs-default.xml.
TEST_F(NameNodeUsersTest, AttributesStayWithTheirFileAndAreLimited) {
  Write("/user/a/file", "");
  EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/file", "user.n", "old")), "");
  EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/file", "user.n", "new")), "");
  EXPECT_EQ(node_.RenameFor(kNow, "alice", "/user/a/file", "/user/a/other"), true);
  EXPECT_EQ(node_.AttributesFor("alice", "/user/a/other"), (HdfsAttributes{{"user.n", "new"}}));
  EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/file", "user.n", "late")),
            "FileNotFoundException");
  EXPECT_EQ(Exception(node_.AttributesFor("bob", "/user/a/other")), "AccessControlException");
  EXPECT_EQ(
      Exception(node_.SetAttributeFor("alice", "/user/a/other", "user.l", std::string(16384, 'l'))),
      "HadoopIllegalArgumentException");
  for (int i = 1; i < 32; ++i) {
    EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/other", "user." + std::to_string(i),
                                              "x")),
              "");
  }
  EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/other", "user.m", "x")),
            "IOException");
  EXPECT_EQ(Exception(node_.SetAttributeFor("alice", "/user/a/other", "user.n", "x")), "");
}

// Source: NamenodeWebHdfsMethods.chooseDatanode.
TEST_F(NameNodeUsersTest, PartsOfAFileAreRead) {
  Write("/user/a/file", "hello");
  Write("/user/a/empty", "");
  EXPECT_EQ(node_.ReadFor("alice", "/user/a/file", 1, 3), "ell");
  EXPECT_EQ(node_.ReadFor("alice", "/user/a/file", 3, 9), "lo");
  EXPECT_EQ(Exception(node_.ReadFor("alice", "/user/a/file", 5, 1)), "IOException");
  EXPECT_EQ(node_.ReadFor("alice", "/user/a/empty", 0, std::nullopt), "");
  EXPECT_EQ(Exception(node_.ReadFor("alice", "/user/a", 0, 1)), "FileNotFoundException");
}

TEST_F(NameNodeUsersTest, FaultsAreForUsersToo) {
  Write("/user/a/file", "hello");
  node_.set_safe_mode(true);
  EXPECT_EQ(Exception(node_.AppendFor("alice", "/user/a/file")), "SafeModeException");
  EXPECT_EQ(Read("/user/a/file"), "hello");
  node_.set_safe_mode(false);
  node_.SetAccess("/user/a", false);
  EXPECT_EQ(Exception(node_.StatusFor("hdfs", "/user/a/file")), "AccessControlException");
  node_.set_down(true);
  EXPECT_EQ(Exception(node_.StatusFor("alice", "/")), "ConnectException");
}

}  // namespace
}  // namespace tfyarn::fakes::name_node_users_test
