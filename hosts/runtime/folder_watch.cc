#include "hosts/runtime/folder_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tfyarn::hosts {

FolderWatch::FolderWatch(FolderWatch&& other) noexcept
    : directory_(std::move(other.directory_)), fd_(std::exchange(other.fd_, -1)) {}

FolderWatch::~FolderWatch() {
  if (fd_ >= 0) ::close(fd_);
}

bool FolderWatch::Watch() {
  fd_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd_ < 0) return false;
  if (::inotify_add_watch(fd_, directory_.c_str(), IN_CREATE | IN_MOVED_TO | IN_MODIFY) >= 0)
    return true;
  ::close(std::exchange(fd_, -1));
  return false;
}

std::optional<std::set<std::string>> FolderWatch::Changed() {
  if (fd_ < 0) {
    Watch();
    return std::nullopt;
  }
  std::set<std::string> names;
  bool lost = false;
  alignas(inotify_event) std::array<char, 64U << 10> buffer{};
  while (true) {
    const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) lost = true;
    if (got <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      // The directory itself is gone with IN_IGNORED.
      if ((event.mask & (IN_Q_OVERFLOW | IN_IGNORED)) != 0) lost = true;
      if (event.len > 0) names.emplace(buffer.data() + at + sizeof event);
      at += sizeof event + event.len;
    }
  }
  if (lost) return std::nullopt;
  return names;
}

}  // namespace tfyarn::hosts
