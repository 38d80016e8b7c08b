// Many runs of one scenario, over seeds or over the cells of a matrix, as one summary.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/result.h"

namespace tfyarn::trace {

/// What an ensemble keeps of a run.
struct RunSummary {
  std::uint64_t seed = 0;
  Verdict verdict = Verdict::kPassed;
  std::int32_t exit_code = 0;
  std::string reason;
  std::string digest;
  bool deadlocked = false;
  double simulated_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t events = 0;
  std::vector<Metric> metrics;
  std::vector<ExpectationResult> expectations;
};

[[nodiscard]] RunSummary Summarize(const Result& result);

/// Over the runs in which the metric has a value. `sd`: of the sample; 0 for one run. Percentiles:
/// nearest rank.
struct Spread {
  std::uint64_t count = 0;
  double mean = 0;
  double sd = 0;
  double min = 0;
  double p50 = 0;
  double p99 = 0;
  double max = 0;
};

struct FailedRun {
  std::uint64_t seed = 0;
  std::int32_t exit_code = 0;
  std::string reason;
  std::string replay;  ///< A command that runs it again.
};

/// One cell of a matrix; an ensemble without a matrix is a cell without settings.
struct Cell {
  std::vector<std::pair<std::string, std::string>> set;  ///< Path -> value, as --set takes them.
  std::uint64_t runs = 0;
  double deadlock_rate = 0;
  double pass_rate = 0;
  std::vector<std::pair<std::string, Spread>> metrics;  ///< In the order of result.json.
  std::vector<FailedRun> failed;                        ///< In order of seeds; kMaxFailed of them.
  std::uint64_t failed_runs = 0;
  std::vector<ExpectationResult>
      expectations;  ///< `got`: in how many runs it held, and what the first other one got.

  static constexpr std::size_t kMaxFailed = 100;
};

struct Ensemble {
  std::string scenario;
  std::uint64_t scenario_digest = 0;
  std::string version;
  std::uint64_t first_seed = 0;
  std::uint64_t last_seed = 0;
  Verdict verdict = Verdict::kPassed;
  std::int32_t exit_code = 0;
  std::string reason;
  double wall_seconds = 0;
  Cell all;                 ///< Over every run.
  std::vector<Cell> cells;  ///< With a matrix, in its order.
  /// Of expectations about the ensemble itself (`deadlock_rate`, or with `where`).
  std::vector<ExpectationResult> expectations;
};

/// Folds the runs of one cell. `failed` runs get their replay command from `replay(seed)`.
class CellBuilder {
 public:
  explicit CellBuilder(std::vector<std::pair<std::string, std::string>> set)
      : set_(std::move(set)) {}
  void Add(const RunSummary& run, std::string replay);
  [[nodiscard]] Cell Finish() const;

 private:
  struct Held {
    std::string text;
    std::uint64_t passed = 0;
    std::uint64_t runs = 0;
    std::string first_other;
  };
  std::vector<std::pair<std::string, std::string>> set_;
  std::uint64_t runs_ = 0;
  std::uint64_t deadlocked_ = 0;
  std::uint64_t passed_ = 0;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> values_;
  std::multimap<std::uint64_t, FailedRun> failed_;
  std::vector<Held> expectations_;
};

/// True for names that only many runs together have: `deadlock_rate`, `pass_rate`, `runs`, and
/// METRIC.FIGURE with FIGURE one of Spread's members.
[[nodiscard]] bool IsEnsembleFigure(std::string_view name);

/// A figure of a cell for an expectation about the ensemble: `deadlock_rate`, `pass_rate`, `runs`,
/// or a metric's mean
/// (`jct_mean_seconds`) or another of its figures (`gpu_utilization.p50`). nullopt: no such name,
/// or no value.
[[nodiscard]] std::optional<double> LookupCell(const Cell& cell, std::string_view name);

}  // namespace tfyarn::trace
