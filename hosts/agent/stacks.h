// What every process of a hung task is doing, written down before the agent ends it.
//
// A process that catches SIGUSR1 is sent it: Python programs that called
// faulthandler.register(signal.SIGUSR1) then print the stack of every thread to their stderr. One
// that does not catch it would die of it, so it is not sent. Of all of them the kernel's view is
// written: state, and of each thread the system call and the kernel function it waits in, as far as
// we may read it. Kernel stacks (/proc/TID/stack) are for root only; the others need the same user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/model/error.h"
#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {

/// Bounds of one dump; what is beyond is left out, and said so.
inline constexpr std::size_t kMostDumpedProcesses = 256;
inline constexpr std::size_t kMostDumpedThreads = 512;   ///< Of one process.
inline constexpr std::size_t kLongestDump = 512U << 10;  ///< Bytes of one file.

struct StackDump {
  std::vector<std::string> files;  ///< One per process: DIRECTORY/stack-PID.txt.
  std::vector<pid_t> asked;        ///< Were sent SIGUSR1; their words come on their stderr, later.
};

/// Into `directory`, which is made when missing. Processes that end meanwhile are passed over.
/// Costs about 50 microseconds a thread. Errors: kUnavailable: cannot write there; what was written
/// stays.
[[nodiscard]] Expected<StackDump> WriteStacksOf(const std::vector<ProcessInfo>& processes,
                                                const std::string& directory);

/// Whether `status`, the text of /proc/PID/status, says that this signal has a handler.
[[nodiscard]] bool CatchesSignal(const std::string& status, int signal);

}  // namespace tfyarn::agent_host
