// Both ends of the channel, as they talk when all is well and when connections come and go.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tests/unit/patience.h"
#include "tests/unit/wire/channel_world.h"

namespace tfyarn::wire::channel_test {
namespace {

class ChannelTest : public testing::Test {
 protected:
  Identity AgentIdentity(std::int64_t number) {
    return authority.IssueAgent(ContainerOf(number)).value();
  }
  std::unique_ptr<TestAgent> Agent(std::int64_t number, const ClientOptions& options = {}) {
    return std::make_unique<TestAgent>(io, AgentIdentity(number), ContainerOf(number), options);
  }

  boost::asio::io_context io{1};
  CertificateAuthority authority = AuthorityOf();
};

TEST_F(ChannelTest, AnAgentRegistersAndIsAccepted) {
  TestAm am(io, authority.IssueAm(3).value(), {}, 3);
  const auto agent = Agent(2);
  agent->Register(am);
  RUN_UNTIL(io, !agent->heard.empty());
  ASSERT_EQ(am.heard.size(), 1U);
  EXPECT_EQ(am.heard[0].first, agent->container());
  EXPECT_EQ(std::get<RegisterAgent>(am.heard[0].second).address.port, 4711);
  EXPECT_EQ(std::get<AgentAccepted>(agent->heard[0].first).fence, FenceIn(agent->container()));
  EXPECT_EQ(agent->heard[0].second, 3);
}

TEST_F(ChannelTest, TheAmPushesASpecOfAnySize) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto agent = Agent(2);
  agent->Register(am);
  RUN_UNTIL(io, agent->heard.size() == 1);
  ClusterSpec spec{.epoch = Epoch(1), .tasks = {}};
  for (std::int32_t i = 0; i < 50'000; ++i)
    spec.tasks["worker"].push_back({"node-" + std::to_string(i), 30000 + i % 1000});
  const SpecRef shared = Share(std::move(spec));
  am.server().Send(ContainerOf(2), StartProcess{.fence = FenceIn(ContainerOf(2)),
                                                .process = {TaskAttempt(4), Epoch(1)},
                                                .spec = shared,
                                                .resume = true});
  RUN_UNTIL(io, agent->heard.size() == 2);
  const auto& start = std::get<StartProcess>(agent->heard[1].first);
  EXPECT_EQ(*start.spec.get(), *shared.get());
  EXPECT_EQ(start.process, (ProcessRef{TaskAttempt(4), Epoch(1)}));
}

TEST_F(ChannelTest, MessagesArriveInOrderAndCompleteWhileAConnectionLasts) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto agent = Agent(2);
  constexpr std::uint32_t kMessages = 5000;
  for (std::uint32_t i = 0; i < 64; ++i)
    agent->Send(am, ProcessRunning{.fence = FenceIn(ContainerOf(2)),
                                   .process = {TaskAttempt(i), Epoch(1)}});
  RUN_UNTIL(io, agent->client().connected());
  for (std::uint32_t i = 64; i < kMessages; ++i)
    agent->Send(am, ProcessRunning{.fence = FenceIn(ContainerOf(2)),
                                   .process = {TaskAttempt(i), Epoch(1)}});
  RUN_UNTIL(io, am.heard.size() == kMessages);
  for (std::uint32_t i = 0; i < kMessages; ++i)
    EXPECT_EQ(std::get<ProcessRunning>(am.heard[i].second).process.attempt.value, i);
  EXPECT_EQ(am.server().counters().frames_in, kMessages);
  EXPECT_EQ(agent->client().counters().bytes_out, am.server().counters().bytes_in);
}

TEST_F(ChannelTest, MessagesThatCameTogetherAreAllReadAtOnce) {
  boost::asio::io_context elsewhere{1};  // The agent's own process.
  TestAm am(io, authority.IssueAm(1).value());
  TestAgent agent(elsewhere, AgentIdentity(2), ContainerOf(2));
  agent.Register(am);
  RunUntil(
      elsewhere,
      [&] {
        io.restart();
        io.poll();
        return agent.heard.size() == 1;
      },
      "the agent is accepted", std::chrono::milliseconds(1));
  for (int i = 0; i < 5; ++i) {
    agent.Beat(am);  // Each in a TLS record of its own.
    elsewhere.restart();
    elsewhere.poll();
  }
  RUN_UNTIL(io, am.heard.size() == 6);
}

TEST_F(ChannelTest, WhileThereIsNoConnectionOnlyTheNewestMessagesAreKept) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto agent = Agent(2, {.waiting = 8});
  for (std::uint32_t i = 0; i < 20; ++i)
    agent->Send(am, ProcessRunning{.fence = FenceIn(ContainerOf(2)),
                                   .process = {TaskAttempt(i), Epoch(1)}});
  RUN_UNTIL(io, am.heard.size() == 8);
  EXPECT_EQ(std::get<ProcessRunning>(am.heard[0].second).process.attempt.value, 12U);
  EXPECT_EQ(agent->client().counters().dropped, 12U);
}

TEST_F(ChannelTest, AMessageForAnAgentThatIsNotConnectedIsDropped) {
  TestAm am(io, authority.IssueAm(1).value());
  am.server().Send(ContainerOf(2), HeartbeatSeen{.fence = FenceIn(ContainerOf(2))});
  EXPECT_EQ(am.server().counters().not_connected, 1U);
  const auto agent = Agent(2);
  agent->Register(am);
  RUN_UNTIL(io, !agent->heard.empty());
  EXPECT_TRUE(std::holds_alternative<AgentAccepted>(agent->heard[0].first));
}

TEST_F(ChannelTest, AnAgentThatGoesIsMissed) {
  TestAm am(io, authority.IssueAm(1).value());
  auto agent = Agent(2);
  agent->Register(am);
  RUN_UNTIL(io, !agent->heard.empty());
  agent.reset();
  RUN_UNTIL(io, !am.gone.empty());
  EXPECT_EQ(am.gone[0], std::make_pair(ContainerOf(2), ChannelEnd::kPeerClosed));
  EXPECT_EQ(am.server().connected(), 0U);
  EXPECT_TRUE(am.refused.empty());
}

TEST_F(ChannelTest, TheLastWordOfAnAgentThatGoesIsHeard) {
  TestAm am(io, authority.IssueAm(1).value());
  auto agent = Agent(2);
  agent->Register(am);
  RUN_UNTIL(io, !agent->heard.empty());
  agent->Send(am, ProcessEnded{.fence = FenceIn(ContainerOf(2)),
                               .process = {},
                               .exit = {.code = 1, .signal = {}},
                               .agent_leaves = true,
                               .stderr_tail = std::string(60'000, 'x')});
  agent.reset();
  RUN_UNTIL(io, am.heard.size() == 2 && !am.gone.empty());
  EXPECT_TRUE(std::get<ProcessEnded>(am.heard[1].second).agent_leaves);
}

TEST_F(ChannelTest, ANewerConnectionOfTheSameContainerTakesThePlaceOfTheOlder) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto older = Agent(2);
  older->Register(am);
  RUN_UNTIL(io, !older->heard.empty());
  const auto newer = Agent(2);
  newer->Register(am);
  RUN_UNTIL(io, !newer->heard.empty() && !older->lost.empty());
  EXPECT_EQ(am.server().connected(), 1U);
  EXPECT_EQ(am.Ended(ChannelEnd::kReplaced), 1U);
  EXPECT_TRUE(am.gone.empty());
  am.server().Send(ContainerOf(2), HeartbeatSeen{.fence = FenceIn(ContainerOf(2))});
  RUN_UNTIL(io, newer->heard.size() == 2);
  EXPECT_EQ(older->heard.size(), 1U);
}

TEST_F(ChannelTest, AnAgentConnectsAgainWhenItsConnectionWasLost) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto agent = Agent(2, {.retry_least = 1ms});
  agent->Register(am);
  RUN_UNTIL(io, !agent->heard.empty());
  Agent(2)->Register(am);  // Gone at once.
  const auto rival = Agent(2);
  rival->Register(am);
  RUN_UNTIL(io, !agent->lost.empty());
  agent->Beat(am);
  RUN_UNTIL(io, agent->heard.size() == 2);
  EXPECT_EQ(agent->client().counters().established, 2U);
}

TEST_F(ChannelTest, AnAgentFollowsItsAmToTheNextAttempt) {
  auto first = std::make_unique<TestAm>(io, authority.IssueAm(1).value());
  const auto agent = Agent(2);
  agent->Register(*first);
  RUN_UNTIL(io, agent->heard.size() == 1);
  const auto again = CertificateAuthority::FromPem(kApplication, authority.ToPem()).value();
  TestAm second(io, again.IssueAm(2).value(), {}, 2);
  agent->Register(second);
  RUN_UNTIL(io, agent->heard.size() == 2 && !first->gone.empty());
  EXPECT_EQ(agent->heard[0].second, 1);
  EXPECT_EQ(agent->heard[1].second, 2);
  EXPECT_TRUE(agent->lost.empty());
}

TEST_F(ChannelTest, AnAgentAsksAgainAndAgainForAnAmThatIsNotThere) {
  const auto agent = Agent(2, {.retry_least = 1ms, .retry_most = 4ms});
  std::optional<TestAm> am(std::in_place, io, authority.IssueAm(1).value());
  const HostPort address = am->address();
  am.reset();
  agent->client().Send(address, 1, AgentHeartbeat{.fence = FenceIn(ContainerOf(2))});
  RUN_UNTIL(io, agent->lost.size() == 5);
  for (const auto& [why, detail] : agent->lost)
    EXPECT_EQ(why, ChannelEnd::kConnectFailed) << detail;
  EXPECT_EQ(agent->client().counters().connects, 5U);
}

TEST_F(ChannelTest, AHostIsFoundByItsName) {
  TestAm am(io, authority.IssueAm(1).value());
  const auto agent = Agent(2);
  agent->client().Send({"localhost", am.address().port}, 1,
                       AgentHeartbeat{.fence = FenceIn(ContainerOf(2))});
  RUN_UNTIL(io, !agent->heard.empty());
}

TEST_F(ChannelTest, APortThatIsTakenIsSaidSo) {
  TestAm am(io, authority.IssueAm(1).value());
  ChannelServer second(io, {}, authority.IssueAm(1).value(), kApplication, 1,
                       {.on_message = [](const ContainerId&, const AgentToAm&) {}});
  const auto port = second.Listen("127.0.0.1", am.address().port);
  ASSERT_FALSE(port.has_value());
  EXPECT_EQ(port.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(port.error().message.find(std::to_string(am.address().port)), std::string::npos);
}

// ---------------------------------------------------------------- the end at any moment

/// Runs what is left; everything must have let go of the loop by itself.
void ExpectNothingLeft(boost::asio::io_context& io) {
  io.restart();
  io.run_for(Patience(1min));
  EXPECT_TRUE(io.stopped());
}

TEST_F(ChannelTest, BothEndsCanGoAtAnyMoment) {
  for (int handlers = 0; handlers < 60; ++handlers) {
    for (const bool am_first : {true, false}) {
      auto am = std::make_unique<TestAm>(io, authority.IssueAm(1).value());
      auto agent = Agent(2);
      auto other = Agent(2);
      agent->Register(*am);
      other->Register(*am);
      for (int i = 0; i < handlers; ++i) {
        io.restart();
        io.run_one_for(std::chrono::milliseconds(1));
      }
      if (am_first) am.reset();
      agent.reset();
      other.reset();
      am.reset();
      ExpectNothingLeft(io);
    }
  }
}

TEST_F(ChannelTest, TheLoopCanGoWithHandlersOnTheirWay) {
  for (int handlers = 0; handlers < 60; ++handlers) {
    auto loop = std::make_unique<boost::asio::io_context>(1);
    auto am = std::make_unique<TestAm>(*loop, authority.IssueAm(1).value());
    auto agent = std::make_unique<TestAgent>(*loop, AgentIdentity(2), ContainerOf(2));
    agent->Register(*am);
    for (int i = 0; i < handlers; ++i) loop->run_one_for(std::chrono::milliseconds(1));
    agent.reset();
    am.reset();
    loop.reset();
  }
}

TEST_F(ChannelTest, EitherEndCanGoFromWithinItsOwnHandlers) {
  std::unique_ptr<ChannelServer> server;
  std::unique_ptr<ChannelClient> client;
  int messages = 0;
  const auto start = [&](ServerHandlers at_am, ClientHandlers at_agent) {
    server = std::make_unique<ChannelServer>(io, ServerOptions{}, authority.IssueAm(1).value(),
                                             kApplication, 1, std::move(at_am));
    client = std::make_unique<ChannelClient>(io, ClientOptions{}, AgentIdentity(2), kApplication,
                                             ContainerOf(2), std::move(at_agent));
    const HostPort address{"127.0.0.1", server->Listen("127.0.0.1").value()};
    // Two at once: the second must not be told to a handler that is gone.
    for (int i = 0; i < 2; ++i)
      client->Send(address, 1, AgentHeartbeat{.fence = FenceIn(ContainerOf(2))});
  };
  const auto answer = [&](const ContainerId& peer, const AgentToAm& message) {
    for (int i = 0; i < 2; ++i) server->Send(peer, HeartbeatSeen{.fence = FenceOf(message)});
  };

  start({.on_message =
             [&](const ContainerId&, const AgentToAm&) {
               server.reset();
               ++messages;  // Through what the handler holds, which must still be there.
             }},
        {.on_message = [](const AmToAgent&, std::int32_t) {}});
  RUN_UNTIL(io, messages > 0);
  client.reset();
  ExpectNothingLeft(io);
  EXPECT_EQ(messages, 1);

  start({.on_message = answer}, {.on_message = [&](const AmToAgent&, std::int32_t) {
          client.reset();
          ++messages;
        }});
  RUN_UNTIL(io, messages > 1);
  server.reset();
  ExpectNothingLeft(io);
  EXPECT_EQ(messages, 2);

  start({.on_message = answer,
         .on_gone = [&](const ContainerId&, ChannelEnd, const std::string&) { server.reset(); }},
        {.on_message = [&](const AmToAgent&, std::int32_t) { client.reset(); }});
  RUN_UNTIL(io, server == nullptr);
  ExpectNothingLeft(io);

  start({.on_message = [&](const ContainerId&, const AgentToAm&) { server.reset(); }},
        {.on_message = [](const AmToAgent&, std::int32_t) {},
         .on_lost = [&](ChannelEnd, const std::string&) { client.reset(); }});
  RUN_UNTIL(io, client == nullptr);
  ExpectNothingLeft(io);
}

}  // namespace
}  // namespace tfyarn::wire::channel_test
