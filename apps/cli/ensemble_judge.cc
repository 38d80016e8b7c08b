#include "apps/cli/ensemble_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"

namespace tfyarn::cli {
namespace {

bool Holds(const config::Comparison& comparison, double value) {
  switch (comparison.op) {
    case config::ExpectOp::kEquals:
      return value == comparison.low;
    case config::ExpectOp::kAtLeast:
      return value >= comparison.low;
    case config::ExpectOp::kAtMost:
      return value <= comparison.high;
    case config::ExpectOp::kBetween:
      return value >= comparison.low && value <= comparison.high;
    case config::ExpectOp::kIn:
      return false;
  }
  return false;
}

bool Matches(const trace::Cell& cell, const std::map<std::string, std::string>& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& wanted) {
    return std::find(cell.set.begin(), cell.set.end(), std::pair(wanted.first, wanted.second)) !=
           cell.set.end();
  });
}

}  // namespace

bool IsAboutEnsemble(const config::Expectation& expectation) {
  return !expectation.where.empty() ||
         std::any_of(expectation.all_of.begin(), expectation.all_of.end(),
                     [](const config::Comparison& c) { return trace::IsEnsembleFigure(c.metric); });
}

std::vector<trace::ExpectationResult> JudgeEnsemble(
    const std::vector<config::Expectation>& expectations, const trace::Ensemble& ensemble) {
  std::vector<trace::ExpectationResult> results;
  for (const config::Expectation& expectation : expectations) {
    if (!IsAboutEnsemble(expectation)) continue;
    std::vector<const trace::Cell*> about;
    if (expectation.where.empty()) about.push_back(&ensemble.all);
    for (const trace::Cell& cell : ensemble.cells) {
      if (!expectation.where.empty() && Matches(cell, expectation.where)) about.push_back(&cell);
    }
    trace::ExpectationResult result{.text = expectation.text, .passed = !about.empty(), .got = {}};
    if (about.empty()) result.got = "no cell of the matrix has these settings";
    for (const config::Comparison& comparison : expectation.all_of) {
      for (const trace::Cell* cell : about) {
        const std::optional<double> value = trace::LookupCell(*cell, comparison.metric);
        result.got += fmt::format("{}{}", result.got.empty() ? "" : ", ",
                                  value ? fmt::format("{}", *value) : "nothing");
        result.passed = result.passed && value && Holds(comparison, *value);
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

void Judge(trace::Ensemble& ensemble) {
  ensemble.verdict = trace::Verdict::kPassed;
  ensemble.exit_code = ToInt(ExitCode::kOk);
  for (const trace::ExpectationResult& expectation : ensemble.expectations) {
    if (expectation.passed) continue;
    ensemble.verdict = trace::Verdict::kFailed;
    ensemble.exit_code = ToInt(ExitCode::kExpectationFailed);
    ensemble.reason = fmt::format("expected {}; got {}", expectation.text, expectation.got);
    break;
  }
  if (ensemble.all.failed.empty()) return;
  // The worst run decides: a crash, then a broken invariant, then whatever the first of the others
  // came to.
  const auto severity = [](const trace::FailedRun& run) {
    if (run.exit_code == ToInt(ExitCode::kInternal)) return 0;
    return run.exit_code == ToInt(ExitCode::kInvariantBroken) ? 1 : 2;
  };
  const auto worst =
      std::min_element(ensemble.all.failed.begin(), ensemble.all.failed.end(),
                       [&](const auto& a, const auto& b) { return severity(a) < severity(b); });
  if (ensemble.verdict == trace::Verdict::kFailed && severity(*worst) == 2) return;
  ensemble.verdict = trace::Verdict::kFailed;
  ensemble.exit_code = worst->exit_code;
  ensemble.reason = fmt::format("{} of {} failed, seed {}: {}", ensemble.all.failed_runs,
                                Plural(ensemble.all.runs, "run"), worst->seed, worst->reason);
}

}  // namespace tfyarn::cli
