// Requests taken apart and errors put together, and one exchange of production's client with the
// fake. All that it can ask for is shown by tests/hadoop/webhdfs_on_hadoop.cc, on the fake and on a
// real HDFS.
#include "fakes/server/webhdfs_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "fakes/server/webhdfs_server.h"
#include "tests/unit/wire/webhdfs/waiting.h"

namespace tfyarn::fakes::webhdfs_request_test {
namespace {

using testing::HasSubstr;

TEST(WebHdfsRequestTest, NamesAreDecodedOnce) {
  const auto request = ParseWebHdfsRequest(
      "PUT", "/webhdfs/v1/a%20b+c%2525?op=rename&destination=%2Fx+y%2Bz&user.name=alice");
  EXPECT_EQ(request.path, "/a b+c%25");
  EXPECT_EQ(request.operation(), "RENAME");
  EXPECT_EQ(request.Parameter("destination"), "/x y+z");
  EXPECT_EQ(request.User(), "alice");
  EXPECT_FALSE(request.AtDataNode());
}

TEST(WebHdfsRequestTest, WhatIsNotSaidHasItsDefault) {
  const auto request = ParseWebHdfsRequest("GET", "/webhdfs/v1/a?op=OPEN&offset=7&permission=9");
  EXPECT_EQ(request.User(), "dr.who");
  EXPECT_EQ(request.Number("offset"), 7);
  EXPECT_EQ(request.Number("length"), std::nullopt);
  EXPECT_EQ(request.Permission(0644), 0644U) << "9 is no octal digit";
  EXPECT_FALSE(request.Flag("overwrite"));
}

TEST(WebHdfsRequestTest, OddTargetsAreTaken) {
  EXPECT_EQ(ParseWebHdfsRequest("GET", "/").path, "");
  EXPECT_EQ(ParseWebHdfsRequest("GET", "/webhdfs/v1?op=LISTSTATUS").path, "/");
  EXPECT_EQ(ParseWebHdfsRequest("GET", "/webhdfs/v1/%").path, "/%");
  EXPECT_EQ(ParseWebHdfsRequest("GET", "/webhdfs/v1/%4").path, "/%4");
  EXPECT_EQ(ParseWebHdfsRequest("GET", "/webhdfs/v1/%zz?&&=&op").operation(), "");
}

// Source: ExceptionHandler.java.
TEST(WebHdfsRequestTest, ExceptionsHaveTheirStatus) {
  const auto status = [](const char* name) {
    return ExceptionAnswer({.name = name, .message = "m"}).status;
  };
  EXPECT_EQ(status("java.io.FileNotFoundException"), 404U);
  EXPECT_EQ(status("java.lang.IllegalArgumentException"), 400U);
  EXPECT_EQ(status("org.apache.hadoop.security.AccessControlException"), 403U);
  EXPECT_THAT(ExceptionAnswer({.name = "java.io.IOException", .message = "say \"no\"\xFF"}).body,
              HasSubstr("\"exception\":\"IOException\",\"javaClassName\":\"java.io.IOException\","
                        "\"message\":\"say \\\"no\\\""));
}

// Source: hdfs/web/JsonUtil.java#toJsonMap; a directory has no replicas and no blocks.
TEST(WebHdfsRequestTest, AStatusSaysWhatHadoopsDoes) {
  const auto says = [](bool directory) {
    const std::string body = StatusAnswer({.directory = directory}).body;
    const auto has = [&](const char* text) { return body.find(text) != std::string::npos; };
    return std::array{has("\"type\":\"DIRECTORY\""), has("\"replication\":0"),
                      has("\"blockSize\":0"), has("\"replication\":1"), has("\"type\":\"FILE\"")};
  };
  EXPECT_THAT(says(true), testing::ElementsAre(true, true, true, false, false));
  EXPECT_THAT(says(false), testing::ElementsAre(false, false, false, true, true));
}

TEST(WebHdfsServerTest, AFileIsWrittenReadAndKnown) {
  boost::asio::io_context loop;
  NameNode files({.superuser = "alice"});
  std::vector<std::string> steps;
  WebHdfsServer server(loop, "127.0.0.1", files, [&](const ServedCall& call) {
    steps.push_back(call.name);
    return CallFate{};
  });
  ASSERT_TRUE(server.Open().has_value());
  wire::WebHdfsClient client(loop, {.name_nodes = {{"127.0.0.1", server.port()}}, .user = "alice"});
  const auto call = [&](hdfs::HdfsRequest request) {
    return wire::CallAndWait(loop, client, std::move(request));
  };
  EXPECT_EQ(wire::CodeOf(call(hdfs::MkdirsRequest{.path = "/d"})), std::nullopt);
  const auto made = call(hdfs::CreateRequest{.path = "/d/f", .bytes = "abc"});
  ASSERT_TRUE(std::holds_alternative<hdfs::FileStatus>(made)) << wire::BytesOf(made);
  EXPECT_EQ(std::get<hdfs::FileStatus>(made).size, 3);
  EXPECT_EQ(wire::BytesOf(call(hdfs::ReadRequest{.path = "/d/f"})), "abc");
  EXPECT_THAT(steps, testing::IsSupersetOf({"MKDIRS", "CREATE", "GETFILESTATUS", "OPEN"}));
}

}  // namespace
}  // namespace tfyarn::fakes::webhdfs_request_test
