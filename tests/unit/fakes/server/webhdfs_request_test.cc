// Requests taken apart and errors put together, and one exchange of production's client with the
// fake. All that it can ask for is shown by tests/hadoop/webhdfs_on_hadoop.cc, on the fake and on a
// real HDFS.
#include "fakes/server/webhdfs_request.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

/// What the server answers to these bytes when no more come.
std::string Answered(boost::asio::io_context& loop, std::uint16_t port, const std::string& bytes) {
  using boost::asio::ip::tcp;
  tcp::socket socket(loop);
  return wire::WaitFor<std::string>(loop, [&](auto answer) {
    socket.async_connect(
        {boost::asio::ip::make_address("127.0.0.1"), port}, [&, answer](const auto& failed) {
          EXPECT_FALSE(failed);
          boost::asio::async_write(socket, boost::asio::buffer(bytes), [&](auto&&...) {
            boost::system::error_code ignored;
            socket.shutdown(tcp::socket::shutdown_send, ignored);
          });
          const auto said = std::make_shared<std::string>();
          boost::asio::async_read(socket, boost::asio::dynamic_buffer(*said),
                                  [said, answer](auto&&...) { answer(*said); });
        });
  });
}

/// What the server answers to a request as it is: its head and body.
std::string Exchanged(boost::asio::io_context& loop, std::uint16_t port, const std::string& line,
                      const std::string& body = "") {
  return Answered(loop, port,
                  fmt::format("{} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{}", line,
                              body.size(), body));
}

TEST(WebHdfsServerTest, WhatIsNoWholeRequestIsNotAnswered) {
  boost::asio::io_context loop;
  NameNode files({.superuser = "alice"});
  WebHdfsServer server(loop, "127.0.0.1", files, [](const ServedCall&) { return CallFate{}; });
  ASSERT_TRUE(server.Open().has_value());
  const std::string whole = fmt::format(
      "PUT /webhdfs/v1/f?op=CREATE&user.name=alice&namenoderpcaddress=127.0.0.1:{} HTTP/1.1\r\n"
      "Content-Length: 3\r\n\r\nabc",
      server.port());
  EXPECT_EQ(Answered(loop, server.port(), whole.substr(0, whole.size() - 5)), "");
  EXPECT_EQ(Answered(loop, server.port(), "no request\r\n\r\n"), "");
  EXPECT_FALSE(files.StatusFor("alice", "/f").has_value());
  EXPECT_THAT(Answered(loop, server.port(), whole), HasSubstr("HTTP/1.1 201 "));
  EXPECT_TRUE(files.StatusFor("alice", "/f").has_value());
}

// Source: the WebHDFS REST API's own examples. Clients of others read what production's does not.
TEST(WebHdfsServerTest, AnswersAreWhatHadoopsAreOnTheWire) {
  using testing::AllOf;
  using testing::EndsWith;
  using testing::StartsWith;
  boost::asio::io_context loop;
  NameNode files({.superuser = "alice"});
  WebHdfsServer server(loop, "127.0.0.1", files, [](const ServedCall&) { return CallFate{}; });
  ASSERT_TRUE(server.Open().has_value());
  const auto says = [&](const std::string& method, const std::string& path,
                        const std::string& body = "") {
    return Exchanged(loop, server.port(), method + " " + path, body);
  };
  const auto json = HasSubstr("Content-Type: application/json");
  const auto octets = HasSubstr("Content-Type: application/octet-stream");
  const std::string file = "/webhdfs/v1/f?user.name=alice&op=";
  const std::string there = fmt::format("Location: http://127.0.0.1:{}{}", server.port(), file);
  EXPECT_THAT(says("PUT", "/webhdfs/v1/d?op=MKDIRS&user.name=alice"),
              AllOf(StartsWith("HTTP/1.1 200 "), json, EndsWith("{\"boolean\":true}")));
  EXPECT_THAT(says("PUT", file + "CREATE"),
              AllOf(StartsWith("HTTP/1.1 307 "), octets, HasSubstr(there + "CREATE&namenoderpc")));
  const std::string at_data_node = fmt::format("&namenoderpcaddress=127.0.0.1:{}", server.port());
  // A DataNode says that it is ready for the data, asked or not (WebHdfsHandler).
  const auto ready = StartsWith("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(says("PUT", file + "CREATE" + at_data_node, "abc"),
              AllOf(ready, HasSubstr("HTTP/1.1 201 Created\r\n")));
  EXPECT_THAT(says("POST", file + "APPEND" + at_data_node, "d"),
              AllOf(ready, HasSubstr("HTTP/1.1 200 OK\r\n")));
  EXPECT_THAT(says("GET", file + "OPEN"),
              AllOf(StartsWith("HTTP/1.1 307 "), octets, HasSubstr(there + "OPEN&namenoderpc")));
  EXPECT_THAT(says("GET", file + "OPEN" + at_data_node),
              AllOf(StartsWith("HTTP/1.1 200 "), octets, EndsWith("\r\n\r\nabcd")));
  EXPECT_THAT(says("GET", file + "OPEN&offset=1&length=2" + at_data_node), EndsWith("\r\n\r\nbc"));
  EXPECT_THAT(says("GET", file + "GETFILESTATUS"),
              AllOf(StartsWith("HTTP/1.1 200 "), json, HasSubstr("\"length\":4")));
  EXPECT_THAT(says("GET", "/webhdfs/v1/none?op=OPEN&user.name=alice"),
              AllOf(StartsWith("HTTP/1.1 404 "), json, HasSubstr("FileNotFoundException")));
  EXPECT_THAT(says("PUT", file + "RENAME&destination=/g"), EndsWith("{\"boolean\":true}"));
  EXPECT_THAT(says("GET", file + "GETFILESTATUS"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(says("GET", "/webhdfs/v1/g?user.name=alice&op=GETFILESTATUS"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(says("POST", file + "OPEN"), AllOf(StartsWith("HTTP/1.1 400 "), json));
  EXPECT_THAT(says("GET", "/index.html"),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("Content-Type: text/plain")));
}

}  // namespace
}  // namespace tfyarn::fakes::webhdfs_request_test
