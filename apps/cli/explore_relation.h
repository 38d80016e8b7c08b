// `tfsim explore --relation NAME`: nothing is drawn of the search's; each scenario is compared with
// every other way to run it that the relation has.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/explore_search.h"
#include "explore/trial.h"

namespace tfyarn::cli {

struct RelationPlan {
  explore::Relation relation = explore::Relation::kNone;
  std::uint64_t seed = 1;   ///< Of the order in which variants are tried.
  std::uint64_t runs = 0;   ///< At most so many variants; 0 = all.
  double seconds = 0;       ///< 0 = no limit.
  std::size_t at_once = 1;  ///< Processes.
};

struct RelationFinding {
  explore::Problem problem;
  std::size_t scenario = 0;  ///< The first that showed it.
  std::uint64_t times = 1;
};

struct RelationOutcome {
  std::uint64_t runs = 0;  ///< Variants that were run.
  std::uint64_t all = 0;   ///< That there are, of scenarios that were looked at.
  std::map<std::string, std::vector<std::size_t>> skipped;  ///< Scenarios, by why.
  std::vector<RelationFinding> found;
  bool interrupted = false;
};

[[nodiscard]] RelationOutcome CheckRelation(
    const RelationPlan& plan, const std::vector<SearchBase>& cases,
    const explore::Laboratory& laboratory, const std::atomic<bool>& interrupt,
    const std::function<void(const RelationOutcome&)>& shown);

}  // namespace tfyarn::cli
