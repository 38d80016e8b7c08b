#include "wire/webhdfs/quick_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/webhdfs/file_namespace.h"
#include "tests/unit/wire/webhdfs/waiting.h"

namespace tfyarn::wire::quick_files_test {
namespace {

using hdfs::HdfsErrorCode;

class QuickFilesTest : public testing::Test {
 protected:
  WebHdfsOptions Options(bool quick = true) {
    WebHdfsOptions options = namespace_.Options("a");
    options.quick_files = quick;
    return options;
  }
  hdfs::HdfsResponse Create(WebHdfsClient& client, const std::string& bytes,
                            bool overwrite = false) {
    return CallAndWait(loop_, client,
                       hdfs::CreateRequest{.path = "/d/f", .bytes = bytes, .overwrite = overwrite});
  }
  std::string Read(WebHdfsClient& client) {
    return BytesOf(CallAndWait(loop_, client, hdfs::ReadRequest{.path = "/d/f", .writer = {}}));
  }

  boost::asio::io_context loop_;
  FileNamespace namespace_{loop_};
};

TEST_F(QuickFilesTest, WhatIsShortNeedsNoBlockAndIsReadAsItWasWritten) {
  WebHdfsClient client(loop_, Options());
  // Every byte there is, and more than one attribute holds.
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += static_cast<char>(i % 256);
  EXPECT_EQ(CodeOf(Create(client, bytes)), std::nullopt);
  EXPECT_EQ(Read(client), bytes);
  EXPECT_EQ(namespace_.blocks(), 0);
  EXPECT_EQ(namespace_.files(), 1U) << "what it was made under is left";
}

TEST_F(QuickFilesTest, WhatIsLongOrRefusedAsAttributeIsAFileLikeAnyOther) {
  WebHdfsClient client(loop_, Options());
  const std::string large(QuickFiles::kLongest + 1, 'x');
  EXPECT_EQ(CodeOf(Create(client, large)), std::nullopt);
  EXPECT_EQ(Read(client), large);
  EXPECT_EQ(namespace_.blocks(), 1);
  namespace_.LimitAttributes(0);
  EXPECT_EQ(CodeOf(Create(client, "short", true)), std::nullopt);
  EXPECT_EQ(Read(client), "short");
  EXPECT_EQ(namespace_.blocks(), 2);
  EXPECT_EQ(namespace_.files(), 1U);
}

TEST_F(QuickFilesTest, WithoutTheOptionABlockIsWritten) {
  WebHdfsClient client(loop_, Options(false));
  EXPECT_EQ(CodeOf(Create(client, "a")), std::nullopt);
  EXPECT_EQ(namespace_.blocks(), 1);
}

TEST_F(QuickFilesTest, OfTwoThatMakeItOneIsToldThatItIsThere) {
  WebHdfsClient first(loop_, Options());
  WebHdfsClient second(loop_, Options());
  EXPECT_EQ(CodeOf(Create(first, "first")), std::nullopt);
  EXPECT_EQ(CodeOf(Create(second, "second")), HdfsErrorCode::kAlreadyExists);
  EXPECT_EQ(Read(second), "first");
  EXPECT_EQ(CodeOf(Create(second, "second", true)), std::nullopt);
  EXPECT_EQ(Read(first), "second");
}

TEST_F(QuickFilesTest, ItIsNeverThereWithoutItsBytes) {
  // Between any two requests of its writer, another reads.
  for (int at = 0;; ++at) {
    SCOPED_TRACE(at);
    FileNamespace files(loop_);
    WebHdfsOptions options = files.Options("writer");
    options.quick_files = true;
    WebHdfsClient writer(loop_, options);
    options.user = "reader";
    WebHdfsClient reader(loop_, options);
    bool held = false;
    files.Hold("writer", at, true, [&] {
      held = true;
      reader.Call(hdfs::ReadRequest{.path = "/d/f", .writer = {}},
                  [&](const hdfs::HdfsResponse& response) {
                    const bool absent = CodeOf(response) == HdfsErrorCode::kNotFound;
                    EXPECT_TRUE(absent || BytesOf(response) == "all") << BytesOf(response);
                    files.Release();
                  });
    });
    EXPECT_EQ(CodeOf(CallAndWait(
                  loop_, writer,
                  hdfs::CreateRequest{.path = "/d/f", .bytes = "all", .overwrite = false})),
              std::nullopt);
    if (!held) break;
    ASSERT_LT(at, 20);
  }
}

}  // namespace
}  // namespace tfyarn::wire::quick_files_test
