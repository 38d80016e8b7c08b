// An agent's end of the channel: one connection to its AM.
//
// It connects when there is something to send, to the address that came with it, and keeps the
// connection. The channel may lose, repeat and reorder: while it connects only the newest messages
// are kept, and what was written to a connection that breaks may be lost; the core repeats.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/model/channel.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "wire/channel_end.h"
#include "wire/frame.h"
#include "wire/identity.h"

namespace tfyarn::wire {

struct ClientOptions {
  Duration connect = 10s;        ///< Looking up the host and connecting.
  Duration handshake = 10s;      ///< From connected to the AM's Hello.
  Duration idle = 60s;           ///< Longest silence of the AM; it answers heartbeats each second.
  Duration write_stall = 30s;    ///< Longest time in which the AM takes nothing of what waits.
  Duration retry_least = 100ms;  ///< Wait after a first failure; doubles up to `retry_most`.
  Duration retry_most = 2s;
  std::size_t waiting = 64;  ///< Most messages kept while there is no connection; oldest go first.
  std::size_t write_queue = std::size_t{4} << 20;  ///< Most bytes that wait for the AM.
  std::size_t frame_limit = kMaxAmFrame;           ///< Longest message of the AM, in bytes.
};

struct ClientCounters {
  std::uint64_t connects = 0;     ///< Attempts to connect.
  std::uint64_t established = 0;  ///< Those of them that ended in the AM's right Hello.
  std::uint64_t frames_in = 0;    ///< Messages of the AM, without its Hello.
  std::uint64_t frames_out = 0;   ///< Messages given to a connection.
  std::uint64_t bytes_in = 0;     ///< On the wire, with all that TLS adds.
  std::uint64_t bytes_out = 0;
  std::uint64_t unknown_kinds = 0;  ///< Messages of a later version, left alone.
  std::uint64_t dropped = 0;        ///< Messages that had no room or whose AM was replaced.
  std::map<ChannelEnd, std::uint64_t> ended;  ///< Connections, by why they ended.
};

/// What the host is told. Any of these may destroy the client.
struct ClientHandlers {
  /// A message of the AM's attempt `am_attempt`, which is what its certificate says.
  std::function<void(AmToAgent message, std::int32_t am_attempt)> on_message;
  /// May be empty. The connection, or the attempt to have one, failed; the next Send() or a message
  /// that waits brings another.
  std::function<void(ChannelEnd why, const std::string& detail)> on_lost = {};
};

class ChannelClient {
 public:
  /// `identity`: from IssueAgent(container). `io` must outlive this.
  ChannelClient(boost::asio::io_context& io, const ClientOptions& options, const Identity& identity,
                const ApplicationId& application, const ContainerId& container,
                ClientHandlers handlers);
  /// Writes what can be written at once and closes; no handler is called any more.
  ~ChannelClient();
  ChannelClient(const ChannelClient&) = delete;
  ChannelClient& operator=(const ChannelClient&) = delete;

  /// Sends to the AM of attempt `am_attempt` at `am`. Another address or attempt than last time
  /// replaces the connection. Never waits.
  void Send(const HostPort& am, std::int32_t am_attempt, const AgentToAm& message);

  [[nodiscard]] ClientCounters counters() const;
  /// Both have said Hello.
  [[nodiscard]] bool connected() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tfyarn::wire
