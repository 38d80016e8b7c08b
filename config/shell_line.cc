#include "config/shell_line.h"

#include <algorithm>
#include <cstddef>

namespace tfyarn::config {
namespace {

constexpr std::string_view kBlank = " \t";

/// Reads a line as sh does, as far as pipes need it.
class PipeReader {
 public:
  explicit PipeReader(std::string_view line) : line_(line) {}

  std::string LastOfPipe() {
    bool in_pipe = false;
    std::size_t last = 0;  // Where the program behind the latest | begins.
    while (at_ < line_.size()) {
      if (Skip()) continue;
      const char c = line_[at_];
      const char next = Next(1);
      const bool redirects = at_ > 0 && line_[at_ - 1] == '>';
      if (c == '|' && next != '|' && !redirects) {
        in_pipe = true;
        at_ += next == '&' ? 2 : 1;
        last = at_;
        continue;
      }
      const bool list = (c == '|' && next == '|') || (c == '&' && !redirects && next != '>') ||
                        c == ';' || c == '\n' || c == ')';
      // A newline right behind the | only goes on with the pipe.
      const bool empty =
          line_.substr(last, at_ - last).find_first_not_of(" \t\n") == std::string_view::npos;
      if (list && in_pipe && !(c == '\n' && empty)) break;
      at_ += (c == '|' || c == '&') && next == c ? 2 : 1;
    }
    return in_pipe ? ProgramIn(line_.substr(last, at_ - last)) : "";
  }

 private:
  [[nodiscard]] char Next(std::size_t ahead) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }
  /// Behind `end`, which no backslash hides; of single quotes none does.
  void SkipTo(char end, bool escapes) {
    for (++at_; at_ < line_.size() && line_[at_] != end; ++at_) {
      if (escapes && line_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, line_.size());
  }
  /// Whatever holds no pipe of this line's. False: nothing of the kind is here.
  bool Skip() {
    const char c = line_[at_];
    const bool word = at_ > 0 && (kBlank.find(line_[at_ - 1]) == std::string_view::npos &&
                                  line_[at_ - 1] != '\n' && line_[at_ - 1] != ';');
    if (c == '\\') {
      at_ = std::min(at_ + 2, line_.size());
    } else if (c == '\'') {
      SkipTo(c, false);
    } else if (c == '"' || c == '`') {
      SkipTo(c, true);
    } else if (c == '#' && !word) {
      at_ = std::min(line_.find('\n', at_), line_.size());
    } else if (c == '$' && Next(1) == '(') {
      SkipSubstitution();
    } else {
      return false;
    }
    return true;
  }
  void SkipSubstitution() {
    int open = 0;
    for (at_ += 1; at_ < line_.size();) {
      if (Skip()) continue;
      open += static_cast<int>(line_[at_] == '(') - static_cast<int>(line_[at_] == ')');
      ++at_;
      if (open == 0) return;
    }
  }

  /// The first word that sets no variable.
  static std::string ProgramIn(std::string_view command) {
    while (true) {
      const std::size_t begin = command.find_first_not_of(" \t\n({");
      if (begin == std::string_view::npos) return "";
      command.remove_prefix(begin);
      const std::size_t end = std::min(command.find_first_of(" \t\n<>"), command.size());
      std::string_view word = command.substr(0, end);
      command.remove_prefix(end);
      if (word.find('=') != std::string_view::npos) continue;
      word.remove_prefix(word.find_last_of('/') + 1);
      return std::string(word);
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace

std::string LastOfPipe(std::string_view line) {
  for (const std::string_view own : {"pipefail", "PIPESTATUS"}) {
    if (line.find(own) != std::string_view::npos) return "";
  }
  return PipeReader(line).LastOfPipe();
}

}  // namespace tfyarn::config
