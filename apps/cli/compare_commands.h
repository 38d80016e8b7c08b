// `tfsim replay` and `tfsim diff`: is it the same, and where does it first differ?
#pragma once

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"

namespace tfyarn::cli {

/// Both return the exit code: kOk when nothing differs, kRunsDiffer when something does.
[[nodiscard]] int ReplayCommand(const ReplayArguments& arguments, const Simulator& simulator);
[[nodiscard]] int DiffCommand(const DiffArguments& arguments, const Simulator& simulator);

}  // namespace tfyarn::cli
