// The inside of ChannelServer, which handlers on their way keep alive when the server is destroyed.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "wire/am_agent_codec.h"
#include "wire/channel_server.h"
#include "wire/link.h"

namespace tfyarn::wire {

class ChannelServer::Core final : public std::enable_shared_from_this<Core>, private LinkOwner {
 public:
  Core(boost::asio::io_context& io, const ServerOptions& options, const Identity& identity,
       const ApplicationId& application, std::int32_t am_attempt, ServerHandlers handlers);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] Expected<int> Listen(const std::string& host, int port);
  void Send(const ContainerId& container, const AmToAgent& message);
  void Stop();
  [[nodiscard]] ServerCounters counters() const;
  [[nodiscard]] std::size_t connected() const { return agents_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Socket = boost::asio::ip::tcp::socket;

  /// Connected, and not yet said Hello.
  struct Newcomer {
    std::shared_ptr<Link> link;
    Clock::time_point since;
    std::optional<ContainerId> container;  ///< From the certificate, once TLS is done.
  };

  void LinkSecured(Link& link) override;
  void LinkReceived(Link& link, std::string_view payload) override;
  void LinkEnded(Link& link, ChannelEnd why, const std::string& detail) override;

  [[nodiscard]] Expected<boost::asio::ip::tcp::endpoint> Resolve(const std::string& host, int port);
  void Accept();
  void Accepted(const boost::system::error_code& failed, Socket socket);
  void Welcome(Socket socket);
  void PauseAccepting();
  void WatchCrowd();
  [[nodiscard]] std::optional<ContainerId> AgentOf(const std::string& uri) const;
  void TakeHello(Link& link, std::string_view payload);
  void Admit(Link& link, const ContainerId& container);
  void TakeMessage(Link& link, const ContainerId& container, std::string_view payload);
  /// Room for a newcomer may have come.
  void NewcomerLeft();

  boost::asio::io_context& io_;
  const ServerOptions options_;
  const ApplicationId application_;
  const std::int32_t am_attempt_;
  const ServerHandlers handlers_;
  const ContextPtr tls_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer accept_timer_;
  boost::asio::steady_timer crowd_timer_;
  std::shared_ptr<LinkTraffic> traffic_ = std::make_shared<LinkTraffic>();
  SpecEncodings specs_;
  ServerCounters counters_;
  std::uint64_t last_link_ = 0;
  /// By number of the link, so the oldest is first.
  std::map<std::uint64_t, Newcomer> newcomers_;
  std::map<ContainerId, std::shared_ptr<Link>> agents_;
  std::unordered_map<std::uint64_t, ContainerId> container_of_;  ///< By number of the link.
  bool accepting_ = false;                                       ///< An accept is under way.
  bool accept_paused_ = false;  ///< After an error, until accept_timer_.
  bool crowd_watched_ = false;
  bool stopped_ = false;
};

}  // namespace tfyarn::wire
