// One connection between AM and agent: TLS over a TCP socket, frames in both directions, and the
// deadlines of both. What frames mean is its owner's business.
//
// OpenSSL reads and writes the socket itself, through a BIO, when Asio says that it is ready: no
// buffer and no copy in between, which is what 10,000 heartbeats a second are made of.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/time.h"
#include "wire/channel_end.h"
#include "wire/frame.h"
#include "wire/tls_context.h"

namespace tfyarn::wire {

struct LinkOptions {
  Duration handshake = 10s;    ///< From Start() to Establish().
  Duration idle = 60s;         ///< Longest silence of the peer.
  Duration write_stall = 30s;  ///< Longest time in which the peer takes nothing of what waits.
  std::size_t write_queue = std::size_t{32} << 20;  ///< Most bytes that wait to be written.
};

/// What went over the wire, with all that TLS adds. Shared by the links of one end.
struct LinkTraffic {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

class Link;

/// Is told what becomes of a link. It may close, drop or send on any link from within.
class LinkOwner {
 public:
  /// The TLS handshake is done and the peer's certificate is the authority's.
  virtual void LinkSecured(Link& link) = 0;
  /// `payload` is valid during the call only.
  virtual void LinkReceived(Link& link, std::string_view payload) = 0;
  /// Last call for this link, which is closed. Not called after Close().
  virtual void LinkEnded(Link& link, ChannelEnd why, const std::string& detail) = 0;

 protected:
  LinkOwner() = default;
  LinkOwner(const LinkOwner&) = default;
  LinkOwner& operator=(const LinkOwner&) = default;
  ~LinkOwner() = default;
};

/// Keeps itself alive while the io_context holds handlers of it; Close() lets it go.
class Link : public std::enable_shared_from_this<Link> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// `number`: the owner's name for it. `socket` is connected. `owner` must outlive the link or
  /// Close() it; `context` is only used here.
  Link(std::uint64_t number, Socket socket, ChannelSide side, SSL_CTX& context,
       const LinkOptions& options, LinkOwner& owner, std::shared_ptr<LinkTraffic> traffic);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void Start();
  /// The peer's Hello was right: from now on frames may have `frame_limit` bytes and the idle
  /// deadline counts.
  void Establish(std::size_t frame_limit);
  /// Queues a frame; it is written before the event loop waits again. False when the link is closed
  /// or its queue is full: the frame is dropped then.
  bool Send(std::string_view payload);
  /// Writes what can be written at once and closes. Idempotent; nothing is told to the owner.
  void Close();
  /// As Close(), and tells the owner.
  void End(ChannelEnd why, const std::string& detail);

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool open() const { return owner_ != nullptr; }
  /// The URI in the peer's certificate; empty when there is no single one.
  [[nodiscard]] std::string peer_uri() const;
  /// host:port of the other end.
  [[nodiscard]] const std::string& peer_address() const { return peer_address_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Bio;  ///< The socket as OpenSSL sees it.

  void Pump();
  void Handshake();
  void Read();
  /// True when there is room to go on; false when the link waits or has ended.
  bool ReadOnce();
  void GiveFrames(std::string_view bytes);
  void Flush();
  void TrimWritten();
  /// Waits for what OpenSSL lacks, or ends the link.
  void AfterTlsResult(int result);
  void EndOfTls(int error);
  void WaitReadable();
  void WaitWritable();
  void ArmTimer();
  void CheckDeadlines();
  [[nodiscard]] Clock::time_point NextDeadline() const;

  const std::uint64_t number_;
  Socket socket_;
  const LinkOptions options_;
  LinkOwner* owner_;  ///< nullptr once closed.
  std::shared_ptr<LinkTraffic> traffic_;
  SessionPtr tls_;
  boost::asio::steady_timer timer_;
  FrameReader reader_{kMaxHelloFrame};
  std::string peer_address_;
  std::string out_;  ///< Frames to be written, from out_written_ on.
  std::size_t out_written_ = 0;
  boost::system::error_code io_error_;  ///< Last failure of the socket itself.
  Clock::time_point started_{};
  Clock::time_point last_heard_{};
  std::optional<Clock::time_point> blocked_since_;  ///< Set while the peer takes nothing.
  bool secured_ = false;
  bool established_ = false;
  bool tls_failed_ = false;  ///< Nothing more may be asked of OpenSSL.
  bool reading_ = false;     ///< Within Read(), which writes at its end.
  bool flush_posted_ = false;
  bool waits_readable_ = false;
  bool waits_writable_ = false;
};

}  // namespace tfyarn::wire
