#include "apps/cli/verdict_text.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "apps/cli/human.h"
#include "config/diagnostics.h"

namespace tfyarn::cli {
namespace {

constexpr std::size_t kShown = 5;
constexpr std::size_t kLongestVerdict = 400;

std::string Safe(const std::string& text) {
  return config::Printable(text, kLongestVerdict);
}

std::string Heading(trace::Verdict verdict, const std::string& rest, bool color) {
  const char* paint = "";
  const char* word = "";
  switch (verdict) {
    case trace::Verdict::kPassed:
      word = "passed", paint = "\x1b[32m";
      break;
    case trace::Verdict::kFailed:
      word = "failed", paint = "\x1b[31m";
      break;
    case trace::Verdict::kInterrupted:
      word = "interrupted", paint = "\x1b[33m";
      break;
  }
  if (!color) return fmt::format("{}  {}\n", word, rest);
  return fmt::format("\x1b[1m{}{}\x1b[0m  {}\n", paint, word, rest);
}

std::string NamedRow(const std::string& name, const std::string& value) {
  return fmt::format("  {:<14} {}\n", name, value);
}

std::optional<double> Value(const trace::Result& result, std::string_view name) {
  const auto value = trace::Lookup(result, name);
  return value ? value->number : std::nullopt;
}

std::string JobsLine(const trace::Result& result) {
  std::vector<std::string> parts;
  for (const auto& [metric, word] :
       {std::pair("jobs_succeeded", "succeeded"), std::pair("jobs_failed", "failed"),
        std::pair("jobs_killed", "killed"), std::pair("jobs_unfinished", "unfinished")}) {
    const auto count = static_cast<std::uint64_t>(Value(result, metric).value_or(0));
    if (count > 0) parts.push_back(fmt::format("{} {}", HumanCount(count), word));
  }
  return fmt::format("{}: {}", Plural(result.jobs.size(), "job"), fmt::join(parts, ", "));
}

/// How long jobs took; how much of the GPU time was of use; then losses if there were any, else
/// what was waited for.
std::string TellingNumbers(const trace::Result& result) {
  std::string text;
  if (const auto mean = Value(result, "jct_mean_seconds")) {
    if (Value(result, "jobs_finished") == 1.0) {
      text += NamedRow("job took", HumanSeconds(*mean));
    } else {
      text += NamedRow("jobs took",
                       fmt::format("{} on average, {} at the 99th percentile", HumanSeconds(*mean),
                                   HumanSeconds(Value(result, "jct_p99_seconds").value_or(0))));
    }
  }
  const auto goodput = Value(result, "goodput");
  const auto utilization = Value(result, "cluster_utilization");
  if (goodput) {
    text += NamedRow("goodput",
                     fmt::format("{} of the GPU time that jobs held", HumanPercent(*goodput)));
  } else if (utilization) {
    text += NamedRow("utilization",
                     fmt::format("{} of the cluster's vcores", HumanPercent(*utilization)));
  }
  const double lost = Value(result, "lost_work_seconds").value_or(0);
  const double restarts = Value(result, "restarts_task").value_or(0) +
                          Value(result, "restarts_gang").value_or(0) +
                          Value(result, "restarts_job").value_or(0);
  if (lost > 0 || restarts > 0) {
    text +=
        NamedRow("lost work", fmt::format("{} of training, {}", HumanSeconds(lost),
                                          Plural(static_cast<std::uint64_t>(restarts), "restart")));
  } else if (const auto wait = Value(result, "start_wait_mean_seconds")) {
    text += NamedRow("waited", fmt::format("{} from submission to start{}", HumanSeconds(*wait),
                                           result.jobs.size() > 1 ? ", on average" : ""));
  }
  return text;
}

std::string FailedExpectations(const std::vector<trace::ExpectationResult>& expectations) {
  std::string text;
  for (const trace::ExpectationResult& expectation : expectations) {
    if (expectation.passed) continue;
    text += fmt::format("  expected {}\n       got {}\n", Safe(expectation.text),
                        Safe(expectation.got));
  }
  return text;
}

std::string BrokenInvariants(const trace::Result& result) {
  std::string text;
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations == 0) continue;
    const double at = invariant.first_at ? SecondsOf(*invariant.first_at) : 0;
    text += fmt::format("  invariant {} broke {}{}, first at {:.3f} s: {}\n", invariant.name,
                        Plural(invariant.violations, "time"),
                        invariant.off_because.empty() ? "" : " (switched off)", at,
                        Safe(invariant.first_detail));
  }
  return text;
}

std::string FaultsWithoutEffect(const trace::Result& result) {
  std::vector<std::string> parts;
  for (const trace::FaultWithoutEffect& fault : result.faults_without_effect) {
    if (parts.size() == kShown) {
      parts.push_back(fmt::format("{} more", result.faults_without_effect.size() - kShown));
      break;
    }
    parts.push_back(fmt::format("fault {} ({}), {}", fault.index, fault.kind, fault.why));
  }
  return parts.empty() ? "" : NamedRow("no effect", fmt::format("{}", fmt::join(parts, "; ")));
}

std::string JobTrouble(const trace::JobResult& job) {
  std::string what;
  switch (job.status) {
    case JobStatus::kSucceeded:
      return "";
    case JobStatus::kUnfinished:
      what = "unfinished, " + KebabName(job.state);
      break;
    case JobStatus::kFailed:
      what = "failed";
      break;
    case JobStatus::kKilled:
      what = "killed";
      break;
  }
  std::string text = fmt::format("  job {} {}", job.name, what);
  if (!job.diagnostics.empty()) text += ": " + Safe(job.diagnostics);
  return text + "\n";
}

std::string TroubledJobs(const trace::Result& result) {
  std::string text;
  std::size_t troubled = 0;
  for (const trace::JobResult& job : result.jobs) {
    const std::string line = JobTrouble(job);
    if (line.empty()) continue;
    if (++troubled <= kShown) text += line;
  }
  if (troubled > kShown) text += fmt::format("  and {} more\n", Plural(troubled - kShown, "job"));
  return text;
}

std::string ReportLine(const VerdictStyle& style) {
  return style.report.empty() ? "" : NamedRow("report", Safe(style.report));
}

}  // namespace

std::string VerdictText(const trace::Result& result, const VerdictStyle& style) {
  std::string text = Heading(result.verdict,
                             fmt::format("{}, seed {}", result.scenario, result.seed), style.color);
  text += fmt::format("  {}; {} simulated in {}\n", JobsLine(result),
                      HumanSeconds(SecondsOf(result.stopped)), HumanSeconds(result.wall_seconds));
  text += TellingNumbers(result);
  text += FailedExpectations(result.expectations);
  text += BrokenInvariants(result);
  if (result.verdict != trace::Verdict::kPassed) text += TroubledJobs(result);
  if (result.verdict == trace::Verdict::kInterrupted)
    text += "  interrupted: all of this is about the part that ran\n";
  if (result.deadlocked) text += "  no unfinished job was making progress at the end\n";
  text += FaultsWithoutEffect(result);
  text += NamedRow("digest", result.digest);
  return text + ReportLine(style);
}

std::string VerdictText(const trace::Ensemble& ensemble, const VerdictStyle& style) {
  std::string text = Heading(
      ensemble.verdict,
      fmt::format("{}, seeds {}..{}", ensemble.scenario, ensemble.first_seed, ensemble.last_seed),
      style.color);
  text += fmt::format("  {}: {} passed; {}\n", Plural(ensemble.all.runs, "run"),
                      HumanPercent(ensemble.all.pass_rate), HumanSeconds(ensemble.wall_seconds));
  text += NamedRow("deadlocked", HumanPercent(ensemble.all.deadlock_rate));
  for (const auto& [metric, label] :
       {std::pair("jct_mean_seconds", "jobs took"), std::pair("goodput", "goodput")}) {
    for (const auto& [name, spread] : ensemble.all.metrics) {
      if (name != metric) continue;
      const auto show = name == "goodput" ? HumanPercent : HumanSeconds;
      text += NamedRow(label, fmt::format("{} on average (sd {}, from {} to {})", show(spread.mean),
                                          show(spread.sd), show(spread.min), show(spread.max)));
    }
  }
  text += FailedExpectations(ensemble.expectations);
  text += FailedExpectations(ensemble.all.expectations);
  for (std::size_t i = 0; i < ensemble.all.failed.size() && i < kShown; ++i) {
    const trace::FailedRun& run = ensemble.all.failed[i];
    text +=
        fmt::format("  seed {}: {}\n    again: {}\n", run.seed, Safe(run.reason), Safe(run.replay));
  }
  if (ensemble.all.failed_runs > kShown) {
    text += fmt::format("  and {} more\n", Plural(ensemble.all.failed_runs - kShown, "run"));
  }
  for (const trace::Cell& cell : ensemble.cells) {
    std::string name;
    for (const auto& [path, value] : cell.set)
      name += fmt::format("{}{}={}", name.empty() ? "" : " ", path, value);
    text +=
        fmt::format("  {}: {}, {} passed, {} deadlocked\n", Safe(name), Plural(cell.runs, "run"),
                    HumanPercent(cell.pass_rate), HumanPercent(cell.deadlock_rate));
  }
  return text + ReportLine(style);
}

}  // namespace tfyarn::cli
