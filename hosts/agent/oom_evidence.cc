#include "hosts/agent/oom_evidence.h"

#include <signal.h>

#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::size_t kLongestFile = 64U << 10;

std::optional<std::uint64_t> CounterOf(const std::string& path) {
  const auto text = ReadSmallFile(path, kLongestFile);
  return text ? CounterIn(*text, "oom_kill") : std::nullopt;
}

std::optional<std::uint64_t> OwnCounter() {
  const OwnCgroups own = FindOwnCgroups();
  // The root group has no memory.events; then version 1 may count.
  if (!own.unified.empty()) {
    if (const auto counter = CounterOf(own.unified + "/memory.events")) return counter;
  }
  if (own.memory_v1.empty()) return std::nullopt;
  return CounterOf(own.memory_v1 + "/memory.oom_control");
}

/// nullopt: there is no such counter.
std::optional<bool> Rose(const std::optional<std::uint64_t>& before,
                         const std::optional<std::uint64_t>& after) {
  if (!before || !after) return std::nullopt;
  return *after > *before;
}

}  // namespace

OomCounters ReadOomCounters(const TaskCgroup* cgroup) {
  return {.task = cgroup == nullptr ? std::nullopt : cgroup->OomKills(),
          .own = OwnCounter(),
          .machine = CounterOf("/proc/vmstat")};
}

std::optional<std::string> FindOomEvidence(const OomCounters& before, const OomCounters& after,
                                           const TreeExit& exit) {
  const bool killed = (exit.signal == SIGKILL || exit.code == 128 + SIGKILL) && !exit.killed_by_us;
  if (const auto rose = Rose(before.task, after.task)) {
    if (!*rose || exit.code == 0) return std::nullopt;
    return "the kernel killed a process of the task for want of memory (memory.events of its "
           "control group)";
  }
  if (const auto rose = Rose(before.own, after.own)) {
    if (!*rose || !killed) return std::nullopt;
    return "SIGKILL, and the kernel killed a process of the container for want of memory "
           "(oom_kill of its control group)";
  }
  if (killed && Rose(before.machine, after.machine).value_or(false)) {
    return "SIGKILL, and the kernel killed a process of this machine for want of memory (oom_kill "
           "in /proc/vmstat)";
  }
  return std::nullopt;
}

}  // namespace tfyarn::agent_host
