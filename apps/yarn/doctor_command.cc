#include "apps/yarn/doctor_command.h"

#include <string>
#include <utility>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/output.h"
#include "apps/cli/print.h"
#include "apps/yarn/checks.h"
#include "apps/yarn/cluster_security.h"
#include "apps/yarn/cluster_survey.h"
#include "apps/yarn/hadoop_environment.h"
#include "config/diagnostics.h"
#include "config/hadoop_settings.h"

namespace tfyarn::apps {
namespace {

int Show(const std::vector<Check>& checks, bool json, cli::ExitCode code) {
  return cli::Print(json ? RenderJson(checks) : cli::TerminalText(RenderText(checks)),
                    cli::ToInt(code));
}

Check Unusable(const std::string& directory, const config::Diagnostics& diagnostics) {
  Check check{.subject = "configuration", .state = CheckState::kProblem, .text = directory};
  for (const config::Diagnostic& each : diagnostics.items) {
    check.text += "\n" + each.file + ":" + std::to_string(each.line) + ": " + each.message;
    for (const std::string& note : each.notes) check.text += "; " + note;
  }
  check.advice = "correct these values; `tfyarn config show --origin` shows all of them";
  return check;
}

}  // namespace

int DoctorCommand(const DoctorArguments& arguments) {
  const auto refuse = [&](Check check, cli::ExitCode code = cli::ExitCode::kInvalidInput) {
    return Show({std::move(check)}, arguments.json, code);
  };
  const auto directory = HadoopConfigurationDirectory();
  if (!directory) {
    return refuse({.subject = "configuration",
                   .state = CheckState::kProblem,
                   .text = directory.error().message});
  }
  const auto loaded = config::HadoopConfiguration::Load(*directory, OwnHadoopSurroundings());
  if (!loaded) return refuse(Unusable(*directory, loaded.error()));
  const auto settings = config::ReadHadoopSettings(*loaded);
  if (!settings) return refuse(Unusable(*directory, settings.error()));
  if (settings->kerberos || settings->hdfs_https) {
    return refuse(
        {.subject = "security",
         .state = CheckState::kProblem,
         .text = settings->kerberos ? "this is a secure cluster (hadoop.security.authentication is "
                                      "kerberos): Kerberos is not supported yet"
                                    : "dfs.http.policy is HTTPS_ONLY, which is not supported yet"},
        settings->kerberos ? cli::ExitCode::kCredentials : cli::ExitCode::kInvalidInput);
  }
  if (std::string why = KerberosIsWanted(*settings); !why.empty()) {
    return refuse({.subject = "security",
                   .state = CheckState::kProblem,
                   .text = std::move(why),
                   .advice = "is " + *directory + " the configuration of this cluster?"},
                  cli::ExitCode::kCredentials);
  }
  std::vector<Check> checks{{.subject = "configuration", .text = *directory}};
  checks.push_back({.subject = "user",
                    .text = settings->user + ", as any user may claim to be: "
                                             "the cluster does not use Kerberos"});
  for (Check& check : ClusterSurvey(*settings).Run()) checks.push_back(std::move(check));
  return Show(
      checks, arguments.json,
      WorstOf(checks) == CheckState::kProblem ? cli::ExitCode::kCluster : cli::ExitCode::kOk);
}

}  // namespace tfyarn::apps
