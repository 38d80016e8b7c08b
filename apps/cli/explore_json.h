// Problems on their way from a child process to its parent.
#pragma once

#include <nlohmann/json.hpp>

#include "apps/cli/process_pool.h"
#include "explore/problem.h"

namespace tfyarn::cli {

[[nodiscard]] nlohmann::json ToJson(const explore::Problem& problem);
[[nodiscard]] explore::Problem ProblemFrom(const nlohmann::json& value);
/// Of a child that crashed.
[[nodiscard]] explore::Problem CrashOf(const ChildOutcome& outcome);

}  // namespace tfyarn::cli
