// One connection to a Hadoop daemon: connects, authenticates, and carries calls, many at a time,
// with answers in any order. It ends once, for good; the client (wire/hadoop/ipc_client.h) calls
// again over another one.
//
//   kIdle -> kConnecting -> kNegotiating (only with a token) -> kReady -> kEnded
//
// Source: hadoop-common ipc/Client.java.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "core/model/host_port.h"
#include "core/model/time.h"
#include "wire/frame.h"
#include "wire/hadoop/ipc_error.h"
#include "wire/hadoop/ipc_messages.h"
#include "wire/hadoop/sasl_negotiation.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

/// Defaults are Hadoop's (core-default.xml) unless something else is said.
struct IpcOptions {
  Duration connect = 20s;    ///< Looking up the host and connecting.
  Duration handshake = 60s;  ///< From connected to authenticated. Hadoop: as a call.
  Duration call = 120s;      ///< From sent to answered.
  Duration ping = 60s;  ///< Longest silence of the server, with calls under way, before a ping.
  Duration idle = 10s;  ///< Longest time without calls before the connection is closed.
  std::size_t response_limit = kMaxFrame;           ///< Longest frame of the server, bytes.
  std::size_t write_queue = std::size_t{64} << 20;  ///< Most bytes that wait to be written.
};

/// Our identity to a server. One connection has one, for its whole life.
struct IpcCredential {
  std::string user;                  ///< Without a token: who we say we are; not empty.
  std::string real_user;             ///< Who acts for `user`; "" = itself.
  std::optional<HadoopToken> token;  ///< Proves who we are, by DIGEST-MD5.
  /// With a token: be content with a server that asks for no proof, as `user`.
  bool allow_simple = false;
};

class IpcConnection : public std::enable_shared_from_this<IpcConnection> {
 public:
  using Answer = std::function<void(tl::expected<std::string, IpcError>)>;

  /// `client_id`: 16 bytes, those of all connections of one client. `io` must outlive this.
  IpcConnection(boost::asio::io_context& io, HostPort address, IpcProtocol protocol,
                IpcCredential credential, std::string client_id, const IpcOptions& options);
  IpcConnection(const IpcConnection&) = delete;
  IpcConnection& operator=(const IpcConnection&) = delete;

  /// Calls `method` with its encoded request; connects first if that was not done. `answer` gets
  /// the encoded response or the error, later, from the event loop. `call_id` is under way once
  /// only.
  void Call(std::int32_t call_id, std::int32_t retry_count, std::string_view method,
            std::string_view body, Answer answer);
  /// Ends it; no answer is given any more. The owner has to, or the connection lives until idle.
  void Close();

  /// False once it has ended: a call needs another connection.
  [[nodiscard]] bool usable() const { return phase_ != Phase::kEnded; }
  [[nodiscard]] std::size_t calls_under_way() const { return calls_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Tcp = boost::asio::ip::tcp;
  enum class Phase { kIdle, kConnecting, kNegotiating, kReady, kEnded };
  struct Pending {
    Answer answer;
    bool sent = false;
    Clock::time_point sent_at{};
  };

  void Connect();
  void ConnectTo(const std::vector<Tcp::endpoint>& endpoints);
  void Connected();
  void BecomeReady(AuthMethod auth);
  /// What was called before the server knew who calls.
  void SendHeld();

  void Read();
  void ReadFailed(const boost::system::error_code& failed);
  void Take(std::string_view bytes);
  /// The first four bytes, which tell what kind of server it is. False when there is no more to do.
  bool TakeHead(std::string_view& bytes);
  void TakeFrames(wire::FrameReader& reader, std::string_view bytes,
                  void (IpcConnection::*take)(std::string_view));
  void TakeOuterFrame(std::string_view payload);
  void TakeInnerFrame(std::string_view payload);
  void TakeSasl(const Response& response);
  void TakeResponse(Response response);
  void TakeFatal(const Response& response);
  void AnswerCall(Response response);

  /// Wraps `frame` when that was agreed, and queues it.
  void SendFrame(std::string_view frame);
  void Write(std::string_view bytes);
  void Flush();

  void ArmTimer();
  void CheckDeadlines();
  void CheckCalls(Clock::time_point now);
  [[nodiscard]] Clock::time_point NextDeadline() const;

  void End(IpcErrorKind kind, const std::string& message, const std::string& exception = {});
  void Shut();
  /// "rm.example:8032: <message>".
  [[nodiscard]] std::string Where(std::string_view message) const;
  /// A handler that does nothing once this has ended.
  template <class Step>
  auto Guarded(Step step);

  const HostPort address_;
  const IpcProtocol protocol_;
  const IpcCredential credential_;
  const std::string client_id_;
  const IpcOptions options_;
  boost::asio::io_context& io_;
  Tcp::resolver resolver_;
  Tcp::socket socket_;
  boost::asio::steady_timer timer_;
  Phase phase_ = Phase::kIdle;

  std::optional<SaslNegotiation> negotiation_;
  std::unique_ptr<SaslMechanism> layer_;  ///< Protects what is sent from the context on.
  std::vector<char> buffer_;
  std::string head_;         ///< The first bytes of the server, until they are four.
  bool old_server_ = false;  ///< They were a refusal in the old form, which head_ collects.
  wire::FrameReader outer_;
  wire::FrameReader inner_;  ///< What was unwrapped.

  std::map<std::int32_t, Pending> calls_;
  std::set<std::pair<Clock::time_point, std::int32_t>> call_deadlines_;
  std::vector<std::pair<std::int32_t, std::string>> held_;  ///< Frames of calls, until kReady.
  std::size_t held_bytes_ = 0;
  std::string queued_;   ///< Waits for `writing_` to be written.
  std::string writing_;  ///< Is being written.

  Clock::time_point phase_began_{};
  Clock::time_point last_heard_{};
  Clock::time_point last_ping_{};
  Clock::time_point last_call_ended_{};
  Clock::time_point armed_until_ = Clock::time_point::max();
};

}  // namespace tfyarn::hadoop
