// Policy `default`: restart what the strategy needs restarted, and tell the user's failures from
// the cluster's.
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

constexpr std::array<ClassRow, 4> kDefaultClasses = {{
    {.task_type = "ps", .list = "", .task_class = TaskClass::kService},
    {.task_type = "evaluator", .list = "", .task_class = TaskClass::kDrained},
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kDefaultRows[] = {
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "counted by the success expression"},
    {.name = "stopped-by-us",
     .classes = {kKilledByUs},
     .action = ExitAction::kTally,
     .why = "we ended it ourselves; nothing broke"},
    {.name = "no-gang",
     .classes = kNoGang,
     .action = ExitAction::kFail,
     .why = "trying again needs another cluster or another job"},
    {.name = "sidecar",
     .role = RoleIs::kSidecar,
     .classes = kFailure,
     .action = ExitAction::kRestartTask,
     .limit = {.counted = Counted::kOfTask, .at_most = 3},
     .when_spent = ExitAction::kIgnore,
     .why = "training does not need it: a few restarts that no budget pays, then it stays ended"},
    {.name = "drained-oom",
     .role = RoleIs::kDrained,
     .classes = {kOom},
     .action = ExitAction::kTally,
     .why = "the same memory would not be enough again; its failure fails nothing"},
    {.name = "drained",
     .role = RoleIs::kDrained,
     .classes = kFailure,
     .action = ExitAction::kRestartTask,
     .pays = Pays::kByClass,
     .when_spent = ExitAction::kTally,
     .why = "no training process waits for it: restarted alone; past the budget it stays ended and "
            "is reported"},
    {.name = "oom",
     .classes = {kOom},
     .action = ExitAction::kFail,
     .why = "the same memory would not be enough again; an on_exit row with raise-memory may try"},
    {.name = "restart-gang",
     .classes = kFailure,
     .option = "strategy",
     .value = "multi-worker",
     .action = ExitAction::kRestartGang,
     .pays = Pays::kByClass,
     .why = "a collective breaks with one member: a process restarted alone hangs, and its peers "
            "die within seconds",
     .why_alone = "training needs this process, and has no other"},
    {.name = "restart-one",
     .classes = kFailure,
     .option = "strategy",
     .value = "independent",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kByClass,
     .when_spent = ExitAction::kTally,
     .why = "no other process is concerned; past the budget the success expression decides"},
    {.name = "restart-task",
     .classes = kFailure,
     .action = ExitAction::kRestartTask,
     .pays = Pays::kByClass,
     .why = "with parameter servers the other tasks run on; when a ps starts again, or a task gets "
            "a new address, the chief starts again too"},
};

constexpr std::array<VerdictRow, 3> kExpressionVerdicts = {{
    {.name = "success",
     .when = "the success expression is true",
     .status = JobStatus::kSucceeded,
     .why = "`success`; by default ok(chief), or ok(tracked) in a job without a chief or master"},
    {.name = "success-impossible",
     .when = "the success expression can never become true",
     .status = JobStatus::kFailed,
     .why = "waiting for the rest would only waste their time"},
    {.name = "tracked-ended",
     .when = "every tracked task has ended and the expression is not true",
     .status = JobStatus::kFailed,
     .why = "nothing is left that could make it true"},
}};

constinit auto default_probes =
    ProbesOf("policy/default", kDefaultRows, "verdict/default", kExpressionVerdicts);

constexpr Table kDefault = {
    .name = "default",
    .summary =
        "Restarts what the training strategy needs restarted, and tells the user's failures from "
        "the cluster's.",
    .options = {},
    .classes = kDefaultClasses,
    .chiefs = kChiefOrMaster,
    .worker0_is_chief = true,
    .rows = kDefaultRows,
    .verdicts = kExpressionVerdicts,
    .probes = default_probes.data(),
};

}  // namespace

const Table& DefaultTable() {
  TF_PROBE_GROUP(default_probes.data(), default_probes.size());
  return kDefault;
}

}  // namespace tfyarn::policy
