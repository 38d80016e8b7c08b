#include "apps/cli/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "apps/cli/output.h"
#include "config/load.h"

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

}  // namespace

std::optional<config::Scenario> LoadOrExplain(const InputArguments& input,
                                              const std::vector<std::string>& more_sets) {
  config::LoadOptions options;
  options.sets = input.sets;
  options.sets.insert(options.sets.end(), more_sets.begin(), more_sets.end());
  options.trace_directory = input.trace_directory;
  if (const char* named = std::getenv("TFSIM_TRACES");
      options.trace_directory.empty() && named != nullptr) {
    options.trace_directory = named;
  }
  auto scenario = config::LoadScenario(input.file, options);
  if (scenario) return std::move(*scenario);
  WriteStderr(config::Render(scenario.error(), {.color = ColorOn(STDERR_FILENO)}));
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
    for (const std::string& set : *sets) command += " --set " + Quoted(set);
  }
  if (!input.trace_directory.empty()) command += " --trace-dir " + Quoted(input.trace_directory);
  return command;
}

}  // namespace tfyarn::cli
