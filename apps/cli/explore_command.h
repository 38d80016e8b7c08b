// `tfsim explore`: draws scenarios, runs them, tells what broke and writes the smallest scenario
// that shows it.
#pragma once

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"

namespace tfyarn::cli {

/// Returns the exit code: kOk, kExpectationFailed or kInvariantBroken when something was found,
/// kInvalidInput, or kSignalBase and the signal when it was interrupted and had found nothing.
[[nodiscard]] int ExploreCommand(const ExploreArguments& arguments, const Simulator& simulator);

}  // namespace tfyarn::cli
