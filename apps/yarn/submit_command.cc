#include "apps/yarn/submit_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/cli/exit_codes.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/yarn/cluster_access.h"
#include "apps/yarn/submission.h"
#include "config/load.h"

namespace tfyarn::apps {
namespace {

namespace fs = std::filesystem;

int Refuse(const config::Diagnostics& diagnostics) {
  cli::Explain(diagnostics);
  return cli::ToInt(cli::ExitCode::kInvalidInput);
}

/// What the cluster is asked to bring to its nodes: it takes files, not directories.
std::vector<std::string> StagingProblems(const std::string& job_file, const JobSpec& job) {
  std::vector<std::string> problems = cli::MissingFiles(job_file, job);
  if (!problems.empty()) return problems;
  const fs::path here = fs::path(job_file).parent_path();
  std::vector<std::string> names = job.files;
  for (const ArchiveSpec& archive : job.archives) names.push_back(archive.path);
  for (const std::string& name : names) {
    std::error_code failed;
    if (!fs::is_directory(here / name, failed)) continue;
    problems.push_back(fmt::format(
        "{}: {} is a directory, and YARN takes files: pack it (tar czf) and name it in `archives`",
        job_file, name));
  }
  return problems;
}

}  // namespace

int SubmitCommand(const SubmitArguments& arguments) {
  auto job = config::LoadJobDocument(arguments.file, {.sets = arguments.sets}, {});
  if (!job) return Refuse(job.error());
  std::vector<std::string> problems = cli::PolicyProblems(arguments.file, job->spec);
  if (problems.empty()) problems = StagingProblems(arguments.file, job->spec);
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInvalidInput);
  const auto settings = LoadSettings();
  if (!settings) return cli::ToInt(cli::ExitCode::kInvalidInput);
  Submission submission(arguments, std::move(*job), *settings);
  return submission.Run();
}

}  // namespace tfyarn::apps
