// What must hold between the fields of one job: names that exist, numbers that agree.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/job_table.h"
#include "config/names.h"

namespace tfyarn::config {
namespace {

std::vector<std::string> TypeNames(const JobSpec& job) {
  std::vector<std::string> names;
  for (const TaskTypeSpec& task : job.tasks) names.push_back(task.name);
  return names;
}

/// Reports `name` at `node` unless it is a task type of the job.
void WantType(Decoder& decoder, const Node& node, const JobSpec& job, std::string_view name) {
  if (job.FindType(name) == nullptr) decoder.Unknown(node, "task type", name, TypeNames(job));
}

void CheckTasks(Decoder& decoder, const Node& tasks, const JobDraft& draft) {
  const JobSpec& job = draft.spec;
  std::int64_t total = 0;
  for (const TaskTypeSpec& task : job.tasks) {
    total += task.instances;
    const Node& node = tasks.Nearest(task.name);
    for (std::size_t i = 0; i < task.placement.avoid.size(); ++i) {
      const Decoder::Scope scope(decoder, "avoid");
      const Node& avoid = node.Nearest("placement.avoid");
      WantType(decoder, avoid.is_list() ? avoid.items[i] : avoid, job, task.placement.avoid[i]);
    }
    const bool one = task.name == "chief" || task.name == "master";
    if (one && task.instances > 1) {
      decoder.Error(node.Nearest("instances"),
                    fmt::format("`instances`: a job has one {}", task.name));
    }
  }
  constexpr std::int64_t kMost = 1'000'000;
  if (total > kMost)
    decoder.Error(tasks, fmt::format("`tasks`: {} tasks are more than {}", total, kMost));
  if (job.FindType("chief") != nullptr && job.FindType("master") != nullptr) {
    const Node& master = tasks.Nearest("master");
    decoder.Error(master, "`tasks`: a job has one chief: `chief` and `master` mean the same");
  }
}

void CheckStrategy(Decoder& decoder, const Node& node, const JobDraft& draft) {
  if (!draft.strategy) return;
  const JobSpec& job = draft.spec;
  const bool has_ps = job.FindType("ps") != nullptr;
  if (*draft.strategy == Strategy::kParameterServer && !has_ps) {
    decoder.Error(node.Nearest("strategy"), "`strategy`: parameter-server wants a task type `ps`");
  }
  if (*draft.strategy == Strategy::kMultiWorker && has_ps &&
      job.framework == Framework::kTensorflow) {
    decoder.Error(node.Nearest("strategy"),
                  "`strategy`: multi-worker has no use for the task type `ps`");
  }
}

void CheckSuccessTypes(Decoder& decoder, const Node& node, const JobSpec& job,
                       const SuccessExpr& expression) {
  for (const SuccessExpr& child : expression.children) CheckSuccessTypes(decoder, node, job, child);
  if (expression.op == SuccessOp::kAnd || expression.op == SuccessOp::kOr) return;
  if (expression.task_type == "tracked") return;
  const TaskTypeSpec* type = job.FindType(expression.task_type);
  if (type == nullptr)
    return decoder.Unknown(node, "task type", expression.task_type, TypeNames(job));
  if (expression.index && *expression.index >= type->instances) {
    decoder.Error(node, decoder.Named(fmt::format("there is no task {}:{}, {} has {}", type->name,
                                                  *expression.index, type->name,
                                                  Counted(type->instances, "instance"))));
  }
  if (expression.op == SuccessOp::kCountAtLeast && expression.number > type->instances) {
    decoder.Error(
        node, decoder.Named(fmt::format("count({0}) can never be {1}, {0} has {2}", type->name,
                                        expression.number, Counted(type->instances, "instance"))));
  }
}

/// The start order must not go round in circles.
void CheckCycles(Decoder& decoder, const Node& depends, const JobSpec& job) {
  std::map<std::string, std::set<std::string>> waits_for;
  for (const Dependency& dependency : job.depends) {
    if (!dependency.within) waits_for[dependency.task].insert(dependency.after);
  }
  // Types that wait for no other are taken away until none is left, or a circle is.
  std::size_t before = waits_for.size() + 1;
  while (before != waits_for.size()) {
    before = waits_for.size();
    for (auto& [task, others] : waits_for) {
      std::erase_if(others, [&](const std::string& other) { return !waits_for.contains(other); });
    }
    std::erase_if(waits_for, [](const auto& entry) { return entry.second.empty(); });
  }
  for (std::size_t i = 0; i < job.depends.size(); ++i) {
    if (job.depends[i].within || !waits_for.contains(job.depends[i].task)) continue;
    return decoder.Error(
        depends.items[i],
        fmt::format("`depends`: there is a circle: `{}` waits for `{}` and that for "
                    "it in the end",
                    job.depends[i].task, job.depends[i].after));
  }
}

void CheckReferences(Decoder& decoder, const Node& node, const JobSpec& job) {
  const Node& depends = node.Nearest("depends");
  for (std::size_t i = 0; !decoder.Broken("depends") && i < job.depends.size(); ++i) {
    const Decoder::Scope scope(decoder, "depends");
    WantType(decoder, depends.items[i].Nearest("task"), job, job.depends[i].task);
    WantType(decoder, depends.items[i].Nearest("after"), job, job.depends[i].after);
  }
  if (!job.depends.empty() && !decoder.Broken("depends")) CheckCycles(decoder, depends, job);
  const Node& rules = node.Nearest("on_exit");
  for (std::size_t i = 0; !decoder.Broken("on_exit") && i < job.on_exit.size(); ++i) {
    const Decoder::Scope scope(decoder, "on_exit");
    if (job.on_exit[i].task_type.empty()) continue;
    WantType(decoder, rules.items[i].Nearest("task"), job, job.on_exit[i].task_type);
  }
  if (const Node* drain = node.FindPath("finish.drain");
      drain != nullptr && !decoder.Broken("finish")) {
    for (const Entry& entry : drain->entries) {
      if (job.FindType(entry.key) != nullptr) continue;
      Node key{.kind = NodeKind::kScalar,
               .place = entry.key_place,
               .end = entry.key_place,
               .text = entry.key};
      key.end.col += static_cast<std::uint32_t>(entry.key.size());
      const Decoder::Scope scope(decoder, "drain");
      decoder.Unknown(key, "task type", entry.key, TypeNames(job));
    }
  }
  for (const auto& [type, archive] : job.python_archives) {
    if (decoder.Broken("python")) break;
    const Decoder::Scope scope(decoder, "python");
    if (!type.empty()) WantType(decoder, node.Nearest("python.archive." + type), job, type);
  }
  if (job.success) {
    const Decoder::Scope scope(decoder, "success");
    CheckSuccessTypes(decoder, node.Nearest("success"), job, *job.success);
  }
}

void CheckSecrets(Decoder& decoder, const Node& node, const JobSpec& job) {
  const Node* secrets = node.Find("secrets");
  if (secrets == nullptr || decoder.Broken("secrets")) return;
  const auto also = [&](const Entry& entry, const std::string& where) {
    decoder.ErrorAtKey(entry, fmt::format("`{}` is in `{}` and in `secrets`: which one holds?",
                                          Printable(entry.key), where));
  };
  for (const Entry& entry : secrets->entries) {
    if (job.env.contains(entry.key)) also(entry, "env");
    for (const TaskTypeSpec& task : job.tasks) {
      if (task.env.contains(entry.key)) also(entry, "tasks." + task.name + ".env");
    }
  }
}

void CheckNumbers(Decoder& decoder, const Node& node, const JobSpec& job) {
  if (!decoder.Broken("watch") && job.watch && job.watch->stalled <= job.heartbeat.every) {
    decoder.Error(node.Nearest("watch.stalled"), "`stalled`: must be longer than heartbeat.every");
  }
  const Node* command = node.Find("command");
  const Node* shell = node.Find("shell");
  if (command != nullptr && shell != nullptr) {
    decoder.Error(*shell, "`shell` and `command` are both given: which one runs?");
  }
}

}  // namespace

void CheckJob(Decoder& decoder, const Node& node, const JobDraft& draft) {
  CheckNumbers(decoder, node, draft.spec);
  CheckSecrets(decoder, node, draft.spec);
  CheckWorkDirectory(decoder, node, draft.spec);
  if (decoder.Broken("tasks")) return;
  CheckTasks(decoder, node.Nearest("tasks"), draft);
  if (!decoder.Broken("strategy") && !decoder.Broken("framework"))
    CheckStrategy(decoder, node, draft);
  CheckReferences(decoder, node, draft.spec);
}

void CheckCommands(Decoder& decoder, const Node& node, const JobSpec& job) {
  for (const TaskTypeSpec& task : job.tasks) {
    if (!task.command.empty() || !task.shell.empty()) continue;
    if (task.name == "tensorboard" && !task.logdir.empty()) continue;
    const Node& tasks = node.Nearest("tasks");
    for (const Entry& entry : tasks.entries) {
      if (entry.key != task.name) continue;
      decoder.ErrorAtKey(entry, fmt::format("the task type `{}` has nothing to run", task.name),
                         {"give it, or the job, a `command` or `shell`"});
    }
  }
  if (job.watch && job.watch->progress.empty() && job.watch->progress_file.empty()) {
    decoder.Error(node.Nearest("watch"), "`progress` is missing in watch",
                  {"wants pattern on stdout, or {file: PATH}"});
  }
}

void CheckBehavior(Decoder& decoder, const Node& node, const SimulatedJobDraft& draft) {
  if (decoder.Broken("behavior") || decoder.Broken("tasks")) return;
  const Node& rows = node.Nearest("behavior");
  const JobSpec& job = draft.job.spec;
  for (std::size_t i = 0; i < draft.config.behavior.size(); ++i) {
    const BehaviorRow& row = draft.config.behavior[i];
    if (row.task.empty()) continue;
    const SelectedTask task = SplitTask(row.task);
    const TaskTypeSpec* type = job.FindType(task.type);
    const Decoder::Scope scope(decoder, "behavior");
    const Node& at = rows.items[i].Nearest("task");
    if (type == nullptr) {
      decoder.Unknown(at, "task type", task.type, TypeNames(job));
    } else if (task.index && *task.index >= type->instances) {
      decoder.Error(
          at, decoder.Named(fmt::format("there is no task {}, {} has {}", row.task, type->name,
                                        Counted(type->instances, "instance"))));
    }
  }
}

}  // namespace tfyarn::config
