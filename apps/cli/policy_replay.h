// `tfsim replay RUN --policy NAME`: what another failure policy would have decided on a recorded
// run.
//
// Both policies, the job's own and the other, are asked about each recorded end, in order: with
// budgets and counts of tasks that follow from their own answers. Ends of processes that the AM
// stopped, and of victims of a failure that it had named, ask for nothing. Where the other policy
// decides otherwise its run would have gone on otherwise too; the recorded ends that come after are
// judged all the same.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/arguments.h"
#include "apps/cli/simulator.h"
#include "core/model/error.h"
#include "core/model/job_spec.h"
#include "core/trace/record.h"

namespace tfyarn::cli {

struct PolicyComparison {
  std::string text;     ///< Lines of a table, and who would have ended the job how.
  bool differ = false;  ///< Some decision or verdict does.
};

/// `actions`: the trace::AmOrdered records of one job, of all its AM attempts; times are told from
/// `began` on. Errors:
/// kInvalidArgument when `policy` is no policy, or the job is none for it.
[[nodiscard]] Expected<PolicyComparison> ComparePolicies(
    const JobSpec& job, const std::vector<trace::TraceRecord>& actions, const std::string& policy,
    Instant began = {});

/// Of the run directory that `arguments` names, or of a run of its scenario. Returns the exit code:
/// kRunsDiffer where the policies do not agree, kOk where they do; kInvalidInput.
[[nodiscard]] int ReplayWithPolicy(const ReplayArguments& arguments, const Simulator& simulator);

}  // namespace tfyarn::cli
