// Every outcome of a few tasks, and what verdicts a policy gives on them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/policy/table.h"
#include "tests/unit/core/policy/situations.h"

namespace tfyarn::policy {

/// Whether both give the same verdict, and the same restart in place of one, on every outcome.
[[nodiscard]] bool SameVerdicts(const Bench& a, const Bench& b, const JobSpec& job);

struct VerdictReach {
  bool another = false;  ///< One task's other outcome gives another verdict.
  std::set<JobStatus> statuses;
};
/// By rule, "tony/all-ok", over all small jobs of the table.
[[nodiscard]] std::map<std::string, VerdictReach> ReachedVerdicts(const Table& table);

}  // namespace tfyarn::policy
