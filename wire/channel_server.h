// The AM's end of the channel: accepts its agents' connections, takes their messages and sends them
// the AM's.
//
// The channel may lose, repeat and reorder: Send() never waits and never queues for an agent that
// is not connected; the core repeats. An agent is the one that its certificate names, and may speak
// for no other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/model/channel.h"
#include "core/model/error.h"
#include "core/model/ids.h"
#include "core/model/time.h"
#include "wire/channel_end.h"
#include "wire/frame.h"
#include "wire/identity.h"

namespace tfyarn::wire {

struct ServerOptions {
  Duration handshake = 10s;       ///< From accepting to the agent's Hello.
  Duration idle = 60s;            ///< Longest silence of an agent; its heartbeats come each second.
  Duration write_stall = 30s;     ///< Longest time in which an agent takes nothing of what waits.
  Duration accept_pause = 100ms;  ///< After a failure of accept, e.g. no file descriptor is left.
  /// Connections that have not said Hello, at once. Beyond that none is accepted, and those that
  /// have been there for `crowded` are given up.
  std::size_t newcomers = 256;
  Duration crowded = 3s;
  std::size_t write_queue = std::size_t{32} << 20;  ///< Most bytes that wait for one agent.
  std::size_t frame_limit = kMaxAgentFrame;         ///< Longest message of an agent, in bytes.
};

struct ServerCounters {
  std::uint64_t accepted = 0;       ///< TCP connections.
  std::uint64_t established = 0;    ///< Those of them that said a right Hello.
  std::uint64_t accept_errors = 0;  ///< Each followed by a pause.
  std::uint64_t frames_in = 0;      ///< Messages of agents, without their Hello.
  std::uint64_t frames_out = 0;     ///< Messages given to a connection.
  std::uint64_t bytes_in = 0;       ///< On the wire, with all that TLS adds.
  std::uint64_t bytes_out = 0;
  std::uint64_t unknown_kinds = 0;  ///< Messages of a later version, left alone.
  std::uint64_t not_connected = 0;  ///< Messages for agents that are not connected, dropped.
  std::uint64_t queue_full = 0;     ///< Messages for agents that take too little, dropped.
  std::map<ChannelEnd, std::uint64_t> ended;  ///< Connections, by why they ended.
};

/// What the host is told. Any of these may destroy the server.
struct ServerHandlers {
  /// A message of the agent in `peer`, which is also the container of its fence.
  std::function<void(const ContainerId& peer, AgentToAm message)> on_message;
  /// May be empty. The agent in `peer` has no connection any more.
  std::function<void(const ContainerId& peer, ChannelEnd why, const std::string& detail)> on_gone =
      {};
  /// May be empty. A peer at `address` (host:port) was turned away, before Hello or for what it
  /// said later.
  std::function<void(const std::string& address, ChannelEnd why, const std::string& detail)>
      on_refused = {};
};

class ChannelServer {
 public:
  /// `identity`: from IssueAm(am_attempt) of the application's authority. `io` must outlive this.
  ChannelServer(boost::asio::io_context& io, const ServerOptions& options, const Identity& identity,
                const ApplicationId& application, std::int32_t am_attempt, ServerHandlers handlers);
  /// Writes what can be written at once and closes all connections; no handler is called any more.
  ~ChannelServer();
  ChannelServer(const ChannelServer&) = delete;
  ChannelServer& operator=(const ChannelServer&) = delete;

  /// Starts to accept at `host` (a name or an address of this machine; 0.0.0.0 for all); once. A
  /// name is looked up before this returns. `port` 0 takes a free one. Returns the port.
  /// Errors: kUnavailable with the system's reason.
  [[nodiscard]] Expected<int> Listen(const std::string& host, int port = 0);

  /// Sends to the agent in `container`. Dropped, and counted, when it is not connected or takes too
  /// little.
  void Send(const ContainerId& container, const AmToAgent& message);

  [[nodiscard]] ServerCounters counters() const;
  /// Agents connected now.
  [[nodiscard]] std::size_t connected() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tfyarn::wire
