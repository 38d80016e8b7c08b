// The connection against a server that behaves, and against all the ways in which one may not.
#include "wire/hadoop/ipc_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/hadoop/test_server.h"

namespace tfyarn::hadoop::ipc_connection_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const IpcProtocol kProtocol{.name = "org.example.TestPB", .version = 1};
const std::string kClientId = "0123456789abcdef";

class IpcConnectionTest : public ::testing::Test {
 protected:
  ~IpcConnectionTest() override {
    for (const auto& connection : connections_) connection->Close();
  }
  std::shared_ptr<IpcConnection> To(const HostPort& address, const IpcOptions& options = {},
                                    const IpcCredential& credential = {.user = "alice"}) {
    connections_.push_back(
        std::make_shared<IpcConnection>(io_, address, kProtocol, credential, kClientId, options));
    return connections_.back();
  }
  /// Calls once a server that says `greeting` to every client.
  Outcome CallInto(const std::string& greeting) {
    TestServer server(io_);
    server.greeting = greeting;
    Outcome outcome;
    const auto connection = To(server.address());
    connection->Call(0, 0, "ping", "", Into(outcome));
    RunUntil(
        io_, [&] { return outcome.done; }, "an answer");
    EXPECT_FALSE(connection->usable());
    return outcome;
  }

  boost::asio::io_context io_;
  std::vector<std::shared_ptr<IpcConnection>> connections_;
};

TestPeer::OnFrame Echo() {
  return [](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame)) peer.Answer(*call, call->body);
  };
}

// Source: the fact that a Hadoop server reads in this order (ipc/Server.java, readAndProcess).
TEST_F(IpcConnectionTest, SaysPreambleContextAndCallAndTakesTheAnswer) {
  TestServer server(io_, Echo());
  Outcome outcome;
  To(server.address())->Call(7, 0, "echo", "hello", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.body, "hello");
  const TestPeer& peer = *server.peers.at(0);
  EXPECT_EQ(peer.preamble, std::string("hrpc\x09\x00\x00", 7));
  ASSERT_EQ(peer.frames.size(), 2U);
  EXPECT_EQ(
      std::get<ConnectionContext>(peer.frames[0]),
      (ConnectionContext{.effective_user = "alice", .real_user = {}, .protocol = kProtocol.name}));
  EXPECT_EQ(std::get<CallRequest>(peer.frames[1]), (CallRequest{.call_id = 7,
                                                                .retry_count = 0,
                                                                .client_id = kClientId,
                                                                .method = "echo",
                                                                .protocol = kProtocol,
                                                                .body = "hello"}));
}

TEST_F(IpcConnectionTest, NamesTheRealUserWhoActsForAnother) {
  TestServer server(io_, Echo());
  Outcome outcome;
  To(server.address(), {}, {.user = "bob", .real_user = "alice"})
      ->Call(0, 0, "echo", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(std::get<ConnectionContext>(server.peers.at(0)->frames[0]).real_user, "alice");
}

TEST_F(IpcConnectionTest, PipelinedCallsAreMatchedWhateverTheOrderOfAnswers) {
  std::vector<CallRequest> calls;
  TestServer server(io_, [&](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame)) calls.push_back(*call);
    if (calls.size() < 3) return;
    for (const std::size_t i : {2U, 0U, 1U}) peer.Answer(calls[i], "to " + calls[i].method);
  });
  std::array<Outcome, 3> outcomes;
  const auto connection = To(server.address());
  for (int i = 0; i < 3; ++i)
    connection->Call(i, 0, "m" + std::to_string(i), "", Into(outcomes[std::size_t(i)]));
  RUN_UNTIL(io_, outcomes[1].done);
  EXPECT_EQ(outcomes[0].body, "to m0");
  EXPECT_EQ(outcomes[1].body, "to m1");
  EXPECT_EQ(outcomes[2].body, "to m2");
  EXPECT_EQ(connection->calls_under_way(), 0U);
}

TEST_F(IpcConnectionTest, AnswersMayComeByteByByte) {
  TestServer server(io_, [](TestPeer& peer, const ClientFrame& frame) {
    const auto* call = std::get_if<CallRequest>(&frame);
    if (call == nullptr) return;
    for (const char byte : ResponseFrame({.call_id = call->call_id, .body = "piecewise"}))
      peer.Send({&byte, 1});
  });
  Outcome outcome;
  To(server.address())->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.body, "piecewise");
}

TEST_F(IpcConnectionTest, ALargeAnswerArrivesWhole) {
  const std::string large(std::size_t{5} << 20, 'x');
  TestServer server(io_);
  Outcome outcome;
  server.on_frame = [&](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame)) peer.AnswerLater(*call, large);
  };
  To(server.address())->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.body.size(), large.size());
}

TEST_F(IpcConnectionTest, AnExceptionFailsItsCallOnly) {
  TestServer server(io_, [](TestPeer& peer, const ClientFrame& frame) {
    const auto* call = std::get_if<CallRequest>(&frame);
    if (call == nullptr) return;
    if (call->method == "bad")
      peer.Throw(*call, "org.example.BadException", "too bad\n\tat org.example.Bad.main(Bad.java)");
    else
      peer.Answer(*call, "fine");
  });
  Outcome bad, good;
  const auto connection = To(server.address());
  connection->Call(0, 0, "bad", "", Into(bad));
  connection->Call(1, 0, "good", "", Into(good));
  RUN_UNTIL(io_, bad.done && good.done);
  EXPECT_EQ(bad.error.kind, IpcErrorKind::kRemote);
  EXPECT_EQ(bad.error.exception, "org.example.BadException");
  EXPECT_EQ(bad.error.message, ToString(server.address()) + ": too bad");
  EXPECT_EQ(good.body, "fine");
  EXPECT_TRUE(connection->usable());
}

// ---------------------------------------------------------------- ends

// A FATAL response carries the call id of the offending frame or -1: every call fails.
TEST_F(IpcConnectionTest, AFatalAnswerFailsEveryCall) {
  TestServer server(io_, [](TestPeer& peer, const ClientFrame& frame) {
    if (std::holds_alternative<CallRequest>(frame))
      peer.Send(ResponseFrame({.call_id = kConnectionCallId,
                               .status = ResponseStatus::kFatal,
                               .exception = "org.apache.hadoop.ipc.RpcServerException",
                               .message = "no more",
                               .error_detail = 12}));
  });
  Outcome first, second;
  const auto connection = To(server.address());
  connection->Call(0, 0, "m", "", Into(first));
  connection->Call(1, 0, "m", "", Into(second));
  RUN_UNTIL(io_, first.done && second.done);
  EXPECT_EQ(first.error.kind, IpcErrorKind::kFatal);
  EXPECT_EQ(second.error.exception, "org.apache.hadoop.ipc.RpcServerException");
  EXPECT_FALSE(connection->usable());
}

TEST_F(IpcConnectionTest, AServerThatWantsATokenIsNamedAsSuch) {
  const Outcome outcome =
      CallInto(ResponseFrame({.call_id = kConnectionCallId,
                              .status = ResponseStatus::kFatal,
                              .exception = "org.apache.hadoop.security.AccessControlException",
                              .message = "SIMPLE authentication is not enabled.  Available:[TOKEN]",
                              .error_detail = 15}));
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kSecurity);
  EXPECT_THAT(outcome.error.message, HasSubstr("this port needs a token"));
}

TEST_F(IpcConnectionTest, AServerThatWantsKerberosIsToldApart) {
  const Outcome outcome = CallInto(ResponseFrame(
      {.call_id = kConnectionCallId,
       .status = ResponseStatus::kFatal,
       .exception = "org.apache.hadoop.security.AccessControlException",
       .message = "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]",
       .error_detail = 15}));
  EXPECT_THAT(outcome.error.message, HasSubstr("Kerberos comes with a later version"));
}

// Source: ipc/Server.java setupBadVersionResponse(), for clients older than the server.
TEST_F(IpcConnectionTest, ARefusalInTheOldFormIsUnderstood) {
  const std::string exception = "org.apache.hadoop.ipc.RPC$VersionMismatch";
  std::string bytes("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  bytes += std::string("\0\0\0", 3) + static_cast<char>(exception.size()) + exception;
  bytes += std::string("\0\0\0\x05", 4) + "older";
  const Outcome outcome = CallInto(bytes);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kFatal);
  EXPECT_EQ(outcome.error.exception, exception);
  EXPECT_THAT(outcome.error.message, HasSubstr("older"));
}

TEST_F(IpcConnectionTest, AWebServerIsRecognised) {
  const Outcome outcome = CallInto("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kProtocol);
  EXPECT_THAT(outcome.error.message, HasSubstr("web server"));
}

TEST_F(IpcConnectionTest, BrokenFramesEndTheConnection) {
  for (const std::string& bytes :
       {std::string("\0\0\0\0", 4),                // Empty.
        std::string("\x7f\xff\xff\xff", 4),        // Beyond every limit.
        std::string("\x80\0\0\0", 4),              // Negative.
        std::string("\0\0\0\x02\x05\x08", 6),      // A header that is not whole.
        std::string("\0\0\0\x03\x02\x08\x00", 7),  // A header without status.
        ResponseFrame({.call_id = 0, .client_id = "fedcba9876543210"}),  // For another client.
        ResponseFrame({.call_id = -2}), SaslResponseFrame({.state = SaslState::kSuccess})}) {
    const Outcome outcome = CallInto(bytes);
    EXPECT_EQ(outcome.error.kind, IpcErrorKind::kProtocol) << outcome.error.message;
    EXPECT_THAT(outcome.error.message, StartsWith("127.0.0.1:"));
  }
}

TEST_F(IpcConnectionTest, AnAnswerBeyondTheLimitIsRefusedBeforeItIsRead) {
  TestServer server(io_);
  server.greeting = std::string("\0\0\x04\x01", 4);
  Outcome outcome;
  To(server.address(), {.response_limit = 1024})->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_THAT(outcome.error.message, HasSubstr("frame of 1025 bytes; most are 1024"));
}

TEST_F(IpcConnectionTest, TrailingBytesBehindAnAnswerAreAnError) {
  std::string frame = ResponseFrame({.call_id = 0, .body = "x"});
  frame.push_back('y');
  frame[3] = static_cast<char>(frame[3] + 1);
  EXPECT_THAT(CallInto(frame).error.message, HasSubstr("1 bytes too many"));
}

TEST_F(IpcConnectionTest, TheEndInTheMiddleOfAnAnswerSaysThatTheCallWasSent) {
  TestServer server(io_, [](TestPeer& peer, const ClientFrame& frame) {
    if (!std::holds_alternative<CallRequest>(frame)) return;
    peer.Send(ResponseFrame({.call_id = 0, .body = "never whole"}).substr(0, 9));
    peer.Hangup();
  });
  Outcome outcome;
  To(server.address())->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kBroken);
  EXPECT_TRUE(outcome.error.sent);
}

TEST_F(IpcConnectionTest, ARefusedConnectionSaysThatNothingWasSent) {
  HostPort address;
  { address = TestServer(io_).address(); }
  io_.run();
  Outcome outcome;
  To(address)->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kConnect);
  EXPECT_FALSE(outcome.error.sent);
  EXPECT_THAT(outcome.error.message, HasSubstr("Connection refused"));
}

TEST_F(IpcConnectionTest, ACallOnAnEndedConnectionFailsLaterAndUnsent) {
  TestServer server(io_);
  Outcome outcome;
  const auto connection = To(server.address());
  connection->Close();
  connection->Call(0, 0, "m", "", Into(outcome));
  EXPECT_FALSE(outcome.done);
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kBroken);
  EXPECT_FALSE(outcome.error.sent);
}

TEST_F(IpcConnectionTest, WhatDoesNotFitTheQueueIsRefused) {
  TestServer server(io_);
  Outcome outcome;
  To(server.address(), {.write_queue = 100})->Call(0, 0, "m", std::string(200, 'x'), Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_THAT(outcome.error.message, HasSubstr("takes no more bytes"));
}

// ---------------------------------------------------------------- time

TEST_F(IpcConnectionTest, ASilentServerIsPinged) {
  bool pinged = false;
  CallRequest call;
  TestServer server(io_, [&](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* seen = std::get_if<CallRequest>(&frame)) call = *seen;
    if (!std::holds_alternative<Ping>(frame)) return;
    pinged = true;
    peer.Answer(call, "still here");
  });
  Outcome outcome;
  To(server.address(), {.ping = 10ms})->Call(0, 0, "slow", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_TRUE(pinged);
  EXPECT_EQ(outcome.body, "still here");
}

TEST_F(IpcConnectionTest, ACallThatIsNotAnsweredInTimeFailsAlone) {
  CallRequest slow;
  TestServer server(io_, [&](TestPeer& peer, const ClientFrame& frame) {
    const auto* call = std::get_if<CallRequest>(&frame);
    if (call == nullptr) return;
    if (call->method == "slow")
      slow = *call;
    else
      peer.Answer(*call, "fine");
  });
  Outcome first, second, third;
  const auto connection = To(server.address(), {.call = 50ms});
  connection->Call(0, 0, "slow", "", Into(first));
  connection->Call(1, 0, "fast", "", Into(second));  // The server lives: it says so.
  RUN_UNTIL(io_, first.done);
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(first.error.kind, IpcErrorKind::kTimeout);
  EXPECT_TRUE(first.error.sent);
  server.peers.at(0)->Answer(slow, "too late");
  connection->Call(2, 0, "fast", "", Into(third));
  RUN_UNTIL(io_, third.done);
  EXPECT_TRUE(third.ok());
}

TEST_F(IpcConnectionTest, AServerThatSaysNothingAtAllIsGivenUp) {
  TestServer server(io_);
  Outcome outcome;
  const auto connection = To(server.address(), {.call = 20ms});
  connection->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kTimeout);
  EXPECT_FALSE(connection->usable());
}

TEST_F(IpcConnectionTest, AServerThatNeverSaysWhetherItAcceptsUsIsGivenUp) {
  TestServer server(io_);
  Outcome outcome;
  To(server.address(), {.handshake = 20ms},
     {.token = HadoopToken{.identifier = "i", .password = "p", .kind = kAmRmTokenKind}})
      ->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kTimeout);
  EXPECT_FALSE(outcome.error.sent);
}

// The loopback net answers at once, or never: a full queue of a listener drops what comes.
TEST_F(IpcConnectionTest, AServerThatTakesNoConnectionIsGivenUp) {
  using Tcp = boost::asio::ip::tcp;
  Tcp::acceptor listener(io_);
  listener.open(Tcp::v4());
  listener.bind({boost::asio::ip::address_v4::loopback(), 0});
  listener.listen(0);
  std::vector<Tcp::socket> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.emplace_back(io_);
    fillers.back().async_connect(listener.local_endpoint(),
                                 [](const boost::system::error_code&) {});
  }
  Outcome outcome;
  To({.host = "127.0.0.1", .port = listener.local_endpoint().port()}, {.connect = 50ms})
      ->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kConnect);
  EXPECT_THAT(outcome.error.message, HasSubstr("no connection in time"));
}

// A label of more than 63 characters is no name: no name server is asked.
TEST_F(IpcConnectionTest, AHostThatNobodyKnowsIsNamed) {
  const std::string host(70, 'x');
  Outcome outcome;
  To({.host = host, .port = 1})->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, outcome.done);
  EXPECT_EQ(outcome.error.kind, IpcErrorKind::kConnect);
  EXPECT_THAT(outcome.error.message, HasSubstr(host + ":1: unknown host"));
}

TEST_F(IpcConnectionTest, AnIdleConnectionIsClosed) {
  TestServer server(io_, Echo());
  Outcome outcome;
  const auto connection = To(server.address(), {.idle = 20ms});
  connection->Call(0, 0, "m", "", Into(outcome));
  RUN_UNTIL(io_, !connection->usable());
  EXPECT_TRUE(outcome.ok());
  RUN_UNTIL(io_, server.peers.at(0)->closed_by_client);
}

}  // namespace
}  // namespace tfyarn::hadoop::ipc_connection_test
