#include "apps/cli/file_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "apps/cli/exit_codes.h"
#include "apps/cli/human.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "config/load.h"

namespace tfyarn::cli {
namespace {

/// By its `schema:` line; `otherwise` where it has none.
config::FileKind KindOf(const std::string& path, config::FileKind otherwise) {
  std::ifstream file(path);
  std::string line;
  for (int lines = 0; lines < 200 && std::getline(file, line); ++lines) {
    if (!line.starts_with("schema:")) continue;
    const bool job = line.find("tfyarn.job/") != std::string::npos;
    return job ? config::FileKind::kJob : config::FileKind::kScenario;
  }
  return otherwise;
}

std::string Describe(const config::Scenario& scenario) {
  std::uint64_t nodes = 0;
  for (const config::NodeClass& node : scenario.cluster.nodes)
    nodes += static_cast<std::uint64_t>(node.count);
  std::uint64_t arrivals = scenario.arrivals.size();
  std::string text = fmt::format("scenario {}: {}, {}", scenario.name, Plural(nodes, "node"),
                                 Plural(scenario.jobs.size(), "job"));
  if (arrivals > 0) text += fmt::format(" and {}", Plural(arrivals, "arrival rule"));
  return text + fmt::format(", {}, {}", Plural(scenario.faults.size(), "fault"),
                            Plural(scenario.expect.size(), "expectation"));
}

/// True when there are none; else they were printed.
bool NoneOf(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) WriteStderr(problem + "\n");
  return problems.empty();
}

/// What the file is; nullopt when it has errors, which were printed.
std::optional<std::string> Check(const std::string& file, const ValidateArguments& arguments,
                                 config::FileKind kind) {
  config::LoadOptions options;
  options.sets = arguments.sets;
  options.trace_directory = TraceDirectory(arguments.trace_directory);
  const config::RenderOptions render{.color = ColorOn(STDERR_FILENO)};
  if (KindOf(file, kind) == config::FileKind::kJob) {
    const auto job = config::LoadJobDocument(file, options);
    if (!job) {
      WriteStderr(config::Render(job.error(), render));
      return std::nullopt;
    }
    if (!NoneOf(PolicyProblems(file, job->spec))) return std::nullopt;
    Tell(Remarks(file, job->spec));
    Tell(job->ignored);
    return fmt::format("job {}: {}", job->spec.name,
                       Plural(static_cast<std::uint64_t>(job->spec.task_count()), "task"));
  }
  const auto scenario = config::LoadScenario(file, options);
  if (!scenario) {
    WriteStderr(config::Render(scenario.error(), render));
    return std::nullopt;
  }
  if (!NoneOf(PolicyProblems(*scenario))) return std::nullopt;
  Tell(scenario->ignored);
  return Describe(*scenario);
}

int Finish(const std::string& text, ExitCode code) {
  if (auto written = WriteStdout(text); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  return ToInt(code);
}

}  // namespace

int ValidateCommand(const ValidateArguments& arguments, config::FileKind kind) {
  std::string text;
  bool good = true;
  for (const std::string& file : arguments.files) {
    const std::optional<std::string> what = Check(file, arguments, kind);
    good = good && what.has_value();
    if (what) text += fmt::format("{}: ok, {}\n", file, *what);
  }
  return Finish(TerminalText(text), good ? ExitCode::kOk : ExitCode::kInvalidInput);
}

int InitCommand(const InitArguments& arguments) {
  const std::string path = (std::filesystem::path(arguments.directory) / "scenario.yaml").string();
  std::error_code error;
  if (!arguments.force && std::filesystem::exists(path, error)) {
    Complain(fmt::format("{} is there already; --force replaces it", path));
    return ToInt(ExitCode::kInvalidInput);
  }
  if (auto written = WriteFile(path, config::InitScenarioText()); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  const std::string done = fmt::format("wrote {}; next: tfsim run {}\n", path, path);
  return Finish(TerminalText(done), ExitCode::kOk);
}

}  // namespace tfyarn::cli
