#include "wire/hadoop/ipc_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "core/model/check.h"

namespace tfyarn::hadoop {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadBytes = std::size_t{64} * 1024;
constexpr std::string_view kOldRefusalHead = "\xff\xff\xff\xff";

/// Java puts the stack trace behind the message.
std::string FirstLine(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

/// A server that wants more than a name says so in words that do not help.
std::string Hint(const Response& response, bool has_token) {
  if (!response.message.starts_with("SIMPLE authentication is not enabled") || has_token) return {};
  return response.message.find("KERBEROS") == std::string::npos
             ? "; this port needs a token"
             : "; Kerberos comes with a later version of tfyarn";
}

bool IsAboutSecurity(std::string_view exception) {
  return exception.ends_with("AccessControlException") || exception.ends_with("InvalidToken") ||
         exception.ends_with("SaslException") || exception.ends_with("AuthorizationException") ||
         exception.ends_with("InvalidProtocolBufferException");
}

}  // namespace

IpcConnection::IpcConnection(asio::io_context& io, HostPort address, IpcProtocol protocol,
                             IpcCredential credential, std::string client_id,
                             const IpcOptions& options)
    : address_(std::move(address)),
      protocol_(std::move(protocol)),
      credential_(std::move(credential)),
      client_id_(std::move(client_id)),
      options_(options),
      io_(io),
      resolver_(io),
      socket_(io),
      timer_(io),
      outer_(options.response_limit),
      inner_(options.response_limit) {
  TF_CHECK(credential_.token || !credential_.user.empty());
}

template <class Step>
auto IpcConnection::Guarded(Step step) {
  return [self = shared_from_this(), step](const boost::system::error_code& failed,
                                           const auto&... result) {
    if (self->phase_ != Phase::kEnded) step(*self, failed, result...);
  };
}

std::string IpcConnection::Where(std::string_view message) const {
  return fmt::format("{}: {}", ToString(address_), message);
}

// ---------------------------------------------------------------- calling

void IpcConnection::Call(std::int32_t call_id, std::int32_t retry_count, std::string_view method,
                         std::string_view body, Answer answer) {
  std::string frame = RequestFrame({.call_id = call_id,
                                    .retry_count = retry_count,
                                    .client_id = client_id_,
                                    .method = std::string(method),
                                    .protocol = protocol_,
                                    .body = std::string(body)});
  const std::size_t waiting = held_bytes_ + queued_.size() + writing_.size();
  const bool full = waiting + frame.size() > options_.write_queue;
  if (phase_ == Phase::kEnded || full) {
    asio::post(io_, [answer = std::move(answer),
                     message = Where(full ? "takes no more bytes" : "the connection has ended")] {
      answer(tl::unexpected(IpcError{.kind = IpcErrorKind::kBroken, .message = message}));
    });
    return;
  }
  TF_CHECK(calls_.emplace(call_id, Pending{.answer = std::move(answer)}).second);
  if (phase_ == Phase::kIdle) Connect();
  held_bytes_ += frame.size();
  held_.emplace_back(call_id, std::move(frame));
  if (phase_ == Phase::kReady) SendHeld();
}

void IpcConnection::SendHeld() {
  const auto now = Clock::now();
  for (const auto& [call_id, frame] : std::exchange(held_, {})) {
    if (phase_ != Phase::kReady) return;
    Pending& call = calls_.at(call_id);
    call.sent = true;
    call.sent_at = now;
    call_deadlines_.emplace(now + options_.call, call_id);
    SendFrame(frame);
  }
  held_bytes_ = 0;
  if (NextDeadline() < armed_until_) ArmTimer();
}

void IpcConnection::Close() {
  calls_.clear();
  Shut();
}

// ---------------------------------------------------------------- connecting

void IpcConnection::Connect() {
  phase_ = Phase::kConnecting;
  phase_began_ = Clock::now();
  ArmTimer();
  boost::system::error_code not_numeric;
  const auto numeric = asio::ip::make_address(address_.host, not_numeric);
  if (!not_numeric)
    return ConnectTo({Tcp::endpoint(numeric, static_cast<std::uint16_t>(address_.port))});
  resolver_.async_resolve(address_.host, std::to_string(address_.port),
                          Tcp::resolver::numeric_service,
                          Guarded([](IpcConnection& self, const boost::system::error_code& failed,
                                     const Tcp::resolver::results_type& found) {
                            if (failed)
                              return self.End(IpcErrorKind::kConnect,
                                              fmt::format("unknown host ({})", failed.message()));
                            std::vector<Tcp::endpoint> endpoints;
                            for (const auto& entry : found) endpoints.push_back(entry.endpoint());
                            self.ConnectTo(endpoints);
                          }));
}

void IpcConnection::ConnectTo(const std::vector<Tcp::endpoint>& endpoints) {
  asio::async_connect(socket_, endpoints,
                      Guarded([](IpcConnection& self, const boost::system::error_code& failed,
                                 const Tcp::endpoint&) {
                        if (failed)
                          return self.End(IpcErrorKind::kConnect,
                                          fmt::format("cannot connect: {}", failed.message()));
                        self.Connected();
                      }));
}

void IpcConnection::Connected() {
  boost::system::error_code ignored;  // Improvements, not conditions.
  socket_.set_option(Tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  phase_ = Phase::kNegotiating;
  phase_began_ = last_heard_ = Clock::now();
  ArmTimer();
  buffer_.resize(kReadBytes);
  Read();
  if (credential_.token) {
    negotiation_.emplace(*credential_.token, credential_.allow_simple);
    Write(Preamble(AuthProtocol::kSasl) + SaslRequestFrame(SaslNegotiation::First()));
  } else {
    Write(Preamble(AuthProtocol::kNone));
    BecomeReady(AuthMethod::kSimple);
  }
}

void IpcConnection::BecomeReady(AuthMethod auth) {
  phase_ = Phase::kReady;
  if (negotiation_) layer_ = negotiation_->TakeLayer();
  ConnectionContext context{.protocol = protocol_.name};
  if (auth == AuthMethod::kSimple) {
    context.effective_user = credential_.user;
    if (!credential_.real_user.empty()) context.real_user = credential_.real_user;
  }
  SendFrame(ContextFrame(context, client_id_));
  last_call_ended_ = Clock::now();
  SendHeld();
  if (phase_ == Phase::kReady) ArmTimer();
}

// ---------------------------------------------------------------- reading

void IpcConnection::Read() {
  socket_.async_read_some(
      asio::buffer(buffer_),
      Guarded([](IpcConnection& self, const boost::system::error_code& failed, std::size_t got) {
        if (failed) return self.ReadFailed(failed);
        self.last_heard_ = Clock::now();
        self.Take({self.buffer_.data(), got});
        if (self.usable()) self.Read();
      }));
}

void IpcConnection::ReadFailed(const boost::system::error_code& failed) {
  const bool closed = failed == asio::error::eof;
  End(IpcErrorKind::kBroken, closed ? "the server closed the connection"
                                    : fmt::format("the connection broke: {}", failed.message()));
}

void IpcConnection::Take(std::string_view bytes) {
  std::string head;
  if (head_.size() < wire::kFrameHeader || old_server_) {
    if (!TakeHead(bytes)) return;
    head = head_;
    TakeFrames(outer_, head, &IpcConnection::TakeOuterFrame);
  }
  if (usable()) TakeFrames(outer_, bytes, &IpcConnection::TakeOuterFrame);
}

bool IpcConnection::TakeHead(std::string_view& bytes) {
  const std::size_t wanted = old_server_ ? kMaxOldRefusal + 1 : wire::kFrameHeader;
  const std::string_view more = bytes.substr(0, wanted - std::min(wanted, head_.size()));
  head_ += more;
  bytes.remove_prefix(more.size());
  if (head_.size() < wire::kFrameHeader) return false;
  if (head_ == "HTTP") {
    End(IpcErrorKind::kProtocol, "answers as a web server: this is not the port of the RPC");
    return false;
  }
  if (!head_.starts_with(kOldRefusalHead)) return true;
  if (!old_server_) {
    old_server_ = true;
    TakeHead(bytes);
    return false;
  }
  const auto refusal = DecodeOldRefusal(head_);
  if (!refusal) {
    End(IpcErrorKind::kProtocol, refusal.error().message);
  } else if (*refusal) {
    End(IpcErrorKind::kFatal,
        fmt::format("refuses this version of the protocol: {}", FirstLine((*refusal)->message)),
        (*refusal)->exception);
  }
  return false;
}

void IpcConnection::TakeFrames(wire::FrameReader& reader, std::string_view bytes,
                               void (IpcConnection::*take)(std::string_view)) {
  reader.Feed(bytes);
  while (usable()) {
    const auto payload = reader.Next();
    if (!payload) return End(IpcErrorKind::kProtocol, payload.error().message);
    if (!*payload) return;
    (this->*take)(**payload);
  }
}

void IpcConnection::TakeOuterFrame(std::string_view payload) {
  auto response = DecodeResponse(payload);
  if (!response) return End(IpcErrorKind::kProtocol, response.error().message);
  if (response->status == ResponseStatus::kFatal) return TakeFatal(*response);
  if (response->call_id == kSaslCallId) return TakeSasl(*response);
  if (phase_ == Phase::kNegotiating || layer_ != nullptr)
    return End(IpcErrorKind::kProtocol, layer_ != nullptr ? "answers without the protection agreed"
                                                          : "answers before it knows the client");
  TakeResponse(std::move(*response));
}

void IpcConnection::TakeInnerFrame(std::string_view payload) {
  auto response = DecodeResponse(payload);
  if (!response) return End(IpcErrorKind::kProtocol, response.error().message);
  if (response->status == ResponseStatus::kFatal) return TakeFatal(*response);
  TakeResponse(std::move(*response));
}

void IpcConnection::TakeSasl(const Response& response) {
  const auto message = DecodeSasl(response.body);
  if (!message) return End(IpcErrorKind::kProtocol, message.error().message);
  if (message->state == SaslState::kWrap && layer_ != nullptr) {
    const auto plain = layer_->Unwrap(message->token.value_or(""));
    if (!plain) return End(IpcErrorKind::kSecurity, plain.error().message);
    return TakeFrames(inner_, *plain, &IpcConnection::TakeInnerFrame);
  }
  if (!negotiation_) return End(IpcErrorKind::kProtocol, "negotiates unasked");
  const auto reply = negotiation_->OnMessage(*message);
  if (!reply) return End(IpcErrorKind::kSecurity, reply.error().message);
  if (*reply) Write(SaslRequestFrame(**reply));
  if (negotiation_->result()) BecomeReady(*negotiation_->result());
}

void IpcConnection::TakeFatal(const Response& response) {
  const bool security = phase_ == Phase::kNegotiating || response.call_id == kSaslCallId ||
                        IsAboutSecurity(response.exception);
  End(security ? IpcErrorKind::kSecurity : IpcErrorKind::kFatal,
      FirstLine(response.message) + Hint(response, credential_.token.has_value()),
      response.exception);
}

void IpcConnection::TakeResponse(Response response) {
  if (!response.client_id.empty() && response.client_id != client_id_)
    return End(IpcErrorKind::kProtocol, "answers a call of another client");
  if (response.call_id < 0)
    return End(IpcErrorKind::kProtocol, fmt::format("answers call {}", response.call_id));
  AnswerCall(std::move(response));
}

/// An answer that no call waits for any more came too late.
void IpcConnection::AnswerCall(Response response) {
  const auto at = calls_.find(response.call_id);
  if (at == calls_.end() || !at->second.sent) return;
  const Answer answer = std::move(at->second.answer);
  call_deadlines_.erase({at->second.sent_at + options_.call, at->first});
  calls_.erase(at);
  last_call_ended_ = Clock::now();
  if (NextDeadline() < armed_until_) ArmTimer();
  if (response.status == ResponseStatus::kSuccess) return answer(std::move(response.body));
  answer(tl::unexpected(IpcError{.kind = IpcErrorKind::kRemote,
                                 .exception = response.exception,
                                 .message = Where(FirstLine(response.message)),
                                 .sent = true}));
}

// ---------------------------------------------------------------- writing

void IpcConnection::SendFrame(std::string_view frame) {
  if (layer_ == nullptr) return Write(frame);
  while (!frame.empty()) {
    const std::string_view part = frame.substr(0, layer_->most_to_wrap());
    frame.remove_prefix(part.size());
    auto wrapped = layer_->Wrap(part);
    if (!wrapped) return End(IpcErrorKind::kSecurity, wrapped.error().message);
    Write(SaslRequestFrame({.state = SaslState::kWrap, .token = std::move(*wrapped)}));
  }
}

void IpcConnection::Write(std::string_view bytes) {
  queued_ += bytes;
  if (writing_.empty()) Flush();
}

void IpcConnection::Flush() {
  if (queued_.empty()) return;
  writing_.swap(queued_);
  // What is sent in one turn of the event loop goes out together: the write begins behind it.
  asio::post(io_, [self = shared_from_this()] {
    if (!self->usable()) return;
    self->writing_ += std::exchange(self->queued_, {});
    asio::async_write(
        self->socket_, asio::buffer(self->writing_),
        self->Guarded([](IpcConnection& me, const boost::system::error_code& failed, std::size_t) {
          me.writing_.clear();
          // What the server said before it closed is worth more: reading ends it.
          if (!failed) me.Flush();
        }));
  });
}

// ---------------------------------------------------------------- waiting

IpcConnection::Clock::time_point IpcConnection::NextDeadline() const {
  switch (phase_) {
    case Phase::kConnecting:
      return phase_began_ + options_.connect;
    case Phase::kNegotiating:
      return phase_began_ + options_.handshake;
    case Phase::kReady:
      if (calls_.empty()) return last_call_ended_ + options_.idle;
      return std::min(call_deadlines_.begin()->first,
                      std::max(last_heard_, last_ping_) + options_.ping);
    case Phase::kIdle:
    case Phase::kEnded:
      break;
  }
  return Clock::time_point::max();
}

/// Most deadlines move on with every frame, the timer does not: it looks when it fires.
void IpcConnection::ArmTimer() {
  armed_until_ = NextDeadline();
  timer_.expires_at(armed_until_);
  timer_.async_wait(Guarded([](IpcConnection& self, const boost::system::error_code& failed) {
    if (!failed) self.CheckDeadlines();
  }));
}

void IpcConnection::CheckDeadlines() {
  const auto now = Clock::now();
  if (NextDeadline() > now) return ArmTimer();
  if (phase_ == Phase::kConnecting) return End(IpcErrorKind::kConnect, "no connection in time");
  if (phase_ == Phase::kNegotiating)
    return End(IpcErrorKind::kTimeout, "connected, but does not say in time whether it accepts us");
  if (calls_.empty()) return Shut();
  CheckCalls(now);
  if (!usable()) return;
  if (!calls_.empty() && std::max(last_heard_, last_ping_) + options_.ping <= now) {
    last_ping_ = now;
    SendFrame(PingFrame(client_id_));
  }
  if (usable()) ArmTimer();
}

/// A server that said nothing at all since the call was sent is taken for dead.
void IpcConnection::CheckCalls(Clock::time_point now) {
  while (usable() && !call_deadlines_.empty() && call_deadlines_.begin()->first <= now) {
    const auto at = calls_.find(call_deadlines_.begin()->second);
    TF_CHECK(at != calls_.end());
    if (last_heard_ < at->second.sent_at)
      return End(IpcErrorKind::kTimeout, fmt::format("silent for {} ms", options_.call / 1ms));
    call_deadlines_.erase(call_deadlines_.begin());
    const Answer answer = std::move(at->second.answer);
    calls_.erase(at);
    last_call_ended_ = now;
    answer(tl::unexpected(
        IpcError{.kind = IpcErrorKind::kTimeout,
                 .message = Where(fmt::format("no answer within {} ms", options_.call / 1ms)),
                 .sent = true}));
  }
}

// ---------------------------------------------------------------- the end

void IpcConnection::End(IpcErrorKind kind, const std::string& message,
                        const std::string& exception) {
  const auto self = shared_from_this();
  const auto calls = std::exchange(calls_, {});
  const std::string where = Where(message);
  Shut();
  for (const auto& [call_id, call] : calls)
    call.answer(tl::unexpected(
        IpcError{.kind = kind, .exception = exception, .message = where, .sent = call.sent}));
}

void IpcConnection::Shut() {
  phase_ = Phase::kEnded;
  boost::system::error_code ignored;
  resolver_.cancel();
  timer_.cancel();
  socket_.close(ignored);
  call_deadlines_.clear();
  held_.clear();
  std::string().swap(queued_);
}

}  // namespace tfyarn::hadoop
