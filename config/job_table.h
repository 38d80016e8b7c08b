// The field table of job.yaml, in parts, and of what a scenario adds to a job.
#pragma once

#include "config/record.h"
#include "config/scenario.h"
#include "core/model/job_spec.h"

namespace tfyarn::config {

/// What is read for a job before inheritance and derived defaults are applied.
struct JobDraft {
  JobSpec spec;
  std::optional<Strategy> strategy;  ///< Unset: by whether there is a ps.
  std::vector<std::string> command;  ///< For task types without one.
  std::string shell;
};

/// A job of a scenario.
struct SimulatedJobDraft {
  JobDraft job;
  JobConfig config;  ///< All but `spec`.
};

[[nodiscard]] const Record<JobDraft>& JobTable();
[[nodiscard]] const Record<SimulatedJobDraft>& SimulatedJobTable();

[[nodiscard]] const Record<TaskTypeSpec>& TaskTable();
[[nodiscard]] const Record<GangSpec>& GangTable();
[[nodiscard]] const Record<ExitRule>& ExitRuleTable();
[[nodiscard]] const Record<Dependency>& DependencyTable();
[[nodiscard]] const Record<RetrySpec>& RetryTable();
[[nodiscard]] const Record<FinishSpec>& FinishTable();
[[nodiscard]] const Record<DeadlineSpec>& DeadlineTable();
[[nodiscard]] const Record<HeartbeatSpec>& HeartbeatTable();
[[nodiscard]] const Record<WatchSpec>& WatchTable();
[[nodiscard]] const Record<AmSpec>& AmTable();
/// A name, or a map of name and options.
[[nodiscard]] Type<PolicySpec> Policy();
[[nodiscard]] const Record<TrainingSpec>& TrainingTable();
[[nodiscard]] const Record<BehaviorRow>& BehaviorTable();

/// Why a field of job.yaml makes no difference in a scenario.
inline constexpr const char* kNoCommand =
    "no command runs there; `behavior` says what processes do";
inline constexpr const char* kNoProcess = "no process reads it there";
inline constexpr const char* kNoFiles =
    "nothing is fetched there; `files_size` says how much there would be";
/// Of a field that only the simulator ignores.
[[nodiscard]] IgnoredBy Simulated(std::string why);

/// The directory that an archive is unpacked to when nothing is said: its name without suffix.
[[nodiscard]] std::string ArchiveName(std::string_view path);
/// The job with inheritance and derived defaults applied.
[[nodiscard]] JobSpec Complete(JobDraft draft);
[[nodiscard]] JobConfig Complete(SimulatedJobDraft draft);

/// What must hold between the parts of a job: names that exist, numbers that agree.
void CheckJob(Decoder& decoder, const Node& node, const JobDraft& draft);
/// What the job puts into work directories: one source for each name, none that is taken.
void CheckWorkDirectory(Decoder& decoder, const Node& node, const JobSpec& job);
/// What must hold for a job that is really run: every task has a command, and `watch` something to
/// look at.
void CheckCommands(Decoder& decoder, const Node& node, const JobSpec& job);
void CheckBehavior(Decoder& decoder, const Node& node, const SimulatedJobDraft& draft);

}  // namespace tfyarn::config
