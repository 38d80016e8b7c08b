// Puts the logs of many tasks on stdout, from wherever they are read: each byte once, whole lines,
// each behind its task.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cli/task_lines.h"
#include "apps/yarn/task_logs.h"
#include "core/model/ids.h"

namespace tfyarn::apps {

struct LogOutputOptions {
  bool json = false;  ///< An object for each line.
  bool color = false;
  std::int64_t tail = -1;  ///< Lines of each log to begin with; -1 = all.
};

class LogOutput {
 public:
  explicit LogOutput(const LogOutputOptions& options) : options_(options) {}

  /// From which byte on this log, of so many bytes, should be read.
  [[nodiscard]] std::uint64_t Next(const TaskLog& log) const;
  /// What is known already is left out.
  void Add(const TaskLog& log, std::uint64_t offset, std::string_view bytes);
  /// All that there was of this log was added: shows the last lines, where only those are wanted.
  /// `last`: nothing will be added any more, and an unfinished line is one.
  void CaughtUp(const TaskLog& log, bool last);
  /// Shows unfinished lines, too.
  void End();
  /// stdout takes nothing any more.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  struct State {
    TaskLog log;
    std::uint64_t next = 0;
    bool holding = false;  ///< Lines are kept, and only the last ones.
    std::deque<std::string> held;
    cli::LineCutter lines;
  };
  using Key = std::pair<ContainerId, std::string>;

  [[nodiscard]] State& StateOf(const TaskLog& log);
  void Line(State& state, std::string_view line);
  void Show(const State& state, std::string_view line);
  void Release(State& state);

  LogOutputOptions options_;
  std::map<Key, State> states_;
  bool failed_ = false;
};

}  // namespace tfyarn::apps
