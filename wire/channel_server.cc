#include "wire/channel_server.h"

#include <fmt/format.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "core/model/host_port.h"
#include "wire/channel_server_core.h"

namespace tfyarn::wire {
namespace {

namespace asio = boost::asio;

/// Connections that the kernel keeps for us while we do not accept; it may keep fewer.
constexpr int kBacklog = 4096;

/// An end that says something about the peer, and not only that it is gone.
bool IsRefusal(ChannelEnd why) {
  switch (why) {
    case ChannelEnd::kTls:
    case ChannelEnd::kCertificate:
    case ChannelEnd::kIdentity:
    case ChannelEnd::kHello:
    case ChannelEnd::kVersion:
    case ChannelEnd::kHandshakeTimeout:
    case ChannelEnd::kCrowded:
    case ChannelEnd::kBadFrame:
    case ChannelEnd::kBadMessage:
    case ChannelEnd::kFence:
      return true;
    case ChannelEnd::kPeerClosed:
    case ChannelEnd::kConnectFailed:
    case ChannelEnd::kIdle:
    case ChannelEnd::kWriteStalled:
    case ChannelEnd::kReplaced:
      return false;
  }
  TF_CHECK(false);
}

}  // namespace

ChannelServer::Core::Core(asio::io_context& io, const ServerOptions& options,
                          const Identity& identity, const ApplicationId& application,
                          std::int32_t am_attempt, ServerHandlers handlers)
    : io_(io),
      options_(options),
      application_(application),
      am_attempt_(am_attempt),
      handlers_(std::move(handlers)),
      tls_(MakeTlsContext(ChannelSide::kAm, identity)),
      acceptor_(io),
      accept_timer_(io),
      crowd_timer_(io) {
  TF_CHECK(handlers_.on_message != nullptr);
  TF_CHECK(options_.newcomers > 0);
}

// ---------------------------------------------------------------- accepting

Expected<asio::ip::tcp::endpoint> ChannelServer::Core::Resolve(const std::string& host, int port) {
  boost::system::error_code failed;
  const auto number = static_cast<asio::ip::port_type>(port);
  const auto address = asio::ip::make_address(host, failed);
  if (!failed) return asio::ip::tcp::endpoint(address, number);
  asio::ip::tcp::resolver resolver(io_);
  const auto found = resolver.resolve(host, std::to_string(port), failed);
  if (failed || found.empty()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot look up {}: {}", host, failed.message()));
  }
  return found.begin()->endpoint();
}

Expected<int> ChannelServer::Core::Listen(const std::string& host, int port) {
  TF_CHECK(!acceptor_.is_open());
  TF_CHECK(port >= 0 && port <= 65535);
  const auto endpoint = Resolve(host, port);
  if (!endpoint) return tl::unexpected(endpoint.error());
  boost::system::error_code failed;
  acceptor_.open(endpoint->protocol(), failed);
  if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) acceptor_.bind(*endpoint, failed);
  if (!failed) acceptor_.listen(kBacklog, failed);
  const auto bound = failed ? asio::ip::tcp::endpoint() : acceptor_.local_endpoint(failed);
  if (failed) {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot listen at {}: {}",
                            ToString(HostPort{.host = host, .port = port}), failed.message()));
  }
  Accept();
  return bound.port();
}

void ChannelServer::Core::Accept() {
  if (stopped_ || accepting_ || accept_paused_) return;
  if (newcomers_.size() >= options_.newcomers) return WatchCrowd();
  accepting_ = true;
  acceptor_.async_accept(
      [self = shared_from_this()](const boost::system::error_code& failed, Socket socket) {
        self->accepting_ = false;
        if (!self->stopped_) self->Accepted(failed, std::move(socket));
      });
}

void ChannelServer::Core::Accepted(const boost::system::error_code& failed, Socket socket) {
  if (failed) {
    ++counters_.accept_errors;
    return PauseAccepting();
  }
  Welcome(std::move(socket));
  Accept();
}

void ChannelServer::Core::Welcome(Socket socket) {
  ++counters_.accepted;
  const LinkOptions options{.handshake = options_.handshake,
                            .idle = options_.idle,
                            .write_stall = options_.write_stall,
                            .write_queue = options_.write_queue};
  const auto link = std::make_shared<Link>(++last_link_, std::move(socket), ChannelSide::kAm, *tls_,
                                           options, static_cast<LinkOwner&>(*this), traffic_);
  newcomers_.emplace(link->number(),
                     Newcomer{.link = link, .since = Clock::now(), .container = {}});
  link->Start();
}

/// With no file descriptor left, the connection stays in the kernel's queue and accept would fail
/// again at once.
void ChannelServer::Core::PauseAccepting() {
  accept_paused_ = true;
  accept_timer_.expires_after(options_.accept_pause);
  accept_timer_.async_wait([self = shared_from_this()](const boost::system::error_code&) {
    self->accept_paused_ = false;
    self->Accept();
  });
}

void ChannelServer::Core::WatchCrowd() {
  if (crowd_watched_) return;
  crowd_watched_ = true;
  crowd_timer_.expires_at(newcomers_.begin()->second.since + options_.crowded);
  crowd_timer_.async_wait([self = shared_from_this()](const boost::system::error_code&) {
    self->crowd_watched_ = false;
    if (self->stopped_ || self->newcomers_.size() < self->options_.newcomers) return;
    const auto& oldest = self->newcomers_.begin()->second;
    if (oldest.since + self->options_.crowded <= Clock::now())
      return oldest.link->End(ChannelEnd::kCrowded, "too many newcomers at once");
    self->WatchCrowd();
  });
}

void ChannelServer::Core::NewcomerLeft() {
  if (acceptor_.is_open()) Accept();
}

// ---------------------------------------------------------------- Hello

std::optional<ContainerId> ChannelServer::Core::AgentOf(const std::string& uri) const {
  const auto slash = uri.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto container = ParseContainerId(std::string_view(uri).substr(slash + 1));
  if (!container || container->application_attempt.application != application_ ||
      AgentUri(*container) != uri)
    return std::nullopt;
  return *container;
}

void ChannelServer::Core::LinkSecured(Link& link) {
  const std::string uri = link.peer_uri();
  const auto container = AgentOf(uri);
  if (!container) {
    return link.End(ChannelEnd::kIdentity, fmt::format("certificate of '{}', not of an agent of {}",
                                                       uri, ToString(application_)));
  }
  newcomers_.at(link.number()).container = container;
  link.Send(Encode(Hello{.application = application_, .am_attempt = am_attempt_, .container = {}}));
}

void ChannelServer::Core::TakeHello(Link& link, std::string_view payload) {
  const ContainerId container = newcomers_.at(link.number()).container.value();
  const auto hello = DecodeHello(payload);
  if (!hello) return link.End(ChannelEnd::kHello, hello.error().message);
  if (!CommonVersion(*hello)) {
    return link.End(
        ChannelEnd::kVersion,
        fmt::format("{} speaks versions {} to {}, this AM {} to {}", ToString(container),
                    hello->oldest_version, hello->newest_version, kOldestVersion, kNewestVersion));
  }
  if (hello->application != application_ || hello->container != container) {
    return link.End(ChannelEnd::kHello,
                    ToString(container) + " says another name than its certificate");
  }
  Admit(link, container);
}

void ChannelServer::Core::Admit(Link& link, const ContainerId& container) {
  const auto newcomer = newcomers_.find(link.number());
  std::shared_ptr<Link>& place = agents_[container];
  if (place != nullptr) {
    ++counters_.ended[ChannelEnd::kReplaced];
    container_of_.erase(place->number());
    place->Close();
  }
  place = std::move(newcomer->second.link);
  newcomers_.erase(newcomer);
  container_of_.emplace(link.number(), container);
  ++counters_.established;
  link.Establish(options_.frame_limit);
  NewcomerLeft();
}

// ---------------------------------------------------------------- messages

void ChannelServer::Core::LinkReceived(Link& link, std::string_view payload) {
  const auto self = shared_from_this();  // A handler may destroy the server.
  const auto container = container_of_.find(link.number());
  if (container == container_of_.end()) return TakeHello(link, payload);
  TakeMessage(link, ContainerId(container->second), payload);
}

void ChannelServer::Core::TakeMessage(Link& link, const ContainerId& container,
                                      std::string_view payload) {
  ++counters_.frames_in;
  auto message = DecodeAgentToAm(payload);
  if (!message && message.error().code == ErrorCode::kNotFound) {
    ++counters_.unknown_kinds;
    return;
  }
  if (!message) return link.End(ChannelEnd::kBadMessage, message.error().message);
  const AgentFence& fence = FenceOf(*message);
  if (fence.container != container) {
    return link.End(ChannelEnd::kFence, fmt::format("{} speaks for {}", ToString(container),
                                                    ToString(fence.container)));
  }
  handlers_.on_message(container, std::move(*message));
}

void ChannelServer::Core::LinkEnded(Link& link, ChannelEnd why, const std::string& detail) {
  const auto self = shared_from_this();
  ++counters_.ended[why];
  const auto known = container_of_.find(link.number());
  const auto container =
      known == container_of_.end() ? std::nullopt : std::optional<ContainerId>(known->second);
  if (container) {
    container_of_.erase(known);
    agents_.erase(*container);
  } else {
    newcomers_.erase(link.number());
    NewcomerLeft();
  }
  if (IsRefusal(why) && handlers_.on_refused)
    handlers_.on_refused(link.peer_address(), why, detail);
  if (container && !stopped_ && handlers_.on_gone) handlers_.on_gone(*container, why, detail);
}

void ChannelServer::Core::Send(const ContainerId& container, const AmToAgent& message) {
  const auto agent = agents_.find(container);
  if (agent == agents_.end()) {
    ++counters_.not_connected;
    return;
  }
  if (agent->second->Send(Encode(message, specs_))) {
    ++counters_.frames_out;
  } else {
    ++counters_.queue_full;
  }
}

ServerCounters ChannelServer::Core::counters() const {
  ServerCounters counters = counters_;
  counters.bytes_in = traffic_->bytes_in;
  counters.bytes_out = traffic_->bytes_out;
  return counters;
}

void ChannelServer::Core::Stop() {
  stopped_ = true;
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  accept_timer_.cancel();
  crowd_timer_.cancel();
  for (auto& [number, newcomer] : newcomers_) newcomer.link->Close();
  for (auto& [container, link] : agents_) link->Close();
  newcomers_.clear();
  agents_.clear();
  container_of_.clear();
}

// ---------------------------------------------------------------- ChannelServer

ChannelServer::ChannelServer(asio::io_context& io, const ServerOptions& options,
                             const Identity& identity, const ApplicationId& application,
                             std::int32_t am_attempt, ServerHandlers handlers)
    : core_(std::make_shared<Core>(io, options, identity, application, am_attempt,
                                   std::move(handlers))) {}

ChannelServer::~ChannelServer() {
  core_->Stop();
}

Expected<int> ChannelServer::Listen(const std::string& host, int port) {
  return core_->Listen(host, port);
}

void ChannelServer::Send(const ContainerId& container, const AmToAgent& message) {
  core_->Send(container, message);
}

ServerCounters ChannelServer::counters() const {
  return core_->counters();
}

std::size_t ChannelServer::connected() const {
  return core_->connected();
}

}  // namespace tfyarn::wire
