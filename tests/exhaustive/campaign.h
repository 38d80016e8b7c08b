// Many explorations, one after another, and what came of them as text: states for each policy, what
// the documents allow, and each finding as a story with the command that tells it again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/exhaustive/explorer.h"
#include "tests/exhaustive/scope.h"

namespace tfyarn::exhaustive {

/// One kind of exploration of several jobs.
struct Pass {
  std::string name;
  std::string jobs;  ///< How their names begin.
  std::size_t most_tasks = 3;
  std::int32_t faults = 0;
  FaultSet kinds = FaultSet::All();
  /// Each kind of fault by itself, in an exploration of its own.
  bool one_kind_at_a_time = false;
  Duration latency{};
  Limits limits;  ///< Of each exploration.
};

/// In at most 40 s of one core.
[[nodiscard]] std::vector<Pass> SamplePasses();
/// At least 10 million states.
[[nodiscard]] std::vector<Pass> SoakPasses();

/// Prints. True: nothing was found.
[[nodiscard]] bool RunPasses(const std::vector<Pass>& passes);

/// nullopt: there is no such job.
[[nodiscard]] std::optional<Scope> ScopeOf(const Pass& pass, std::string_view job);

}  // namespace tfyarn::exhaustive
