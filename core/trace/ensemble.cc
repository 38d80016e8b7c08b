#include "core/trace/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tfyarn::trace {
namespace {

double Rank(const std::vector<double>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

double Rate(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Sums in sorted order, so that it does not matter which run came first.
Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Spread spread{
      .count = values.size(), .mean = sum / count, .min = values.front(), .max = values.back()};
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.sd = values.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  spread.p50 = Rank(values, 50);
  spread.p99 = Rank(values, 99);
  return spread;
}

std::optional<double> FigureOf(const Spread& spread, std::string_view figure) {
  if (figure == "mean") return spread.mean;
  if (figure == "sd") return spread.sd;
  if (figure == "min") return spread.min;
  if (figure == "p50") return spread.p50;
  if (figure == "p99") return spread.p99;
  if (figure == "max") return spread.max;
  if (figure == "count") return static_cast<double>(spread.count);
  return std::nullopt;
}

}  // namespace

RunSummary Summarize(const Result& result) {
  return {.seed = result.seed,
          .verdict = result.verdict,
          .exit_code = result.exit_code,
          .reason = result.reason,
          .digest = result.digest,
          .deadlocked = result.deadlocked,
          .simulated_seconds = SecondsOf(result.stopped),
          .wall_seconds = result.wall_seconds,
          .events = result.events,
          .metrics = result.metrics,
          .expectations = result.expectations};
}

void CellBuilder::Add(const RunSummary& run, std::string replay) {
  ++runs_;
  if (run.deadlocked) ++deadlocked_;
  if (run.verdict == Verdict::kPassed) {
    ++passed_;
  } else {
    // Under a matrix a seed runs once in each cell.
    failed_.emplace(run.seed, FailedRun{.seed = run.seed,
                                        .exit_code = run.exit_code,
                                        .reason = run.reason,
                                        .replay = std::move(replay)});
  }
  for (const Metric& metric : run.metrics) {
    const auto [entry, is_new] = values_.try_emplace(metric.name);
    if (is_new) order_.push_back(metric.name);
    if (metric.value) entry->second.push_back(*metric.value);
  }
  for (std::size_t i = 0; i < run.expectations.size(); ++i) {
    const ExpectationResult& expectation = run.expectations[i];
    if (expectations_.size() <= i) expectations_.push_back({.text = expectation.text});
    Held& held = expectations_[i];
    ++held.runs;
    if (expectation.passed) {
      ++held.passed;
    } else if (held.first_other.empty()) {
      held.first_other = fmt::format("seed {}: {}", run.seed, expectation.got);
    }
  }
}

Cell CellBuilder::Finish() const {
  Cell cell;
  cell.set = set_;
  cell.runs = runs_;
  cell.deadlock_rate = Rate(deadlocked_, runs_);
  cell.pass_rate = Rate(passed_, runs_);
  for (const std::string& name : order_) {
    const std::vector<double>& values = values_.at(name);
    if (!values.empty()) cell.metrics.emplace_back(name, SpreadOf(values));
  }
  cell.failed_runs = failed_.size();
  for (const auto& [seed, failed] : failed_) {
    if (cell.failed.size() < Cell::kMaxFailed) cell.failed.push_back(failed);
  }
  for (const Held& held : expectations_) {
    std::string got = fmt::format("held in {} of {} runs", held.passed, held.runs);
    if (!held.first_other.empty()) got += "; " + held.first_other;
    cell.expectations.push_back(
        {.text = held.text, .passed = held.passed == held.runs, .got = std::move(got)});
  }
  return cell;
}

bool IsEnsembleFigure(std::string_view name) {
  if (name == "deadlock_rate" || name == "pass_rate" || name == "runs") return true;
  if (name.find('/') != std::string_view::npos) return false;
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos && FigureOf({}, name.substr(dot + 1)).has_value();
}

std::optional<double> LookupCell(const Cell& cell, std::string_view name) {
  if (name == "deadlock_rate") return cell.deadlock_rate;
  if (name == "pass_rate") return cell.pass_rate;
  if (name == "runs") return static_cast<double>(cell.runs);
  if (name.starts_with("metrics.")) name.remove_prefix(8);
  std::string_view figure = "mean";
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos) {
    figure = name.substr(dot + 1);
    name = name.substr(0, dot);
  }
  for (const auto& [metric, spread] : cell.metrics) {
    if (metric == name) return FigureOf(spread, figure);
  }
  return std::nullopt;
}

}  // namespace tfyarn::trace
