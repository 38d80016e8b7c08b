#include "apps/local/run_result.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/local/job_verdict.h"
#include "core/trace/json.h"
#include "hosts/runtime/live_state.h"
#include "hosts/runtime/run_documents.h"
#include "hosts/runtime/run_records.h"
#include "hosts/runtime/staging.h"

namespace tfyarn::local {
namespace {

namespace fs = std::filesystem;

std::vector<trace::TraceRecord> RecordsOf(const RunOutcome& outcome,
                                          hosts::RecordingsReader& reader) {
  std::vector<trace::TraceRecord> records = reader.Take();
  hosts::CountFrom(outcome.began, records);
  return records;
}

hosts::RunDocuments::Made DocumentsOf(const RunOutcome& outcome,
                                      const std::vector<trace::TraceRecord>& records, bool over) {
  hosts::RunDocuments documents(outcome.version, outcome.job.effective_yaml);
  for (const trace::TraceRecord& record : records) documents.Observe(record);
  return documents.Make(outcome.ended - outcome.began, over);
}

std::string EventsText(const JobSpec& job, const std::vector<trace::TraceRecord>& records) {
  hosts::LiveState live(job, Instant{});
  std::string text;
  std::uint64_t seq = 0;
  for (const trace::TraceRecord& record : records)
    text += trace::RecordJson(record, {.seq = ++seq, .text = live.Observe(record)}) + "\n";
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
  const auto made = DocumentsOf(outcome, RecordsOf(outcome, reader), false);
  return made.html ? *made.html : made.html.error().message;
}

int Deliver(const RunOutcome& outcome, const DeliveryOptions& options) {
  std::vector<std::string> problems;
  const auto check = [&](const Expected<void>& written) {
    if (!written) problems.push_back(written.error().message);
  };
  hosts::RecordingsReader reader(outcome.directory.recordings());
  const std::vector<trace::TraceRecord> records = RecordsOf(outcome, reader);
  problems = reader.problems();
  const auto made = DocumentsOf(outcome, records, true);
  const trace::Result& result = made.result;
  const std::string root = outcome.directory.root;
  check(cli::WriteFile(root + "/events.jsonl", EventsText(outcome.job.spec, records)));
  check(cli::WriteFile(root + "/result.json", made.json));
  check(cli::WriteFile(root + "/job.yaml", outcome.job.effective_yaml));
  const std::string report = root + "/report.html";
  if (made.html) {
    check(cli::WriteFile(report, *made.html));
  } else {
    problems.push_back(made.html.error().message);
  }
  KeepJournal(outcome.directory);
  if (result.jobs.empty()) {
    problems.push_back(root + ": there is no record of the job");
  } else if (!options.may_print || options.may_print()) {
    check(cli::WriteStdout(
        options.json ? made.json
                     : JobVerdictText(result.jobs.front(), root, cli::ColorOn(STDOUT_FILENO))));
  }
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInternal);
  return ExitCodeOf(outcome, result, options.propagate_exit);
}

}  // namespace tfyarn::local
