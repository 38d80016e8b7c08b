// Reads the lines that are added to a log file, a bounded piece at a time.
//
// It is for watching, not for copying: when the file grows faster than it is read, what lies
// between is passed over and the newest lines are read. So a gigabyte of log costs no more than a
// megabyte a look, and the event loop is never held. A line ends with \n or \r (progress bars); of
// one that is longer than kLongestLine only the beginning is seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tfyarn::agent_host {

class LineFollower {
 public:
  static constexpr std::size_t kLongestLine = 64U << 10;  ///< Bytes.
  static constexpr std::size_t kPerLook = 1U << 20;       ///< Bytes read by one Look at most.
  /// More unread bytes than this, and all but the last kPerLook are passed over.
  static constexpr std::uint64_t kLongestBacklog = 4U << 20;

  /// `from`: where in the file at `path` the first line begins. The file need not exist yet.
  LineFollower(std::string path, std::uint64_t from) : path_(std::move(path)), offset_(from) {}

  /// Calls `on_line` with each line that has ended since the last Look, without its end; empty ones
  /// are left out. A file that became shorter is read from its beginning.
  void Look(const std::function<void(std::string_view)>& on_line);

 private:
  void Take(std::string_view bytes, const std::function<void(std::string_view)>& on_line);

  std::string path_;
  std::uint64_t offset_ = 0;
  std::string line_;       ///< The beginning of a line that has not ended; at most kLongestLine.
  bool skipping_ = false;  ///< The beginning of the line was passed over.
};

}  // namespace tfyarn::agent_host
