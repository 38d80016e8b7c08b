#include "apps/yarn/history_commands.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/history_store.h"
#include "apps/yarn/kept_history.h"
#include "config/diagnostics.h"
#include "core/model/text.h"
#include "hosts/runtime/staging.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

using nlohmann::ordered_json;

using hdfs::HdfsErrorCode;

constexpr std::size_t kShown = 20;
constexpr std::size_t kLongestText = 10'000;
constexpr const char* kUnfinished = "unfinished";

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string TextOf(const ordered_json& object, const char* member) {
  const auto entry = object.find(member);
  return entry != object.end() && entry->is_string() ? entry->get<std::string>() : "";
}

// ---------------------------------------------------------------- the list

struct Row {
  HistoryStore::Application application;
  std::int32_t attempts = 0;
  std::string name;
  std::string status;
};

/// Of a job whose AM has not said the last word, or never will, YARN may know more.
std::string FinalWord(const std::string& written, const ApplicationId& application,
                      ClusterQuestions& questions) {
  if (!written.empty() && written != kUnfinished) return written;
  const auto seen = ApplicationWatch(questions, application).Look();
  return seen ? StatusOf(*seen) : kUnfinished;
}

/// nullopt: nothing of it can be read, which is said.
std::optional<Row> RowOf(HistoryStore& store, ClusterQuestions& questions,
                         const HistoryStore::Application& application) {
  const auto attempts = store.Attempts(application.id);
  if (!attempts) {
    cli::Complain(attempts.error().message);
    return std::nullopt;
  }
  Row row{.application = application};
  if (!attempts->empty()) {
    row.attempts = attempts->back();
  }
  std::string document;
  if (const auto whole = WholeHistory(store, application.id, *attempts)) {
    document = whole->result;
  } else if (!attempts->empty()) {
    document =
        store.Read({.application = application.id, .attempt = row.attempts}, hosts::kResultFile)
            .value_or("");
  }
  row.name = TextOf(JobOfResult(document), "name");
  row.status = StatusOfResult(document);
  row.status = FinalWord(row.status, application.id, questions);
  return row;
}

bool Selects(const HistoryArguments& arguments, const Row& row) {
  return (arguments.status.empty() || Lower(arguments.status) == row.status) &&
         row.name.find(arguments.name) != std::string::npos;
}

int List(const HistoryArguments& arguments, HistoryStore& store, ClusterQuestions& questions) {
  const auto applications = store.Applications();
  if (!applications) return RefuseHistory(applications.error(), store.directory());
  const double now_ms = static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                                std::chrono::system_clock::now().time_since_epoch())
                                                .count());
  std::vector<Row> rows;
  for (const HistoryStore::Application& application : *applications) {
    if (!arguments.all && rows.size() == kShown) break;
    const double age_days = (now_ms - static_cast<double>(application.begun_ms)) / 86'400'000.0;
    if (arguments.days > 0 && age_days > arguments.days) continue;
    auto row = RowOf(store, questions, application);
    if (row && Selects(arguments, *row)) rows.push_back(std::move(*row));
  }
  ordered_json list = ordered_json::array();
  std::string text;
  for (const Row& row : rows) {
    const std::string id = ToString(row.application.id);
    list.push_back({{"application", id},
                    {"name", row.name},
                    {"status", row.status},
                    {"begun_ms", row.application.begun_ms},
                    {"am_attempts", row.attempts}});
    text +=
        fmt::format("{}  {:<10}  {}  {}\n", id, row.status, cli::UtcText(row.application.begun_ms),
                    config::Printable(row.name, kLongestText));
  }
  return cli::Print(arguments.json ? cli::JsonText(list) : text);
}

// ---------------------------------------------------------------- one application

std::string Page(const KeptHistory& kept, const HistoryStore& store, ClusterQuestions& questions) {
  const ordered_json job = JobOfResult(kept.result);
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("{:<12} {}\n", name, config::Printable(value, kLongestText));
  };
  add("application", ToString(kept.application));
  add("name", TextOf(job, "name"));
  add("status", FinalWord(StatusOfResult(kept.result), kept.application, questions));
  add("rule", TextOf(job, "rule"));
  add("diagnostics", TextOf(job, "diagnostics"));
  if (const auto finished = job.find("finished"); finished != job.end() && finished->is_number())
    add("took", fmt::format("{:.1f} s", finished->get<double>()));
  add("AM attempts", kept.attempts.empty() ? "" : std::to_string(kept.attempts.back()));
  add("files", store.directory() + "/" + ToString(kept.application));
  return text;
}

/// Everything into `out`; the report of the whole on top.
int Fetch(HistoryStore& store, const KeptHistory& kept, const std::string& out) {
  std::vector<std::string> problems;
  const auto write = [&](const std::string& name, const std::string& text) {
    if (const auto written = cli::WriteFile(out + "/" + name, text); !written)
      problems.push_back(written.error().message);
  };
  write(hosts::kResultFile, kept.result);
  if (!kept.report.empty()) write(hosts::kReportFile, kept.report);
  for (const std::int32_t attempt : kept.attempts) {
    for (const std::string& file :
         {std::string(hosts::kEventsFile), std::string(hosts::kResultFile),
          std::string(hosts::kReportFile), std::string(hosts::kEffectiveJobFile),
          std::string(hosts::kJournalFile)}) {
      const auto bytes = store.Read({.application = kept.application, .attempt = attempt}, file);
      if (bytes) write(fmt::format("attempt-{}/{}", attempt, file), *bytes);
      if (!bytes && bytes.error().code != HdfsErrorCode::kNotFound)
        problems.push_back(bytes.error().message);
    }
  }
  for (const std::string& problem : problems) cli::Complain(problem);
  return cli::ToInt(problems.empty() ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
}

int Open(const KeptHistory& kept) {
  const std::string path =
      fmt::format("{}/tfyarn-{}.html", std::filesystem::temp_directory_path().string(),
                  ToString(kept.application));
  if (const auto written = cli::WriteFile(path, kept.report); !written) {
    cli::Complain(written.error().message);
    return cli::ToInt(cli::ExitCode::kInternal);
  }
  std::string program = "xdg-open", argument = path;
  char* const argv[] = {program.data(), argument.data(), nullptr};
  pid_t child = -1;
  int status = 1;
  const bool started = ::posix_spawnp(&child, "xdg-open", nullptr, nullptr, argv, environ) == 0;
  if (!started || ::waitpid(child, &status, 0) != child || status != 0)
    cli::Complain("no browser could be started with xdg-open; the report is " + path);
  return cli::Print(path + "\n");
}

}  // namespace

int HistoryCommand(const HistoryArguments& arguments, const std::string& version) {
  std::optional<ApplicationId> application;
  if (!arguments.application.empty()) {
    application = ApplicationFrom(arguments.application);
    if (!application) return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(settings.error());
  HistoryStore store(*settings, arguments.user, arguments.directory);
  ClusterQuestions questions(*settings);
  if (!application) return List(arguments, store, questions);
  const auto kept = FindHistory(store, questions, *application, version);
  if (!kept) return RefuseHistory(kept.error(), store.directory());
  if (!arguments.out.empty()) {
    const int code = Fetch(store, *kept, arguments.out);
    if (code != 0) return code;
  }
  if (arguments.open) return Open(*kept);
  return cli::Print(arguments.json ? kept->result : Page(*kept, store, questions));
}

}  // namespace tfyarn::apps
