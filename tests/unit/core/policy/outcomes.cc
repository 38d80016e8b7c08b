#include "tests/unit/core/policy/outcomes.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace tfyarn::policy {
namespace {

/// The outcomes of all tasks as one number, a digit for each: open, ok, failed, ignored.
constexpr std::size_t kOutcomes = 4;

std::vector<TaskId> TasksOf(const JobSpec& job) {
  std::vector<TaskId> tasks;
  for (const TaskTypeSpec& type : job.tasks)
    for (std::int32_t i = 0; i < type.instances; ++i) tasks.push_back({type.name, i});
  return tasks;
}

std::size_t CountOf(const std::vector<TaskId>& tasks) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < tasks.size(); ++i) count *= kOutcomes;
  return count;
}

std::optional<Verdict> JudgeOutcome(const Bench& bench, const JobSpec& job,
                                    const std::vector<TaskId>& tasks, std::size_t outcome,
                                    const std::string& waived) {
  TableView view(job, &bench.engine());
  if (!waived.empty()) view.Type(waived).waived = true;
  for (const TaskId& task : tasks) {
    const std::size_t digit = outcome % kOutcomes;
    outcome /= kOutcomes;
    if (digit == 1 || digit == 2) view.End(task, digit == 1);
    if (digit == 3) view.EndIgnored(task);
  }
  return bench.engine().Judge(view);
}

/// No type, and each of them.
std::vector<std::string> WaivedOf(const JobSpec& job) {
  std::vector<std::string> waived = {""};
  for (const TaskTypeSpec& type : job.tasks) waived.push_back(type.name);
  return waived;
}

/// The verdicts on all outcomes of a job, by outcome.
std::vector<std::optional<Verdict>> VerdictsOf(const Bench& bench, const JobSpec& job,
                                               const std::string& waived) {
  const std::vector<TaskId> tasks = TasksOf(job);
  std::vector<std::optional<Verdict>> verdicts;
  for (std::size_t outcome = 0; outcome < CountOf(tasks); ++outcome)
    verdicts.push_back(JudgeOutcome(bench, job, tasks, outcome, waived));
  return verdicts;
}

bool Same(const std::optional<Verdict>& a, const std::optional<Verdict>& b) {
  if (!a || !b) return !a && !b;
  if (a->status != b->status || a->rule != b->rule) return false;
  if (!a->retry || !b->retry) return !a->retry && !b->retry;
  return a->retry->pays == b->retry->pays &&
         a->retry->allowance.restarts == b->retry->allowance.restarts &&
         a->retry->allowance.window == b->retry->allowance.window;
}

/// Whether an outcome that differs from this one in one task has a verdict of another rule.
bool HasOther(const std::vector<std::optional<Verdict>>& verdicts, std::size_t outcome) {
  for (std::size_t unit = 1; unit < verdicts.size(); unit *= kOutcomes) {
    const std::size_t without = outcome - outcome / unit % kOutcomes * unit;
    for (std::size_t digit = 0; digit < kOutcomes; ++digit) {
      const auto& other = verdicts[without + digit * unit];
      if (other && other->rule != verdicts[outcome]->rule) return true;
    }
  }
  return false;
}

}  // namespace

bool SameVerdicts(const Bench& a, const Bench& b, const JobSpec& job) {
  const std::vector<TaskId> tasks = TasksOf(job);
  for (const std::string& waived : WaivedOf(job)) {
    for (std::size_t outcome = 0; outcome < CountOf(tasks); ++outcome) {
      if (!Same(JudgeOutcome(a, job, tasks, outcome, waived),
                JudgeOutcome(b, job, tasks, outcome, waived)))
        return false;
    }
  }
  return true;
}

std::map<std::string, VerdictReach> ReachedVerdicts(const Table& table) {
  std::map<std::string, VerdictReach> reached;
  for (const JobSpec& job : SmallJobsFor(table)) {
    const Bench bench(job, table);
    for (const std::string& waived : WaivedOf(job)) {
      const auto verdicts = VerdictsOf(bench, job, waived);
      for (std::size_t outcome = 0; outcome < verdicts.size(); ++outcome) {
        if (!verdicts[outcome]) continue;
        VerdictReach& reach = reached[verdicts[outcome]->rule];
        reach.statuses.insert(verdicts[outcome]->status);
        reach.another = reach.another || HasOther(verdicts, outcome);
      }
    }
  }
  return reached;
}

}  // namespace tfyarn::policy
