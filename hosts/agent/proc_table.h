// The kernel's table of processes, as /proc shows it: who is whose child, in which session, how
// big.
//
// Parents come from /proc/PID/stat and not from /proc/PID/task/TID/children: not every kernel has
// the latter (CONFIG_PROC_CHILDREN), and it promises nothing while processes come and go. One
// reading costs about 10 microseconds a process. It is no snapshot: a process can appear, vanish or
// change its parent while it is read, so who needs certainty reads until two readings agree.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tfyarn::agent_host {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';              ///< As ps: R, S, D, T, Z (ended, not reaped), ...
  std::uint64_t start_time = 0;  ///< Clock ticks since boot: with pid, the name of one process.
  std::uint64_t rss_bytes = 0;   ///< Resident pages, shared ones included.
  [[nodiscard]] bool is_zombie() const { return state == 'Z' || state == 'X'; }
};

/// By pid.
using ProcessTable = std::map<pid_t, ProcessInfo>;

/// Every process that /proc shows. With hidepid, only those of our own user.
[[nodiscard]] ProcessTable ReadProcessTable();
/// nullopt when there is no such process (any more).
[[nodiscard]] std::optional<ProcessInfo> ReadProcess(pid_t pid);
/// Text of /proc/PID/stat; nullopt when it is none. The name in it may contain anything.
[[nodiscard]] std::optional<ProcessInfo> ParseStat(std::string_view text);

/// `roots` and all their children, grandchildren and so on.
[[nodiscard]] std::set<pid_t> WithDescendants(const ProcessTable& table, std::vector<pid_t> roots);

/// At most `limit` bytes from the start of a file; nullopt when it cannot be opened. An error in
/// the middle ends the text: files of /proc end so when their process does.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t limit);

}  // namespace tfyarn::agent_host
