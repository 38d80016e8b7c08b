// Fields of a task type: what it asks of a container and what runs in it.
#include <fmt/format.h>

#include "config/job_table.h"
#include "config/names.h"
#include "config/resource_table.h"

namespace tfyarn::config {
namespace {

constexpr std::int32_t kMaxInstances = 100'000;

const Record<PlacementSpec>& PlacementTable() {
  static const Record<PlacementSpec> table = [] {
    Record<PlacementSpec> record("placement", "Where the tasks of a type may go.");
    record.Field("spread", &PlacementSpec::spread, Maybe(Choice<PlacementScope>(), "anywhere"),
                 "At most one task of the type on each node, or in each rack.");
    record.Custom("pack", {.shape = Shape::kChoice, .text = "", .choices = {"rack"}},
                  "All tasks of the type in one rack.",
                  [](Decoder& decoder, const Node& node, PlacementSpec& placement) {
                    placement.pack_rack = ReadChoice(decoder, node, {"rack"}) == 0;
                  });
    record.Field("avoid", &PlacementSpec::avoid, OneOrMore(TaskTypeName()),
                 "Not on a node that holds a task of these types.", {.example = "[ps]"});
    record.Checked([](Decoder& decoder, const Node& node, const PlacementSpec& placement) {
      if (placement.spread == PlacementScope::kRack && placement.pack_rack) {
        decoder.Error(node, "`placement`: `spread: rack` and `pack: rack` contradict each other");
      }
    });
    return record;
  }();
  return table;
}

}  // namespace

const Record<TaskTypeSpec>& TaskTable() {
  static const Record<TaskTypeSpec> table = [] {
    Record<TaskTypeSpec> record("task type",
                                "One kind of task: how many, how large a container each gets, what "
                                "runs in it. Well-known names have well-known "
                                "roles: chief, master, worker, ps, evaluator, tensorboard.");
    record.Field("instances", &TaskTypeSpec::instances, Count(1, kMaxInstances),
                 "How many tasks, TYPE:0 and up.", {.also = {"count", "replicas"}});
    AddTaskResources(record, &TaskTypeSpec::resource);
    record.Field("node_label", &TaskTypeSpec::node_label, PlainName(),
                 "The YARN partition (exclusive node label) its containers come from.",
                 {.example = "gpu",
                  .default_text = "the default partition",
                  .ignored_by = {{Host::kMachine, "it has no partitions"}}});
    record.Field("placement", &TaskTypeSpec::placement, Of(PlacementTable),
                 "Where its tasks may go.",
                 {.example = "{spread: node}",
                  .ignored_by = {{Host::kMachine, "there is nothing to choose between"}}});
    record.Field(
        "command", &TaskTypeSpec::command, ListOf(Text()),
        "What is run, as a list of arguments; no shell sees it. `{ps_hosts}`, `{worker_hosts}`, "
        "`{task_type}`, "
        "`{task_index}` and `{port}` are filled in.",
        {.example = "[python3, train.py, \"--ps_hosts={ps_hosts}\"]",
         .default_text = "the job's",
         .ignored_by = Simulated(kNoCommand)});
    record.Field("shell", &TaskTypeSpec::shell, SomeText(),
                 "A line for /bin/sh, in place of `command`. Of a pipe, the last program's exit "
                 "code counts.",
                 {.example = "cd src && exec python3 train.py",
                  .default_text = "the job's",
                  .ignored_by = Simulated(kNoCommand)});
    record.Field("class", &TaskTypeSpec::task_class,
                 Maybe(Choice<TaskClass>(), "by the policy's table of roles"),
                 "What its end means to the job: `tracked` counts towards success; `service` is "
                 "never expected to end (ps); "
                 "`drained` gets time after success (evaluator); `sidecar` neither helps nor harms "
                 "(tensorboard).");
    record.Field("env", &TaskTypeSpec::env, MapOf(EnvironmentKeys(), Text()),
                 "Variables for its processes, over those of the job.",
                 {.example = "{TF_CPP_MIN_LOG_LEVEL: \"1\"}", .ignored_by = Simulated(kNoProcess)});
    record.Field("logdir", &TaskTypeSpec::logdir, SomeText(),
                 "For a tensorboard without a command: the directory it shows.",
                 {.example = "checkpoints", .ignored_by = Simulated("no TensorBoard runs there")});
    record.Checked([](Decoder& decoder, const Node& node, const TaskTypeSpec& task) {
      if (!task.command.empty() && !task.shell.empty()) {
        decoder.Error(*node.Find("shell"), "`shell` and `command` are both given: which one runs?");
      }
      if (const Node* command = node.Find("command"); command != nullptr && task.command.empty()) {
        decoder.Error(*command, "`command` is empty");
      }
    });
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
