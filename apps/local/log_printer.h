// Shows on the terminal what the tasks of a run write: every line with its task in front.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "apps/cli/task_lines.h"

namespace tfyarn::local {

class LogPrinter {
 public:
  /// `directory`: where logs named worker-1.attempt-0.stdout appear.
  LogPrinter(std::string directory, bool color);

  /// What was written since the last call, as text to print: whole lines, each behind its task. At
  /// most 64 KiB of each file; the rest comes with the next calls. `last`: unfinished lines too.
  [[nodiscard]] std::string Take(bool last);
  /// The last call found nothing new.
  [[nodiscard]] bool AtEnd() const { return at_end_; }

 private:
  struct File {
    std::uint64_t offset = 0;
    cli::LineCutter lines;
    std::string prefix;  ///< "worker:1 | ", coloured.
  };

  void Find();
  [[nodiscard]] std::string PrefixOf(const std::string& name) const;
  void TakeFrom(const std::string& name, File& file, bool last, std::string& out);

  std::string directory_;
  bool color_;
  bool at_end_ = false;
  std::map<std::string, File> files_;
};

}  // namespace tfyarn::local
