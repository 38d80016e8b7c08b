#include "apps/yarn/submit_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/yarn/application_watch.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/cluster_fit.h"
#include "apps/yarn/submission.h"
#include "apps/yarn/trial_submission.h"
#include "apps/yarn/web_questions.h"
#include "config/load.h"
#include "core/model/text.h"
#include "hosts/local/unpack.h"
#include "hosts/runtime/staging.h"
#include "wire/hadoop/cluster_queries.h"

namespace tfyarn::apps {
namespace {

namespace fs = std::filesystem;

int RefuseFile(const config::Diagnostics& diagnostics) {
  cli::Explain(diagnostics);
  return cli::ToInt(cli::ExitCode::kInvalidInput);
}

/// What is wrong with what the cluster is asked to bring to its nodes.
std::vector<std::string> StagingProblems(const std::string& job_file, const JobSpec& job) {
  std::vector<std::string> problems = cli::MissingFiles(job_file, job);
  if (!problems.empty()) return problems;
  const fs::path here = fs::path(job_file).parent_path();
  for (const ArchiveSpec& archive : job.archives) {
    std::error_code failed;
    if (fs::is_directory(here / archive.path, failed)) {
      problems.push_back(
          fmt::format("{}: {} is a directory, and no archive: name it in `files`, or pack it (tar "
                      "czf)",
                      job_file, archive.path));
      continue;
    }
    const auto sound = hosts::CheckArchive((here / archive.path).string());
    if (!sound) problems.push_back(fmt::format("{}: {}", job_file, sound.error().message));
  }
  return problems;
}

/// The job's own `user` submits it: without Kerberos a cluster believes any name. False: the
/// environment names another, and that was said.
bool TakeUser(const std::string& job_file, const JobSpec& job, config::HadoopSettings& settings) {
  if (job.user.empty()) return true;
  const char* named = std::getenv("HADOOP_USER_NAME");
  if (named != nullptr && *named != '\0' && job.user != named) {
    cli::Complain(fmt::format("{}: `user` is {}, and HADOOP_USER_NAME is {}; they must agree",
                              job_file, job.user, config::Printable(named)));
    return false;
  }
  settings.user = job.user;
  return true;
}

/// A server that accepts connections and does not answer counts as away, too.
config::HadoopSettings Impatient(config::HadoopSettings settings) {
  constexpr Duration kLongestQuestion = 5s;
  settings.connect_timeout = kLongestQuestion;
  settings.rpc_timeout = kLongestQuestion;
  return settings;
}

/// A cluster that is only starting is waited for, and the user is told so. `manager`: the
/// ResourceManager's first answer. Whether it answers.
bool TellWhoIsAway(const tl::expected<std::string, hadoop::IpcError>& manager,
                   const config::HadoopSettings& settings, const SubmitArguments& arguments) {
  constexpr Duration kFirstAnswer = 3s;
  const auto tell = [&](const std::string& why) {
    if (arguments.quiet) return;
    cli::Complain(fmt::format(
        "{}; waiting for it for {} (--timeout), Ctrl-C gives up (`tfyarn doctor` says more)", why,
        TimeoutText(arguments.timeout)));
  };
  if (!manager && MayPass(manager.error()))
    tell("the ResourceManager gives no answer: " + manager.error().message);
  const auto home = HdfsQuestions(settings, kFirstAnswer).Mkdirs(HomeInHdfs(settings.user));
  if (!home && hosts::MayPass(home.error().code))
    tell("HDFS gives no answer: " + home.error().message);
  return manager || !MayPass(manager.error());
}

/// A queue that takes no application would fail this one at once.
std::optional<Check> RefusalOfQueue(const config::HadoopSettings& settings,
                                    const std::string& queue) {
  ClusterQuestions cluster(Impatient(settings));
  AskFacts facts;
  AskQueue(cluster, queue, facts);
  return JudgeQueue(queue, facts);
}

}  // namespace

int SubmitCommand(const SubmitArguments& arguments, const std::string& version) {
  auto job =
      config::LoadJobDocument(arguments.file, {.sets = arguments.sets}, config::Host::kCluster);
  if (!job) return RefuseFile(job.error());
  std::vector<std::string> problems = cli::PolicyProblems(arguments.file, job->spec);
  if (problems.empty()) problems = StagingProblems(arguments.file, job->spec);
  if (problems.empty()) problems = cli::ReadSecrets(arguments.file, *job);
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (!arguments.quiet) {
    for (const std::string& remark : cli::Remarks(arguments.file, job->spec)) cli::Complain(remark);
    if (!arguments.json) cli::Tell(job->ignored);
  }
  auto settings = LoadSettings();
  if (!settings) return cli::ToInt(settings.error());
  if (!TakeUser(arguments.file, job->spec, *settings))
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  if (arguments.dry_run != DryRun::kJob && !IsOpenTo(*settings))
    return cli::ToInt(cli::ExitCode::kCredentials);
  if (arguments.dry_run != DryRun::kNo) return TrySubmission(arguments, job->spec, *settings);
  const auto manager = ClusterQuestions(Impatient(*settings)).Ask(hadoop::GetClusterMetrics());
  if (!manager && manager.error().kind == hadoop::IpcErrorKind::kSecurity)
    return Refuse(manager.error());
  if (TellWhoIsAway(manager, *settings, arguments)) {
    if (const auto refusal = RefusalOfQueue(*settings, job->spec.queue)) {
      return PrintEnd({.application = "",
                       .name = job->spec.name,
                       .status = ToText(JobStatus::kFailed),
                       .diagnostics = refusal->text + ": " + refusal->advice,
                       .code = cli::ToInt(cli::ExitCode::kInvalidInput)},
                      arguments.json);
    }
    if (!arguments.no_check) {
      if (const auto refused = RefuseWhatNeverFits(arguments, job->spec, Impatient(*settings)))
        return *refused;
    }
  }
  Submission submission(arguments, std::move(*job), *settings, version);
  return submission.Run();
}

}  // namespace tfyarn::apps
