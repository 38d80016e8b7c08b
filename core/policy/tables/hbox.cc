// Policy `hbox`. Source: Qihoo360/hbox ApplicationMaster.java, ApplicationContainerListener.java,
// HboxConfiguration.java.
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

constexpr OptionRow kHboxOptions[] = {
    {.name = "max_failures_percent",
     .standard = "50",
     .allowed = "percent",
     .doc = "hbox.container.max.failures.rate: from this share of failed tracked tasks on the job "
            "has failed, where single failures do not fail it (strategy independent, framework "
            "horovod)."},
};

constexpr std::array<ClassRow, 4> kHboxClasses = {{
    {.task_type = "ps", .list = "", .task_class = TaskClass::kService},
    {.task_type = "evaluator", .list = "", .task_class = TaskClass::kDrained},
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kHboxRows[] = {
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "the container has succeeded"},
    {.name = "stopped-by-us",
     .classes = {kKilledByUs},
     .action = ExitAction::kTally,
     .why = "it is counted, as a failure, and fails nothing by itself"},
    {.name = "no-gang",
     .classes = kNoGang,
     .action = ExitAction::kFail,
     .why = "a container that waits for the others beyond the RM's expiry fails the application"},
    {.name = "sidecar",
     .role = RoleIs::kSidecar,
     .classes = kFailure,
     .action = ExitAction::kIgnore,
     .why = "TensorBoard is a thread of the chief's container there"},
    {.name = "evaluator-failed",
     .role = RoleIs::kDrained,
     .classes = kFailure,
     .action = ExitAction::kIgnore,
     .why = "the evaluator's failures are not counted"},
    {.name = "counted-in-horovod",
     .classes = kFailure,
     .option = "framework",
     .value = "horovod",
     .action = ExitAction::kTally,
     .why = "training ends at the first failure, and the share of failed tasks decides"},
    {.name = "counted-alone",
     .classes = kFailure,
     .option = "strategy",
     .value = "independent",
     .action = ExitAction::kTally,
     .why = "the share of failed tasks decides"},
    {.name = "container-failed",
     .classes = kFailure,
     .action = ExitAction::kFail,
     .why = "one failed container of a distributed job fails the application; nothing is retried"},
};

constexpr std::array<VerdictRow, 4> kHboxVerdicts = {{
    {.name = "all-ok",
     .when = "every tracked task has ended with 0, ignored ends aside",
     .status = JobStatus::kSucceeded,
     .why = "parameter servers are stopped then"},
    {.name = "few-failed",
     .when = "training is over, and fewer have failed than max_failures_percent (strategy "
             "independent, framework horovod)",
     .status = JobStatus::kSucceeded,
     .why = "over: every tracked task has ended; half of them have failed; in a Horovod job at the "
            "first failure"},
    {.name = "many-failed",
     .when = "training is over, and max_failures_percent or more have failed; of a distributed job "
             "one",
     .status = JobStatus::kFailed,
     .why = ""},
    {.name = "nothing-left",
     .when = "every tracked task has ended, none with 0 and none that counts as failed",
     .status = JobStatus::kFailed,
     .why = "nothing was done"},
}};

constinit auto hbox_probes = ProbesOf("policy/hbox", kHboxRows, "verdict/hbox", kHboxVerdicts);

std::optional<Verdict> JudgeHbox(const Engine& engine, const JobView& view) {
  const TypeCounts tracked = SumOfTracked(view);
  const bool horovod = engine.Option("framework") == "horovod";
  const bool over = tracked.all_ended() || (horovod && tracked.failed > 0) ||
                    (tracked.failed > 0 && 2 * tracked.failed >= tracked.instances);
  if (!over) return std::nullopt;
  if (tracked.failed > 0) {
    const bool by_share = horovod || engine.Option("strategy") == "independent";
    const std::int64_t allowed = by_share ? engine.NumberOf("max_failures_percent").value_or(0) : 0;
    const bool few = std::int64_t{100} * tracked.failed < allowed * tracked.instances;
    return few ? engine.Succeeded("few-failed") : engine.Failed("many-failed");
  }
  return tracked.ok > 0 ? engine.Succeeded("all-ok") : engine.Failed("nothing-left");
}

constexpr Table kHbox = {
    .name = "hbox",
    .summary =
        "The rules of Hbox (XLearning): a failed container fails a distributed job at once; "
        "elsewhere the share of failed containers decides; nothing is retried.",
    .options = kHboxOptions,
    .classes = kHboxClasses,
    .chiefs = kChiefOrMaster,
    .worker0_is_chief = true,
    .rows = kHboxRows,
    .verdicts = kHboxVerdicts,
    .judge = JudgeHbox,
    .one_budget = true,
    .probes = hbox_probes.data(),
};

}  // namespace

const Table& HboxTable() {
  TF_PROBE_GROUP(hbox_probes.data(), hbox_probes.size());
  return kHbox;
}

}  // namespace tfyarn::policy
