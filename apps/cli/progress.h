// One line on the terminal that says how far a run is; a line a minute where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tfyarn::cli {

struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 = unknown.
  std::string noun = "job";
  std::string more = {};         ///< Whatever else there is to tell.
  double simulated_seconds = 0;  ///< 0 = not shown (many runs at once).
  double horizon_seconds = 0;
  double wall_seconds = 0;
};

/// "12/40 jobs  3h20m simulated (7200x)  ~12 s left", cut to `columns`.
[[nodiscard]] std::string ProgressText(const ProgressState& state, std::size_t columns);

/// What remains, from the share that is done; nullopt while that says nothing yet.
[[nodiscard]] std::optional<double> SecondsLeft(const ProgressState& state);

class ProgressLine {
 public:
  /// Draws over what it drew, or, when stderr is no terminal or TERM is dumb, writes a line a
  /// minute. Nothing when `quiet`.
  explicit ProgressLine(bool quiet);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool enabled() const { return enabled_; }
  /// Draws at most five times a second.
  void Show(ProgressState state);
  /// Takes the line away; to be called before anything else is written to the terminal.
  void Clear();
  /// Since this was made.
  [[nodiscard]] double wall_seconds() const;

 private:
  bool enabled_;
  bool redraws_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tfyarn::cli
