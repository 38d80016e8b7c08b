#include "apps/local/job_verdict.h"

#include <fmt/format.h>

#include <string_view>

#include "apps/cli/human.h"
#include "apps/cli/output.h"
#include "core/model/text.h"
#include "core/policy/diagnostics.h"

namespace tfyarn::local {
namespace {

std::string Heading(const trace::JobResult& job, bool color) {
  const char* word = "";
  const char* paint = "";
  switch (job.status) {
    case JobStatus::kSucceeded:
      word = "SUCCEEDED", paint = "\x1b[32m";
      break;
    case JobStatus::kFailed:
      word = "FAILED", paint = "\x1b[31m";
      break;
    case JobStatus::kKilled:
      word = "KILLED", paint = "\x1b[33m";
      break;
    case JobStatus::kUnfinished:
      word = "UNFINISHED", paint = "\x1b[31m";
      break;
  }
  std::string text = color ? fmt::format("\x1b[1m{}{}\x1b[0m", paint, word) : std::string(word);
  text += fmt::format("  {}", job.name);
  if (const auto took = job.completion_time())
    text += fmt::format(" in {}", cli::HumanSeconds(std::chrono::duration<double>(*took).count()));
  return text + "\n";
}

std::string Row(std::string_view name, std::string_view value) {
  return fmt::format("  {:<10} {}\n", name, value);
}

/// There is one machine only: it is not named.
std::string CauseText(Cause cause) {
  cause.node.clear();
  return policy::CauseText(cause);
}

/// What the rows of cause and rule do not say.
std::string WhyText(const trace::JobResult& job) {
  std::string why = policy::WhyAlone(job.diagnostics, job.cause, job.rule);
  return why.empty() && job.cause ? policy::AdviceFor(*job.cause, {}) : why;
}

/// The last lines of what a process wrote to stderr, each behind a bar.
std::string Quote(const std::string& detail) {
  constexpr std::size_t kLines = 12;
  std::string_view rest = detail;
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  std::size_t from = rest.size();
  for (std::size_t lines = 0; from > 0 && lines < kLines; ++lines) {
    from = rest.rfind('\n', from - 1);
    if (from == std::string_view::npos) from = 0;
  }
  rest.remove_prefix(from);
  while (!rest.empty() && rest.front() == '\n') rest.remove_prefix(1);
  std::string text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    text += fmt::format("  {:<10} | {}\n", "", rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return text;
}

}  // namespace

std::string JobVerdictText(const trace::JobResult& job, const std::string& directory, bool color) {
  std::string text;
  if (job.cause) {
    text += Row("cause", CauseText(*job.cause));
    text += Quote(job.cause->detail);
  }
  if (job.status != JobStatus::kSucceeded && !job.diagnostics.empty())
    text += Row("why", WhyText(job));
  if (!job.rule.empty()) text += Row("rule", job.rule);
  const std::int32_t restarts = job.restarts.task + job.restarts.gang + job.restarts.job;
  if (restarts > 0) {
    text += Row("restarts",
                fmt::format("{} of one task, {} of the gang, {} of the job; epoch {}",
                            job.restarts.task, job.restarts.gang, job.restarts.job, job.epochs));
  }
  if (job.am_attempts > 1) text += Row("AM", fmt::format("{} attempts", job.am_attempts));
  text += Row("run", directory + " (logs, report.html, result.json)");
  return Heading(job, color) + cli::TerminalText(text);
}

}  // namespace tfyarn::local
