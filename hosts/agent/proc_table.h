// The kernel's table of processes, as /proc shows it: who is whose child, in which session, how
// big.
//
// One process costs about 10 microseconds, so all of them are read only where that cannot be
// helped: who looks at processes of its own time and again goes along /proc/PID/task/TID/children
// (family.h), which not every kernel has (CONFIG_PROC_CHILDREN). No reading is a snapshot: a
// process can appear, vanish or change its parent while it is read, so who needs certainty reads
// until two readings agree.
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
  std::int64_t threads = 0;
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

/// Children of `pid`, those that have ended and were not reaped included; empty when there is no
/// such process (any more). `threads`: of its stat; 0: not known. A child that its parent reaps
/// meanwhile can hide another: only for one's own process, when nothing of it reaps, is the list
/// whole (its new children and its orphans are put at the end). Source: fs/proc/array.c,
/// get_children_pid.
[[nodiscard]] std::vector<pid_t> ReadChildren(pid_t pid, std::int64_t threads = 0);
/// Whether this kernel lists children.
[[nodiscard]] bool ChildrenAreListed();

/// `roots` and all their children, grandchildren and so on.
[[nodiscard]] std::set<pid_t> WithDescendants(const ProcessTable& table, std::vector<pid_t> roots);

/// At most `limit` bytes from the start of a file; nullopt when it cannot be opened. An error in
/// the middle ends the text: files of /proc end so when their process does.
[[nodiscard]] std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t limit);

}  // namespace tfyarn::agent_host
