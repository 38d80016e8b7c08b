#include "hosts/agent/line_follower.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {

void LineFollower::Look(const std::function<void(std::string_view)>& on_line) {
  const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < offset_) {
    offset_ = 0;
    line_.clear();
    skipping_ = false;
  }
  if (size - offset_ > kLongestBacklog) {
    offset_ = size - kPerLook;
    line_.clear();
    skipping_ = true;
  }
  std::array<char, 64U << 10> buffer{};
  for (std::size_t budget = kPerLook; budget > 0;) {
    const ssize_t got = ::pread(file.get(), buffer.data(), std::min(budget, buffer.size()),
                                static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const auto count = static_cast<std::size_t>(got);
    offset_ += count;
    budget -= count;
    Take(std::string_view(buffer.data(), count), on_line);
  }
}

void LineFollower::Take(std::string_view bytes,
                        const std::function<void(std::string_view)>& on_line) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (!skipping_) line_.append(part.substr(0, kLongestLine - line_.size()));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (!skipping_ && !line_.empty()) on_line(line_);
    line_.clear();
    skipping_ = false;
  }
}

}  // namespace tfyarn::agent_host
