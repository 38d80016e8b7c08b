// Which calls are repeated, where, and which are not.
#include "wire/hadoop/ipc_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/hadoop/test_server.h"

namespace tfyarn::hadoop::ipc_client_test {
namespace {

const IpcProtocol kProtocol{.name = "org.example.TestPB", .version = 1};

class IpcClientTest : public ::testing::Test {
 protected:
  IpcClient& To(std::vector<HostPort> addresses, Duration give_up = 1min) {
    client_ = std::make_unique<IpcClient>(
        io_, std::move(addresses), kProtocol, IpcCredential{.user = "alice"},
        IpcClientOptions{.retry_least = 1ms, .retry_most = 4ms, .give_up = give_up});
    return *client_;
  }
  Outcome Call(IpcClient& client, Repeatable repeatable = Repeatable::kAlways) {
    Outcome outcome;
    client.Call("m", "body", repeatable, Into(outcome));
    RunUntil(
        io_, [&] { return outcome.done; }, "an answer");
    return outcome;
  }
  /// Where no server listens.
  HostPort ClosedPort() {
    HostPort address;
    { address = TestServer(io_).address(); }
    io_.poll();
    io_.restart();
    return address;
  }
  /// Answers with `exceptions` one after the other, then with success.
  TestPeer::OnFrame Throwing(std::vector<std::string> exceptions) {
    return [this, exceptions](TestPeer& peer, const ClientFrame& frame) {
      const auto* call = std::get_if<CallRequest>(&frame);
      if (call == nullptr) return;
      calls_.push_back(*call);
      if (calls_.size() <= exceptions.size())
        peer.Throw(*call, exceptions[calls_.size() - 1], "not now");
      else
        peer.Answer(*call, "done");
    };
  }
  /// Hangs up on the first `times` calls.
  TestPeer::OnFrame HangingUp(std::size_t times) {
    return [this, times](TestPeer& peer, const ClientFrame& frame) {
      const auto* call = std::get_if<CallRequest>(&frame);
      if (call == nullptr) return;
      calls_.push_back(*call);
      if (calls_.size() <= times)
        peer.Hangup();
      else
        peer.Answer(*call, "done");
    };
  }

  boost::asio::io_context io_;
  std::vector<CallRequest> calls_;
  std::unique_ptr<IpcClient> client_;
};

// Source: ipc/Client.java: the retry cache of a server keys on client id and call id.
TEST_F(IpcClientTest, ARepeatedCallKeepsItsIdAndCounts) {
  TestServer server(io_,
                    Throwing({std::string(kRetriableException), std::string(kRetriableException)}));
  EXPECT_TRUE(Call(To({server.address()})).ok());
  ASSERT_EQ(calls_.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(calls_[i].call_id, calls_[0].call_id);
    EXPECT_EQ(calls_[i].client_id, calls_[0].client_id);
    EXPECT_EQ(calls_[i].retry_count, static_cast<std::int32_t>(i));
    EXPECT_EQ(calls_[i].body, "body");
  }
  EXPECT_EQ(calls_[0].client_id.size(), 16U);
  EXPECT_EQ(server.peers.size(), 1U) << "the connection was good";
  Call(*client_);
  EXPECT_EQ(calls_.back().call_id, calls_[0].call_id + 1);
  EXPECT_EQ(calls_.back().retry_count, 0);
}

TEST_F(IpcClientTest, AStandbySendsUsToTheNextServer) {
  TestServer standby(io_, [](TestPeer& peer, const ClientFrame& frame) {
    if (const auto* call = std::get_if<CallRequest>(&frame))
      peer.Throw(*call, std::string(kStandbyException), "standby");
  });
  TestServer active(io_, Throwing({}));
  EXPECT_TRUE(Call(To({standby.address(), active.address()})).ok());
  EXPECT_EQ(calls_.at(0).retry_count, 1);
  EXPECT_TRUE(Call(*client_).ok());
  EXPECT_EQ(standby.peers.size(), 1U) << "it stays with the active one";
}

// A standby RM does not open its ports at all.
TEST_F(IpcClientTest, ARefusedConnectionSendsUsToTheNextServer) {
  TestServer active(io_, Throwing({}));
  EXPECT_TRUE(Call(To({ClosedPort(), active.address()})).ok());
}

TEST_F(IpcClientTest, CallsThatFailTogetherMoveOnOnce) {
  const HostPort closed = ClosedPort();
  TestServer active(io_, Throwing({}));
  IpcClient& client = To({closed, active.address()});
  Outcome first, second;
  client.Call("a", "", Repeatable::kAlways, Into(first));
  client.Call("b", "", Repeatable::kAlways, Into(second));
  RUN_UNTIL(io_, first.done && second.done);
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(active.peers.size(), 1U);
}

TEST_F(IpcClientTest, ABrokenConnectionIsReplacedAndTheCallRepeated) {
  TestServer server(io_, HangingUp(2));
  EXPECT_TRUE(Call(To({server.address()})).ok());
  EXPECT_EQ(calls_.size(), 3U);
  EXPECT_EQ(server.peers.size(), 3U);
}

TEST_F(IpcClientTest, ACallThatMayNotBeDoneTwiceIsNotRepeatedOnceSent) {
  TestServer server(io_, HangingUp(1));
  EXPECT_EQ(Call(To({server.address()}), Repeatable::kUnsentOnly).error.kind,
            IpcErrorKind::kBroken);
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(IpcClientTest, AnotherExceptionIsTheCallersBusiness) {
  TestServer server(io_, Throwing({"org.apache.hadoop.yarn.exceptions.YarnException"}));
  EXPECT_EQ(Call(To({server.address()})).error.kind, IpcErrorKind::kRemote);
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(IpcClientTest, ItGivesUpInTheEnd) {
  EXPECT_EQ(Call(To({ClosedPort()}, 20ms)).error.kind, IpcErrorKind::kConnect);
  TestServer server(io_,
                    Throwing(std::vector<std::string>(1000, std::string(kRetriableException))));
  EXPECT_EQ(Call(To({server.address()}, 20ms)).error.exception, kRetriableException);
  calls_.clear();
  EXPECT_EQ(Call(To({server.address()}, 0s)).error.exception, kRetriableException);
  EXPECT_EQ(calls_.size(), 1U) << "no repetitions";
}

TEST_F(IpcClientTest, RefusalsOfWhoWeAreAreNotRepeated) {
  TestServer server(io_);
  server.greeting = ResponseFrame({.call_id = kConnectionCallId,
                                   .status = ResponseStatus::kFatal,
                                   .exception = "org.apache.hadoop.security.AccessControlException",
                                   .message = "no",
                                   .error_detail = 15});
  EXPECT_EQ(Call(To({server.address()})).error.kind, IpcErrorKind::kSecurity);
  EXPECT_EQ(server.peers.size(), 1U);
}

TEST_F(IpcClientTest, ANewCredentialIsForTheNextConnection) {
  TestServer server(io_, Throwing({}));
  IpcClient& client = To({server.address()});
  ASSERT_TRUE(Call(client).ok());
  client.SetCredential({.user = "bob"});
  ASSERT_TRUE(Call(client).ok());
  ASSERT_EQ(server.peers.size(), 1U);
  server.peers[0]->Hangup();
  ASSERT_TRUE(Call(client).ok());
  EXPECT_EQ(std::get<ConnectionContext>(server.peers.back()->frames[0]).effective_user, "bob");
}

TEST_F(IpcClientTest, AClientThatIsGoneAnswersNothing) {
  TestServer server(io_,
                    Throwing(std::vector<std::string>(1000, std::string(kRetriableException))));
  Outcome outcome;
  To({server.address()}).Call("m", "", Repeatable::kAlways, Into(outcome));
  RUN_UNTIL(io_, calls_.size() > 1);
  client_.reset();
  RUN_UNTIL(io_, server.peers.at(0)->closed_by_client);
  EXPECT_FALSE(outcome.done);
}

}  // namespace
}  // namespace tfyarn::hadoop::ipc_client_test
