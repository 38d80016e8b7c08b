// Looks whether a task's process, or a descendant, listens on the port that the agent leased for
// it.
//
// It looks seldom and ever more seldom: 2 s after the process's start, then after 4, 8 and 16 s,
// and every 30 s from then on, and once when the time is over in which it should listen; each look
// costs tens of microseconds while no process listens. Once the process listens it looks no more.
// What follows from it is the agent's business (core/agent).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/model/channel.h"
#include "core/model/time.h"
#include "hosts/agent/listeners.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::agent_host {

struct PortWatchOptions {
  std::int32_t port = 0;  ///< 1..65535.
  Duration deadline{};    ///< From now on: when it should listen.
  Duration first = 2s;    ///< Until the first look; > 0.
  Duration longest = 30s;
};

class PortWatch {
 public:
  /// `ours`: the task's processes. `on_look` is called when a look shows something else than the
  /// one before it (before the first: that no process listens), and always for the look at the
  /// deadline; it may destroy this object.
  PortWatch(boost::asio::io_context& io, const PortWatchOptions& options, PidSource ours,
            std::function<void(const PortUse&)> on_look);

 private:
  using Clock = std::chrono::steady_clock;

  void Wait();
  void Look(bool due);

  boost::asio::steady_timer timer_;
  PortWatchOptions options_;
  PidSource ours_;
  std::function<void(const PortUse&)> on_look_;
  Duration period_;
  std::optional<Clock::time_point> due_;  ///< The deadline, until the look at it.
  PortUse last_;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
