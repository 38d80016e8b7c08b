#include "hosts/local/fault_effects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tfyarn::hosts {
namespace {

namespace fs = std::filesystem;
using agent_host::ProcessInfo;
using agent_host::ProcessTable;
using agent_host::UniqueFd;

Expected<struct statvfs> RoomOf(const std::string& directory) {
  fs::path path = fs::absolute(directory);
  struct statvfs room {};
  while (::statvfs(path.c_str(), &room) != 0) {
    if (errno != ENOENT || !path.has_relative_path()) {
      return Fail(ErrorCode::kFailedPrecondition,
                  fmt::format("{}: {}", path.string(), std::strerror(errno)));
    }
    path = path.parent_path();
  }
  return room;
}

/// A stretch of zeros of at most this size is written at once where the file system cannot reserve.
constexpr std::size_t kPiece = 1 << 16;

/// Makes the file that much longer; false when the file system is full before that.
bool Grow(int file, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const int error = ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
  if (error == 0) return true;
  const std::string zeros(kPiece, '\0');
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t piece = std::min<std::uint64_t>(kPiece, bytes - done);
    const ssize_t written = ::pwrite(file, zeros.data(), piece, static_cast<off_t>(from + done));
    if (written <= 0) return false;
    done += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

std::optional<ProcessInfo> TaskProcessOf(pid_t agent) {
  std::optional<ProcessInfo> eldest;
  for (const auto& [pid, info] : agent_host::ReadProcessTable()) {
    if (info.parent != agent || info.is_zombie()) continue;
    if (!eldest || info.start_time < eldest->start_time) eldest = info;
  }
  return eldest;
}

std::vector<ProcessInfo> TaskTreeOf(pid_t agent) {
  const ProcessTable table = agent_host::ReadProcessTable();
  std::vector<ProcessInfo> tree;
  for (const pid_t pid : agent_host::WithDescendants(table, {agent})) {
    if (pid != agent && !table.at(pid).is_zombie()) tree.push_back(table.at(pid));
  }
  return tree;
}

bool SignalExactly(const ProcessInfo& process, int signal) {
  const auto now = agent_host::ReadProcess(process.pid);
  if (!now || now->is_zombie() || now->start_time != process.start_time) return false;
  return ::kill(process.pid, signal) == 0;
}

Expected<UniqueFd> ListenOn(std::int32_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 1) != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("cannot listen on port {}: {}", port, std::strerror(errno)));
  }
  return socket;
}

Expected<void> Ballast::Check(const std::string& directory) {
  const auto room = RoomOf(directory);
  if (!room) return tl::unexpected<Error>(room.error());
  const std::uint64_t size = std::uint64_t{room->f_blocks} * room->f_frsize;
  if (size < kLargest) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              fmt::format("{}: its file system has {} MiB, and only one of less than {} MiB is "
                          "filled: use a run directory on a small one of its own",
                          directory, size >> 20, kLargest >> 20));
}

Expected<Ballast> Ballast::Fill(const std::string& directory, std::uint64_t bytes) {
  if (auto may = Check(directory); !may) return tl::unexpected<Error>(may.error());
  const std::string path = directory + "/ballast";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  Ballast ballast(path);
  std::uint64_t size = 0;
  // Others write meanwhile, and a file system needs room of its own for a file: what is free then
  // counts.
  for (int again = 0; again < 8; ++again) {
    const auto room = RoomOf(directory);
    if (!room) return tl::unexpected<Error>(room.error());
    const std::uint64_t free = std::uint64_t{room->f_bavail} * room->f_frsize;
    if (free <= bytes) break;
    if (!Grow(file.get(), size, free - bytes)) break;
    size += free - bytes;
  }
  return ballast;
}

Ballast::~Ballast() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace tfyarn::hosts
