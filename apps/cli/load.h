// Reading scenarios for commands: errors go to stderr as the user should see them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "apps/cli/arguments.h"
#include "config/diagnostics.h"
#include "config/load.h"
#include "config/scenario.h"

namespace tfyarn::cli {

/// Where traces are that are not beside the scenario: the option, or else the environment variable
/// TFSIM_TRACES; "" = nowhere.
[[nodiscard]] std::string TraceDirectory(const std::string& option);

/// What is wrong with a file, on stderr.
void Explain(const config::Diagnostics& diagnostics);

/// Loads with `more_sets` after those of the arguments. The error is what stderr should show, in
/// whole lines.
[[nodiscard]] tl::expected<config::Scenario, std::string> LoadOrText(
    const InputArguments& input, const std::vector<std::string>& more_sets = {});
/// The same. nullopt: the errors were printed; the exit code is kInvalidInput.
[[nodiscard]] std::optional<config::Scenario> LoadOrExplain(
    const InputArguments& input, const std::vector<std::string>& more_sets = {});

/// What the failure policies refuse in the scenario's jobs and arrival templates, in their order:
/// options and expressions that only the policy engine can judge. One line each, "FILE: job `a`:
/// what".
[[nodiscard]] std::vector<std::string> PolicyProblems(const config::Scenario& scenario);
/// The same for a job file; empty when there is nothing wrong.
[[nodiscard]] std::vector<std::string> PolicyProblems(const std::string& file, const JobSpec& job);

/// What the file's author may not have meant, and is no error: pipes in `shell` lines that hide
/// exit codes. One line each.
[[nodiscard]] std::vector<std::string> Remarks(const std::string& file, const JobSpec& job);

/// Writes notes, one line each, to stderr.
void Tell(const std::vector<std::string>& notes);

/// Files and archives that a job names and that are not beside its file. One line each.
[[nodiscard]] std::vector<std::string> MissingFiles(const std::string& file, const JobSpec& job);

/// Adds the values of the job's `secrets`, from this process's environment and from files, to those
/// that were in its `env`. Returns what keeps the job from having them all, one line each; no line
/// quotes a value.
[[nodiscard]] std::vector<std::string> ReadSecrets(const std::string& file,
                                                   config::JobDocument& job);

/// Jobs whose status an expectation of the scenario names.
[[nodiscard]] std::set<std::string> JobsWithExpectedStatus(const config::Scenario& scenario);

/// "tfsim run FILE --seed N --set ...": runs one seed of this again.
[[nodiscard]] std::string ReplayCommand(const InputArguments& input,
                                        const std::vector<std::string>& more_sets,
                                        std::uint64_t seed);

}  // namespace tfyarn::cli
