#include "wire/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "core/model/check.h"
#include "core/model/host_port.h"

namespace tfyarn::wire {
namespace {

namespace asio = boost::asio;

/// A TLS record's most.
constexpr std::size_t kReadBytes = 16384;
/// Reads of one link in a row; then others have their turn.
constexpr int kReadsAtOnce = 16;
/// Memory that an empty write queue keeps.
constexpr std::size_t kQueueWorthKeeping = 4096;
constexpr std::size_t kTrimAt = std::size_t{64} * 1024;

}  // namespace

struct Link::Bio {
  static Link& LinkOf(BIO* bio) { return *static_cast<Link*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* bytes, int size) {
    Link& link = LinkOf(bio);
    BIO_clear_retry_flags(bio);
    boost::system::error_code failed;
    const std::size_t got =
        link.socket_.read_some(asio::buffer(bytes, static_cast<std::size_t>(size)), failed);
    if (!failed) {
      link.traffic_->bytes_in += got;
      return static_cast<int>(got);
    }
    if (failed == asio::error::would_block) {
      BIO_set_retry_read(bio);
    } else {
      link.io_error_ = failed;
    }
    return failed == asio::error::eof ? 0 : -1;
  }

  static int Write(BIO* bio, const char* bytes, int size) {
    Link& link = LinkOf(bio);
    BIO_clear_retry_flags(bio);
    boost::system::error_code failed;
    const std::size_t sent =
        link.socket_.write_some(asio::buffer(bytes, static_cast<std::size_t>(size)), failed);
    if (!failed) {
      link.traffic_->bytes_out += sent;
      return static_cast<int>(sent);
    }
    if (failed == asio::error::would_block) {
      BIO_set_retry_write(bio);
    } else {
      link.io_error_ = failed;
    }
    return -1;
  }

  static long Control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return LinkOf(bio).io_error_ == asio::error::eof ? 1 : 0;
    return 0;
  }

  static BIO_METHOD* Method() {
    static const std::unique_ptr<BIO_METHOD, FreeWith<& BIO_meth_free>> method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "asio socket");
      TF_CHECK(made != nullptr);
      BIO_meth_set_read(made, Read);
      BIO_meth_set_write(made, Write);
      BIO_meth_set_ctrl(made, Control);
      return std::unique_ptr<BIO_METHOD, FreeWith<&BIO_meth_free>>(made);
    }();
    return method.get();
  }
};

Link::Link(std::uint64_t number, Socket socket, ChannelSide side, SSL_CTX& context,
           const LinkOptions& options, LinkOwner& owner, std::shared_ptr<LinkTraffic> traffic)
    : number_(number),
      socket_(std::move(socket)),
      options_(options),
      owner_(&owner),
      traffic_(std::move(traffic)),
      tls_(SSL_new(&context)),
      timer_(socket_.get_executor()) {
  TF_CHECK(tls_ != nullptr);
  BIO* bio = BIO_new(Bio::Method());
  TF_CHECK(bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
  side == ChannelSide::kAm ? SSL_set_accept_state(tls_.get()) : SSL_set_connect_state(tls_.get());
}

Link::~Link() = default;

void Link::Start() {
  boost::system::error_code ignored;  // Each of these is an improvement, none a condition.
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  const auto peer = socket_.remote_endpoint(ignored);
  peer_address_ = ToString(HostPort{.host = peer.address().to_string(), .port = peer.port()});
  started_ = last_heard_ = Clock::now();
  ArmTimer();
  boost::system::error_code failed;
  socket_.non_blocking(true, failed);
  if (failed) return End(ChannelEnd::kPeerClosed, failed.message());
  Pump();
}

void Link::Establish(std::size_t frame_limit) {
  established_ = true;
  reader_.set_limit(frame_limit);
  ArmTimer();  // The deadline of idleness may come before that of the handshake.
}

std::string Link::peer_uri() const {
  const CertificatePtr certificate(SSL_get1_peer_certificate(tls_.get()));
  return certificate == nullptr ? std::string() : UriOf(*certificate);
}

// ---------------------------------------------------------------- reading

/// Callers hold the link: its owner may let go of it from within a call.
void Link::Pump() {
  if (open() && !secured_) Handshake();
  if (open() && secured_) Read();
}

void Link::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  if (result != 1) return AfterTlsResult(result);
  secured_ = true;
  owner_->LinkSecured(*this);
}

void Link::Read() {
  reading_ = true;
  int rounds = 0;
  while (open() && rounds < kReadsAtOnce && ReadOnce()) ++rounds;
  reading_ = false;
  if (!open()) return;
  if (rounds == kReadsAtOnce)
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->Pump(); });
  Flush();
}

bool Link::ReadOnce() {
  thread_local std::array<char, kReadBytes> buffer;
  ERR_clear_error();
  const int got = SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()));
  if (got <= 0) {
    AfterTlsResult(got);
    return false;
  }
  last_heard_ = Clock::now();
  GiveFrames({buffer.data(), static_cast<std::size_t>(got)});
  if (!open()) return false;
  if (SSL_has_pending(tls_.get()) == 1) return true;
  WaitReadable();
  return false;
}

void Link::GiveFrames(std::string_view bytes) {
  reader_.Feed(bytes);
  while (open()) {
    const auto payload = reader_.Next();
    if (!payload) return End(ChannelEnd::kBadFrame, payload.error().message);
    if (!*payload) return;
    owner_->LinkReceived(*this, **payload);
  }
}

// ---------------------------------------------------------------- writing

bool Link::Send(std::string_view payload) {
  if (!open()) return false;
  if (out_.size() - out_written_ + kFrameHeader + payload.size() > options_.write_queue)
    return false;
  AppendFrame(payload, out_);
  // What is sent in one turn of the event loop goes out together.
  if (reading_ || flush_posted_ || waits_writable_ || !secured_) return true;
  flush_posted_ = true;
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->Flush();
  });
  return true;
}

void Link::Flush() {
  while (open() && secured_ && out_written_ < out_.size()) {
    const std::size_t size = std::min(out_.size() - out_written_, kReadBytes);
    ERR_clear_error();
    const int sent = SSL_write(tls_.get(), out_.data() + out_written_, static_cast<int>(size));
    if (sent <= 0) return AfterTlsResult(sent);
    out_written_ += static_cast<std::size_t>(sent);
    blocked_since_.reset();
  }
  TrimWritten();
}

void Link::TrimWritten() {
  if (out_written_ == out_.size()) {
    out_.clear();
    if (out_.capacity() > kQueueWorthKeeping) std::string().swap(out_);
    out_written_ = 0;
  } else if (out_written_ > kTrimAt && out_written_ > out_.size() / 2) {
    out_.erase(0, out_written_);
    out_written_ = 0;
  }
}

// ---------------------------------------------------------------- waiting

void Link::AfterTlsResult(int result) {
  const int error = SSL_get_error(tls_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return WaitReadable();
  if (error != SSL_ERROR_WANT_WRITE) return EndOfTls(error);
  TrimWritten();
  if (!blocked_since_) {
    blocked_since_ = Clock::now();
    ArmTimer();
  }
  WaitWritable();
}

void Link::EndOfTls(int error) {
  if (error == SSL_ERROR_ZERO_RETURN) return End(ChannelEnd::kPeerClosed, "closed by the peer");
  tls_failed_ = true;
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string text = TakeOpensslError();
  if (io_error_) return End(ChannelEnd::kPeerClosed, io_error_.message());
  if (error == SSL_ERROR_SSL && (reason == SSL_R_CERTIFICATE_VERIFY_FAILED ||
                                 reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)) {
    const long verdict = SSL_get_verify_result(tls_.get());
    return End(ChannelEnd::kCertificate,
               fmt::format("{}: {}", text, X509_verify_cert_error_string(verdict)));
  }
  End(ChannelEnd::kTls, text);
}

void Link::WaitReadable() {
  if (waits_readable_) return;
  waits_readable_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& failed) {
                       self->waits_readable_ = false;
                       if (!failed) self->Pump();
                     });
}

void Link::WaitWritable() {
  if (waits_writable_) return;
  waits_writable_ = true;
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& failed) {
                       self->waits_writable_ = false;
                       if (failed || !self->open()) return;
                       self->secured_ ? self->Flush() : self->Pump();
                     });
}

Link::Clock::time_point Link::NextDeadline() const {
  const auto silence = established_ ? last_heard_ + options_.idle : started_ + options_.handshake;
  return blocked_since_ ? std::min(silence, *blocked_since_ + options_.write_stall) : silence;
}

/// Deadlines move on with every frame, the timer does not: it looks when it fires, and sleeps on.
void Link::ArmTimer() {
  timer_.expires_at(NextDeadline());
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
    if (!failed && self->open()) self->CheckDeadlines();
  });
}

void Link::CheckDeadlines() {
  const auto now = Clock::now();
  if (NextDeadline() > now) return ArmTimer();
  if (!established_)
    return End(ChannelEnd::kHandshakeTimeout, "no TLS handshake and Hello in time");
  if (blocked_since_ && *blocked_since_ + options_.write_stall <= now)
    return End(ChannelEnd::kWriteStalled, "the peer takes no bytes");
  End(ChannelEnd::kIdle, "the peer is silent");
}

// ---------------------------------------------------------------- the end

void Link::Close() {
  if (!open()) return;
  if (secured_ && !tls_failed_ && !blocked_since_) {
    ERR_clear_error();
    bool writable = true;
    while (writable && out_written_ < out_.size()) {
      const std::size_t size = std::min(out_.size() - out_written_, kReadBytes);
      const int sent = SSL_write(tls_.get(), out_.data() + out_written_, static_cast<int>(size));
      writable = sent > 0;
      if (writable) out_written_ += static_cast<std::size_t>(sent);
    }
    if (writable) (void)SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  owner_ = nullptr;
  boost::system::error_code ignored;
  timer_.cancel();
  socket_.close(ignored);
  std::string().swap(out_);
  out_written_ = 0;
}

void Link::End(ChannelEnd why, const std::string& detail) {
  if (!open()) return;
  const auto self = shared_from_this();
  LinkOwner* const owner = owner_;
  Close();
  owner->LinkEnded(*this, why, detail);
}

}  // namespace tfyarn::wire
