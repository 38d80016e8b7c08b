// Policy `framework-launcher`. Source: microsoft/pai subprojects/frameworklauncher/yarn (user
// manual; RetryPolicyDescriptor, ExitDiagnostics, TaskRoleCompletionPolicy of its
// ApplicationMaster).
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

/// The user's codes that its manual lists as transient, and as not.
constexpr std::array<std::int32_t, 2> kTransientCodes = {154, 193};
constexpr std::array<std::int32_t, 6> kNonTransientCodes = {132, 135, 136, 139, 141, 194};

constexpr OptionRow kFrameworkLauncherOptions[] = {
    {.name = "fancy_retry_policy",
     .standard = "false",
     .allowed = "true|false",
     .per_type = true,
     .doc = "fancyRetryPolicy: transient failures are always retried at no cost, non-transient "
            "ones never."},
    {.name = "max_retry_count",
     .standard = "0",
     .allowed = "number|unlimited|always",
     .per_type = true,
     .doc = "maxRetryCount: retries of each task. `unlimited` (-1 there) retries every failure, "
            "`always` (-2 there) retries a success, too."},
    {.name = "min_failed_task_count",
     .standard = "1",
     .allowed = "positive|none",
     .per_type = true,
     .doc = "minFailedTaskCount: so many failed tasks of one task type fail the job."},
    {.name = "min_succeeded_task_count",
     .standard = "none",
     .allowed = "positive|none",
     .per_type = true,
     .doc = "minSucceededTaskCount: so many succeeded tasks of one task type make the job "
            "succeed."},
};

constexpr std::array<ClassRow, 3> kFrameworkLauncherClasses = {{
    {.task_type = "ps", .list = "", .task_class = TaskClass::kService},
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kFrameworkLauncherRows[] = {
    {.name = "sidecar",
     .role = RoleIs::kSidecar,
     .classes = kAnyEnd,
     .action = ExitAction::kIgnore,
     .why = "not a task role of the launcher"},
    {.name = "no-gang",
     .classes = kNoGang,
     .action = ExitAction::kFail,
     .why = "the launcher's pause of 600 s to 3600 s after a conflict is gang.backoff here"},
    {.name = "retried-always",
     .classes = {kOk},
     .option = "max_retry_count",
     .value = "always",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.option = "max_retry_count"},
     .why = "maxRetryCount -2 retries a success, too"},
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "the task has succeeded"},
    {.name = "transient",
     .classes = {kPreempted, kNodeLost, kNodeBad, kLaunchError, kHeartbeatLost, kAmLost,
                 kPortConflict, kKilledExternal, kKilledByUs},
     .option = "fancy_retry_policy",
     .value = "true",
     .action = ExitAction::kRestartTask,
     .why = "lost to the platform, or to SIGINT, SIGKILL or SIGTERM: retried and not counted"},
    {.name = "transient-code",
     .classes = {kUserRetryable},
     .exits = kTransientCodes,
     .option = "fancy_retry_policy",
     .value = "true",
     .action = ExitAction::kRestartTask,
     .why = "the program says that it was a transient failure: retried and not counted"},
    {.name = "non-transient",
     .classes = {kOom},
     .option = "fancy_retry_policy",
     .value = "true",
     .action = ExitAction::kTally,
     .why = "the same memory would not be enough again"},
    {.name = "non-transient-code",
     .classes = {kSignalCrash, kUnknown},
     .exits = kNonTransientCodes,
     .option = "fancy_retry_policy",
     .value = "true",
     .action = ExitAction::kTally,
     .why = "a crash that would come again, or the program says so"},
    {.name = "retried",
     .classes = ExitClassSet::Except({kOk, kGangTimeout, kInfeasible}),
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.counted = Counted::kPaidForTask,
               .option = "max_retry_count",
               .name = "max-retry-count"},
     .when_spent = ExitAction::kTally,
     .why = "each retry counts for its task; past maxRetryCount the task has failed"},
};

constexpr std::array<VerdictRow, 4> kFrameworkLauncherVerdicts = {{
    {.name = "too-many-failed",
     .when = "of one task type min_failed_task_count tasks have failed",
     .status = JobStatus::kFailed,
     .why = "failure is looked at first"},
    {.name = "enough-succeeded",
     .when = "of one task type min_succeeded_task_count tasks have succeeded",
     .status = JobStatus::kSucceeded,
     .why = "the recipe for TensorFlow gives it to workers; parameter servers never end"},
    {.name = "all-completed",
     .when = "every tracked task has ended",
     .status = JobStatus::kSucceeded,
     .why = "fewer have failed than min_failed_task_count says"},
    {.name = "nothing-left",
     .when = "every tracked task has ended, none of them with 0",
     .status = JobStatus::kFailed,
     .why = "the original succeeds; nothing was done here"},
}};

constinit auto framework_launcher_probes =
    ProbesOf("policy/framework-launcher", kFrameworkLauncherRows, "verdict/framework-launcher",
             kFrameworkLauncherVerdicts);

std::optional<Verdict> JudgeFrameworkLauncher(const Engine& engine, const JobView& view) {
  const auto reaches = [&](const TypeCounts& type, std::string_view option, std::int32_t count) {
    const std::optional<std::int32_t> least = engine.NumberOf(option, type.name);
    const bool is_role = type.task_class != TaskClass::kSidecar && !type.waived;
    return is_role && least && count >= *least;
  };
  for (const TypeCounts& type : view.types()) {
    if (reaches(type, "min_failed_task_count", type.failed))
      return engine.Failed("too-many-failed");
  }
  for (const TypeCounts& type : view.types()) {
    if (reaches(type, "min_succeeded_task_count", type.ok))
      return engine.Succeeded("enough-succeeded");
  }
  const TypeCounts tracked = SumOfTracked(view);
  if (!tracked.all_ended()) return std::nullopt;
  return tracked.ok > 0 ? engine.Succeeded("all-completed") : engine.Failed("nothing-left");
}

constexpr Table kFrameworkLauncher = {
    .name = "framework-launcher",
    .summary =
        "The rules of FrameworkLauncher (OpenPAI): failures are transient, non-transient or "
        "unknown; each task has its retries; counts of failed and succeeded tasks decide the job.",
    .options = kFrameworkLauncherOptions,
    .classes = kFrameworkLauncherClasses,
    .chiefs = kChiefOrMaster,
    .worker0_is_chief = false,
    .rows = kFrameworkLauncherRows,
    .verdicts = kFrameworkLauncherVerdicts,
    .judge = JudgeFrameworkLauncher,
    .one_budget = true,
    .probes = framework_launcher_probes.data(),
};

}  // namespace

const Table& FrameworkLauncherTable() {
  TF_PROBE_GROUP(framework_launcher_probes.data(), framework_launcher_probes.size());
  return kFrameworkLauncher;
}

}  // namespace tfyarn::policy
