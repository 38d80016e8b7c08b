// A peer that keeps no rule: any certificate, any version of TLS or none, any bytes.
#pragma once

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/unit/wire/channel_world.h"
#include "wire/am_agent_codec.h"
#include "wire/frame.h"

namespace tfyarn::wire {

inline std::string Framed(std::string_view payload) {
  std::string bytes;
  AppendFrame(payload, bytes);
  return bytes;
}

struct RawTls {
  std::optional<Identity> identity = std::nullopt;  ///< None: it shows no certificate.
  int version = TLS1_3_VERSION;
};

class RawPeer {
 public:
  /// Connects to `am`; with `tls` it shakes hands, else its bytes go out as they are.
  RawPeer(boost::asio::io_context& io, const HostPort& am, const std::optional<RawTls>& tls)
      : context_(boost::asio::ssl::context::tls_client) {
    if (tls) Prepare(*tls);
    stream_ = std::make_unique<Stream>(io, context_);
    const boost::asio::ip::tcp::endpoint endpoint(boost::asio::ip::make_address(am.host),
                                                  static_cast<std::uint16_t>(am.port));
    stream_->lowest_layer().async_connect(
        endpoint, [this, secure = tls.has_value()](const boost::system::error_code& failed) {
          if (failed) return Finish();
          if (!secure) return Ready();
          stream_->async_handshake(
              Stream::client,
              [this](const boost::system::error_code& refused) { refused ? Finish() : Ready(); });
        });
    tls_ = tls.has_value();
  }

  /// Once connected.
  void Write(std::string bytes) {
    out_ += bytes;
    if (ready_) Flush();
  }
  /// It reads nothing any more.
  void StopReading() { reads_ = false; }

  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool ready() const { return ready_; }
  /// Everything that came, with its frames' headers.
  [[nodiscard]] const std::string& received() const { return received_; }

 private:
  using Stream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

  void Prepare(const RawTls& tls) {
    SSL_CTX* native = context_.native_handle();
    ASSERT_EQ(SSL_CTX_set_min_proto_version(native, tls.version), 1);
    ASSERT_EQ(SSL_CTX_set_max_proto_version(native, tls.version), 1);
    if (!tls.identity) return;
    using boost::asio::buffer;
    context_.use_certificate(buffer(tls.identity->certificate_pem), context_.pem);
    context_.use_private_key(buffer(tls.identity->key_pem), context_.pem);
  }
  void Ready() {
    ready_ = true;
    if (reads_) Read();
    Flush();
  }
  void Finish() { closed_ = true; }
  void Read() {
    const auto take = [this](const boost::system::error_code& failed, std::size_t size) {
      if (failed) return Finish();
      received_.append(buffer_.data(), size);
      if (reads_) Read();
    };
    tls_ ? stream_->async_read_some(boost::asio::buffer(buffer_), take)
         : stream_->next_layer().async_read_some(boost::asio::buffer(buffer_), take);
  }
  void Flush() {
    if (out_.empty() || writing_) return;
    writing_ = true;
    sent_ = std::exchange(out_, {});
    const auto done = [this](const boost::system::error_code& failed, std::size_t) {
      writing_ = false;
      if (!failed) Flush();
    };
    tls_ ? boost::asio::async_write(*stream_, boost::asio::buffer(sent_), done)
         : boost::asio::async_write(stream_->next_layer(), boost::asio::buffer(sent_), done);
  }

  boost::asio::ssl::context context_;
  std::unique_ptr<Stream> stream_;
  std::array<char, 4096> buffer_{};
  std::string out_;
  std::string sent_;
  std::string received_;
  bool tls_ = false;
  bool ready_ = false;
  bool reads_ = true;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace tfyarn::wire
