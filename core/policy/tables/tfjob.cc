// Policy `tfjob`. Source: kubeflow/training-operator release 1.9,
// pkg/controller.v1/tensorflow/tfjob_controller.go and pkg/controller.v1/common/{job,pod}.go.
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

/// The container or the agent is gone, not only the process: what Kubernetes calls a failed pod.
constexpr ExitClassSet kPodGone = {kPreempted,     kNodeLost, kNodeBad, kLaunchError,
                                   kHeartbeatLost, kTimeout,  kAmLost};

constexpr OptionRow kTfJobOptions[] = {
    {.name = "restart_policy",
     .standard = "Never",
     .allowed = "Never|OnFailure|Always|ExitCode",
     .per_type = true,
     .why = "replicaSpecs[type].restartPolicy"},
    {.name = "success_policy",
     .standard = "",
     .allowed = "|AllWorkers",
     .why = "successPolicy; empty: worker 0 in a job without chief"},
    {.name = "backoff_limit",
     .standard = "",
     .allowed = "number",
     .why = "runPolicy.backoffLimit; retries.user when that is not 0, else no limit"},
    {.name = "enable_dynamic_worker",
     .standard = "false",
     .allowed = "true|false",
     .why = "enableDynamicWorker: failed workers do not fail the job"},
};

constexpr std::array<ClassRow, 2> kTfJobClasses = {{
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kTfJobRows[] = {
    {.name = "after-success",
     .classes = kAnyEnd,
     .succeeded = Condition::kYes,
     .action = ExitAction::kTally,
     .why = "conditions are terminal; replicas that are still active count as succeeded"},
    {.name = "stopped-by-us",
     .classes = {kKilledByUs},
     .action = ExitAction::kTally,
     .why = "a pod that the controller deleted is no event"},
    {.name = "no-gang",
     .classes = kNoGang,
     .action = ExitAction::kFail,
     .why = "pods are not created before the gang has room"},
    {.name = "sidecar",
     .role = RoleIs::kSidecar,
     .classes = kAnyEnd,
     .action = ExitAction::kIgnore,
     .why = "not a replica type of TFJob"},
    {.name = "always-recreated",
     .classes = kPodGone,
     .option = "restart_policy",
     .value = "Always",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = Limit::kBackoff,
     .why = "a failed pod is deleted and created again"},
    {.name = "always",
     .classes = kAnyEnd,
     .option = "restart_policy",
     .value = "Always",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = Limit::kBackoffInPlace,
     .why = "the kubelet restarts the container in place, after exit 0 too"},
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "the replica has succeeded"},
    {.name = "on-failure-recreated",
     .classes = kPodGone,
     .option = "restart_policy",
     .value = "OnFailure",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = Limit::kBackoff,
     .why = "a failed pod is deleted and created again"},
    {.name = "on-failure",
     .classes = kFailure,
     .option = "restart_policy",
     .value = "OnFailure",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = Limit::kBackoffInPlace,
     .why = "the kubelet restarts the container in place"},
    {.name = "exit-code-permanent",
     .classes = kFailure,
     .exit_from = 1,
     .exit_to = 127,
     .option = "restart_policy",
     .value = "ExitCode",
     .action = ExitAction::kFail,
     .why = "codes 1 to 127 are permanent, for every replica type"},
    {.name = "exit-code-retryable",
     .classes = kFailure,
     .option = "restart_policy",
     .value = "ExitCode",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = Limit::kBackoff,
     .why = "codes from 128 are retryable, and a missing status counts as 48879"},
    {.name = "replica-failed",
     .classes = kFailure,
     .action = ExitAction::kTally,
     .why = "restart_policy Never: judged at the end of the pass, so that a chief that succeeds in "
            "the same pass wins"},
};

constexpr std::array<VerdictRow, 5> kTfJobVerdicts = {{
    {.name = "chief-succeeded",
     .when = "the job has a chief or master, and all of it has ended with 0, ignored ends aside",
     .status = JobStatus::kSucceeded,
     .why = "other replicas that fail in the same pass do not matter, those of an earlier pass do"},
    {.name = "workers-succeeded",
     .when =
         "no chief or master, every worker (without workers: every tracked task) has ended with "
         "0, ignored ends aside",
     .status = JobStatus::kSucceeded,
     .why = ""},
    {.name = "worker0-succeeded",
     .when = "no chief or master, worker:0 has ended with 0, success_policy is empty",
     .status = JobStatus::kSucceeded,
     .why = ""},
    {.name = "replica-failed",
     .when = "a replica has failed for good (not a worker under enable_dynamic_worker)",
     .status = JobStatus::kFailed,
     .why = "of any type: ps, evaluator and worker too"},
    {.name = "nothing-left",
     .when = "every replica has ended and none of the above holds",
     .status = JobStatus::kFailed,
     .why = "the original would wait for ever"},
}};

constinit auto tfjob_probes = ProbesOf("policy/tfjob", kTfJobRows, "verdict/tfjob", kTfJobVerdicts);

constexpr Table kTfJob = {
    .name = "tfjob",
    .summary =
        "The rules of Kubeflow's TFJob: one restart policy per replica type; the chief or worker 0 "
        "decides "
        "success, any replica's failure decides failure.",
    .options = kTfJobOptions,
    .classes = kTfJobClasses,
    .chiefs = kChiefOrMaster,
    .worker0_is_chief = false,
    .rows = kTfJobRows,
    .verdicts = kTfJobVerdicts,
    .verdict = VerdictFunction::kTfJob,
    .one_budget = true,
    .probes = tfjob_probes.data(),
};

}  // namespace

const Table& TfJobTable() {
  TF_PROBE_GROUP(tfjob_probes.data(), tfjob_probes.size());
  return kTfJob;
}

}  // namespace tfyarn::policy
