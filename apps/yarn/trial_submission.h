// What would become of a job, asked before it is submitted: by `tfyarn submit --dry-run` and
// `--dry-run=cluster`, which submit nothing, and by every submission.
#pragma once

#include <optional>

#include "apps/yarn/cluster_access.h"
#include "apps/yarn/cluster_fit.h"
#include "apps/yarn/submit_command.h"
#include "config/hadoop_settings.h"
#include "core/model/job_spec.h"

namespace tfyarn::apps {

/// Returns kOk for a job that fits, now or later; kInvalidInput for one that never does or would be
/// refused; kCluster.
[[nodiscard]] int TrySubmission(const SubmitArguments& arguments, const JobSpec& job,
                                const config::HadoopSettings& settings);

/// What the ResourceManager says of a queue now, and of the caller's rights there. What it does not
/// say stays unknown.
void AskQueue(ClusterQuestions& cluster, const std::string& queue, AskFacts& facts);

/// nullopt: the job may be submitted, or the cluster gives no answer now. Else what is wrong was
/// said, and it is the exit code: the cluster can never hold the job, or would refuse it.
[[nodiscard]] std::optional<int> RefuseWhatNeverFits(const SubmitArguments& arguments,
                                                     const JobSpec& job,
                                                     const config::HadoopSettings& settings);

}  // namespace tfyarn::apps
