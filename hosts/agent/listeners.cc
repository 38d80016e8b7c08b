#include "hosts/agent/listeners.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "core/model/check.h"
#include "hosts/agent/listening_sockets.h"
#include "hosts/agent/open_directory.h"
#include "hosts/agent/proc_table.h"

namespace tfyarn::agent_host {
namespace {

constexpr std::string_view kSocket = "socket:[";  // And its inode and ].

/// A zombie holds nothing, and the kernel lets only root look at it.
bool IsGone(pid_t pid) {
  const auto info = ReadProcess(pid);
  return !info || info->is_zombie();
}

/// Takes out of `inodes` what `pid` holds. False: it exists and may not be looked into.
bool TakeOwn(pid_t pid, SocketInodes& inodes) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  const auto directory = OpenDirectory(path);
  if (!directory) return IsGone(pid);
  while (const dirent* entry = ::readdir(directory.get())) {
    char target[64];
    const ssize_t size =
        ::readlinkat(::dirfd(directory.get()), entry->d_name, target, sizeof target);
    if (size < 0) {
      if (errno == EACCES || errno == EPERM) return IsGone(pid);
      continue;
    }
    const std::string_view name(target, static_cast<std::size_t>(size));
    if (!name.starts_with(kSocket)) continue;
    std::uint64_t inode = 0;
    const char* const digits = name.data() + kSocket.size();
    if (std::from_chars(digits, name.data() + name.size(), inode).ec == std::errc()) {
      inodes.erase(inode);
    }
    if (inodes.empty()) return true;
  }
  return true;
}

Listener LookOnce(std::int32_t port, const PidSource& ours) {
  SocketInodes inodes = ListeningOn(port);
  if (inodes.empty()) return Listener::kNobody;
  bool all_seen = true;
  for (const pid_t pid : ours()) {
    all_seen = TakeOwn(pid, inodes) && all_seen;
    if (inodes.empty()) return Listener::kOurs;
  }
  return all_seen ? Listener::kStranger : Listener::kUnknown;
}

}  // namespace

Listener WhoListens(std::int32_t port, const PidSource& ours) {
  TF_CHECK(port > 0 && port <= 65535);
  const Listener first = LookOnce(port, ours);
  return first == Listener::kStranger ? LookOnce(port, ours) : first;
}

std::vector<std::int32_t> PortsOf(const PidSource& ours) {
  const auto all = AllListening();
  SocketInodes others;
  for (const auto& [inode, port] : all) others.insert(inode);
  for (const pid_t pid : ours()) {
    if (others.empty()) break;
    static_cast<void>(TakeOwn(pid, others));
  }
  std::set<std::int32_t> ports;
  for (const auto& [inode, port] : all) {
    if (!others.contains(inode)) ports.insert(port);
  }
  return {ports.begin(), ports.end()};
}

}  // namespace tfyarn::agent_host
