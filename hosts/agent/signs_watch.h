// What the kernel shows of a task's processes while they live: whether one of them stands still,
// and whether one has a handler for SIGTERM.
//
// It looks at the root and its descendants once a second: two small files of /proc each. State T
// (stopped) is taken as it is seen; state D (a call that hears no signal) is what every read of a
// disk looks like for a moment, so it counts when the process has not run at all since the last
// look. Only a process's first thread is looked at, and of descendants those that first threads
// have started; a kernel without CONFIG_PROC_CHILDREN shows only the root. What follows from it is
// the agent's business (core/agent).
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/model/exit.h"
#include "core/model/time.h"
#include "hosts/runtime/lifetime.h"

namespace tfyarn::agent_host {

struct Signs {
  Standstill standstill = Standstill::kNone;
  bool catches_term = false;
  friend bool operator==(const Signs&, const Signs&) = default;
};

/// One process, as the text of its /proc/PID/status shows it.
struct StatusSigns {
  char state = '?';            ///< As ps: R, S, D, T, Z, ...
  std::uint64_t switches = 0;  ///< How often it was taken from a processor so far.
  bool catches_term = false;
};
[[nodiscard]] StatusSigns ParseStatus(const std::string& status);

/// Looks of a tree, each compared with the one before it.
class SignsReader {
 public:
  explicit SignsReader(pid_t root) : root_(root) {}
  /// Of all that live now; none when nothing can be read.
  [[nodiscard]] Signs Look();

 private:
  pid_t root_;
  std::map<pid_t, std::uint64_t> in_disk_sleep_;  ///< Switches of those in state D.
};

class SignsWatch {
 public:
  /// Looks every `period` from now on, until it is destroyed, and calls `on_change` when the signs
  /// differ from the last ones, at first from none; that may destroy this object.
  SignsWatch(boost::asio::io_context& io, pid_t root, std::function<void(const Signs&)> on_change,
             Duration period = 1s);

 private:
  void Wait();

  boost::asio::steady_timer timer_;
  SignsReader reader_;
  std::function<void(const Signs&)> on_change_;
  Duration period_;
  Signs last_;
  hosts::Lifetime lifetime_;
};

}  // namespace tfyarn::agent_host
