// `tfyarn submit --dry-run` and `--dry-run=cluster`: what would become of a job, and nothing is
// submitted.
#pragma once

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

}  // namespace tfyarn::apps
