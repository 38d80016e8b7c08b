// `tfsim explain FILE job/NAME --at TIME`: what a job is doing at a moment, and what it waits for.
//
// It reads the trace of a run that is stopped at that moment, as result and report do; it asks no
// machine.
#pragma once

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"

namespace tfyarn::cli {

/// Returns the exit code: kInvalidInput for a file with errors, a job that the scenario never has.
[[nodiscard]] int ExplainJobCommand(const ExplainJobArguments& arguments,
                                    const Simulator& simulator);

}  // namespace tfyarn::cli
