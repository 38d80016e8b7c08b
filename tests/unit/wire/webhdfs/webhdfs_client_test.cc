// The client against servers that do what a test says. What real ones do: tests/hadoop/webhdfs.py.
#include "wire/webhdfs/webhdfs_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>

#include "tests/unit/wire/webhdfs/http_stage.h"
#include "tests/unit/wire/webhdfs/waiting.h"

namespace tfyarn::wire::webhdfs_client_test {
namespace {

using hdfs::HdfsErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kStatus =
    R"({"FileStatus":{"fileId":1,"length":3,"modificationTime":5,"pathSuffix":"","type":"FILE"}})";

std::string Exception(const std::string& name) {
  return R"({"RemoteException":{"exception":")" + name + R"(","message":"m"}})";
}

class WebHdfsClientTest : public testing::Test {
 protected:
  using Script = std::function<StageReply(const StageRequest&)>;

  /// A server that answers at once.
  HttpStage& Serve(Script script) {
    stages_.push_back(std::make_unique<HttpStage>(
        loop_,
        [script = std::move(script)](const StageRequest& request, const HttpStage::Reply& reply) {
          reply(script(request));
        }));
    return *stages_.back();
  }
  WebHdfsOptions Options(std::initializer_list<std::uint16_t> ports) {
    WebHdfsOptions options{.user = "al ice", .longest = 5s, .pause_first = 1ms};
    for (const std::uint16_t port : ports) options.name_nodes.push_back({"127.0.0.1", port});
    return options;
  }
  std::uint16_t UnusedPort() {
    boost::asio::ip::tcp::acceptor once(loop_, {boost::asio::ip::make_address("127.0.0.1"), 0});
    return once.local_endpoint().port();
  }
  hdfs::HdfsResponse Call(WebHdfsOptions options, hdfs::HdfsRequest request) {
    WebHdfsClient client(loop_, std::move(options));
    return CallAndWait(loop_, client, std::move(request));
  }

  boost::asio::io_context loop_;
  std::vector<std::unique_ptr<HttpStage>> stages_;
};

TEST_F(WebHdfsClientTest, DataGoesToTheDataNodeOnly) {
  std::vector<std::string> seen;
  const HttpStage& data = Serve([&](const StageRequest& request) {
    seen.push_back("DN " + request.method + " " + request.target + " " + request.body);
    return StageReply{.status = 201, .before = "HTTP/1.1 100 Continue\r\n\r\n"};
  });
  const HttpStage& name = Serve([&](const StageRequest& request) {
    seen.push_back("NN " + request.method + " " + request.target + " " + request.body);
    if (request.method == "GET") return StageReply{.body = kStatus};
    return StageReply{.status = 307, .location = data.url() + "/there?x=1"};
  });
  const auto made =
      Call(Options({name.port()}), hdfs::CreateRequest{.path = "/a b", .bytes = "xyz"});
  ASSERT_TRUE(std::holds_alternative<hdfs::FileStatus>(made)) << BytesOf(made);
  EXPECT_EQ(std::get<hdfs::FileStatus>(made).size, 3);
  EXPECT_THAT(
      seen,
      ElementsAre(
          "NN PUT /webhdfs/v1/a%20b?op=CREATE&user.name=al%20ice&overwrite=true&permission=644 ",
          "DN PUT /there?x=1 xyz",
          "NN GET /webhdfs/v1/a%20b?op=GETFILESTATUS&user.name=al%20ice "));
}

TEST_F(WebHdfsClientTest, ATokenTakesThePlaceOfTheUserAndTheUmaskCounts) {
  std::string target;
  const HttpStage& name = Serve([&](const StageRequest& request) {
    target = request.target;
    return StageReply{.body = R"({"boolean":true})"};
  });
  WebHdfsOptions options = Options({name.port()});
  options.delegation_token = "abc";
  options.umask = 077;
  EXPECT_EQ(CodeOf(Call(options, hdfs::MkdirsRequest{.path = "/d"})), std::nullopt);
  EXPECT_EQ(target, "/webhdfs/v1/d?op=MKDIRS&delegation=abc&permission=700");
}

TEST_F(WebHdfsClientTest, AStandbyOrMissingNameNodeMakesRoomForTheNext) {
  int asked = 0;
  const HttpStage& standby = Serve([&](const StageRequest&) {
    ++asked;
    return StageReply{.status = 403, .body = Exception("StandbyException")};
  });
  const HttpStage& active = Serve([](const StageRequest&) { return StageReply{.body = kStatus}; });
  WebHdfsOptions options = Options({UnusedPort(), standby.port(), active.port()});
  options.pause_first = 1min;  // Nothing waits.
  options.longest = 2min;
  WebHdfsClient client(loop_, options);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(CodeOf(CallAndWait(loop_, client, hdfs::GetFileStatusRequest{.path = "/a"})),
              std::nullopt);
  EXPECT_EQ(asked, 1) << "the active one is asked first the next time";
  EXPECT_EQ(client.name_node().port, active.port());
}

TEST_F(WebHdfsClientTest, WhatMayPassIsRepeatedAndWhatMayNotIsNot) {
  int asked = 0;
  const HttpStage& name = Serve([&](const StageRequest& request) {
    ++asked;
    if (request.Has("/gone"))
      return StageReply{.status = 404, .body = Exception("FileNotFoundException")};
    if (asked < 4) return StageReply{.status = 403, .body = Exception("SafeModeException")};
    return StageReply{.body = kStatus};
  });
  EXPECT_EQ(CodeOf(Call(Options({name.port()}), hdfs::GetFileStatusRequest{.path = "/a"})),
            std::nullopt);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(CodeOf(Call(Options({name.port()}), hdfs::GetFileStatusRequest{.path = "/gone"})),
            HdfsErrorCode::kNotFound);
  EXPECT_EQ(asked, 5);
}

TEST_F(WebHdfsClientTest, TheLastErrorIsToldWhenTheTimeIsOver) {
  const HttpStage& name = Serve([](const StageRequest&) {
    return StageReply{.status = 403, .body = Exception("SafeModeException")};
  });
  WebHdfsOptions options = Options({name.port()});
  options.longest = 20ms;
  const auto response = Call(options, hdfs::GetFileStatusRequest{.path = "/a"});
  EXPECT_EQ(CodeOf(response), HdfsErrorCode::kSafeMode);
  EXPECT_THAT(BytesOf(response), HasSubstr("GETFILESTATUS /a: m (SafeModeException)"));
}

TEST_F(WebHdfsClientTest, ADataNodeThatIsNotThereIsNamedInTheNextTry) {
  const std::string dead = "127.0.0.1:" + std::to_string(UnusedPort());
  const HttpStage& data = Serve([](const StageRequest&) { return StageReply{.body = "data"}; });
  std::vector<std::string> targets;
  const HttpStage& name = Serve([&](const StageRequest& request) {
    targets.push_back(request.target);
    const bool first = targets.size() == 1;
    return StageReply{.status = 307,
                      .location = first ? "http://" + dead + "/x" : data.url() + "/x"};
  });
  EXPECT_EQ(BytesOf(Call(Options({name.port()}), hdfs::ReadRequest{.path = "/a"})), "data");
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_THAT(targets[1], HasSubstr("&excludedatanodes=" + EncodeQueryValue(dead)));
}

TEST_F(WebHdfsClientTest, AnAnswerThatIsCutIsAskedForAgain) {
  int asked = 0;
  const HttpStage& data = Serve(
      [&](const StageRequest&) { return StageReply{.body = "all of it", .cut = ++asked == 1}; });
  const HttpStage& name = Serve([&](const StageRequest&) {
    return StageReply{.status = 307, .location = data.url() + "/x"};
  });
  EXPECT_EQ(BytesOf(Call(Options({name.port()}), hdfs::ReadRequest{.path = "/a"})), "all of it");
  EXPECT_EQ(asked, 2);
}

TEST_F(WebHdfsClientTest, MoreThanIsAllowedIsNotRead) {
  const HttpStage& data =
      Serve([](const StageRequest&) { return StageReply{.body = std::string(5000, 'x')}; });
  const HttpStage& name = Serve([&](const StageRequest&) {
    return StageReply{.status = 307, .location = data.url() + "/x"};
  });
  WebHdfsOptions options = Options({name.port()});
  options.most_read = 4999;
  const auto response = Call(options, hdfs::ReadRequest{.path = "/a"});
  EXPECT_EQ(CodeOf(response), HdfsErrorCode::kInvalidPath);
  EXPECT_THAT(BytesOf(response), HasSubstr("more than 4999 bytes"));
}

TEST_F(WebHdfsClientTest, AServerThatIsSilentIsLeft) {
  std::vector<HttpStage::Reply> held;
  const HttpStage name(loop_, [&](const StageRequest&, HttpStage::Reply reply) {
    held.push_back(std::move(reply));
  });
  WebHdfsOptions options = Options({name.port()});
  options.http.silence = 20ms;
  options.longest = 30ms;
  options.pause_first = 50ms;
  EXPECT_EQ(CodeOf(Call(options, hdfs::GetFileStatusRequest{.path = "/a"})),
            HdfsErrorCode::kUnavailable);
  EXPECT_EQ(held.size(), 1u);
}

TEST_F(WebHdfsClientTest, AnOddAnswerOrRedirectIsNoSuccess) {
  for (const StageReply& odd :
       {StageReply{.body = "<html>"}, StageReply{.status = 307, .location = "https://elsewhere/"},
        StageReply{.status = 307}, StageReply{.status = 302, .location = "http://127.0.0.1/"}}) {
    const HttpStage& name = Serve([&](const StageRequest&) { return odd; });
    WebHdfsOptions options = Options({name.port()});
    options.longest = 10ms;
    EXPECT_NE(CodeOf(Call(options, hdfs::GetFileStatusRequest{.path = "/a"})), std::nullopt);
    if (odd.status == 307) {
      EXPECT_NE(CodeOf(Call(options, hdfs::ReadRequest{.path = "/a"})), std::nullopt);
    }
  }
}

TEST_F(WebHdfsClientTest, AClientThatIsGoneAnswersNobody) {
  int asked = 0;
  const HttpStage& name = Serve([&](const StageRequest&) {
    ++asked;
    return StageReply{.body = kStatus};
  });
  {
    WebHdfsClient client(loop_, Options({name.port()}));
    client.Call(hdfs::GetFileStatusRequest{.path = "/a"}, [](const auto&) { FAIL(); });
    client.Call(hdfs::GetFileStatusRequest{.path = "relative"}, [](const auto&) { FAIL(); });
  }
  loop_.poll();
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace tfyarn::wire::webhdfs_client_test
