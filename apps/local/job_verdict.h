// What `tfyarn run` prints for people when a job has ended.
#pragma once

#include <string>

#include "core/trace/result.h"

namespace tfyarn::local {

/// `directory`: of the run. All text from the run is made fit for a terminal.
[[nodiscard]] std::string JobVerdictText(const trace::JobResult& job, const std::string& directory,
                                         bool color);

}  // namespace tfyarn::local
