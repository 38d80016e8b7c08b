// Reading scenarios for commands: errors go to stderr as the user should see them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "config/scenario.h"

namespace tfyarn::cli {

/// Loads with `more_sets` after those of the arguments. nullopt: the errors were printed; the exit
/// code is kInvalidInput.
[[nodiscard]] std::optional<config::Scenario> LoadOrExplain(
    const InputArguments& input, const std::vector<std::string>& more_sets = {});

/// Jobs whose status an expectation of the scenario names.
[[nodiscard]] std::set<std::string> JobsWithExpectedStatus(const config::Scenario& scenario);

/// "tfsim run FILE --seed N --set ...": runs one seed of this again.
[[nodiscard]] std::string ReplayCommand(const InputArguments& input,
                                        const std::vector<std::string>& more_sets,
                                        std::uint64_t seed);

}  // namespace tfyarn::cli
