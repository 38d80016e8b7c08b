// One application for tests of the channel: its authority, an AM's server and agents, over real
// sockets of this machine and in one event loop. Time is awaited through what must happen, never
// slept away; what does not happen within a minute fails.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/patience.h"
#include "wire/channel_client.h"
#include "wire/channel_server.h"
#include "wire/identity.h"

namespace tfyarn::wire {

inline WallTime Today() {
  return WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch()));
}

inline const ApplicationId kApplication{.cluster_timestamp = 1700000000000, .id = 7};

inline ContainerId ContainerOf(std::int64_t number, ApplicationId application = kApplication) {
  return {.application_attempt = {.application = application, .attempt = 1}, .id = number};
}

inline CertificateAuthority AuthorityOf(ApplicationId application = kApplication) {
  auto authority = CertificateAuthority::Make(application, Today());
  EXPECT_TRUE(authority.has_value());
  return std::move(*authority);
}

inline AgentFence FenceIn(const ContainerId& container) {
  return {.container = container,
          .task = {"worker", 0},
          .incarnation = Incarnation(0),
          .nonce = Nonce(42)};
}

/// Runs `io` until `done` says so, which is asked after every handler and after `pause` without
/// one.
inline void RunUntil(boost::asio::io_context& io, const std::function<bool()>& done,
                     const char* what, Duration pause = 1s) {
  const auto limit = std::chrono::steady_clock::now() + Patience(1min);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << "never happened: " << what;
    io.restart();
    io.run_one_for(pause);
  }
}
#define RUN_UNTIL(io, condition)                    \
  ASSERT_NO_FATAL_FAILURE(::tfyarn::wire::RunUntil( \
      io, [&] { return static_cast<bool>(condition); }, #condition))

/// An AM that answers: registrations by AgentAccepted, heartbeats by HeartbeatSeen.
class TestAm {
 public:
  struct Refusal {
    ChannelEnd why;
    std::string detail;
  };

  TestAm(boost::asio::io_context& io, const Identity& identity, const ServerOptions& options = {},
         std::int32_t am_attempt = 1, ApplicationId application = kApplication)
      : am_attempt_(am_attempt),
        server_(std::make_unique<ChannelServer>(
            io, options, identity, application, am_attempt,
            ServerHandlers{
                .on_message = [this](const ContainerId& peer,
                                     AgentToAm message) { Take(peer, std::move(message)); },
                .on_gone = [this](const ContainerId& peer, ChannelEnd why,
                                  const std::string&) { gone.emplace_back(peer, why); },
                .on_refused =
                    [this](const std::string&, ChannelEnd why, const std::string& detail) {
                      refused.push_back({why, detail});
                    }})) {
    const auto port = server_->Listen("127.0.0.1");
    EXPECT_TRUE(port.has_value());
    address_ = {.host = "127.0.0.1", .port = port.value_or(0)};
  }

  [[nodiscard]] const HostPort& address() const { return address_; }
  [[nodiscard]] std::int32_t am_attempt() const { return am_attempt_; }
  [[nodiscard]] ChannelServer& server() { return *server_; }
  /// How many connections ended so.
  [[nodiscard]] std::uint64_t Ended(ChannelEnd why) const {
    const auto counters = server_->counters();
    const auto found = counters.ended.find(why);
    return found == counters.ended.end() ? 0 : found->second;
  }

  std::vector<std::pair<ContainerId, AgentToAm>> heard;
  std::vector<std::pair<ContainerId, ChannelEnd>> gone;
  std::vector<Refusal> refused;

 private:
  void Take(const ContainerId& peer, AgentToAm message) {
    if (std::holds_alternative<RegisterAgent>(message))
      server_->Send(peer, AgentAccepted{.fence = FenceOf(message)});
    if (std::holds_alternative<AgentHeartbeat>(message))
      server_->Send(peer, HeartbeatSeen{.fence = FenceOf(message)});
    heard.emplace_back(peer, std::move(message));
  }

  std::int32_t am_attempt_;
  HostPort address_;
  std::unique_ptr<ChannelServer> server_;
};

class TestAgent {
 public:
  TestAgent(boost::asio::io_context& io, const Identity& identity, const ContainerId& container,
            const ClientOptions& options = {}, ApplicationId application = kApplication)
      : container_(container),
        client_(std::make_unique<ChannelClient>(
            io, options, identity, application, container,
            ClientHandlers{.on_message =
                               [this](AmToAgent message, std::int32_t am_attempt) {
                                 heard.emplace_back(std::move(message), am_attempt);
                               },
                           .on_lost =
                               [this](ChannelEnd why, const std::string& detail) {
                                 lost.emplace_back(why, detail);
                               }})) {}

  void Register(const TestAm& am) {
    Send(am, RegisterAgent{.fence = FenceIn(container_),
                           .address = {"127.0.0.1", 4711},
                           .running = {},
                           .ended = {},
                           .exit = {},
                           .stood = {}});
  }
  void Beat(const TestAm& am) { Send(am, AgentHeartbeat{.fence = FenceIn(container_)}); }
  void Send(const TestAm& am, const AgentToAm& message) {
    client_->Send(am.address(), am.am_attempt(), message);
  }
  [[nodiscard]] ChannelClient& client() { return *client_; }
  [[nodiscard]] const ContainerId& container() const { return container_; }

  std::vector<std::pair<AmToAgent, std::int32_t>> heard;
  std::vector<std::pair<ChannelEnd, std::string>> lost;

 private:
  ContainerId container_;
  std::unique_ptr<ChannelClient> client_;
};

}  // namespace tfyarn::wire
