// What a daemon says of the ways in which it knows its clients, and what comes of one that does
// not.
#include "wire/hadoop/auth_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/wire/hadoop/test_server.h"
#include "wire/hadoop/sasl_server.h"

namespace tfyarn::hadoop::auth_methods_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuthMethodsTest : public ::testing::Test {
 protected:
  AuthMethods Ask(Duration limit = 1min) { return Ask(server_.address(), limit); }
  AuthMethods Ask(const HostPort& address, Duration limit) {
    std::optional<AuthMethods> answer;
    AskAuthMethods(io_, address, limit, [&](AuthMethods methods) {
      EXPECT_FALSE(answer.has_value()) << "answered twice";
      answer = std::move(methods);
    });
    [&] { RUN_UNTIL(io_, answer.has_value()); }();
    return answer.value_or(tl::unexpected(IpcError{}));
  }
  /// Every client is answered so.
  void Answer(std::string frame) {
    server_.on_frame = [frame = std::move(frame)](TestPeer& peer, const ClientFrame&) {
      peer.Send(frame);
    };
  }

  boost::asio::io_context io_;
  TestServer server_{io_};
};

TEST_F(AuthMethodsTest, WhatIsOfferedIsNamedInItsOrder) {
  for (const auto& [besides, expected] :
       {std::pair{BesidesTokens::kSimple, std::vector<std::string>{"TOKEN", "SIMPLE"}},
        std::pair{BesidesTokens::kKerberos, std::vector<std::string>{"TOKEN", "KERBEROS"}}}) {
    SaslServer sasl("nonce", besides, [](const std::string&) {
      return tl::expected<std::string, SaslRefusal>("password");
    });
    server_.on_frame = [&](TestPeer& peer, const ClientFrame& frame) {
      peer.Send(SaslResponseFrame(**sasl.OnMessage(std::get<SaslMessage>(frame))));
    };
    const AuthMethods methods = Ask();
    ASSERT_TRUE(methods.has_value()) << methods.error().message;
    EXPECT_EQ(*methods, expected);
  }
}

// Source: Server.java, saslProcess: a server without secret managers answers with SUCCESS.
TEST_F(AuthMethodsTest, AServerThatIsContentTakesNames) {
  Answer(SaslResponseFrame({.state = SaslState::kSuccess, .token = {}, .auths = {}}));
  const AuthMethods methods = Ask();
  ASSERT_TRUE(methods.has_value()) << methods.error().message;
  EXPECT_THAT(*methods, ElementsAre("SIMPLE"));
}

TEST_F(AuthMethodsTest, NobodyIsWaitedForInVain) {
  EXPECT_EQ(Ask(50ms).error().kind, IpcErrorKind::kTimeout) << "silent";
  server_.on_frame = [](TestPeer& peer, const ClientFrame&) { peer.Hangup(); };
  EXPECT_EQ(Ask().error().kind, IpcErrorKind::kBroken);
  EXPECT_EQ(Ask({.host = "127.0.0.1", .port = 1}, 1min).error().kind, IpcErrorKind::kConnect);
}

TEST_F(AuthMethodsTest, WhatIsNoAnswerIsToldAsIt) {
  Answer(ResponseFrame({.call_id = kSaslCallId,
                        .status = ResponseStatus::kFatal,
                        .exception = "org.apache.hadoop.ipc.RetriableException",
                        .message = "too busy\n\tat Server.java"}));
  const AuthMethods refused = Ask();
  EXPECT_EQ(refused.error().kind, IpcErrorKind::kSecurity);
  EXPECT_THAT(refused.error().message, HasSubstr(ToString(server_.address()) + ": too busy"));
  Answer("HTTP/1.1 404 Not Found\r\n\r\n");
  EXPECT_EQ(Ask().error().kind, IpcErrorKind::kProtocol);
}

}  // namespace
}  // namespace tfyarn::hadoop::auth_methods_test
