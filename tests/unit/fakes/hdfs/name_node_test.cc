#include "fakes/hdfs/name_node.h"

#include <gtest/gtest.h>

namespace tfyarn::fakes::name_node_test {
namespace {

using hdfs::HdfsErrorCode;
using hdfs::HdfsResponse;

constexpr WallTime kNow{std::chrono::milliseconds(1000)};
constexpr WallTime kLater{std::chrono::milliseconds(2000)};

class NameNodeTest : public testing::Test {
 protected:
  HdfsResponse Create(std::string path, std::string bytes, bool overwrite = true) {
    return node_.Call(
        kNow,
        hdfs::CreateRequest{
            .path = std::move(path), .bytes = std::move(bytes), .size = 0, .overwrite = overwrite});
  }
  HdfsResponse CreateSized(std::string path, std::int64_t size) {
    return node_.Call(
        kNow,
        hdfs::CreateRequest{.path = std::move(path), .bytes = "", .size = size, .overwrite = true});
  }
  HdfsResponse Append(std::string path, std::string bytes, WallTime now = kNow) {
    return node_.Call(now, hdfs::AppendRequest{.path = std::move(path), .bytes = std::move(bytes)});
  }
  HdfsResponse Mkdirs(std::string path) {
    return node_.Call(kNow, hdfs::MkdirsRequest{.path = std::move(path)});
  }
  HdfsResponse Delete(std::string path, bool recursive = true) {
    return node_.Call(kNow, hdfs::DeleteRequest{.path = std::move(path), .recursive = recursive});
  }
  std::string Read(std::string path) {
    const HdfsResponse response = node_.Call(kNow, hdfs::ReadRequest{.path = std::move(path)});
    const auto* read = std::get_if<hdfs::ReadResponse>(&response);
    return read != nullptr ? read->bytes : "(none)";
  }
  std::optional<hdfs::FileStatus> Stat(std::string path) {
    const HdfsResponse response =
        node_.Call(kNow, hdfs::GetFileStatusRequest{.path = std::move(path)});
    const auto* status = std::get_if<hdfs::FileStatus>(&response);
    return status != nullptr ? std::optional(*status) : std::nullopt;
  }
  static std::optional<HdfsErrorCode> Code(const HdfsResponse& response) {
    const auto* error = std::get_if<hdfs::HdfsError>(&response);
    return error != nullptr ? std::optional(error->code) : std::nullopt;
  }

  NameNode node_{NameNodeOptions{}};
};

// ---------------------------------------------------------------- files

TEST_F(NameNodeTest, AFileIsMadeWithItsParentsAndSaysItsSizeAndTime) {
  const HdfsResponse response = Create("/a/b/c", "hello");
  const auto& status = std::get<hdfs::FileStatus>(response);
  EXPECT_EQ(status.path, "/a/b/c");
  EXPECT_EQ(status.size, 5);
  EXPECT_EQ(status.modification_time, 1000);
  EXPECT_EQ(Read("/a/b/c"), "hello");
  EXPECT_EQ(node_.file_count(), 1);
  EXPECT_EQ(node_.directory_count(), 2);
}

TEST_F(NameNodeTest, AFileMayBeOnlyASize) {
  (void)CreateSized("/big", 1'000'000'000'000);
  EXPECT_EQ(Stat("/big")->size, 1'000'000'000'000);
  EXPECT_EQ(Read("/big"), "");
  EXPECT_EQ(node_.total_bytes(), 1'000'000'000'000);
}

TEST_F(NameNodeTest, OverwritingReplacesTheContent) {
  (void)Create("/f", "long content");
  (void)Create("/f", "short");
  EXPECT_EQ(Read("/f"), "short");
  EXPECT_EQ(node_.total_bytes(), 5);
  EXPECT_EQ(node_.file_count(), 1);
}

// Source: FileAlreadyExistsException of FSDirWriteFileOp.startFile.
TEST_F(NameNodeTest, WithoutOverwriteAnExistingFileIsAnError) {
  (void)Create("/f", "x");
  EXPECT_EQ(Code(Create("/f", "y", false)), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(Read("/f"), "x");
}

TEST_F(NameNodeTest, AFileCannotTakeTheNameOfADirectory) {
  (void)Mkdirs("/d");
  EXPECT_EQ(Code(Create("/d", "x")), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(Code(Append("/d", "x")), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(Code(Create("/", "x")), HdfsErrorCode::kAlreadyExists);
}

// Fails when an ApplicationMaster that was replaced may go on writing what its successor has read.
TEST_F(NameNodeTest, AFileThatAnotherWriterTookTakesNothingMoreFromTheFirst) {
  const auto append = [&](const std::string& writer) {
    return node_.Call(kNow, hdfs::AppendRequest{.path = "/d/j", .bytes = "x", .writer = writer});
  };
  const auto take = [&](const std::string& writer) {
    return node_.Call(kNow, hdfs::ReadRequest{.path = "/d/j", .writer = writer});
  };
  EXPECT_EQ(Code(take("1")), HdfsErrorCode::kNotFound) << "taken before it is there";
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(append("1")));
  EXPECT_TRUE(std::holds_alternative<hdfs::ReadResponse>(take("2")));
  EXPECT_EQ(Code(append("1")), HdfsErrorCode::kLeaseLost);
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(append("2")));
  EXPECT_EQ(Read("/d/j"), "xx");
  node_.set_safe_mode(true);
  EXPECT_EQ(Code(take("3")), HdfsErrorCode::kSafeMode);
  node_.set_safe_mode(false);
  (void)Delete("/d");
  EXPECT_EQ(Code(append("2")), HdfsErrorCode::kLeaseLost) << "deleted under its writer";
  EXPECT_FALSE(Stat("/d/j").has_value());
  EXPECT_EQ(Code(take("1")), HdfsErrorCode::kNotFound);
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(append("1"))) << "another file of that name";
}

TEST_F(NameNodeTest, AFileCannotHaveAFileAsParent) {
  (void)Create("/f", "x");
  EXPECT_EQ(Code(Create("/f/g", "y")), HdfsErrorCode::kInvalidPath);
  EXPECT_EQ(Code(Append("/f/g", "y")), HdfsErrorCode::kInvalidPath);
}

TEST_F(NameNodeTest, AppendingMakesTheFileAndMovesItsTime) {
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Append("/j", "a")));
  (void)Append("/j", "b", kLater);
  EXPECT_EQ(Read("/j"), "ab");
  EXPECT_EQ(Stat("/j")->modification_time, 2000);
  EXPECT_EQ(node_.total_bytes(), 2);
}

TEST_F(NameNodeTest, AppendingToAFileOfUnknownContentAddsToItsSize) {
  (void)CreateSized("/big", 100);
  (void)Append("/big", "xyz");
  EXPECT_EQ(Stat("/big")->size, 103);
  EXPECT_EQ(Read("/big"), "");
}

TEST_F(NameNodeTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Read("/no"), "(none)");
  EXPECT_EQ(Stat("/no"), std::nullopt);
  EXPECT_EQ(Code(Delete("/no")), HdfsErrorCode::kNotFound);
  (void)Create("/f", "x");
  EXPECT_EQ(Stat("/f/below"), std::nullopt);  // As getFileInfo of Hadoop 3.4.2 answers.
}

TEST_F(NameNodeTest, ADirectoryCannotBeRead) {
  (void)Mkdirs("/d");
  EXPECT_EQ(Code(node_.Call(kNow, hdfs::ReadRequest{.path = "/d"})), HdfsErrorCode::kNotFound);
}

// ---------------------------------------------------------------- directories

TEST_F(NameNodeTest, MakingADirectoryTwiceIsNoError) {
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Mkdirs("/a/b")));
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Mkdirs("/a/b/")));
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Mkdirs("/")));
  EXPECT_TRUE(Stat("/a")->directory);
  EXPECT_EQ(node_.directory_count(), 2);
}

TEST_F(NameNodeTest, ADirectoryInPlaceOfAFileOrBelowOneIsRefused) {
  (void)Create("/f", "x");
  EXPECT_EQ(Code(Mkdirs("/f")), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(Code(Mkdirs("/f/d")), HdfsErrorCode::kInvalidPath);
}

TEST_F(NameNodeTest, AFullDirectoryIsDeletedOnlyWithItsContent) {
  (void)Create("/d/e/f", "12345");
  (void)Create("/keep", "1");
  EXPECT_EQ(Code(Delete("/d", false)), HdfsErrorCode::kInvalidPath);
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Delete("/d")));
  EXPECT_FALSE(node_.Exists("/d/e"));
  EXPECT_EQ(node_.total_bytes(), 1);
  EXPECT_EQ(node_.file_count(), 1);
  EXPECT_EQ(node_.directory_count(), 0);
}

TEST_F(NameNodeTest, AnEmptyDirectoryAndAFileNeedNoRecursion) {
  (void)Mkdirs("/d");
  (void)Create("/f", "x");
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Delete("/d/", false)));
  EXPECT_TRUE(std::holds_alternative<hdfs::Done>(Delete("/f", false)));
  EXPECT_EQ(node_.file_count(), 0);
}

TEST_F(NameNodeTest, TheRootIsNeverDeleted) {
  EXPECT_EQ(Code(Delete("/")), HdfsErrorCode::kInvalidPath);
}

TEST_F(NameNodeTest, PathsMustBeAbsoluteAndPlain) {
  const std::string long_name(256, 'x');
  std::string long_path;
  while (long_path.size() <= 8000) long_path += "/" + std::string(200, 'x');
  for (const std::string& path :
       {std::string(), std::string("a"), std::string("ab/c"), long_path, std::string("//"),
        std::string("/a//b"), std::string("/a/./b"), std::string("/a/../b"), std::string("/a:b"),
        "/" + long_name, "/" + std::string(8000, 'x')}) {
    EXPECT_EQ(Code(Create(path, "x")), HdfsErrorCode::kInvalidPath) << path;
    EXPECT_EQ(Code(node_.Call(kNow, hdfs::ReadRequest{.path = path})), HdfsErrorCode::kInvalidPath)
        << path;
  }
  EXPECT_EQ(Code(Create("/" + std::string(255, 'x'), "x")), std::nullopt);
}

// ---------------------------------------------------------------- faults

TEST_F(NameNodeTest, DownItAnswersNothing) {
  (void)Create("/f", "x");
  node_.set_down(true);
  EXPECT_EQ(Code(Create("/f", "y")), HdfsErrorCode::kUnavailable);
  EXPECT_EQ(Code(node_.Call(kNow, hdfs::ReadRequest{.path = "/f"})), HdfsErrorCode::kUnavailable);
  node_.set_down(false);
  EXPECT_EQ(Read("/f"), "x");
}

TEST_F(NameNodeTest, InSafeModeOnlyReadsWork) {
  (void)Create("/f", "x");
  node_.set_safe_mode(true);
  EXPECT_EQ(Code(Create("/g", "y")), HdfsErrorCode::kSafeMode);
  EXPECT_EQ(Code(Append("/f", "y")), HdfsErrorCode::kSafeMode);
  EXPECT_EQ(Code(Mkdirs("/d")), HdfsErrorCode::kSafeMode);
  EXPECT_EQ(Code(Delete("/f")), HdfsErrorCode::kSafeMode);
  EXPECT_EQ(Read("/f"), "x");
  EXPECT_TRUE(Stat("/f").has_value());
}

TEST_F(NameNodeTest, DeniedPathsAreDeniedWithEverythingBelow) {
  (void)Create("/secret/f", "x");
  (void)Create("/secrets", "y");
  node_.SetAccess("/secret", false);
  EXPECT_EQ(Code(Create("/secret/g", "y")), HdfsErrorCode::kAccessDenied);
  EXPECT_EQ(Code(node_.Call(kNow, hdfs::ReadRequest{.path = "/secret/f"})),
            HdfsErrorCode::kAccessDenied);
  EXPECT_EQ(Code(Delete("/secret/")), HdfsErrorCode::kAccessDenied);
  EXPECT_EQ(Read("/secrets"), "y");
  node_.SetAccess("/secret", true);
  EXPECT_EQ(Read("/secret/f"), "x");
  node_.SetAccess("/", false);
  EXPECT_EQ(Code(Mkdirs("/any")), HdfsErrorCode::kAccessDenied);
}

// Source: DirectoryWithQuotaFeature: replicas count.
TEST_F(NameNodeTest, AQuotaCountsReplicas) {
  node_.SetQuota("/user", 30);
  EXPECT_EQ(Code(Create("/user/f", "1234567890")), std::nullopt);
  EXPECT_EQ(Code(Append("/user/f", "x")), HdfsErrorCode::kQuotaExceeded);
  EXPECT_EQ(Read("/user/f"), "1234567890");
  EXPECT_EQ(Code(Create("/elsewhere", "1234567890")), std::nullopt);
  EXPECT_EQ(Code(Delete("/user/f")), std::nullopt);
  EXPECT_EQ(Code(Create("/user/g", "1")), std::nullopt);
}

TEST_F(NameNodeTest, AQuotaOfAnyDirectoryAboveCounts) {
  node_.SetQuota("/a", 3);
  node_.SetQuota("/a/b", 300);
  EXPECT_EQ(Code(Create("/a/b/f", "12")), HdfsErrorCode::kQuotaExceeded);
  node_.SetQuota("/a", std::nullopt);
  EXPECT_EQ(Code(Create("/a/b/f", "12")), std::nullopt);
}

TEST(NameNodeQuotaTest, TheWholeNamespaceMayHaveOne) {
  NameNode node(NameNodeOptions{.replicas = 2, .quota_bytes = 8});
  const auto create = [&](std::string path, std::int64_t size) {
    return node.Call(
        kNow,
        hdfs::CreateRequest{.path = std::move(path), .bytes = "", .size = size, .overwrite = true});
  };
  EXPECT_TRUE(std::holds_alternative<hdfs::FileStatus>(create("/f", 4)));
  EXPECT_TRUE(std::holds_alternative<hdfs::HdfsError>(create("/g", 1)));
  EXPECT_TRUE(std::holds_alternative<hdfs::FileStatus>(
      create("/f", 3)));  // Its own old bytes are freed first.
}

// The old file is gone before the first block of the new one is asked for: what a real overwrite
// leaves.
TEST_F(NameNodeTest, AnOverwriteThatTheQuotaRefusesLeavesAnEmptyFile) {
  node_.SetQuota("/user", 30);
  (void)Create("/user/f", "12345");
  EXPECT_EQ(Code(Create("/user/f", "12345678901")), HdfsErrorCode::kQuotaExceeded);
  EXPECT_EQ(Read("/user/f"), "");
  EXPECT_EQ(node_.total_bytes(), 0);
}

TEST_F(NameNodeTest, AQuotaBelowWhatIsUsedRefusesOnlyMore) {
  (void)Create("/user/f", "12345");
  node_.SetQuota("/user", 1);
  EXPECT_EQ(Code(Append("/user/f", "6")), HdfsErrorCode::kQuotaExceeded);
  EXPECT_EQ(Code(Mkdirs("/user/d")), std::nullopt);
  EXPECT_EQ(Code(Create("/user/empty", "")), std::nullopt);
  EXPECT_EQ(Read("/user/f"), "12345");
}

TEST_F(NameNodeTest, TotalsStayRightOverManyChanges) {
  for (int i = 0; i < 1000; ++i) {
    const std::string directory = "/user/app" + std::to_string(i % 50);
    (void)CreateSized(directory + "/f" + std::to_string(i), i);
    if (i % 7 == 0) (void)Delete(directory);
  }
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto status = Stat("/user/app" + std::to_string(i % 50) + "/f" + std::to_string(i));
    if (!status) continue;
    bytes += status->size;
    ++files;
  }
  EXPECT_EQ(node_.total_bytes(), bytes);
  EXPECT_EQ(node_.file_count(), files);
}

TEST(TransferTimeTest, IsBitsOverBandwidthRoundedUpToMicroseconds) {
  EXPECT_EQ(TransferTime(0, 1), Duration::zero());
  EXPECT_EQ(TransferTime(1'250'000'000, 10'000'000'000), 1s);
  EXPECT_EQ(TransferTime(1, 10'000'000'000), 1us);
  EXPECT_EQ(TransferTime(1250, 10'000'000'000), 1us);
  EXPECT_EQ(TransferTime(1251, 10'000'000'000), 2us);
  EXPECT_EQ(TransferTime(std::int64_t{4} << 40, 1'000'000'000),
            35184372089us);  // 4 TiB: no overflow.
}

}  // namespace
}  // namespace tfyarn::fakes::name_node_test
