#include "apps/yarn/application_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/kept_history.h"
#include "apps/yarn/progress_lines.h"
#include "apps/yarn/web_questions.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "core/client/job_client.h"
#include "core/model/text.h"
#include "wire/hadoop/cluster_queries.h"

namespace tfyarn::apps {
namespace {

using hadoop::ApplicationDetails;
using yarn::YarnApplicationState;

constexpr const char* kType = "TFYARN";
constexpr Duration kLongestRemoval = 10s;
constexpr std::size_t kLongestName = 60;

nlohmann::ordered_json Json(const ApplicationDetails& application) {
  nlohmann::ordered_json entry;
  entry["application"] = ToString(application.report.application);
  entry["name"] = application.name;
  entry["user"] = application.user;
  entry["queue"] = application.queue;
  entry["state"] = ToText(application.report.state);
  entry["final_status"] = ToText(application.report.final_status);
  entry["am_attempt"] = application.report.current_attempt;
  entry["started_ms"] = application.started_ms;
  entry["finished_ms"] = application.finished_ms;
  entry["tracking_url"] = application.report.tracking_url;
  entry["diagnostics"] = application.report.diagnostics;
  return entry;
}

std::string Page(const ApplicationDetails& application) {
  const yarn::ApplicationReport& report = application.report;
  std::string text = fmt::format("{:<12} {}\n", "application", ToString(report.application));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<12} {}\n", name, config::Printable(value, 10'000));
  };
  add("name", application.name);
  add("user", application.user);
  add("queue", application.queue);
  add("state", ToText(report.state));
  if (HasEnded(application)) add("status", StatusOf(application));
  add("am attempt", report.current_attempt > 0 ? std::to_string(report.current_attempt) : "");
  add("started", cli::UtcText(application.started_ms));
  add("finished", cli::UtcText(application.finished_ms));
  add("page", report.tracking_url == "N/A" ? "" : report.tracking_url);
  add("diagnostics", report.diagnostics);
  return text;
}

int Show(const ApplicationDetails& application, bool json, int code) {
  return cli::Print(json ? cli::JsonText(Json(application)) : Page(application), code);
}

/// Where the job's history is, as its staged file says; "" = where it says nothing.
std::string HistoryOf(HdfsQuestions& hdfs, const std::string& staging) {
  const auto text = hdfs.OpenStaged(fmt::format("{}/{}", staging, client::kJobFileName));
  const auto job = text ? config::LoadJobText(*text, client::kJobFileName)
                        : tl::expected<JobSpec, config::Diagnostics>();
  return job ? job->history_directory : "";
}

/// What an AM does that says the job's last word: no AM has where YARN ended the application. Keeps
/// the end in the history, and removes the staging directory.
void CleanUp(const config::HadoopSettings& settings, const ApplicationDetails& ended,
             const std::string& version) {
  if (ended.report.state == YarnApplicationState::kFinished) return;
  const std::string directory =
      StagingInHdfs(ended.user) + "/" + ToString(ended.report.application);
  HdfsQuestions hdfs(settings, kLongestRemoval);
  KeepEnd(settings, HistoryOf(hdfs, directory), ended, EndOf(ended), version);
  if (const auto removed = hdfs.Delete(directory, true); !removed)
    cli::Complain(fmt::format("{} is left in HDFS: {}", directory, removed.error().message));
}

/// A signal ends this program, and says that it ends nothing else.
void LeaveOnSignal() {
  struct sigaction action {};
  action.sa_handler = [](int number) {
    constexpr std::string_view kText =
        "left; the job goes on (`tfyarn attach` comes back to it, `tfyarn kill` ends it)\n";
    // Nobody is there to be told that it cannot be written.
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());
    ::_exit(cli::ToInt(cli::ExitCode::kSignalBase) + number);
  };
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// As `tfyarn submit --wait` shows a job that it has submitted.
int Attach(const ApplicationWatch& watch, const config::HadoopSettings& settings, bool json,
           const std::string& version) {
  LeaveOnSignal();
  ProgressLines lines;
  const auto ended = watch.UntilItHasEnded([&](const ApplicationDetails& now) {
    if (const auto line = lines.Next(now.report, ProgressLines::Clock::now()))
      cli::WriteStderr(cli::TerminalText(*line) + "\n");
  });
  if (!ended) return Refuse(ended.error());
  CleanUp(settings, *ended, version);
  return PrintEnd({.application = ToString(ended->report.application),
                   .name = ended->name,
                   .status = StatusOf(*ended),
                   .diagnostics = ended->report.diagnostics,
                   .code = ExitCodeOf(*ended)},
                  json);
}

}  // namespace

int ListCommand(const ListArguments& arguments) {
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(cli::ExitCode::kInvalidInput);
  hadoop::ApplicationFilter filter{.types = {kType}};
  if (!arguments.all) {
    filter.states = {YarnApplicationState::kNew, YarnApplicationState::kNewSaving,
                     YarnApplicationState::kSubmitted, YarnApplicationState::kAccepted,
                     YarnApplicationState::kRunning};
  }
  ClusterQuestions questions(*settings);
  const auto answer = questions.Ask(hadoop::GetApplications(filter));
  if (!answer) return Refuse(answer.error());
  auto applications = hadoop::DecodeApplications(*answer);
  if (!applications) return Refuse(Unreadable(applications.error()));
  std::sort(applications->begin(), applications->end(), [](const auto& a, const auto& b) {
    return a.report.application > b.report.application;
  });
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ApplicationDetails& application : *applications) list.push_back(Json(application));
    return cli::Print(cli::JsonText(list), cli::ToInt(cli::ExitCode::kOk));
  }
  std::string text;
  for (const ApplicationDetails& application : *applications) {
    text += fmt::format("{}  {:<9}  {:<8}  {}  {}  {}\n", ToString(application.report.application),
                        StatusOf(application), config::Printable(application.user, kLongestName),
                        cli::UtcText(application.started_ms),
                        config::Printable(application.queue, kLongestName),
                        config::Printable(application.name, kLongestName));
  }
  return cli::Print(text, cli::ToInt(cli::ExitCode::kOk));
}

int ApplicationCommand(const ApplicationArguments& arguments, const std::string& version) {
  const auto application = ApplicationFrom(arguments.application);
  if (!application) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(cli::ExitCode::kInvalidInput);
  ClusterQuestions questions(*settings);
  const ApplicationWatch watch(questions, *application);
  if (arguments.verb == ApplicationVerb::kStatus) {
    const auto seen = watch.Look();
    return seen ? Show(*seen, arguments.json, cli::ToInt(cli::ExitCode::kOk))
                : Refuse(seen.error());
  }
  if (arguments.verb == ApplicationVerb::kAttach)
    return Attach(watch, *settings, arguments.json, version);
  const bool kill = arguments.verb == ApplicationVerb::kKill;
  if (kill) {
    if (const auto killed = watch.Kill(); !killed) return Refuse(killed.error());
  }
  const auto ended = watch.UntilItHasEnded();
  if (!ended) return Refuse(ended.error());
  CleanUp(*settings, *ended, version);
  return Show(*ended, arguments.json, kill ? cli::ToInt(cli::ExitCode::kOk) : ExitCodeOf(*ended));
}

}  // namespace tfyarn::apps
