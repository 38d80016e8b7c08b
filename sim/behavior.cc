#include "sim/behavior.h"

#include <algorithm>
#include <string>

#include "core/policy/options.h"
#include "sim/random.h"

namespace tfyarn::sim {
namespace {

constexpr std::int32_t kSigterm = 15;

bool IsChiefName(std::string_view type) {
  return type == "chief" || type == "master";
}

bool MatchesTask(const config::BehaviorRow& row, const TaskId& task) {
  if (row.task.empty() || row.task == task.type) return true;
  return row.task.size() > task.type.size() && row.task[task.type.size()] == ':' &&
         row.task.compare(0, task.type.size(), task.type) == 0 && row.task == ToString(task);
}

/// A law of one process: drawn from a stream that no other process or law shares.
Duration DrawFor(const config::Distribution& law, std::string_view what, trace::JobIndex index,
                 std::uint64_t seed, const TaskId& task, TaskAttempt attempt) {
  if (law.is_constant()) return SecondsToDuration(law.a);
  const std::string stream = std::string("behavior/") + std::string(what) + "/" + ToString(task);
  return Random(seed, stream, std::uint64_t{index.value} << 32 | attempt.value).DrawDuration(law);
}

bool EndsByDefault(const config::JobConfig& job, TaskRole role) {
  switch (role) {
    case TaskRole::kMember:
    case TaskRole::kSolo:
    case TaskRole::kChief:
    case TaskRole::kEvaluator:
      return true;
    case TaskRole::kWorker:
      return !HasChief(job.spec);
    case TaskRole::kPs:
    case TaskRole::kServer:
    case TaskRole::kSidecar:
      return false;
  }
  return false;
}

/// False: training is done as soon as it begins.
bool HasTraining(const config::JobConfig& job) {
  const config::Distribution& steps = job.training.steps;
  return !steps.is_constant() || steps.a > 0;
}

void TakeRow(const config::BehaviorRow& row, ProcessScript& script) {
  script.row = &row;
  if (row.forever) script.ends_when_done = false;
  if (row.runs) script.done_exit = row.exit.value_or(0);
  const bool fails = row.exit.value_or(0) != 0 || row.signal.has_value();
  if (row.hang) script.hang = true;
  if (row.signal) {
    script.exit = {.signal = *row.signal,
                   .out_of_memory = row.out_of_memory && *row.signal == kSigkill};
  } else {
    script.exit = {.code = row.exit.value_or(0)};
  }
  // What happens by itself: at `after`, else at once where it is a failure that no `runs` puts off.
  if (!row.after && !row.runs && (row.hang || fails)) script.event_after = Duration::zero();
  if (!row.after && !row.runs && !fails && !row.hang && row.exit) script.ends_when_done = true;
}

/// Policy tony names its sidecars itself: their end means nothing to the job, so nothing trains
/// with them.
bool IsTonysSidecar(const JobSpec& job, std::string_view task_type) {
  const auto list = job.policy.options.find("sidecar");
  return job.policy.name == "tony" && list != job.policy.options.end() &&
         policy::ListNames(list->second, task_type);
}

}  // namespace

TaskRole RoleOf(const JobSpec& job, std::string_view task_type) {
  if (task_type == "tensorboard") return TaskRole::kSidecar;
  if (task_type == "evaluator") return TaskRole::kEvaluator;
  const bool servers = job.strategy == Strategy::kParameterServer;
  if (servers && task_type == "ps") return TaskRole::kPs;
  const TaskTypeSpec* spec = job.FindType(task_type);
  const TaskClass task_class = spec != nullptr && spec->task_class ? *spec->task_class
                               : IsTonysSidecar(job, task_type)    ? TaskClass::kSidecar
                                                                   : DefaultClass(task_type);
  switch (task_class) {
    case TaskClass::kSidecar:
      return TaskRole::kSidecar;
    case TaskClass::kDrained:
      return TaskRole::kEvaluator;
    case TaskClass::kService:
      return TaskRole::kServer;
    case TaskClass::kTracked:
      break;
  }
  if (job.strategy == Strategy::kIndependent) return TaskRole::kSolo;
  if (!servers) return TaskRole::kMember;
  return IsChiefName(task_type) ? TaskRole::kChief : TaskRole::kWorker;
}

bool HasChief(const JobSpec& job) {
  return std::any_of(job.tasks.begin(), job.tasks.end(), [](const TaskTypeSpec& type) {
    return IsChiefName(type.name) && type.instances > 0;
  });
}

ProcessScript ScriptFor(const config::JobConfig& job, trace::JobIndex index, std::uint64_t seed,
                        const TaskId& task, TaskAttempt attempt) {
  ProcessScript script;
  script.ends_when_done = EndsByDefault(job, RoleOf(job.spec, task.type));
  for (const config::BehaviorRow& row : job.behavior) {
    if (!MatchesTask(row, task)) continue;
    if (row.attempt && *row.attempt != static_cast<std::int32_t>(attempt.value)) continue;
    TakeRow(row, script);
    if (row.start) script.start = DrawFor(*row.start, "start", index, seed, task, attempt);
    if (row.after) {
      script.event_after = DrawFor(*row.after, "after", index, seed, task, attempt);
      // Where there is no training none is done either: the row alone says when it ends.
      if (!HasTraining(job)) script.ends_when_done = false;
    }
    if (row.listens) script.listens = DrawFor(*row.listens, "listens", index, seed, task, attempt);
    if (row.runs) script.runs = DrawFor(*row.runs, "runs", index, seed, task, attempt);
    break;
  }
  return script;
}

TermScript TermScriptFor(const ProcessScript& script, trace::JobIndex index, std::uint64_t seed,
                         const TaskId& task, TaskAttempt attempt) {
  // No handler of SIGTERM by default: the process dies of it, which a shell shows as 143.
  if (script.row == nullptr || !script.row->on_term) return {.exit = {.signal = kSigterm}};
  const config::OnTerm& on_term = *script.row->on_term;
  return {.ignore = on_term.ignore,
          .checkpoint = on_term.checkpoint,
          .after = DrawFor(on_term.after, "on-term", index, seed, task, attempt),
          .exit = {.code = on_term.exit}};
}

bool Trains(const JobSpec& job, const TaskId& task) {
  switch (RoleOf(job, task.type)) {
    case TaskRole::kMember:
    case TaskRole::kSolo:
    case TaskRole::kChief:
    case TaskRole::kPs:
    case TaskRole::kWorker:
      return true;
    case TaskRole::kServer:
    case TaskRole::kEvaluator:
    case TaskRole::kSidecar:
      return false;
  }
  return false;
}

bool NeverTrains(const config::JobConfig& job, const TaskId& task) {
  for (const config::BehaviorRow& row : job.behavior) {
    if (MatchesTask(row, task) && !row.attempt) return row.runs.has_value();
  }
  return false;
}

}  // namespace tfyarn::sim
