// How much memory a task's processes use, and when that is more than their container has.
//
// It judges as YARN's NodeManager does, so that a job that would be killed there (-104) is killed
// here: it adds up the resident sets of the whole tree from /proc. Pages that processes share count
// once for each of them, as they do there by default (proportional sets, smaps_rollup, would be
// fairer, but cost a walk over every page table); processes count towards the limit from the second
// look on, since one that is about to exec looks as big as its parent; more than twice the limit is
// too much at once. Between two looks it sees nothing.
// Source: hadoop-yarn-server-nodemanager ContainersMonitorImpl.isProcessTreeOverLimit,
// hadoop-yarn-common ProcfsBasedProcessTree.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/model/time.h"
#include "hosts/agent/proc_table.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::agent_host {

struct MemoryUse {
  std::uint64_t bytes = 0;       ///< Of all processes.
  std::uint64_t aged_bytes = 0;  ///< Of those that were there at the look before.
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

class MemoryMeter {
 public:
  /// Adds up; remembers who was there.
  MemoryUse Look(const std::vector<ProcessInfo>& processes);
  [[nodiscard]] static bool IsTooMuch(const MemoryUse& use, std::uint64_t limit_bytes);

 private:
  std::map<pid_t, std::uint64_t> seen_;  ///< Start times.
};

struct MemoryLimit {
  std::uint64_t bytes = 0;  ///< > 0.
  Duration period = 1s;     ///< Between two looks; > 0. YARN's default is 3 s.
};

class MemoryWatch {
 public:
  /// The processes of the container, asked for at each look: ProcessTree::Members(), and the agent
  /// itself where it is inside the limit, as it is on YARN.
  using Source = std::function<std::vector<ProcessInfo>()>;

  /// Looks every `limit.period` from now on until it is destroyed. `on_excess` is called at the
  /// first look that is too much, and not again; it may destroy this object.
  MemoryWatch(boost::asio::io_context& io, Source source, MemoryLimit limit,
              std::function<void(const MemoryUse&)> on_excess);

  /// What the last look saw; zero before the first.
  [[nodiscard]] const MemoryUse& last() const { return last_; }
  /// The most that a look has seen, in bytes.
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  void Wait();
  void Look();

  boost::asio::steady_timer timer_;
  Source source_;
  MemoryLimit limit_;
  std::function<void(const MemoryUse&)> on_excess_;  ///< Empty once it was called.
  MemoryMeter meter_;
  MemoryUse last_;
  std::uint64_t peak_bytes_ = 0;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
