// Shows on the terminal what the tasks of a run write: every line with its task in front.
//
// It follows, it does not copy: the logs themselves are whole in their files. What a look may cost
// has a bound, so that no task's output holds up the run; a file that grows faster is passed over
// up to its newest lines, and what is not shown is said.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "apps/cli/task_lines.h"
#include "hosts/runtime/folder_watch.h"

namespace tfyarn::local {

class LogPrinter {
 public:
  /// Bytes of all logs that one look takes.
  static constexpr std::size_t kPerLook = std::size_t{256} << 10;
  /// Bytes of one log that one look takes.
  static constexpr std::size_t kPerFile = std::size_t{64} << 10;
  /// A log with more bytes than that to show is passed over.
  static constexpr std::uint64_t kLongestBacklog = std::uint64_t{1} << 20;
  /// Looks from one passing over of a log to the next, so that it is read in pieces of some length.
  static constexpr int kLooksBetween = 20;
  /// Bytes of all logs that are shown at the end, at least kLeastAtEnd of each.
  static constexpr std::uint64_t kAtEnd = std::uint64_t{2} << 20;
  static constexpr std::uint64_t kLeastAtEnd = std::uint64_t{4} << 10;

  /// `directory`: where logs named worker-1.attempt-0.stdout appear.
  LogPrinter(std::string directory, bool color);

  /// What was written since the last call, as text to print: whole lines, each behind its task.
  /// What is too much for one call comes with the next ones.
  [[nodiscard]] std::string Take();
  /// The end of every log, unfinished lines too; nothing follows. What was written since the last
  /// call and is too much is left out, but for its end.
  [[nodiscard]] std::string TakeLast();

 private:
  struct File {
    std::uint64_t offset = 0;
    int look = -kLooksBetween;  ///< When it was passed over last.
    cli::LineCutter lines;
    std::string prefix;  ///< "worker:1 | ", coloured.
  };

  /// Notes which files have news.
  void Find();
  void AddAll();
  /// Takes up the file of that name, if it is a log.
  void Add(const std::string& name);
  [[nodiscard]] std::string PrefixOf(const std::string& name) const;
  [[nodiscard]] std::uint64_t BacklogOf(const std::string& name, const File& file) const;
  /// Passes over all but the last `keep` bytes and what comes before the next end of a line.
  void PassOver(const std::string& name, File& file, std::uint64_t keep, std::string& out) const;
  /// At most `budget` bytes of it; how many there were.
  std::uint64_t TakeFrom(const std::string& name, File& file, std::uint64_t budget,
                         std::string& out) const;

  std::string directory_;
  bool color_;
  hosts::FolderWatch watch_;
  int looks_ = 0;
  std::string turn_;  ///< The file that the last look took last.
  std::map<std::string, File> files_;
  std::set<std::string> behind_;  ///< Files that may have more to show.
};

}  // namespace tfyarn::local
