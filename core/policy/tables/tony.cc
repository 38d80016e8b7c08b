// Policy `tony`. Source: tony-framework/TonY ApplicationMaster.java, TonySession.java,
// MLGenericRuntime.java.
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

constexpr OptionRow kTonyOptions[] = {
    {.name = "fail_on_worker_failure",
     .standard = "false",
     .allowed = "true|false",
     .doc = "tony.application.fail-on-worker-failure-enabled: the first failed task of any type "
            "fails the job."},
    {.name = "untracked",
     .standard = "ps",
     .allowed = "types",
     .doc = "tony.application.untracked.jobtypes: types whose success is not waited for; in a "
            "Horovod job the type driver.",
     .in_horovod = "driver"},
    {.name = "sidecar",
     .standard = "tensorboard",
     .allowed = "types",
     .doc = "tony.application.sidecar.jobtypes: types whose end means nothing."},
    {.name = "stop_on_failure",
     .standard = "ps",
     .allowed = "types",
     .doc = "tony.application.stop-on-failure-jobtypes: types whose first failure fails the job."},
    {.name = "retry_count",
     .standard = "",
     .allowed = "number",
     .doc = "tony.am.retry-count: how often the whole gang is started again.",
     .standard_text = "the job's retries.user"},
};

constexpr std::array<ClassRow, 3> kTonyClasses = {{
    {.task_type = "", .list = "untracked", .task_class = TaskClass::kService},
    {.task_type = "", .list = "sidecar", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kTonyRows[] = {
    {.name = "untracked-ended",
     .role = RoleIs::kService,
     .classes = {kKilledByUs},
     .action = ExitAction::kIgnore,
     .why = "an untracked task that the AM stops is no event"},
    {.name = "sidecar-ended",
     .role = RoleIs::kSidecar,
     .classes = {kKilledByUs},
     .action = ExitAction::kIgnore,
     .why = "a sidecar that the AM stops is no event"},
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "a chief's exit 0 does not end the job: all tracked tasks must complete, and only they "
            "count"},
    {.name = "killed-by-am",
     .classes = {kKilledByUs},
     .action = ExitAction::kTally,
     .why = "exit -105 is counted as non-zero in the end, but fails nothing at once"},
    {.name = "chief-failed",
     .role = RoleIs::kChief,
     .classes = kFailure,
     .action = ExitAction::kFail,
     .why = "chief, or worker:0 in a job without chief: training is over"},
    {.name = "stop-on-failure",
     .role = RoleIs::kInList,
     .list = "stop_on_failure",
     .classes = kFailure,
     .action = ExitAction::kFail,
     .why = "the type is in stop_on_failure"},
    {.name = "fail-on-worker-failure",
     .classes = kFailure,
     .option = "fail_on_worker_failure",
     .value = "true",
     .action = ExitAction::kFail,
     .why = "asked for; it means every type, sidecars included"},
    {.name = "untracked-failed",
     .role = RoleIs::kService,
     .classes = kFailure,
     .action = ExitAction::kTally,
     .why = "ends the session: see the verdict of the same name"},
    {.name = "waived-failed-late",
     .role = RoleIs::kWaived,
     .classes = kFailure,
     .tracked_ended = Condition::kYes,
     .action = ExitAction::kIgnore,
     .why = "all other tracked tasks have completed: the verdict function decides without it"},
    {.name = "waived-failed",
     .role = RoleIs::kWaived,
     .classes = kFailure,
     .action = ExitAction::kFail,
     .why = "from the moment it was waived its failure is an untracked failure"},
    {.name = "starting-failed",
     .classes = kFailure,
     .registered = Condition::kNo,
     .action = ExitAction::kFail,
     .why = "a task that never registered breaks the gang, whatever its type"},
    {.name = "sidecar-failed",
     .role = RoleIs::kSidecar,
     .classes = kFailure,
     .action = ExitAction::kIgnore,
     .why = "sidecars may fail"},
    {.name = "tracked-failed",
     .classes = kFailure,
     .action = ExitAction::kTally,
     .why = "a tracked task that is not the chief: the job goes on and counts it in the end"},
};

constexpr std::array<VerdictRow, 5> kTonyVerdicts = {{
    {.name = "untracked-failed",
     .when = "an untracked task has failed while a tracked task has not completed",
     .status = JobStatus::kFailed,
     .why = "the loop ends, and a tracked task that has not finished counts as a failure"},
    {.name = "all-ok",
     .when = "every tracked task has completed with exit 0",
     .status = JobStatus::kSucceeded,
     .why = ""},
    {.name = "worker-failure",
     .when = "every tracked task has completed, one not with 0, and fail_on_worker_failure is set",
     .status = JobStatus::kFailed,
     .why = ""},
    {.name = "all-failed",
     .when = "every tracked task has completed, none with exit 0",
     .status = JobStatus::kFailed,
     .why = ""},
    {.name = "some-failed",
     .when = "every tracked task has completed, at least one with exit 0",
     .status = JobStatus::kSucceeded,
     .why = "completed with some worker jobs failure"},
}};

std::optional<Verdict> JudgeTony(const Engine& engine, const JobView& view) {
  const TypeCounts tracked = SumOfTracked(view);
  if (!tracked.all_ended()) {
    for (const TypeCounts& type : view.types()) {
      if (type.task_class == TaskClass::kService && type.failed > 0)
        return engine.Failed("untracked-failed");
    }
    return std::nullopt;
  }
  if (tracked.failed > 0 && engine.Option("fail_on_worker_failure") == "true")
    return engine.Failed("worker-failure");
  if (tracked.ok == 0 && tracked.instances > 0) return engine.Failed("all-failed");
  if (tracked.failed == 0) return engine.Succeeded("all-ok");
  return engine.Succeeded("some-failed");
}

std::optional<std::int32_t> TonyLimit(const Engine& engine) {
  return engine.NumberOf("retry_count").value_or(engine.retries().user);
}

constinit auto tony_probes = ProbesOf("policy/tony", kTonyRows, "verdict/tony", kTonyVerdicts);

constexpr Table kTony = {
    .name = "tony",
    .summary =
        "TonY's rules: the chief and the parameter servers fail the job at once, other workers are "
        "counted in "
        "the end; the whole session is tried again.",
    .options = kTonyOptions,
    .classes = kTonyClasses,
    .chiefs = kChiefOnly,
    .worker0_is_chief = true,
    .rows = kTonyRows,
    .verdicts = kTonyVerdicts,
    .judge = JudgeTony,
    .user_limit = TonyLimit,
    .user_limit_option = "retry_count",
    .first_report_wins = true,
    .one_budget = true,
    .retry_instead_of_failing = true,
    .probes = tony_probes.data(),
};

}  // namespace

const Table& TonyTable() {
  TF_PROBE_GROUP(tony_probes.data(), tony_probes.size());
  return kTony;
}

}  // namespace tfyarn::policy
