// One line on the terminal that says what a job on this machine does now; nothing at all when
// stderr is no terminal.
#pragma once

#include <string>
#include <vector>

#include "core/model/ids.h"
#include "core/trace/record.h"

namespace tfyarn::local {

/// What the line says, folded from the trace.
struct StatusFacts {
  std::string state = "submitted";
  std::int32_t tasks = 0;
  std::int32_t running = 0;
  std::uint32_t epoch = 0;
  std::int32_t restarts = 0;
  bool waits_for_nodes = false;
};

void Fold(StatusFacts& facts, const trace::TraceRecord& record);
/// "running  3/4 tasks  epoch 2  1 restart  12.3 s".
[[nodiscard]] std::string StatusText(const StatusFacts& facts, Duration since_start);

/// "worker:0 starts again: worker:0 ended with 1 (user-permanent)". Empty: it tells of no restart.
[[nodiscard]] std::string RestartText(const trace::TraceRecord& record);

class StatusLine {
 public:
  /// Shows nothing when stderr is no terminal, TERM is dumb, or `quiet`.
  explicit StatusLine(bool quiet);
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool enabled() const { return enabled_; }
  /// `draw`: now; otherwise `fresh` shows the next time.
  void Show(const std::vector<trace::TraceRecord>& fresh, Duration since_start, bool draw);
  /// Takes the line away; to be called before anything else is written to the terminal.
  void Clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  StatusFacts facts_;
};

}  // namespace tfyarn::local
