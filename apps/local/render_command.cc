#include "apps/local/render_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/exit_codes.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "config/load.h"
#include "core/agent/environment.h"

namespace tfyarn::local {
namespace {

constexpr std::int32_t kFirstExamplePort = 30000;

ClusterSpec ExampleSpec(const JobSpec& job) {
  ClusterSpec spec{.epoch = Epoch(1)};
  std::int32_t port = kFirstExamplePort;
  for (const TaskTypeSpec& type : job.tasks) {
    for (std::int32_t i = 0; i < type.instances; ++i)
      spec.tasks[type.name].push_back({.host = "127.0.0.1", .port = port++});
  }
  return spec;
}

std::string Task(const JobSpec& job, const TaskId& task, const ClusterSpec& spec) {
  std::string text = fmt::format("\n# {}\ncommand: {}\n", ToString(task),
                                 fmt::join(agent::RenderCommand(job, task, spec), " "));
  const auto environment =
      agent::RenderEnvironment(job, task, {.attempt = TaskAttempt(0), .epoch = Epoch(1)}, spec,
                               {.cluster_timestamp = 1, .id = 1}, false);
  for (const auto& [name, value] : environment) text += fmt::format("{}={}\n", name, value);
  return text;
}

}  // namespace

int RenderCommand(const RenderArguments& arguments) {
  const auto job = config::LoadJobDocument(arguments.file, {.sets = arguments.sets});
  if (!job) {
    cli::Explain(job.error());
    return cli::ToInt(cli::ExitCode::kInvalidInput);
  }
  const auto problems = cli::PolicyProblems(arguments.file, job->spec);
  for (const std::string& problem : problems) cli::Complain(problem);
  if (!problems.empty()) return cli::ToInt(cli::ExitCode::kInvalidInput);
  for (const std::string& remark : cli::Remarks(arguments.file, job->spec)) cli::Complain(remark);
  std::string text = job->effective_yaml;
  const ClusterSpec spec = ExampleSpec(job->spec);
  for (const TaskTypeSpec& type : job->spec.tasks) {
    for (std::int32_t i = 0; i < type.instances; ++i)
      text += Task(job->spec, {.type = type.name, .index = i}, spec);
  }
  const auto written = cli::WriteStdout(cli::TerminalText(text));
  if (!written) cli::Complain(written.error().message);
  return cli::ToInt(written ? cli::ExitCode::kOk : cli::ExitCode::kInternal);
}

}  // namespace tfyarn::local
