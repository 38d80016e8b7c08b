// Policy `tf-yarn`. Source: criteo/tf-yarn tf_yarn/tensorflow/tasks; jcrist/skein
// ApplicationMaster.java.
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

constexpr OptionRow kTfYarnOptions[] = {
    {.name = "propagate",
     .standard = "now",
     .allowed = "now|late",
     .doc = "When a Python exception fails the job: at once, or, as in tf-yarn, when every chief, "
            "worker and other tracked task but the evaluator has ended."},
};

constexpr std::array<ClassRow, 3> kTfYarnClasses = {{
    {.task_type = "ps", .list = "", .task_class = TaskClass::kService},
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kService},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kTfYarnRows[] = {
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "one service instance has succeeded"},
    {.name = "killed-by-api",
     .classes = {kKilledByUs},
     .action = ExitAction::kIgnore,
     .why = "Skein does not count a container that was killed through its API as failed"},
    {.name = "tensorboard-error",
     .task_type = "tensorboard",
     .classes = {kUserPermanent, kUserRetryable, kPortConflict},
     .action = ExitAction::kIgnore,
     .why = "its exception is overwritten by an empty stop event: the container ends with 0"},
    {.name = "raised-late",
     .role = RoleIs::kTracked,
     .classes = {kUserPermanent, kUserRetryable},
     .option = "propagate",
     .value = "late",
     .action = ExitAction::kTally,
     .why = "a Python exception is held back until every cluster task has stopped"},
    {.name = "container-failed",
     .classes = kFailure,
     .action = ExitAction::kFail,
     .why = "max_restarts 0 and allow_failures false: one failed container fails the application"},
};

constexpr std::array<VerdictRow, 3> kTfYarnVerdicts = {{
    {.name = "services-ended",
     .when = "every chief, worker, evaluator and other own task has ended with 0",
     .status = JobStatus::kSucceeded,
     .why =
         "ps and tensorboard end by themselves once the others have; the evaluator is waited for"},
    {.name = "raised",
     .when = "a task has failed and every cluster task (all tracked types but evaluator) has ended",
     .status = JobStatus::kFailed,
     .why = "with propagate late the exception surfaces now"},
    {.name = "nothing-left",
     .when = "every own task has ended, none with 0 and none that counts as failed",
     .status = JobStatus::kFailed,
     .why = "Skein ends as succeeded when all that it ran was killed through its API; nothing was "
            "done here"},
}};

std::optional<Verdict> JudgeTfYarn(const Engine& engine, const JobView& view) {
  const TypeCounts tracked = SumOfTracked(view);
  if (tracked.failed == 0) {
    if (!tracked.all_ended()) return std::nullopt;
    if (tracked.ok == 0 && tracked.instances > 0) return engine.Failed("nothing-left");
    return engine.Succeeded("services-ended");
  }
  for (const TypeCounts& type : view.types()) {
    if (type.tracked() && type.name != "evaluator" && !type.all_ended()) return std::nullopt;
  }
  return engine.Failed("raised");
}

constinit auto tf_yarn_probes =
    ProbesOf("policy/tf-yarn", kTfYarnRows, "verdict/tf-yarn", kTfYarnVerdicts);

constexpr Table kTfYarn = {
    .name = "tf-yarn",
    .summary =
        "tf-yarn's rules on Skein: any failed container fails the application; success is every "
        "service's exit "
        "0, the evaluator's too.",
    .options = kTfYarnOptions,
    .classes = kTfYarnClasses,
    .chiefs = kChiefOnly,
    .worker0_is_chief = false,
    .rows = kTfYarnRows,
    .verdicts = kTfYarnVerdicts,
    .judge = JudgeTfYarn,
    .one_budget = true,
    .retry_instead_of_failing = true,
    .probes = tf_yarn_probes.data(),
};

}  // namespace

const Table& TfYarnTable() {
  TF_PROBE_GROUP(tf_yarn_probes.data(), tf_yarn_probes.size());
  return kTfYarn;
}

}  // namespace tfyarn::policy
