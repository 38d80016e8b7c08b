// `tfsim why FILE|RUN`: where a failing run was lost.
//
// From each moment at which something happened on, the run is given other futures: the same up to
// there, all that is chance drawn anew after it. How many of them fail tells when the run could
// still go well, and what took that chance.
#pragma once

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"

namespace tfyarn::cli {

/// Returns the exit code: kOk, also where the run passes; kInvalidInput for a file with errors;
/// kInternal when an output cannot be written; kSignalBase and the signal when interrupted.
[[nodiscard]] int WhyCommand(const WhyArguments& arguments, const Simulator& simulator);

}  // namespace tfyarn::cli
