// `tfsim run`: one run of a scenario, or many of them as an ensemble.
#pragma once

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"

namespace tfyarn::cli {

/// Returns the exit code.
[[nodiscard]] int RunCommand(const RunArguments& arguments, const Simulator& simulator);

}  // namespace tfyarn::cli
