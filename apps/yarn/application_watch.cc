#include "apps/yarn/application_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/away_watch.h"
#include "core/client/job_client.h"
#include "core/model/text.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::apps {
namespace {

using hadoop::ApplicationDetails;
using yarn::YarnApplicationState;

/// As a client that has submitted it.
const Duration kPoll = client::ClientOptions{}.poll;

}  // namespace

bool HasEnded(const ApplicationDetails& application) {
  const YarnApplicationState state = application.report.state;
  return state == YarnApplicationState::kFinished || state == YarnApplicationState::kFailed ||
         state == YarnApplicationState::kKilled;
}

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

std::optional<ApplicationId> ParseApplication(const std::string& text) {
  // The AM's container of that application, whose form core knows.
  const std::string prefix = "application_";
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto container = ParseContainerId("container_" + text.substr(prefix.size()) + "_01_000001");
  if (!container || ToString(container->application_attempt.application) != text)
    return std::nullopt;
  return container->application_attempt.application;
}

std::optional<ApplicationId> ApplicationFrom(const std::string& text) {
  auto application = ParseApplication(text);
  if (!application)
    cli::Complain(text + " is no application's id: those look like application_1700000000000_0007");
  return application;
}

int PrintEnd(const JobEnd& end, bool json) {
  if (json) {
    nlohmann::ordered_json result;
    result["application"] = end.application;
    result["status"] = end.status;
    result["diagnostics"] = end.diagnostics;
    result["exit_code"] = end.code;
    return cli::Print(cli::JsonText(result), end.code);
  }
  return cli::Print(
      cli::TerminalText(fmt::format("{} {}{}{}\n", end.name, end.status,
                                    end.diagnostics.empty() ? "" : ": ", end.diagnostics)),
      end.code);
}

int Refuse(const hadoop::IpcError& error) {
  cli::Complain(error.message);
  if (error.kind == hadoop::IpcErrorKind::kSecurity) return cli::ToInt(cli::ExitCode::kCredentials);
  const yarn::RpcErrorCode code = hadoop::ToYarnError(error).code;
  return cli::ToInt(code == yarn::RpcErrorCode::kApplicationNotFound ? cli::ExitCode::kInvalidInput
                                                                     : cli::ExitCode::kCluster);
}

hadoop::IpcError Unreadable(const Error& error) {
  return {.kind = hadoop::IpcErrorKind::kProtocol, .message = error.message};
}

bool MayPass(const hadoop::IpcError& error) {
  return hadoop::ToYarnError(error).code == yarn::RpcErrorCode::kUnavailable;
}

ApplicationWatch::Seen ApplicationWatch::Look() const {
  const auto answer = Ask(yarn::GetApplicationReportRequest{.application = application_});
  if (!answer) return tl::unexpected(answer.error());
  auto details = hadoop::DecodeApplicationReport(*answer);
  if (!details) return tl::unexpected(Unreadable(details.error()));
  return std::move(*details);
}

ApplicationWatch::Seen ApplicationWatch::UntilItHasEnded(
    const std::function<void(const ApplicationDetails&)>& seen,
    const std::optional<Duration>& longest) const {
  using Clock = AwayWatch::Clock;
  constexpr auto kRm = AwayWatch::Part::kResourceManager;
  AwayWatch away;
  const Clock::time_point begun = Clock::now();
  Clock::time_point answered = begun;
  while (true) {
    away.Asked(kRm, "the question about the job", Clock::now());
    auto now = Look();
    away.Answered(kRm, now ? "" : now.error().message, Clock::now());
    if (now) answered = Clock::now();
    if (now && seen) seen(*now);
    const bool wait =
        now ? !HasEnded(*now) : MayPass(now.error()) && Clock::now() - answered < kLongestSilence;
    const Duration left = longest ? *longest - (Clock::now() - begun) : kPoll;
    if (!wait || left <= Duration::zero()) return now;
    if (const auto line = away.Next(Clock::now())) {
      cli::WriteStderr(cli::TerminalText(fmt::format(
          "tfyarn: {}; asking again for {} min; the job does not depend on that\n", *line,
          std::chrono::duration_cast<std::chrono::minutes>(kLongestSilence).count())));
    }
    std::this_thread::sleep_for(std::min(kPoll, left));
  }
}

tl::expected<std::string, hadoop::IpcError> ApplicationWatch::Kill() const {
  return Ask(yarn::KillApplicationRequest{.application = application_,
                                          .diagnostics = "killed by `tfyarn kill`"});
}

tl::expected<std::string, hadoop::IpcError> ApplicationWatch::Ask(
    const yarn::RmRequest& request) const {
  const auto call = hadoop::EncodeRmRequest(request, {});
  if (!call) return tl::unexpected(Unreadable(call.error()));
  return questions_.Ask(*call);
}

}  // namespace tfyarn::apps
