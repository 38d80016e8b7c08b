#include "apps/cli/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "apps/cli/output.h"
#include "config/hide_secrets.h"
#include "config/load.h"
#include "config/shell_line.h"
#include "core/model/job_secrets.h"
#include "core/policy/engine.h"

namespace tfyarn::cli {
namespace {

/// For a shell: quoted when it is more than a plain word.
std::string Quoted(const std::string& word) {
  const bool plain =
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-") ==
          std::string::npos &&
      !word.empty();
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// As it must stand in a process's environment. Errors: what is wrong with it, as the end of a
/// sentence that begins with where it is from.
Expected<std::string> Checked(std::string value) {
  constexpr std::size_t kLongest = std::size_t{64} << 10;
  if (value.empty()) return Fail(ErrorCode::kInvalidArgument, "is empty");
  if (value.size() > kLongest) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("has {} bytes, and a variable takes {}", value.size(), kLongest));
  }
  if (value.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalidArgument, "has a byte 0 in it, and a variable takes none");
  return value;
}

Expected<std::string> FromEnvironment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr) return Fail(ErrorCode::kNotFound, "is not set where the job is submitted");
  return Checked(value);
}

Expected<std::string> FromFile(const std::filesystem::path& path) {
  std::error_code failed;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, failed))
    return Fail(ErrorCode::kNotFound, "cannot be read (it is looked for beside the job file)");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return Checked(std::move(text));
}

/// As stderr shows it.
std::string TextOf(const config::Diagnostics& diagnostics) {
  return config::Render(diagnostics, {.color = ColorOn(STDERR_FILENO)});
}

void AddProblem(const std::string& place, const JobSpec& job, std::vector<std::string>& problems) {
  const auto engine = policy::Engine::Make(job);
  if (!engine) problems.push_back(fmt::format("{}: {}", place, engine.error().message));
}

}  // namespace

std::vector<std::string> PolicyProblems(const config::Scenario& scenario) {
  std::vector<std::string> problems;
  for (const config::JobConfig& job : scenario.jobs) {
    AddProblem(fmt::format("{}: job `{}`", scenario.file, job.spec.name), job.spec, problems);
  }
  for (std::size_t i = 0; i < scenario.arrivals.size(); ++i) {
    const config::ArrivalSpec& arrival = scenario.arrivals[i];
    AddProblem(fmt::format("{}: arrivals[{}] (`{}`)", scenario.file, i, arrival.prefix),
               arrival.job->spec, problems);
  }
  return problems;
}

std::vector<std::string> PolicyProblems(const std::string& file, const JobSpec& job) {
  std::vector<std::string> problems;
  AddProblem(fmt::format("{}: job `{}`", file, job.name), job, problems);
  return problems;
}

std::vector<std::string> Remarks(const std::string& file, const JobSpec& job) {
  std::vector<std::string> remarks;
  for (const TaskTypeSpec& type : job.tasks) {
    const std::string last = config::LastOfPipe(type.shell);
    if (last.empty()) continue;
    remarks.push_back(fmt::format(
        "{}: note: `shell` of {}: a pipe ends with the exit code of its last program, here `{}`, "
        "also "
        "when one before it fails; `command: [bash, -o, pipefail, -c, LINE]` fails with each",
        file, type.name, last));
  }
  return remarks;
}

std::vector<std::string> ReadSecrets(const std::string& file, config::JobDocument& job) {
  std::vector<std::string> problems;
  for (const auto& [name, source] : job.spec.secrets) {
    const bool from_file = source.env.empty();
    auto value = from_file ? FromFile(std::filesystem::path(file).parent_path() / source.file)
                           : FromEnvironment(source.env);
    if (!value) {
      problems.push_back(fmt::format("{}: secrets.{}: {} {} {}", file, name,
                                     from_file ? "the file" : "the variable",
                                     from_file ? source.file : source.env, value.error().message));
      continue;
    }
    job.secrets.push_back({.name = name, .value = std::move(*value)});
  }
  // Stars in the file itself: it is what an earlier run left of a job.
  const auto look = [&](const std::map<std::string, std::string>& env, const std::string& where) {
    for (const auto& [name, value] : env) {
      const bool stars = value == kSecretStars && LooksSecret(name);
      const bool known =
          std::any_of(job.secrets.begin(), job.secrets.end(),
                      [&, &of = name](const SecretValue& secret) { return secret.name == of; });
      if (!stars || known) continue;
      problems.push_back(
          fmt::format("{}: {}.{} has stars in place of its value, as in what is kept of a job: "
                      "write the value, "
                      "or name it in `secrets`",
                      file, where, name));
    }
  };
  look(job.spec.env, "env");
  for (const TaskTypeSpec& task : job.spec.tasks) look(task.env, "tasks." + task.name + ".env");
  return problems;
}

std::string TraceDirectory(const std::string& option) {
  const char* named = std::getenv("TFSIM_TRACES");
  return option.empty() && named != nullptr ? named : option;
}

tl::expected<config::Scenario, std::string> LoadOrText(const InputArguments& input,
                                                       const std::vector<std::string>& more_sets) {
  config::LoadOptions options;
  options.sets = input.sets;
  options.sets.insert(options.sets.end(), more_sets.begin(), more_sets.end());
  options.trace_directory = TraceDirectory(input.trace_directory);
  auto scenario = config::LoadScenario(input.file, options);
  if (!scenario) return tl::unexpected(TextOf(scenario.error()));
  std::string problems;
  for (const std::string& problem : PolicyProblems(*scenario)) problems += problem + "\n";
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return std::move(*scenario);
}

std::optional<config::Scenario> LoadOrExplain(const InputArguments& input,
                                              const std::vector<std::string>& more_sets) {
  auto scenario = LoadOrText(input, more_sets);
  if (scenario) return std::move(*scenario);
  WriteStderr(scenario.error());
  return std::nullopt;
}

std::set<std::string> JobsWithExpectedStatus(const config::Scenario& scenario) {
  std::set<std::string> jobs;
  constexpr std::string_view kPrefix = "job/";
  constexpr std::string_view kSuffix = ".status";
  for (const config::Expectation& expectation : scenario.expect) {
    for (const config::Comparison& comparison : expectation.all_of) {
      const std::string_view name = comparison.metric;
      if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
      jobs.emplace(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  return jobs;
}

std::string ReplayCommand(const InputArguments& input, const std::vector<std::string>& more_sets,
                          std::uint64_t seed) {
  std::string command = fmt::format("tfsim run {} --seed {}", Quoted(input.file), seed);
  for (const auto* sets : {&input.sets, &more_sets}) {
    for (const std::string& set : *sets)
      command += " --set " + Quoted(config::WithoutSecretOfSet(set));
  }
  if (!input.trace_directory.empty()) command += " --trace-dir " + Quoted(input.trace_directory);
  return command;
}

void Explain(const config::Diagnostics& diagnostics) {
  WriteStderr(TextOf(diagnostics));
}

void Tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) WriteStderr(note + "\n");
}

std::vector<std::string> MissingFiles(const std::string& file, const JobSpec& job) {
  namespace fs = std::filesystem;
  std::vector<std::string> named = job.files;
  for (const ArchiveSpec& archive : job.archives) named.push_back(archive.path);
  std::vector<std::string> problems;
  for (const std::string& name : named) {
    std::error_code failed;
    if (fs::exists(fs::path(file).parent_path() / name, failed)) continue;
    problems.push_back(
        fmt::format("{}: {} is not there (it is looked for beside the job file)", file, name));
  }
  return problems;
}

}  // namespace tfyarn::cli
