#include "fakes/server/ipc_server.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "fakes/server/listen.h"
#include "wire/frame.h"
#include "wire/hadoop/ipc_messages.h"

namespace tfyarn::fakes {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using hadoop::Response;
using hadoop::ResponseStatus;

constexpr std::size_t kPreamble = 7;
/// From a connection's begin to its first call. (Assumption: Hadoop has no such limit.)
constexpr Duration kHandshake = 60s;
constexpr char kAccessControl[] = "org.apache.hadoop.security.AccessControlException";
/// RpcErrorCodeProto.
constexpr std::uint32_t kFatalInvalidHeader = 12;
constexpr std::uint32_t kFatalVersionMismatch = 14;
constexpr std::uint32_t kFatalUnauthorized = 15;

}  // namespace

class IpcServer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(boost::asio::io_context& io, HostPort address, IpcHandlers handlers)
      : io_(io), address_(std::move(address)), handlers_(std::move(handlers)), port_(io) {}

  Expected<void> Open();
  void Close();
  void BreakConnections();
  void Accept();

  class Connection;
  boost::asio::io_context& io_;
  HostPort address_;
  const IpcHandlers handlers_;
  ListeningPort port_;
  std::set<std::shared_ptr<Connection>> connections_;
  std::uint64_t accepted_ = 0;
};

/// kPreamble -> kNegotiating (SASL) -> kContext -> kReady.
class IpcServer::Core::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Core& core, tcp::socket socket, const std::string& nonce)
      : core_(core),
        socket_(std::move(socket)),
        handshake_(core.io_),
        sasl_(nonce, core.handlers_.besides, core.handlers_.token_password) {}

  void Start();
  void Break();

 private:
  enum class Phase { kPreamble, kNegotiating, kContext, kReady };

  void Read();
  void Take(std::string_view bytes);
  /// False when the connection has ended.
  bool TakePreamble();
  bool TakeFrame(std::string_view payload);
  bool TakeSasl(const hadoop::SaslMessage& message);
  bool TakeContext(const hadoop::ConnectionContext& context);
  bool TakeCall(const hadoop::CallRequest& call);
  void Answer(const hadoop::CallRequest& call, IpcResult result);
  bool Refuse(std::int32_t call_id, std::uint32_t detail, std::string exception,
              std::string message);
  void Send(std::string bytes);
  void Flush();
  void End();

  Core& core_;
  tcp::socket socket_;
  boost::asio::steady_timer handshake_;
  hadoop::SaslServer sasl_;
  Phase phase_ = Phase::kPreamble;
  IpcCaller caller_;
  std::string preamble_;
  wire::FrameReader frames_{hadoop::kMaxFrame};
  std::array<char, 16384> buffer_{};
  std::string queued_;
  std::string writing_;
  bool ended_ = false;
  bool ends_after_write_ = false;
};

// ---------------------------------------------------------------- the port

Expected<void> IpcServer::Core::Open() {
  if (auto opened = port_.Open(address_); !opened) return opened;
  Accept();
  return {};
}

void IpcServer::Core::Close() {
  port_.Close();
  BreakConnections();
}

void IpcServer::Core::BreakConnections() {
  const auto connections = std::move(connections_);
  connections_.clear();
  for (const auto& connection : connections) connection->Break();
}

void IpcServer::Core::Accept() {
  port_.acceptor().async_accept(
      [self = shared_from_this()](const error_code& failed, tcp::socket socket) {
        if (failed || !self->port_.acceptor().is_open()) return;
        const auto connection = std::make_shared<Connection>(
            *self, std::move(socket),
            fmt::format("nonce-{}-{}", self->address_.port, ++self->accepted_));
        self->connections_.insert(connection);
        connection->Start();
        self->Accept();
      });
}

// ---------------------------------------------------------------- one connection

void IpcServer::Core::Connection::Start() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  handshake_.expires_after(kHandshake);
  handshake_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled && self->phase_ != Phase::kReady) self->End();
  });
  Read();
}

void IpcServer::Core::Connection::Break() {
  if (ended_) return;
  ended_ = true;
  error_code ignored;
  // Without this the peer could still read what it was answered.
  socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  handshake_.cancel();
}

void IpcServer::Core::Connection::End() {
  if (ended_) return;
  ended_ = true;
  error_code ignored;
  socket_.close(ignored);
  handshake_.cancel();
  core_.connections_.erase(shared_from_this());
}

void IpcServer::Core::Connection::Read() {
  socket_.async_read_some(boost::asio::buffer(buffer_),
                          [self = shared_from_this()](const error_code& failed, std::size_t got) {
                            if (self->ended_) return;
                            if (failed) return self->End();
                            self->Take({self->buffer_.data(), got});
                            if (!self->ended_ && !self->ends_after_write_) self->Read();
                          });
}

void IpcServer::Core::Connection::Take(std::string_view bytes) {
  if (phase_ == Phase::kPreamble) {
    const std::string_view more = bytes.substr(0, kPreamble - preamble_.size());
    preamble_ += more;
    bytes.remove_prefix(more.size());
    if (preamble_.size() < kPreamble || !TakePreamble()) return;
  }
  frames_.Feed(bytes);
  while (true) {
    const auto payload = frames_.Next();
    if (!payload) return End();
    if (!*payload || !TakeFrame(**payload)) return;
  }
}

bool IpcServer::Core::Connection::TakePreamble() {
  constexpr char kVersion = 9;
  if (!preamble_.starts_with("hrpc") || preamble_[4] != kVersion)
    return Refuse(hadoop::kConnectionCallId, kFatalVersionMismatch,
                  "org.apache.hadoop.ipc.RPC$VersionMismatch", "Server IPC version 9 is needed");
  const auto auth = static_cast<hadoop::AuthProtocol>(preamble_[6]);
  if (auth == hadoop::AuthProtocol::kSasl) {
    phase_ = Phase::kNegotiating;
    return true;
  }
  if (auth != hadoop::AuthProtocol::kNone)
    return Refuse(hadoop::kConnectionCallId, kFatalUnauthorized,
                  "org.apache.hadoop.ipc.IpcException", "Unknown auth protocol");
  if (core_.handlers_.besides != hadoop::BesidesTokens::kSimple)
    return Refuse(hadoop::kConnectionCallId, kFatalUnauthorized, kAccessControl,
                  "SIMPLE authentication is not enabled.  " +
                      hadoop::AvailableMethods(core_.handlers_.besides));
  phase_ = Phase::kContext;
  return true;
}

bool IpcServer::Core::Connection::TakeFrame(std::string_view payload) {
  auto frame = hadoop::DecodeClientFrame(payload);
  if (!frame)
    return Refuse(hadoop::kConnectionCallId, kFatalInvalidHeader,
                  "org.apache.hadoop.ipc.RpcServerException", frame.error().message);
  if (std::holds_alternative<hadoop::Ping>(*frame)) return true;
  if (const auto* sasl = std::get_if<hadoop::SaslMessage>(&*frame)) {
    if (phase_ == Phase::kNegotiating) return TakeSasl(*sasl);
  } else if (const auto* context = std::get_if<hadoop::ConnectionContext>(&*frame)) {
    if (phase_ == Phase::kContext) return TakeContext(*context);
  } else if (const auto* call = std::get_if<hadoop::CallRequest>(&*frame)) {
    if (phase_ == Phase::kReady) return TakeCall(*call);
  }
  return Refuse(hadoop::kConnectionCallId, kFatalInvalidHeader,
                "org.apache.hadoop.ipc.RpcServerException", "a frame at the wrong time");
}

bool IpcServer::Core::Connection::TakeSasl(const hadoop::SaslMessage& message) {
  auto reply = sasl_.OnMessage(message);
  if (!reply)
    return Refuse(hadoop::kSaslCallId, kFatalUnauthorized, reply.error().exception,
                  reply.error().message);
  if (*reply) Send(hadoop::SaslResponseFrame(**reply));
  if (sasl_.result()) {
    caller_.token_identifier = sasl_.identifier();
    phase_ = Phase::kContext;
  }
  return true;
}

bool IpcServer::Core::Connection::TakeContext(const hadoop::ConnectionContext& context) {
  caller_.user = context.effective_user.value_or(std::string());
  if (caller_.user.empty() && caller_.token_identifier.empty()) {
    End();
    return false;
  }
  phase_ = Phase::kReady;
  handshake_.cancel();
  return true;
}

bool IpcServer::Core::Connection::TakeCall(const hadoop::CallRequest& call) {
  const CallFate fate = core_.handlers_.fate ? core_.handlers_.fate(caller_, call) : CallFate{};
  if (!fate.take_in) {
    Break();
    core_.connections_.erase(shared_from_this());
    return false;
  }
  IpcResult result = core_.handlers_.call(caller_, call);
  if (ended_) return false;  // The daemon was stopped by what it was told.
  if (!fate.answer) {
    Break();
    core_.connections_.erase(shared_from_this());
    return false;
  }
  if (fate.answer_after <= Duration::zero()) {
    Answer(call, std::move(result));
    return true;
  }
  const auto timer = std::make_shared<boost::asio::steady_timer>(core_.io_, fate.answer_after);
  timer->async_wait([self = shared_from_this(), timer, call,
                     result = std::move(result)](const error_code&) mutable {
    if (!self->ended_) self->Answer(call, std::move(result));
  });
  return true;
}

void IpcServer::Core::Connection::Answer(const hadoop::CallRequest& call, IpcResult result) {
  Response response{
      .call_id = call.call_id, .client_id = call.client_id, .retry_count = call.retry_count};
  if (result) {
    response.body = *std::move(result);
  } else {
    response.status = ResponseStatus::kError;
    response.exception = result.error().name;
    response.message = result.error().message;
    response.error_detail = result.error().detail;
  }
  Send(hadoop::ResponseFrame(response));
}

bool IpcServer::Core::Connection::Refuse(std::int32_t call_id, std::uint32_t detail,
                                         std::string exception, std::string message) {
  ends_after_write_ = true;
  Send(hadoop::ResponseFrame({.call_id = call_id,
                              .status = ResponseStatus::kFatal,
                              .client_id = {},
                              .exception = std::move(exception),
                              .message = std::move(message),
                              .error_detail = detail}));
  return false;
}

void IpcServer::Core::Connection::Send(std::string bytes) {
  queued_ += bytes;
  if (writing_.empty()) Flush();
}

void IpcServer::Core::Connection::Flush() {
  writing_ = std::move(queued_);
  queued_.clear();
  boost::asio::async_write(socket_, boost::asio::buffer(writing_),
                           [self = shared_from_this()](const error_code& failed, std::size_t) {
                             if (self->ended_) return;
                             self->writing_.clear();
                             if (failed) return self->End();
                             if (!self->queued_.empty()) return self->Flush();
                             if (self->ends_after_write_) self->End();
                           });
}

// ---------------------------------------------------------------- face

IpcServer::IpcServer(boost::asio::io_context& io, HostPort address, IpcHandlers handlers)
    : core_(std::make_shared<Core>(io, std::move(address), std::move(handlers))) {}

IpcServer::~IpcServer() {
  core_->Close();
}

Expected<void> IpcServer::Open() {
  return core_->Open();
}

void IpcServer::Close() {
  core_->Close();
}

const HostPort& IpcServer::address() const {
  return core_->address_;
}

}  // namespace tfyarn::fakes
