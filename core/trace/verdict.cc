#include "core/trace/verdict.h"

#include <fmt/format.h>

namespace tfyarn::trace {
namespace {

void Set(Result& result, Verdict verdict, std::int32_t exit_code, std::string reason) {
  result.verdict = verdict;
  result.exit_code = exit_code;
  result.reason = std::move(reason);
}

/// The first job of that status that no expectation speaks for, and how many there are.
std::pair<const JobResult*, std::size_t> JobsOf(const Result& result, JobStatus status,
                                                const std::set<std::string>& status_expected) {
  const JobResult* first = nullptr;
  std::size_t count = 0;
  for (const JobResult& job : result.jobs) {
    if (job.status != status || status_expected.contains(job.name)) continue;
    if (first == nullptr) first = &job;
    ++count;
  }
  return {first, count};
}

std::string Tell(const JobResult& job, std::size_t count, std::string_view what) {
  std::string text = count == 1 ? fmt::format("job {} {}", job.name, what)
                                : fmt::format("{} jobs {}, the first is {}", count, what, job.name);
  if (!job.diagnostics.empty()) text += ": " + job.diagnostics;
  return text;
}

}  // namespace

void Judge(Result& result, const std::set<std::string>& status_expected) {
  for (const InvariantResult& invariant : result.invariants) {
    if (invariant.violations == 0 || !invariant.off_because.empty()) continue;
    return Set(result, Verdict::kFailed, 21,
               fmt::format("invariant {}: {}", invariant.name, invariant.first_detail));
  }
  if (result.stop_reason == StopReason::kInterrupted) {
    return Set(result, Verdict::kInterrupted, 130,
               "interrupted; everything here is of the part that ran");
  }
  for (const ExpectationResult& expectation : result.expectations) {
    if (expectation.passed) continue;
    return Set(result, Verdict::kFailed, 20,
               fmt::format("expected {}; got {}", expectation.text, expectation.got));
  }
  struct Row {
    JobStatus status;
    std::int32_t exit_code;
    const char* what;
  };
  for (const Row& row :
       {Row{JobStatus::kUnfinished, 20,
            result.real ? "unfinished when the run ended" : "unfinished at the horizon"},
        Row{JobStatus::kFailed, 10, "failed"}, Row{JobStatus::kKilled, 11, "killed"}}) {
    const auto [job, count] = JobsOf(result, row.status, status_expected);
    if (job != nullptr)
      return Set(result, Verdict::kFailed, row.exit_code, Tell(*job, count, row.what));
  }
  Set(result, Verdict::kPassed, 0, "");
}

}  // namespace tfyarn::trace
