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
#include "apps/yarn/history_watch.h"
#include "apps/yarn/kept_history.h"
#include "apps/yarn/progress_lines.h"
#include "apps/yarn/web_questions.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "core/client/job_client.h"
#include "core/model/text.h"
#include "hosts/yarn/history_paths.h"
#include "wire/hadoop/cluster_queries.h"

namespace tfyarn::apps {
namespace {

using hadoop::ApplicationDetails;
using yarn::YarnApplicationState;

constexpr const char* kType = "TFYARN";
constexpr Duration kLongestRemoval = 10s;
/// HDFS is asked again so long for what a command can do without.
constexpr Duration kLongestLook = 2s;
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

/// `nodes`: what the job waits for nodes for; "" = for none.
std::string Page(const ApplicationDetails& application, const std::string& nodes) {
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
  if (!nodes.empty()) add("waits for", "nodes that may still come: " + nodes);
  add("am attempt", report.current_attempt > 0 ? std::to_string(report.current_attempt) : "");
  add("started", cli::UtcText(application.started_ms));
  add("finished", cli::UtcText(application.finished_ms));
  add("page", report.tracking_url == "N/A" ? "" : report.tracking_url);
  add("diagnostics", report.diagnostics);
  return text;
}

/// Where the job's history is, as its staged file says; "" = where it says nothing.
std::string HistoryOf(HdfsQuestions& hdfs, const std::string& staging) {
  const auto text = hdfs.OpenStaged(fmt::format("{}/{}", staging, client::kJobFileName));
  const auto job = text ? config::LoadJobText(*text, client::kJobFileName)
                        : tl::expected<JobSpec, config::Diagnostics>();
  return job ? job->history_directory : "";
}

/// What an application's history tells of it while it runs.
class RunningJob {
 public:
  explicit RunningJob(const config::HadoopSettings& settings)
      : settings_(settings), client_(loop_, Options(settings)) {}

  /// Reads what is new, unless it did just now.
  void Look(const ApplicationDetails& application) {
    const yarn::ApplicationReport& report = application.report;
    runs_ = report.state == YarnApplicationState::kRunning;
    if (!runs_) return;
    if (!history_) {
      HdfsQuestions hdfs(settings_, kLongestLook);
      const std::string staging =
          StagingInHdfs(application.user) + "/" + ToString(report.application);
      history_.emplace(client_,
                       hosts::HistoryDirectory(HistoryOf(hdfs, staging), application.user));
    }
    const auto now = ProgressLines::Clock::now();
    if (now < next_) return;
    history_->LookNow(loop_,
                      {.application = report.application, .attempt = report.current_attempt});
    next_ = now + HistoryWatch::kPause;
  }
  /// What it waits for nodes for; "" = for none, or the caller may not know.
  [[nodiscard]] std::string Limit() { return runs_ ? history_->news().limit() : ""; }
  [[nodiscard]] std::vector<std::string> PortLines() {
    return runs_ ? history_->news().PortLines() : std::vector<std::string>();
  }

 private:
  static wire::WebHdfsOptions Options(const config::HadoopSettings& settings) {
    wire::WebHdfsOptions options = HdfsOptions(settings);
    options.longest = kLongestLook;
    return options;
  }

  const config::HadoopSettings& settings_;
  boost::asio::io_context loop_;
  wire::WebHdfsClient client_;
  std::optional<HistoryWatch> history_;
  bool runs_ = false;
  ProgressLines::Clock::time_point next_;
};

int Show(const ApplicationDetails& application, const std::string& nodes, bool json, int code) {
  if (!json) return cli::Print(Page(application, nodes), code);
  nlohmann::ordered_json page = Json(application);
  page["waits_for"] = nodes.empty() ? "" : "nodes: " + nodes;
  return cli::Print(cli::JsonText(page), code);
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
    // No reader is left to be told that it cannot be written.
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
  RunningJob job(settings);
  const auto ended = watch.UntilItHasEnded([&](const ApplicationDetails& now) {
    job.Look(now);
    if (const auto line = lines.Next(now.report, job.Limit(), ProgressLines::Clock::now()))
      cli::WriteStderr(cli::TerminalText(*line) + "\n");
    for (const std::string& line : job.PortLines())
      cli::WriteStderr(cli::TerminalText(line) + "\n");
  });
  if (!ended) return Refuse(ended.error());
  CleanUp(settings, *ended, version);
  return PrintEnd({.application = ToString(ended->report.application),
                   .name = ended->name,
                   .status = StatusOf(*ended),
                   .diagnostics = client::WhyEnded(ended->report),
                   .code = ExitCodeOf(*ended)},
                  json);
}

}  // namespace

int ListCommand(const ListArguments& arguments) {
  const auto settings = LoadClusterSettings();
  if (!settings) return cli::ToInt(settings.error());
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
  if (!settings) return cli::ToInt(settings.error());
  ClusterQuestions questions(*settings);
  const ApplicationWatch watch(questions, *application);
  if (arguments.verb == ApplicationVerb::kStatus) {
    const auto seen = watch.Look();
    if (!seen) return Refuse(seen.error());
    RunningJob job(*settings);
    job.Look(*seen);
    return Show(*seen, job.Limit(), arguments.json, cli::ToInt(cli::ExitCode::kOk));
  }
  if (arguments.verb == ApplicationVerb::kAttach)
    return Attach(watch, *settings, arguments.json, version);
  const bool kill = arguments.verb == ApplicationVerb::kKill;
  if (kill) {
    if (const auto killed = watch.Kill(); !killed) return Refuse(killed.error());
  }
  const auto ended = watch.UntilItHasEnded({}, arguments.timeout);
  if (!ended) return Refuse(ended.error());
  if (!HasEnded(*ended)) {
    cli::Complain(fmt::format("{} has not ended within {} (--timeout); it goes on",
                              arguments.application, ToString(*arguments.timeout)));
    return Show(*ended, "", arguments.json, cli::ToInt(cli::ExitCode::kDeadline));
  }
  CleanUp(*settings, *ended, version);
  return Show(*ended, "", arguments.json,
              kill ? cli::ToInt(cli::ExitCode::kOk) : ExitCodeOf(*ended));
}

}  // namespace tfyarn::apps
