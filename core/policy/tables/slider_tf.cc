// Policy `slider-tf`. Source: apache/incubator-slider app-packages/tensorflow (tensorflow.py: five
// restarts of an instance), AppState.java (checkFailureThreshold), ResourceKeys.java.
#include "core/policy/engine.h"
#include "core/policy/tables/parts.h"

namespace tfyarn::policy {
namespace {

using enum ExitClass;

/// Slider's own window, yarn.container.failure.window.
constexpr Duration kWindow = 6h;
constexpr RowLimit kThreshold = {.counted = Counted::kPaidForType,
                                 .option = "container_failure_threshold",
                                 .window = kWindow,
                                 .name = "component-failed"};

constexpr OptionRow kSliderTfOptions[] = {
    {.name = "restarts_in_container",
     .standard = "5",
     .allowed = "number",
     .per_type = true,
     .doc = "How often a task's process is started again in one container for a failure of its "
            "own; the next one takes the task to another container. Slider fixes 5."},
    {.name = "container_failure_threshold",
     .standard = "unlimited",
     .allowed = "number|unlimited",
     .per_type = true,
     .doc = "yarn.container.failure.threshold: how many containers of one task type may fail "
            "within 6 h; the next one fails the job. Slider writes 0 for unlimited."},
};

constexpr std::array<ClassRow, 3> kSliderTfClasses = {{
    {.task_type = "ps", .list = "", .task_class = TaskClass::kService},
    {.task_type = "tensorboard", .list = "", .task_class = TaskClass::kSidecar},
    {.task_type = "", .list = "", .task_class = TaskClass::kTracked},
}};

constexpr Row kSliderTfRows[] = {
    {.name = "finished",
     .classes = {kOk},
     .action = ExitAction::kTally,
     .why = "the instance marks itself finished, of whatever component it is"},
    {.name = "stopped-by-us",
     .classes = {kKilledByUs},
     .action = ExitAction::kTally,
     .why = "an instance that the application stops is no failure"},
    {.name = "no-gang",
     .classes = kNoGang,
     .action = ExitAction::kFail,
     .why = "Slider waits for instances without limit; gang.deadline is the limit here"},
    {.name = "container-lost",
     .classes = {kPreempted, kNodeLost, kNodeBad, kLaunchError, kHeartbeatLost, kAmLost},
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = kThreshold,
     .other_container = true,
     .why = "Slider asks for another container for the instance"},
    {.name = "restarted-in-place",
     .classes = kFailure,
     .action = ExitAction::kRestartTask,
     .limit = {.counted = Counted::kInContainer, .option = "restarts_in_container"},
     .next_when_spent = true,
     .why = "the instance's agent starts the process again where it was, with the same port"},
    {.name = "instance-replaced",
     .classes = kFailure,
     .action = ExitAction::kRestartTask,
     .pays = Pays::kUser,
     .limit = kThreshold,
     .other_container = true,
     .why = "the instance no longer reports that it runs: Slider replaces its container"},
};

constexpr std::array<VerdictRow, 2> kSliderTfVerdicts = {{
    {.name = "workers-finished",
     .when = "every worker, chief and other tracked task has ended with 0, ignored ends aside",
     .status = JobStatus::kSucceeded,
     .why = "the last one to finish calls the application's stop action"},
    {.name = "nothing-left",
     .when = "every tracked task has ended, and not all of them are finished",
     .status = JobStatus::kFailed,
     .why = "the original would wait for ever"},
}};

constinit auto slider_tf_probes =
    ProbesOf("policy/slider-tf", kSliderTfRows, "verdict/slider-tf", kSliderTfVerdicts);

std::optional<Verdict> JudgeSliderTf(const Engine& engine, const JobView& view) {
  const TypeCounts tracked = SumOfTracked(view);
  if (!tracked.all_ended()) return std::nullopt;
  if (tracked.failed == 0 && tracked.ok > 0) return engine.Succeeded("workers-finished");
  return engine.Failed("nothing-left");
}

constexpr Table kSliderTf = {
    .name = "slider-tf",
    .summary =
        "The rules of the TensorFlow package of Apache Slider: a process starts again in its "
        "container, then in another one; the job succeeds when every worker has finished.",
    .options = kSliderTfOptions,
    .classes = kSliderTfClasses,
    .chiefs = kChiefOrMaster,
    .worker0_is_chief = false,
    .rows = kSliderTfRows,
    .verdicts = kSliderTfVerdicts,
    .judge = JudgeSliderTf,
    .one_budget = true,
    .probes = slider_tf_probes.data(),
};

}  // namespace

const Table& SliderTfTable() {
  TF_PROBE_GROUP(slider_tf_probes.data(), slider_tf_probes.size());
  return kSliderTf;
}

}  // namespace tfyarn::policy
