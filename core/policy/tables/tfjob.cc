// Policy `tfjob`. Source: kubeflow/training-operator release 1.9,
// pkg/controller.v1/tensorflow/tfjob_controller.go and pkg/controller.v1/common/{job,pod}.go.
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

constexpr OptionRow kTfJobOptions[] = {
    {.name = "restart_policy",
     .standard = "Never",
     .allowed = "Never|OnFailure|Always|ExitCode",
     .per_type = true,
     .doc = "replicaSpecs[type].restartPolicy: what the end of a replica (task) leads to."},
    {.name = "success_policy",
     .standard = "",
     .allowed = "|AllWorkers",
     .doc = "successPolicy: whose success is the job's in a job without a chief.",
     .standard_text = "worker 0"},
    {.name = "backoff_limit",
     .standard = "",
     .allowed = "number",
     .doc = "runPolicy.backoffLimit: restarts of all replicas (tasks) together.",
     .standard_text = "the job's retries.user; no limit when that is 0"},
    {.name = "enable_dynamic_worker",
     .standard = "false",
     .allowed = "true|false",
     .doc = "enableDynamicWorker: failed workers do not fail the job."},
};

constexpr std::array<ClassRow, 2> kTfJobClasses = {{
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr std::string_view kBackoffLimit = "backoff-limit";
/// The job fails as soon as the number of restarts in place reaches the limit.
constexpr std::int32_t kLastNeverCounts = 1;

constexpr Row kTfJobRows[] = {
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
     .classes = kContainerGone,
     .option = "restart_policy",
     .value = "Always",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.name = kBackoffLimit},
     .why = "a failed pod is deleted and created again"},
    {.name = "always",
     .classes = kAnyEnd,
     .option = "restart_policy",
     .value = "Always",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.less = kLastNeverCounts, .name = kBackoffLimit},
     .why = "the kubelet restarts the container in place, after exit 0 too"},
    {.name = "ended-ok",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "the replica has succeeded"},
    {.name = "on-failure-recreated",
     .classes = kContainerGone,
     .option = "restart_policy",
     .value = "OnFailure",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.name = kBackoffLimit},
     .why = "a failed pod is deleted and created again"},
    {.name = "on-failure",
     .classes = kFailure,
     .option = "restart_policy",
     .value = "OnFailure",
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = {.less = kLastNeverCounts, .name = kBackoffLimit},
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
     .limit = {.name = kBackoffLimit},
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

std::optional<Verdict> JudgeTfJob(const Engine& engine, const JobView& view) {
  const bool dynamic = engine.Option("enable_dynamic_worker") == "true";
  TypeCounts chiefs, workers;
  bool worker0_ok = false;
  bool failed = false;
  const std::vector<TypeCounts>& types = view.types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TypeCounts& type = types[i];
    if (engine.IsChief({.type = type.name, .index = 0})) AddTo(type, chiefs);
    if (type.name == "worker" && type.instances > 0) {
      workers = type;
      worker0_ok = type.ok > 0 && view.FactsOf(i, 0).ok;
    }
    failed = failed || (type.tracked() && type.failed > 0 && !(dynamic && type.name == "worker"));
  }
  const TypeCounts tracked = SumOfTracked(view);
  if (workers.instances == 0) workers = tracked;
  // What is ignored neither helps nor harms.
  const auto all_ok = [](const TypeCounts& counts) {
    return counts.ok > 0 && counts.ok + counts.ignored == counts.instances;
  };
  // Success first: of ends that come in one pass the chief's decides.
  if (engine.has_chief() && all_ok(chiefs)) return engine.Succeeded("chief-succeeded");
  if (!engine.has_chief() && all_ok(workers)) return engine.Succeeded("workers-succeeded");
  if (!engine.has_chief() && worker0_ok && engine.Option("success_policy").empty())
    return engine.Succeeded("worker0-succeeded");
  if (failed) return engine.Failed("replica-failed");
  if (tracked.all_ended()) return engine.Failed("nothing-left");
  return std::nullopt;
}

std::optional<std::int32_t> TfJobLimit(const Engine& engine) {
  if (const auto given = engine.NumberOf("backoff_limit")) return given;
  const std::int32_t retries = engine.retries().user;
  return retries > 0 ? std::optional<std::int32_t>(retries) : std::nullopt;
}

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
    .judge = JudgeTfJob,
    .user_limit = TfJobLimit,
    .user_limit_option = "backoff_limit",
    .one_budget = true,
    .probes = tfjob_probes.data(),
};

}  // namespace

const Table& TfjobTable() {
  TF_PROBE_GROUP(tfjob_probes.data(), tfjob_probes.size());
  return kTfJob;
}

}  // namespace tfyarn::policy
