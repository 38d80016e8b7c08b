// Which peers and messages are turned away, while an honest agent of the same AM is served on.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/wire/channel_world.h"
#include "tests/unit/wire/raw_peer.h"

namespace tfyarn::wire::channel_refusal_test {
namespace {

class ChannelRefusalTest : public testing::Test {
 protected:
  /// The AM, and an honest agent that is registered.
  void StartAm(const ServerOptions& options = {}) {
    am = std::make_unique<TestAm>(io, authority.IssueAm(1).value(), options);
    agent = std::make_unique<TestAgent>(io, AgentIdentity(2), ContainerOf(2));
    agent->Register(*am);
    RUN_UNTIL(io, agent->heard.size() == 1);
  }
  Identity AgentIdentity(std::int64_t number) {
    return authority.IssueAgent(ContainerOf(number)).value();
  }
  RawPeer& Intrude(const std::optional<RawTls>& tls) {
    return *peers.emplace_back(std::make_unique<RawPeer>(io, am->address(), tls));
  }
  /// A peer with the certificate of container 3, which has said its right Hello.
  RawPeer& IntrudeAsAgent() {
    RawPeer& peer = Intrude(RawTls{.identity = AgentIdentity(3)});
    peer.Write(Framed(Encode(HelloOf(3))));
    return peer;
  }
  static Hello HelloOf(std::int64_t container) {
    return {.application = kApplication, .am_attempt = 0, .container = ContainerOf(container)};
  }
  /// The only connection that ended did so for `why`, and the honest agent is served.
  void ExpectRefused(const RawPeer& peer, ChannelEnd why) {
    RUN_UNTIL(io, am->Ended(why) == 1 && peer.closed());
    EXPECT_EQ(am->server().counters().ended.size(), 1U);
    ASSERT_EQ(am->refused.size(), 1U);
    EXPECT_EQ(am->refused[0].why, why);
    EXPECT_NE(am->refused[0].detail, "");
    ExpectServed();
  }
  void ExpectServed() {
    const auto before = agent->heard.size();
    agent->Beat(*am);
    RUN_UNTIL(io, agent->heard.size() > before);
    EXPECT_TRUE(agent->lost.empty());
    EXPECT_EQ(agent->client().counters().connects, 1U);
  }

  boost::asio::io_context io{1};
  CertificateAuthority authority = AuthorityOf();
  std::unique_ptr<TestAm> am;
  std::unique_ptr<TestAgent> agent;
  std::vector<std::unique_ptr<RawPeer>> peers;
};

// ---------------------------------------------------------------- before Hello

TEST_F(ChannelRefusalTest, ACertificateOfAnotherAuthority) {
  StartAm();
  // Of the same name in every word, but not signed by the same key.
  const auto other = AuthorityOf().IssueAgent(ContainerOf(3)).value();
  ExpectRefused(Intrude(RawTls{.identity = other}), ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, ACertificateOfAnotherApplication) {
  StartAm();
  const ApplicationId other{1700000000000, 8};
  const auto identity = AuthorityOf(other).IssueAgent(ContainerOf(3, other)).value();
  ExpectRefused(Intrude(RawTls{.identity = identity}), ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, AnAgentOfTheAuthorityThatIsNotOfTheApplication) {
  // Were two applications ever to share an authority, the name still tells them apart.
  const ApplicationId other{1700000000000, 8};
  TestAm am_of_other(io, authority.IssueAm(1).value(), {}, 1, other);
  RawPeer peer(io, am_of_other.address(), RawTls{.identity = AgentIdentity(3)});
  RUN_UNTIL(io, am_of_other.Ended(ChannelEnd::kIdentity) == 1 && peer.closed());
}

TEST_F(ChannelRefusalTest, NoCertificate) {
  StartAm();
  ExpectRefused(Intrude(RawTls{}), ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, TheAmsOwnCertificate) {
  StartAm();
  ExpectRefused(Intrude(RawTls{.identity = authority.IssueAm(1).value()}),
                ChannelEnd::kCertificate);
  EXPECT_NE(am->refused[0].detail.find("purpose"), std::string::npos) << am->refused[0].detail;
}

TEST_F(ChannelRefusalTest, ACertificateOutOfTime) {
  using std::chrono::hours;
  const struct {
    WallTime made;
    const char* says;
  } cases[] = {{Today() - hours(24 * 401), "expired"}, {Today() + hours(1), "not yet valid"}};
  for (const auto& [made, says] : cases) {
    const auto old = CertificateAuthority::Make(kApplication, made).value();
    TestAm am_of_then(io, old.IssueAm(1).value());
    RawPeer peer(io, am_of_then.address(),
                 RawTls{.identity = old.IssueAgent(ContainerOf(3)).value()});
    RUN_UNTIL(io, am_of_then.Ended(ChannelEnd::kCertificate) == 1 && peer.closed());
    EXPECT_NE(am_of_then.refused.at(0).detail.find(says), std::string::npos)
        << am_of_then.refused.at(0).detail;
  }
}

TEST_F(ChannelRefusalTest, PlainText) {
  StartAm();
  RawPeer& peer = Intrude(std::nullopt);
  peer.Write("GET / HTTP/1.1\r\nHost: am\r\n\r\n");
  ExpectRefused(peer, ChannelEnd::kTls);
}

TEST_F(ChannelRefusalTest, AFrameWithoutTls) {
  StartAm();
  RawPeer& peer = Intrude(std::nullopt);
  peer.Write(Framed(Encode(HelloOf(3))));
  ExpectRefused(peer, ChannelEnd::kTls);
}

TEST_F(ChannelRefusalTest, Tls12) {
  StartAm();
  ExpectRefused(Intrude(RawTls{.identity = AgentIdentity(3), .version = TLS1_2_VERSION}),
                ChannelEnd::kTls);
}

TEST_F(ChannelRefusalTest, SilenceBeforeTls) {
  StartAm({.handshake = 100ms});
  ExpectRefused(Intrude(std::nullopt), ChannelEnd::kHandshakeTimeout);
}

TEST_F(ChannelRefusalTest, SilenceWithinTls) {
  StartAm({.handshake = 100ms});
  RawPeer& peer = Intrude(std::nullopt);
  peer.Write(std::string("\x16\x03\x01\x02\x00\x01", 6));  // A ClientHello's begin.
  ExpectRefused(peer, ChannelEnd::kHandshakeTimeout);
}

TEST_F(ChannelRefusalTest, SilenceBeforeHello) {
  StartAm({.handshake = 100ms});
  ExpectRefused(Intrude(RawTls{.identity = AgentIdentity(3)}), ChannelEnd::kHandshakeTimeout);
}

// ---------------------------------------------------------------- Hello

TEST_F(ChannelRefusalTest, AHelloThatIsTooLong) {
  StartAm();
  RawPeer& peer = Intrude(RawTls{.identity = AgentIdentity(3)});
  peer.Write(std::string("\0\0\4\1", 4));
  ExpectRefused(peer, ChannelEnd::kBadFrame);
}

TEST_F(ChannelRefusalTest, AHelloThatIsNone) {
  StartAm();
  RawPeer& peer = Intrude(RawTls{.identity = AgentIdentity(3)});
  peer.Write(Framed(Encode(AgentToAm(AgentHeartbeat{.fence = FenceIn(ContainerOf(3))}))));
  ExpectRefused(peer, ChannelEnd::kHello);
}

TEST_F(ChannelRefusalTest, AHelloOfAnotherContainerThanTheCertificates) {
  StartAm();
  RawPeer& peer = Intrude(RawTls{.identity = AgentIdentity(3)});
  peer.Write(Framed(Encode(HelloOf(2))));
  ExpectRefused(peer, ChannelEnd::kHello);
}

TEST_F(ChannelRefusalTest, AVersionThatNobodySpeaks) {
  StartAm();
  RawPeer& peer = Intrude(RawTls{.identity = AgentIdentity(3)});
  Hello hello = HelloOf(3);
  hello.oldest_version = kNewestVersion + 1;
  hello.newest_version = kNewestVersion + 2;
  peer.Write(Framed(Encode(hello)));
  ExpectRefused(peer, ChannelEnd::kVersion);
}

// ---------------------------------------------------------------- messages

TEST_F(ChannelRefusalTest, AMessageForAnotherContainer) {
  StartAm();
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(Framed(Encode(AgentToAm(AgentHeartbeat{.fence = FenceIn(ContainerOf(2))}))));
  ExpectRefused(peer, ChannelEnd::kFence);
  ASSERT_EQ(am->gone.size(), 1U);
  EXPECT_EQ(am->gone[0], std::make_pair(ContainerOf(3), ChannelEnd::kFence));
  for (const auto& [from, message] : am->heard) EXPECT_EQ(from, ContainerOf(2));
}

TEST_F(ChannelRefusalTest, AMessageThatCannotBeRead) {
  StartAm();
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(Framed("\x0a\x7f"));
  ExpectRefused(peer, ChannelEnd::kBadMessage);
}

TEST_F(ChannelRefusalTest, AFrameThatIsTooLong) {
  StartAm();
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(std::string("\0\4\0\1", 4));  // 256 KiB and a byte.
  ExpectRefused(peer, ChannelEnd::kBadFrame);
}

TEST_F(ChannelRefusalTest, AFrameThatIsEmpty) {
  StartAm();
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(std::string(4, '\0'));
  ExpectRefused(peer, ChannelEnd::kBadFrame);
}

TEST_F(ChannelRefusalTest, HalfAFrameAndThenSilence) {
  StartAm({.idle = 1s});
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(std::string("\0\0\0\x10half", 8));
  RUN_UNTIL(io, am->server().connected() == 2);
  RUN_UNTIL(io, (agent->Beat(*am), am->Ended(ChannelEnd::kIdle) == 1) && peer.closed());
  EXPECT_EQ(am->gone.at(0), std::make_pair(ContainerOf(3), ChannelEnd::kIdle));
  ExpectServed();
}

TEST_F(ChannelRefusalTest, AMessageOfALaterVersionIsLeftAloneAndItsSenderStays) {
  StartAm();
  RawPeer& peer = IntrudeAsAgent();
  peer.Write(Framed("\xa2\x1f\x05later"));
  peer.Write(Framed(Encode(AgentToAm(AgentHeartbeat{.fence = FenceIn(ContainerOf(3))}))));
  RUN_UNTIL(io, am->heard.size() == 2);
  EXPECT_EQ(am->server().counters().unknown_kinds, 1U);
  EXPECT_EQ(am->server().connected(), 2U);
  EXPECT_TRUE(am->refused.empty());
  ExpectServed();
}

// ---------------------------------------------------------------- bounds

TEST_F(ChannelRefusalTest, APeerThatReadsNothingIsGivenUpAndHoldsNoMoreThanItsShare) {
  StartAm({.write_stall = 100ms, .write_queue = std::size_t{1} << 20});
  RawPeer& peer = IntrudeAsAgent();
  RUN_UNTIL(io, am->server().connected() == 2);
  peer.StopReading();
  const AmToAgent message =
      AgentRefused{.fence = FenceIn(ContainerOf(3)), .reason = std::string(4000, 'x')};
  const auto send_two_mebibytes = [&] {
    for (int i = 0; i < 512; ++i) am->server().Send(ContainerOf(3), message);
  };
  send_two_mebibytes();
  EXPECT_GT(am->server().counters().queue_full, 200U);
  RunUntil(
      io, [&] { return (send_two_mebibytes(), am->Ended(ChannelEnd::kWriteStalled) == 1); },
      "the server gives up");
  ExpectServed();
}

TEST_F(ChannelRefusalTest, NewcomersThatSayNothingKeepNobodyOut) {
  StartAm({.newcomers = 4, .crowded = 10ms});
  for (int i = 0; i < 12; ++i) Intrude(std::nullopt);
  TestAgent late(io, AgentIdentity(9), ContainerOf(9));
  late.Register(*am);
  RUN_UNTIL(io, !late.heard.empty());
  EXPECT_GE(am->Ended(ChannelEnd::kCrowded), 1U);
  ExpectServed();
}

TEST_F(ChannelRefusalTest, WithoutFileDescriptorsItWaitsAndGoesOn) {
  StartAm({.accept_pause = 10ms});
  RawPeer& peer = IntrudeAsAgent();  // Its socket is open, the AM's is not.
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  RunUntil(
      io, [&] { return am->server().counters().accept_errors >= 3; }, "accept fails");
  ExpectServed();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  RUN_UNTIL(io, am->server().connected() == 2);
  EXPECT_TRUE(peer.ready());
}

// ---------------------------------------------------------------- what an agent refuses

/// An agent of `authority`, sending to the AM of `identity`, gives it up for `why`.
void ExpectAgentRefuses(boost::asio::io_context& io, const CertificateAuthority& authority,
                        TestAm& am, ChannelEnd why) {
  TestAgent agent(io, authority.IssueAgent(ContainerOf(2)).value(), ContainerOf(2));
  agent.Register(am);
  RUN_UNTIL(io, !agent.lost.empty());
  EXPECT_EQ(agent.lost[0].first, why) << agent.lost[0].second;
  EXPECT_TRUE(agent.heard.empty());
  EXPECT_TRUE(am.heard.empty());
}

TEST_F(ChannelRefusalTest, AnAgentTakesNoAmOfAnotherAuthority) {
  TestAm other(io, AuthorityOf().IssueAm(1).value());
  ExpectAgentRefuses(io, authority, other, ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, AnAgentTakesNoOtherAgentForItsAm) {
  TestAm other(io, AgentIdentity(5));
  ExpectAgentRefuses(io, authority, other, ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, AnAgentTakesNoAmWhoseCertificateIsOutOfTime) {
  const auto old =
      CertificateAuthority::Make(kApplication, Today() - std::chrono::hours(24 * 401)).value();
  TestAm other(io, old.IssueAm(1).value());
  ExpectAgentRefuses(io, old, other, ChannelEnd::kCertificate);
}

TEST_F(ChannelRefusalTest, AnAgentTakesNoAmThatSaysAnotherAttemptThanItsCertificate) {
  TestAm other(io, authority.IssueAm(1).value(), {}, 2);
  ExpectAgentRefuses(io, authority, other, ChannelEnd::kIdentity);
}

TEST_F(ChannelRefusalTest, AnAgentTakesNoAmOfAnotherApplication) {
  const ApplicationId other{1700000000000, 8};
  TestAm am_of_other(io, AuthorityOf(other).IssueAm(1).value(), {}, 1, other);
  ExpectAgentRefuses(io, authority, am_of_other, ChannelEnd::kCertificate);
}

}  // namespace
}  // namespace tfyarn::wire::channel_refusal_test
