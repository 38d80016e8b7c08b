// What a scenario and its first job come to: what happens in the simulator, and what each real host
// would start of the job. Nothing real is started.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/type.h"

namespace tfyarn::field_uses_test {

struct Observed {
  std::string error;  ///< Why the scenario is none; "" = it is one.
  /// All that happens, but for what only repeats the scenario: its digest, and the job's facts as
  /// they are submitted.
  std::string run;
  std::string submission;  ///< What the client hands to a ResourceManager.
  /// Of one machine and of a cluster: what the host makes of the submission, and the environment
  /// and command of each task.
  std::map<config::Host, std::string> plans;
};

/// `traces`: the directory of the traces that it names.
[[nodiscard]] Observed Observe(const std::string& yaml, const std::vector<std::string>& sets,
                               const std::string& traces);

}  // namespace tfyarn::field_uses_test
