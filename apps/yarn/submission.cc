#include "apps/yarn/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/kept_history.h"
#include "core/client/job_client.h"
#include "core/model/job_secrets.h"
#include "core/model/text.h"
#include "hosts/yarn/history_paths.h"

namespace tfyarn::apps {
namespace {

constexpr Duration kShowPeriod = 200ms;
/// Between two looks whether the job is accepted, where the caller waits for no more than that.
constexpr Duration kAcceptancePoll = 100ms;
/// A call of HDFS is repeated so long below who asked, who repeats it then, and says so.
constexpr Duration kLongestCall = 20s;
constexpr Duration kRuntimeRetry = 1s;
/// Of a server of HDFS that has accepted a connection.
constexpr Duration kLeastSilence = 5s;
constexpr Duration kMostSilence = 30s;
/// The client's own deadlines come first: it cleans up what it has staged.
constexpr Duration kLastChance = 15s;

wire::WebHdfsOptions StorageOptions(const config::HadoopSettings& settings, Duration timeout) {
  wire::WebHdfsOptions options = HdfsOptions(settings);
  options.longest = std::min(kLongestCall, timeout);
  options.http.silence = std::clamp<Duration>(timeout, kLeastSilence, kMostSilence);
  return options;
}

/// YARN keeps credentials from all but the containers of the application and itself. The AM hands
/// its own on to its agents.
hosts::YarnClusterOptions WithSecrets(hosts::YarnClusterOptions options,
                                      const std::vector<SecretValue>& secrets) {
  for (const SecretValue& secret : secrets)
    options.credentials.secrets.emplace_back(TravelName(secret), secret.value);
  return options;
}

}  // namespace

std::string TimeoutText(Duration timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}s", seconds);
}

Submission::Submission(const SubmitArguments& arguments, config::JobDocument job,
                       const config::HadoopSettings& settings, std::string version)
    : arguments_(arguments),
      job_(std::move(job)),
      spec_(std::make_shared<const JobSpec>(job_.spec)),
      settings_(settings),
      version_(std::move(version)),
      user_(settings.user),
      addresses_(YarnAddressesOf(settings)),
      storage_(loop_, StorageOptions(settings, arguments.timeout)),
      cluster_(loop_, WithSecrets(ClusterOptions(settings), job_.secrets)),
      staging_(storage_),
      watched_cluster_(cluster_, away_),
      watched_storage_(storage_, away_),
      signals_(loop_, SIGINT, SIGTERM),
      show_(loop_),
      runtime_again_(loop_),
      history_(storage_.client(), hosts::HistoryDirectory(spec_->history_directory, user_)) {}

int Submission::Run() {
  WaitForSignals();
  ShowProgress();
  ProvideRuntime();
  if (!exit_code_) loop_.run();
  return Finish();
}

void Submission::ProvideRuntime() {
  std::error_code failed;
  scratch_ = std::filesystem::temp_directory_path(failed).string();
  if (failed) {
    cli::Complain("TMPDIR is no directory: " + failed.message());
    return End(cli::ToInt(cli::ExitCode::kInvalidInput));
  }
  staging_.ProvideRuntime(
      OwnDirectory(),
      {.shared = settings_.runtime_directory,
       .own = HomeInHdfs(user_) + "/runtime",
       .user = user_,
       .scratch = scratch_},
      [this](Expected<yarn::LocalResource> runtime) { RuntimeProvided(std::move(runtime)); });
}

void Submission::RuntimeProvided(Expected<yarn::LocalResource> runtime) {
  if (runtime) return MakeClient(*runtime);
  const bool again = runtime.error().code == ErrorCode::kUnavailable &&
                     AwayWatch::Clock::now() < begun_ + arguments_.timeout;
  if (again) {
    Say(
        fmt::format("HDFS has not stored the runtime: {}; trying again, {} in all (--timeout), "
                    "Ctrl-C gives up (`tfyarn doctor` says more)",
                    runtime.error().message, TimeoutText(arguments_.timeout)));
    runtime_again_.expires_after(kRuntimeRetry);
    return runtime_again_.async_wait([this](const boost::system::error_code& error) {
      if (!error) ProvideRuntime();
    });
  }
  cli::Complain(runtime.error().message + "; `tfyarn doctor` says more");
  End(cli::ToInt(cli::ExitCode::kCluster));
}

void Submission::MakeClient(const yarn::LocalResource& runtime) {
  client::ClientOptions options;
  options.job_file = job_.effective_yaml;
  options.localize_job_file = false;
  options.unreachable = options.hdfs_deadline = arguments_.timeout;
  if (!arguments_.wait) options.poll = kAcceptancePoll;
  options.am_files[hosts::kRuntimeDirectory] = runtime;
  options.am_command = hosts::BundledCommand("tfyarn-am");
  options.am_environment = hosts::ToEnvironment(addresses_);
  options.am_environment["SASL_PATH"] = hosts::BundledSaslPath();
  const std::string here = std::filesystem::path(arguments_.file).parent_path().string();
  client_ = std::make_unique<hosts::ClientHost>(
      spec_, std::move(options), RandomSeed(),
      hosts::ClientHost::Parts{
          .loop = loop_,
          .cluster = watched_cluster_,
          .storage = watched_storage_,
          .recorder = recorder_,
          .stage =
              [this, here, runtime](const std::string& directory,
                                    hosts::ClientHost::StagedAnswer done) {
                staging_.Stage(*spec_, {.here = here, .there = directory, .scratch = scratch_},
                               addresses_, runtime, std::move(done));
              },
          .seen = [this](const ClientAction& action) { Seen(action); },
          .exit = [this](std::int32_t code) { ClientEnded(code); }});
  client_->Submit({.user = user_, .staging_directory = StagingInHdfs(user_)});
}

// ---------------------------------------------------------------- while it goes on

void Submission::Seen(const ClientAction& action) {
  if (const auto* note = std::get_if<Note>(&action)) return Say(note->text);
  const auto* submitted = std::get_if<ApplicationSubmitted>(&action);
  if (submitted == nullptr) return;
  application_ = submitted->application;
  if (!arguments_.json && !cli::WriteStdout(ApplicationText() + "\n")) return End(1);
}

/// Before that YARN may still fail it for its queue or its user's rights.
bool Submission::IsAccepted() const {
  const std::optional<yarn::ApplicationReport>& report = client_->snapshot().report;
  if (!report || report->application != application_) return false;
  return report->state == yarn::YarnApplicationState::kAccepted ||
         report->state == yarn::YarnApplicationState::kRunning ||
         report->state == yarn::YarnApplicationState::kFinished;
}

void Submission::ClientEnded(std::int32_t code) {
  const bool accepted = !arguments_.wait && IsAccepted();
  End(accepted ? cli::ToInt(cli::ExitCode::kOk) : code);
}

void Submission::ShowWhoIsAway() {
  const auto now = AwayWatch::Clock::now();
  const bool submitting = client_ == nullptr || !application_;
  if (const auto line = away_.Next(now)) {
    Say(submitting ? fmt::format("{}; asking again, {} in all (--timeout), Ctrl-C gives up "
                                 "(`tfyarn doctor` says more)",
                                 *line, TimeoutText(arguments_.timeout))
                   : *line + "; asking again; the job does not depend on that");
  }
  const bool waits_for_job = arguments_.wait && !submitting;
  if (waits_for_job || away_.Longest(now) < arguments_.timeout + kLastChance) return;
  cli::Complain(fmt::format("no answer for {}: given up{}", TimeoutText(arguments_.timeout),
                            application_ ? "; " + ApplicationText() + " may run" : ""));
  End(cli::ToInt(cli::ExitCode::kCluster));
}

void Submission::LookAtHistory(const yarn::ApplicationReport& report) {
  const bool running = report.state == yarn::YarnApplicationState::kRunning;
  if (!arguments_.wait || !running || !next_look_ || AwayWatch::Clock::now() < *next_look_) return;
  next_look_.reset();
  history_.Look({.application = report.application, .attempt = report.current_attempt},
                [this] { next_look_ = AwayWatch::Clock::now() + HistoryWatch::kPause; });
}

void Submission::ShowProgress() {
  ShowWhoIsAway();
  if (client_ != nullptr) {
    const client::ClientSnapshot& known = client_->snapshot();
    if (known.state == client::ClientState::kWatching && known.report) {
      LookAtHistory(*known.report);
      if (const auto line =
              lines_.Next(*known.report, history_.news().limit(), ProgressLines::Clock::now()))
        Say(*line);
      for (const std::string& line : history_.news().PortLines()) Say(line);
    }
    if (!arguments_.wait && !exit_code_ && IsAccepted()) return End(cli::ToInt(cli::ExitCode::kOk));
  }
  show_.expires_after(arguments_.wait ? kShowPeriod : kAcceptancePoll);
  show_.async_wait([this](const boost::system::error_code& error) {
    if (!error) ShowProgress();
  });
}

void Submission::WaitForSignals() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (++interrupts_ > 1 || client_ == nullptr)
      return End(cli::ToInt(cli::ExitCode::kSignalBase) + signal);
    cli::WriteStderr("killing the job; once more to leave it as it is\n");
    client_->Kill(fmt::format("the user sent signal {}", signal));
    WaitForSignals();
  });
}

void Submission::Say(const std::string& text) const {
  if (!arguments_.quiet) cli::WriteStderr(cli::TerminalText(text) + "\n");
}

// ---------------------------------------------------------------- the end

void Submission::End(int code) {
  exit_code_ = code;
  loop_.stop();
}

void Submission::KeepEndInHistory() const {
  const client::ClientSnapshot& known = client_->snapshot();
  if (!application_ || !known.report ||
      known.report->state == yarn::YarnApplicationState::kFinished)
    return;
  ClusterQuestions questions(settings_);
  const auto seen = ApplicationWatch(questions, *application_).Look();
  if (!seen || !HasEnded(*seen)) return;
  KeepEnd(settings_, spec_->history_directory, *seen,
          {.status = known.status, .diagnostics = known.diagnostics}, version_);
}

std::string Submission::ApplicationText() const {
  return application_ ? ToString(*application_) : std::string();
}

int Submission::Finish() const {
  const int code = exit_code_.value_or(cli::ToInt(cli::ExitCode::kInternal));
  if (client_ == nullptr) return code;
  const client::ClientSnapshot& known = client_->snapshot();
  const bool ended = known.status != JobStatus::kUnfinished && (arguments_.wait || !IsAccepted());
  if (!ended && !arguments_.json) return code;
  if (ended) KeepEndInHistory();
  return PrintEnd({.application = ApplicationText(),
                   .name = job_.spec.name,
                   .status = ended ? ToText(known.status) : "SUBMITTED",
                   .diagnostics = known.diagnostics,
                   .code = code},
                  arguments_.json);
}

}  // namespace tfyarn::apps
