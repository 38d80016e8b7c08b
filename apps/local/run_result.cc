#include "apps/local/run_result.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/local/job_verdict.h"
#include "core/trace/json.h"
#include "core/trace/verdict.h"
#include "hosts/runtime/run_records.h"
#include "hosts/runtime/staging.h"
#include "reports/html.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

std::int64_t PeakMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

trace::Result ResultOf(const RunOutcome& outcome, const std::vector<trace::TraceRecord>& records) {
  trace::ResultBuilder builder(trace::ResultOptions{.always_tasks = true});
  for (const trace::TraceRecord& record : records) builder.Observe(record);
  trace::Result result = builder.Finish(
      {.version = outcome.version,
       .events = records.size(),
       .wall_seconds = std::chrono::duration<double>(outcome.ended - outcome.began).count(),
       .peak_rss_bytes = PeakMemory()});
  result.scenario_yaml = outcome.job.effective_yaml;
  trace::Judge(result, {});
  return result;
}

std::string EventsText(const std::vector<trace::TraceRecord>& records) {
  std::string text;
  for (const trace::TraceRecord& record : records) text += trace::RecordJson(record) + "\n";
  return text;
}

/// The journal of the last application beside the other results.
void KeepJournal(const RunDirectory& directory) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory.history(), failed)) {
    fs::copy_file(entry.path() / hosts::kJournalFile, fs::path(directory.root) / "journal",
                  fs::copy_options::overwrite_existing, failed);
    fs::remove(entry.path() / hosts::kAuthorityFile, failed);  // Its key is of no use any more.
  }
}

/// The cause's own exit code where that is wanted and known.
int ExitCodeOf(const RunOutcome& outcome, const trace::Result& result, bool propagate) {
  if (!propagate || result.jobs.empty() || !result.jobs.front().cause) return outcome.exit_code;
  const auto& exit = result.jobs.front().cause->exit;
  return exit && *exit > 0 && *exit < 256 ? *exit : outcome.exit_code;
}

}  // namespace

std::string ReportSoFar(const RunOutcome& outcome) {
  hosts::RecordingsReader reader(outcome.directory.recordings());
  std::vector<trace::TraceRecord> records = reader.Take();
  hosts::CountFrom(outcome.began, records);
  const trace::Result result = ResultOf(outcome, records);
  const auto html = reports::Html(trace::ResultJson(result), trace::ReportJson(result));
  return html ? *html : html.error().message;
}

int Deliver(const RunOutcome& outcome, const DeliveryOptions& options) {
  std::vector<std::string> problems;
  const auto check = [&](const Expected<void>& written) {
    if (!written) problems.push_back(written.error().message);
  };
  hosts::RecordingsReader reader(outcome.directory.recordings());
  std::vector<trace::TraceRecord> records = reader.Take();
  problems = reader.problems();
  hosts::CountFrom(outcome.began, records);
  const trace::Result result = ResultOf(outcome, records);
  const std::string document = trace::ResultJson(result);
  const std::string root = outcome.directory.root;
  check(cli::WriteFile(root + "/events.jsonl", EventsText(records)));
  check(cli::WriteFile(root + "/result.json", document));
  check(cli::WriteFile(root + "/job.yaml", outcome.job.effective_yaml));
  const std::string report = root + "/report.html";
  const auto html = reports::Html(document, trace::ReportJson(result));
  if (html) {
    check(cli::WriteFile(report, *html));
  } else {
    problems.push_back(html.error().message);
  }
  KeepJournal(outcome.directory);
  check(cli::WriteStdout(
      options.json || result.jobs.empty()
          ? document
          : JobVerdictText(result.jobs.front(), root, cli::ColorOn(STDOUT_FILENO))));
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInternal);
  return ExitCodeOf(outcome, result, options.propagate_exit);
}

}  // namespace tfyarn::local
