#include "apps/yarn/application_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/yarn/cluster_access.h"
#include "config/diagnostics.h"
#include "core/model/text.h"
#include "wire/hadoop/cluster_queries.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::apps {
namespace {

using hadoop::ApplicationDetails;
using yarn::FinalApplicationStatus;
using yarn::YarnApplicationState;

constexpr const char* kType = "TFYARN";
constexpr Duration kPoll = 1s;
/// A ResourceManager that is away for longer does not come back by itself.
constexpr Duration kLongestSilence = 15min;
constexpr std::size_t kLongestName = 60;

bool HasEnded(const ApplicationDetails& application) {
  const YarnApplicationState state = application.report.state;
  return state == YarnApplicationState::kFinished || state == YarnApplicationState::kFailed ||
         state == YarnApplicationState::kKilled;
}

/// What its AM said at its end; what YARN says where no AM did.
std::string StatusOf(const ApplicationDetails& application) {
  return application.report.state == YarnApplicationState::kFinished
             ? ToText(application.report.final_status)
             : ToText(application.report.state);
}

int ExitCodeOf(const ApplicationDetails& application) {
  const std::string status = StatusOf(application);
  if (status == "succeeded") return cli::ToInt(cli::ExitCode::kOk);
  return cli::ToInt(status == "killed" ? cli::ExitCode::kJobKilled : cli::ExitCode::kJobFailed);
}

std::string Time(std::int64_t milliseconds) {
  if (milliseconds <= 0) return "-";
  const std::time_t seconds = milliseconds / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

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

int Print(const std::string& text, int code) {
  const auto written = cli::WriteStdout(text);
  if (written) return code;
  cli::Complain(written.error().message);
  return cli::ToInt(cli::ExitCode::kInternal);
}

std::string Dump(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int Refuse(const hadoop::IpcError& error) {
  cli::Complain(error.message);
  const yarn::RpcErrorCode code = hadoop::ToYarnError(error).code;
  return cli::ToInt(code == yarn::RpcErrorCode::kApplicationNotFound ? cli::ExitCode::kInvalidInput
                                                                     : cli::ExitCode::kCluster);
}

/// "application_1700000000000_0007", of which YARN's own commands make nothing else either.
std::optional<ApplicationId> ApplicationFrom(const std::string& text) {
  // The AM's container of that application, whose form core knows.
  const std::string prefix = "application_";
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto container = ParseContainerId("container_" + text.substr(prefix.size()) + "_01_000001");
  if (!container || ToString(container->application_attempt.application) != text)
    return std::nullopt;
  return container->application_attempt.application;
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
  add("started", Time(application.started_ms));
  add("finished", Time(application.finished_ms));
  add("page", report.tracking_url == "N/A" ? "" : report.tracking_url);
  add("diagnostics", report.diagnostics);
  return text;
}

hadoop::IpcError Unreadable(const Error& error) {
  return {.kind = hadoop::IpcErrorKind::kProtocol, .message = error.message};
}

bool MayPass(const hadoop::IpcError& error) {
  return hadoop::ToYarnError(error).code == yarn::RpcErrorCode::kUnavailable;
}

/// One application, asked for as often as need be.
class Watch {
 public:
  using Seen = tl::expected<ApplicationDetails, hadoop::IpcError>;

  Watch(ClusterQuestions& questions, const ApplicationId& application)
      : questions_(questions), application_(application) {}

  [[nodiscard]] Seen Look() const {
    const auto answer = Ask(yarn::GetApplicationReportRequest{.application = application_});
    if (!answer) return tl::unexpected(answer.error());
    auto details = hadoop::DecodeApplicationReport(*answer);
    if (!details) return tl::unexpected(Unreadable(details.error()));
    return std::move(*details);
  }

  /// A ResourceManager that starts again is waited for.
  [[nodiscard]] Seen UntilItHasEnded() const {
    using Clock = std::chrono::steady_clock;
    Clock::time_point answered = Clock::now();
    while (true) {
      auto seen = Look();
      if (seen) answered = Clock::now();
      const bool wait = seen ? !HasEnded(*seen)
                             : MayPass(seen.error()) && Clock::now() - answered < kLongestSilence;
      if (!wait) return seen;
      std::this_thread::sleep_for(kPoll);
    }
  }

  /// The RM kills later.
  [[nodiscard]] tl::expected<std::string, hadoop::IpcError> Kill() const {
    return Ask(yarn::KillApplicationRequest{.application = application_,
                                            .diagnostics = "killed by `tfyarn kill`"});
  }

 private:
  [[nodiscard]] tl::expected<std::string, hadoop::IpcError> Ask(
      const yarn::RmRequest& request) const {
    const auto call = hadoop::EncodeRmRequest(request, {});
    if (!call) return tl::unexpected(Unreadable(call.error()));
    return questions_.Ask(*call);
  }

  ClusterQuestions& questions_;
  ApplicationId application_;
};

int Show(const ApplicationDetails& application, bool json, int code) {
  return Print(json ? Dump(Json(application)) : Page(application), code);
}

}  // namespace

int ListCommand(const ListArguments& arguments) {
  const auto settings = LoadSettings();
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
    return Print(Dump(list), cli::ToInt(cli::ExitCode::kOk));
  }
  std::string text;
  for (const ApplicationDetails& application : *applications) {
    text += fmt::format("{}  {:<9}  {:<8}  {}  {}  {}\n", ToString(application.report.application),
                        StatusOf(application), config::Printable(application.user, kLongestName),
                        Time(application.started_ms),
                        config::Printable(application.queue, kLongestName),
                        config::Printable(application.name, kLongestName));
  }
  return Print(text, cli::ToInt(cli::ExitCode::kOk));
}

int ApplicationCommand(const ApplicationArguments& arguments) {
  const auto application = ApplicationFrom(arguments.application);
  if (!application) {
    cli::Complain(arguments.application +
                  " is no application's id: those look like application_1700000000000_0007");
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  const auto settings = LoadSettings();
  if (!settings) return cli::ToInt(cli::ExitCode::kInvalidInput);
  ClusterQuestions questions(*settings);
  const Watch watch(questions, *application);
  if (arguments.verb == ApplicationVerb::kStatus) {
    const auto seen = watch.Look();
    return seen ? Show(*seen, arguments.json, cli::ToInt(cli::ExitCode::kOk))
                : Refuse(seen.error());
  }
  const bool kill = arguments.verb == ApplicationVerb::kKill;
  if (kill) {
    if (const auto killed = watch.Kill(); !killed) return Refuse(killed.error());
  }
  const auto ended = watch.UntilItHasEnded();
  if (!ended) return Refuse(ended.error());
  return Show(*ended, arguments.json, kill ? cli::ToInt(cli::ExitCode::kOk) : ExitCodeOf(*ended));
}

}  // namespace tfyarn::apps
