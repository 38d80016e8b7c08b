#include "wire/channel_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/check.h"
#include "wire/am_agent_codec.h"
#include "wire/link.h"

namespace tfyarn::wire {

namespace asio = boost::asio;
using asio::ip::tcp;

/// The inside, which handlers on their way keep alive when the client is destroyed.
class ChannelClient::Core final : public std::enable_shared_from_this<Core>, private LinkOwner {
 public:
  Core(asio::io_context& io, const ClientOptions& options, const Identity& identity,
       const ApplicationId& application, const ContainerId& container, ClientHandlers handlers)
      : options_(options),
        application_(application),
        container_(container),
        handlers_(std::move(handlers)),
        tls_(MakeTlsContext(ChannelSide::kAgent, identity)),
        resolver_(io),
        timer_(io) {
    TF_CHECK(handlers_.on_message != nullptr);
    TF_CHECK(options_.waiting > 0);
  }

  void Send(const HostPort& am, std::int32_t am_attempt, const AgentToAm& message);
  void Stop();
  [[nodiscard]] ClientCounters counters() const;
  [[nodiscard]] bool connected() const { return phase_ == Phase::kEstablished; }

 private:
  enum class Phase {
    kIdle,         ///< No connection, and none is wanted.
    kResting,      ///< After a failure, until timer_.
    kConnecting,   ///< Looking up and connecting; timer_ is its deadline.
    kGreeting,     ///< link_ is there, but not yet the AM's Hello.
    kEstablished,  ///< Messages go to link_.
    kStopped,
  };
  using Endpoints = std::vector<tcp::endpoint>;

  void LinkSecured(Link& link) override;
  void LinkReceived(Link& link, std::string_view payload) override;
  void LinkEnded(Link& link, ChannelEnd why, const std::string& detail) override;

  void Retarget(const HostPort& am, std::int32_t am_attempt);
  void Connect();
  void ConnectTo(const Endpoints& endpoints);
  void Greet();
  void Drop();
  void Lost(ChannelEnd why, const std::string& detail);
  void Rest();
  void TakeHello(Link& link, std::string_view payload);
  void TakeMessage(Link& link, std::string_view payload);
  void GiveToLink(std::string_view payload);
  /// A handler for `step` of this attempt to connect; it does nothing once another has begun.
  template <class Step>
  auto Guarded(Step step);

  const ClientOptions options_;
  const ApplicationId application_;
  const ContainerId container_;
  const ClientHandlers handlers_;
  const ContextPtr tls_;
  tcp::resolver resolver_;
  /// While connecting; then it is the link's. A new one each time: an attempt that was given up
  /// may still hold its own.
  std::shared_ptr<tcp::socket> socket_;
  asio::steady_timer timer_;
  std::shared_ptr<LinkTraffic> traffic_ = std::make_shared<LinkTraffic>();
  ClientCounters counters_;
  Phase phase_ = Phase::kIdle;
  HostPort am_;
  std::int32_t am_attempt_ = 0;       ///< Of the AM that is meant.
  std::int32_t peer_am_attempt_ = 0;  ///< Of the AM that is there: its certificate's.
  std::uint64_t attempts_ = 0;        ///< Number of the present attempt to connect.
  int failures_ = 0;                  ///< In a row, without a message of the AM in between.
  std::shared_ptr<Link> link_;
  std::deque<std::string> waiting_;
};

template <class Step>
auto ChannelClient::Core::Guarded(Step step) {
  return [self = shared_from_this(), attempt = attempts_, step](
             const boost::system::error_code& failed, const auto&... result) {
    if (attempt == self->attempts_ && self->phase_ != Phase::kStopped)
      step(*self, failed, result...);
  };
}

// ---------------------------------------------------------------- sending

void ChannelClient::Core::Send(const HostPort& am, std::int32_t am_attempt,
                               const AgentToAm& message) {
  if (!(am == am_) || am_attempt != am_attempt_) Retarget(am, am_attempt);
  if (phase_ == Phase::kEstablished) return GiveToLink(Encode(message));
  if (waiting_.size() == options_.waiting) {
    waiting_.pop_front();
    ++counters_.dropped;
  }
  waiting_.push_back(Encode(message));
  if (phase_ == Phase::kIdle) Connect();
}

void ChannelClient::Core::GiveToLink(std::string_view payload) {
  if (link_->Send(payload)) {
    ++counters_.frames_out;
  } else {
    ++counters_.dropped;
  }
}

/// What waits was meant for another AM.
void ChannelClient::Core::Retarget(const HostPort& am, std::int32_t am_attempt) {
  Drop();
  counters_.dropped += waiting_.size();
  waiting_.clear();
  failures_ = 0;
  am_ = am;
  am_attempt_ = am_attempt;
}

/// Back to kIdle; whatever is under way is forgotten.
void ChannelClient::Core::Drop() {
  ++attempts_;
  resolver_.cancel();
  timer_.cancel();
  boost::system::error_code ignored;
  if (socket_ != nullptr) socket_->close(ignored);
  socket_.reset();
  if (link_ != nullptr) link_->Close();
  link_.reset();
  phase_ = Phase::kIdle;
}

// ---------------------------------------------------------------- connecting

void ChannelClient::Core::Connect() {
  phase_ = Phase::kConnecting;
  ++attempts_;
  ++counters_.connects;
  timer_.expires_after(options_.connect);
  timer_.async_wait(Guarded([](Core& core, const boost::system::error_code& failed) {
    if (failed || core.phase_ != Phase::kConnecting) return;
    core.Lost(ChannelEnd::kConnectFailed, "no connection in time");
  }));
  boost::system::error_code not_numeric;
  const auto address = asio::ip::make_address(am_.host, not_numeric);
  const auto port = static_cast<asio::ip::port_type>(am_.port);
  if (!not_numeric) return ConnectTo({tcp::endpoint(address, port)});
  if (am_.host.empty()) return ConnectTo({});  // Fails; a resolver would take it for this machine.
  resolver_.async_resolve(am_.host, std::to_string(port),
                          Guarded([](Core& core, const boost::system::error_code& failed,
                                     const tcp::resolver::results_type& found) {
                            if (failed)
                              return core.Lost(ChannelEnd::kConnectFailed, failed.message());
                            core.ConnectTo(Endpoints(found.begin(), found.end()));
                          }));
}

void ChannelClient::Core::ConnectTo(const Endpoints& endpoints) {
  const auto socket = std::make_shared<tcp::socket>(timer_.get_executor());
  socket_ = socket;
  asio::async_connect(
      *socket, endpoints,
      Guarded([socket](Core& core, const boost::system::error_code& failed, const tcp::endpoint&) {
        if (failed) return core.Lost(ChannelEnd::kConnectFailed, failed.message());
        core.Greet();
      }));
}

void ChannelClient::Core::Greet() {
  timer_.cancel();
  phase_ = Phase::kGreeting;
  const LinkOptions options{.handshake = options_.handshake,
                            .idle = options_.idle,
                            .write_stall = options_.write_stall,
                            .write_queue = options_.write_queue};
  const auto link =
      std::make_shared<Link>(attempts_, std::move(*socket_), ChannelSide::kAgent, *tls_, options,
                             static_cast<LinkOwner&>(*this), traffic_);
  link_ = link;
  socket_.reset();
  link->Start();
}

void ChannelClient::Core::LinkSecured(Link& link) {
  link.Send(Encode(Hello{.application = application_, .am_attempt = 0, .container = container_}));
}

void ChannelClient::Core::TakeHello(Link& link, std::string_view payload) {
  const auto hello = DecodeHello(payload);
  if (!hello) return link.End(ChannelEnd::kHello, hello.error().message);
  const std::string uri = link.peer_uri();
  if (uri != AmUri(application_, hello->am_attempt) || hello->am_attempt < 1) {
    return link.End(ChannelEnd::kIdentity,
                    fmt::format("certificate of '{}', but Hello of attempt {} of the AM of {}", uri,
                                hello->am_attempt, ToString(hello->application)));
  }
  if (hello->application != application_)
    return link.End(ChannelEnd::kHello, "Hello of " + ToString(hello->application));
  if (!CommonVersion(*hello)) {
    return link.End(
        ChannelEnd::kVersion,
        fmt::format("the AM speaks versions {} to {}, this agent {} to {}", hello->oldest_version,
                    hello->newest_version, kOldestVersion, kNewestVersion));
  }
  peer_am_attempt_ = hello->am_attempt;
  phase_ = Phase::kEstablished;
  ++counters_.established;
  link.Establish(options_.frame_limit);
  for (const std::string& message : std::exchange(waiting_, {})) GiveToLink(message);
}

// ---------------------------------------------------------------- receiving

void ChannelClient::Core::LinkReceived(Link& link, std::string_view payload) {
  const auto self = shared_from_this();  // A handler may destroy the client.
  phase_ == Phase::kEstablished ? TakeMessage(link, payload) : TakeHello(link, payload);
}

void ChannelClient::Core::TakeMessage(Link& link, std::string_view payload) {
  ++counters_.frames_in;
  failures_ = 0;
  auto message = DecodeAmToAgent(payload);
  if (!message && message.error().code == ErrorCode::kNotFound) {
    ++counters_.unknown_kinds;
    return;
  }
  if (!message) return link.End(ChannelEnd::kBadMessage, message.error().message);
  handlers_.on_message(std::move(*message), peer_am_attempt_);
}

// ---------------------------------------------------------------- failing

void ChannelClient::Core::LinkEnded(Link&, ChannelEnd why, const std::string& detail) {
  Lost(why, detail);
}

void ChannelClient::Core::Lost(ChannelEnd why, const std::string& detail) {
  const auto self = shared_from_this();
  ++counters_.ended[why];
  Drop();
  Rest();
  if (handlers_.on_lost) handlers_.on_lost(why, detail);
}

void ChannelClient::Core::Rest() {
  phase_ = Phase::kResting;
  Duration rest = options_.retry_least;
  for (int i = 0; i < failures_ && rest < options_.retry_most; ++i) rest *= 2;
  ++failures_;
  timer_.expires_after(std::min(rest, options_.retry_most));
  timer_.async_wait(Guarded([](Core& core, const boost::system::error_code& failed) {
    if (failed || core.phase_ != Phase::kResting) return;
    core.phase_ = Phase::kIdle;
    if (!core.waiting_.empty()) core.Connect();
  }));
}

ClientCounters ChannelClient::Core::counters() const {
  ClientCounters counters = counters_;
  counters.bytes_in = traffic_->bytes_in;
  counters.bytes_out = traffic_->bytes_out;
  return counters;
}

void ChannelClient::Core::Stop() {
  Drop();
  phase_ = Phase::kStopped;
}

// ---------------------------------------------------------------- ChannelClient

ChannelClient::ChannelClient(asio::io_context& io, const ClientOptions& options,
                             const Identity& identity, const ApplicationId& application,
                             const ContainerId& container, ClientHandlers handlers)
    : core_(std::make_shared<Core>(io, options, identity, application, container,
                                   std::move(handlers))) {}

ChannelClient::~ChannelClient() {
  core_->Stop();
}

void ChannelClient::Send(const HostPort& am, std::int32_t am_attempt, const AgentToAm& message) {
  core_->Send(am, am_attempt, message);
}

ClientCounters ChannelClient::counters() const {
  return core_->counters();
}

bool ChannelClient::connected() const {
  return core_->connected();
}

}  // namespace tfyarn::wire
