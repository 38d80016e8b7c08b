#include "apps/yarn/submission.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/process_environment.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "core/client/job_client.h"
#include "core/model/job_secrets.h"
#include "core/model/text.h"

namespace tfyarn::apps {
namespace {

constexpr Duration kShowPeriod = 200ms;

/// YARN keeps credentials from all but the containers of the application and itself. The AM hands
/// its own on to its agents.
hosts::YarnClusterOptions WithSecrets(hosts::YarnClusterOptions options,
                                      const std::vector<SecretValue>& secrets) {
  for (const SecretValue& secret : secrets)
    options.credentials.secrets.emplace_back(TravelName(secret), secret.value);
  return options;
}

}  // namespace

Submission::Submission(const SubmitArguments& arguments, config::JobDocument job,
                       const config::HadoopSettings& settings)
    : arguments_(arguments),
      job_(std::move(job)),
      spec_(std::make_shared<const JobSpec>(job_.spec)),
      user_(settings.user),
      addresses_(YarnAddressesOf(settings)),
      storage_(loop_, HdfsOptions(settings)),
      cluster_(loop_, WithSecrets(ClusterOptions(settings), job_.secrets)),
      staging_(storage_),
      signals_(loop_, SIGINT, SIGTERM),
      show_(loop_) {}

int Submission::Run() {
  WaitForSignals();
  staging_.ProvideRuntime(
      OwnDirectory(), HomeInHdfs(user_) + "/runtime",
      std::filesystem::temp_directory_path().string(),
      [this](Expected<yarn::LocalResource> runtime) { RuntimeProvided(std::move(runtime)); });
  if (!exit_code_) loop_.run();
  return Finish();
}

void Submission::RuntimeProvided(Expected<yarn::LocalResource> runtime) {
  if (runtime) return MakeClient(*runtime);
  cli::Complain(runtime.error().message + "; `tfyarn doctor` says more");
  End(cli::ToInt(cli::ExitCode::kCluster));
}

void Submission::MakeClient(const yarn::LocalResource& runtime) {
  client::ClientOptions options;
  options.job_file = job_.effective_yaml;
  options.localize_job_file = false;
  options.am_files[hosts::kRuntimeDirectory] = runtime;
  options.am_command = hosts::BundledCommand("tfyarn-am");
  options.am_environment = hosts::ToEnvironment(addresses_);
  options.am_environment["SASL_PATH"] = hosts::BundledSaslPath();
  const std::string here = std::filesystem::path(arguments_.file).parent_path().string();
  client_ = std::make_unique<hosts::ClientHost>(
      spec_, std::move(options), RandomSeed(),
      hosts::ClientHost::Parts{.loop = loop_,
                               .cluster = cluster_,
                               .storage = storage_,
                               .recorder = recorder_,
                               .stage =
                                   [this, here, runtime](const std::string& directory,
                                                         hosts::ClientHost::StagedAnswer done) {
                                     staging_.Stage(*spec_, here, directory, addresses_, runtime,
                                                    std::move(done));
                                   },
                               .seen = [this](const ClientAction& action) { Seen(action); },
                               .exit = [this](std::int32_t code) { End(code); }});
  client_->Submit({.user = user_, .staging_directory = StagingInHdfs(user_)});
  ShowProgress();
}

// ---------------------------------------------------------------- while it goes on

void Submission::Seen(const ClientAction& action) {
  if (const auto* note = std::get_if<Note>(&action)) return Say(note->text);
  const auto* submitted = std::get_if<ApplicationSubmitted>(&action);
  if (submitted == nullptr) return;
  application_ = submitted->application;
  if (!arguments_.json && !cli::WriteStdout(ApplicationText() + "\n")) return End(1);
  if (!arguments_.wait) End(cli::ToInt(cli::ExitCode::kOk));
}

void Submission::ShowProgress() {
  const client::ClientSnapshot& known = client_->snapshot();
  if (known.state == client::ClientState::kWatching && known.report) {
    if (const auto line = lines_.Next(*known.report, ProgressLines::Clock::now())) Say(*line);
  }
  show_.expires_after(kShowPeriod);
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

std::string Submission::ApplicationText() const {
  return application_ ? ToString(*application_) : std::string();
}

int Submission::Finish() const {
  const int code = exit_code_.value_or(cli::ToInt(cli::ExitCode::kInternal));
  if (client_ == nullptr) return code;
  const client::ClientSnapshot& known = client_->snapshot();
  const bool ended = known.status != JobStatus::kUnfinished;
  if (!ended && !arguments_.json) return code;
  return PrintEnd({.application = ApplicationText(),
                   .name = job_.spec.name,
                   .status = ended ? ToText(known.status) : "SUBMITTED",
                   .diagnostics = known.diagnostics,
                   .code = code},
                  arguments_.json);
}

}  // namespace tfyarn::apps
