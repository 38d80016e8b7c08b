// Finds and reads the traces that a scenario names.
#pragma once

#include "config/load.h"
#include "config/scenario.h"
#include "config/tree.h"

namespace tfyarn::config {

/// Fills trace_file, trace_jobs, queue_of_cluster and outages of `scenario`, which was decoded from
/// `root`. What is wrong is appended to `findings`.
void LoadTraces(const Sources& sources, const Node& root, const LoadOptions& options,
                Scenario& scenario, std::vector<Finding>& findings);

}  // namespace tfyarn::config
