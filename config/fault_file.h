// A file of faults for a job with real processes: `faults:`, with the entries of a scenario.
//
// It is read through the scenario's own table, so that one list of faults does in both worlds what
// it can do there. What cannot be made real on one machine is an error that says so.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/diagnostics.h"
#include "config/load.h"
#include "config/scenario.h"
#include "core/model/job_spec.h"

namespace tfyarn::config {

/// Faults that strike `job` as it runs on one machine, in the order of the file: each once, at a
/// time since the start of the run or after a state of the job, with named targets and constant
/// lengths. `options.sets`, `.seed` and traces do not apply.
[[nodiscard]] tl::expected<std::vector<FaultSpec>, Diagnostics> LoadRealFaults(
    const std::string& path, const JobSpec& job, const LoadOptions& options = {});

}  // namespace tfyarn::config
