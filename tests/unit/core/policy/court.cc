#include "tests/unit/core/policy/court.h"

#include "core/model/check.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::policy {

TableView::TableView(const JobSpec& job, const Engine* engine) {
  for (const TaskTypeSpec& type : job.tasks) {
    const TaskClass task_class =
        engine != nullptr ? engine->ClassOf(type.name) : DefaultClass(type.name);
    types_.push_back({.name = type.name, .task_class = task_class, .instances = type.instances});
    tasks_.emplace_back(static_cast<std::size_t>(type.instances));
  }
}

TypeCounts& TableView::Type(const std::string& name) {
  for (TypeCounts& type : types_) {
    if (type.name == name) return type;
  }
  TF_CHECK(false);
}

TaskFacts& TableView::Facts(const TaskId& task) {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].name == task.type) return tasks_[i][static_cast<std::size_t>(task.index)];
  }
  TF_CHECK(false);
}

void TableView::End(const TaskId& task, bool ok) {
  Facts(task) = {.ended = true, .ok = ok};
  ++(ok ? Type(task.type).ok : Type(task.type).failed);
}

void TableView::EndIgnored(const TaskId& task) {
  Facts(task) = {.ended = true, .ok = false};
  ++Type(task.type).ignored;
}

void TableView::Restart(const TaskId& task) {
  Facts(task) = {};
}

void TableView::RestartAll() {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    types_[i].ok = types_[i].failed = types_[i].ignored = 0;
    tasks_[i].assign(tasks_[i].size(), {});
  }
}

JobSpec MakeJob(std::string policy, const std::vector<std::pair<std::string, int>>& types,
                std::map<std::string, std::string> options) {
  JobSpec job;
  job.name = "job";
  job.policy = {.name = std::move(policy), .options = std::move(options)};
  for (const auto& [name, instances] : types) {
    TaskTypeSpec type;
    type.name = name;
    type.instances = instances;
    job.tasks.push_back(std::move(type));
    if (name == "ps") job.strategy = Strategy::kParameterServer;
  }
  return job;
}

const std::vector<std::pair<std::string, int>> kOneOfEachType = {
    {"chief", 1}, {"worker", 3}, {"ps", 1}, {"evaluator", 1}, {"tensorboard", 1}};

JobSpec DefaultJob(Strategy strategy, int user) {
  JobSpec job = MakeJob("default", kOneOfEachType);
  job.strategy = strategy;
  job.retries.user = user;
  return job;
}

End Exits(std::string task, std::int32_t code) {
  return {.task = std::move(task),
          .exit_class = ClassOfStatus(code, DefaultRetryableCodes()),
          .exit = code};
}

namespace {
Engine MustMake(const JobSpec& job) {
  auto made = Engine::Make(job);
  TF_CHECK(made.has_value());
  return *std::move(made);
}
}  // namespace

Decision Ask(const JobSpec& job, const std::string& task, ExitClass exit_class,
             std::optional<std::int32_t> exit) {
  const Engine engine = MustMake(job);
  const TableView view(job, &engine);
  return engine.OnExit({.task = ParseTaskId(task).value(), .exit_class = exit_class, .exit = exit},
                       view);
}

Court::Court(const JobSpec& job) : engine_(MustMake(job)), view_(job, &engine_) {}

Decision Court::Hear(const std::vector<End>& ends) {
  Decision last;
  for (const End& end : ends) {
    if (status_) break;
    const TaskId task = ParseTaskId(end.task).value();
    last = engine_.OnExit({.task = task,
                           .exit_class = end.exit_class,
                           .exit = end.exit,
                           .ever_registered = end.ever_registered},
                          view_);
    Carry(end, task, last);
  }
  Judge();
  return last;
}

void Court::Waive(const std::string& type) {
  view_.Type(type).waived = true;
  Judge();
}

void Court::Carry(const End& end, const TaskId& task, const Decision& decision) {
  const bool ok = end.exit_class == ExitClass::kOk;
  switch (decision.action) {
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
    case ExitAction::kRaiseMemory:
      if (!Pay(decision, task)) {
        if (!decision.next.empty()) return Carry(end, task, decision.next.front());
        return Apply(decision.when_spent, task, ok, decision.spent_rule);
      }
      moves_ += decision.other_container;
      rules_.push_back(decision.rule);
      if (decision.action == ExitAction::kRestartGang) {
        ++gang_restarts_;
        view_.RestartAll();
      } else {
        ++task_restarts_;
        view_.Restart(task);
      }
      return;
    case ExitAction::kIgnore:
    case ExitAction::kTally:
    case ExitAction::kFail:
    case ExitAction::kSucceed:
      return Apply(decision.action, task, ok, decision.rule);
  }
}

void Court::Apply(ExitAction action, const TaskId& task, bool ok, const std::string& rule) {
  if (action == ExitAction::kIgnore) {
    view_.EndIgnored(task);
  } else {
    view_.End(task, ok);
  }
  if (action == ExitAction::kFail) Finish(JobStatus::kFailed, rule);
  if (action == ExitAction::kSucceed) Finish(JobStatus::kSucceeded, rule);
}

void Court::Judge() {
  if (status_) return;
  const auto verdict = engine_.Judge(view_);
  if (!verdict) return;
  if (verdict->retry &&
      Pay({.pays = verdict->retry->pays, .allowance = verdict->retry->allowance}, {})) {
    ++gang_restarts_;
    view_.RestartAll();
    return;
  }
  why_ = verdict->why;
  Finish(verdict->status, verdict->rule);
}

bool Court::Pay(const Decision& decision, const TaskId& task) {
  const Claimant claimant = ClaimantOf(view_.types(), task);
  if (!budgets_.Allows(decision.allowance, decision.pays, claimant, now_)) return false;
  budgets_.Count(
      {.paid = decision.pays, .cause = claimant.task, .tasks = {claimant.task}, .at = now_});
  if (decision.other_container) budgets_.TookContainer(claimant.task);
  return true;
}

void Court::Finish(JobStatus status, const std::string& rule) {
  if (status_) return;
  status_ = status;
  rule_ = rule;
}

std::string Court::status() const {
  return KebabName(status_.value_or(JobStatus::kUnfinished));
}

}  // namespace tfyarn::policy
