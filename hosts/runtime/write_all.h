// write(2) until everything is written.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace tfyarn::hosts {

/// Takes what it has written from the front of `bytes`. False: errno says why the rest was not.
[[nodiscard]] inline bool WriteAll(int file, std::string_view& bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace tfyarn::hosts
