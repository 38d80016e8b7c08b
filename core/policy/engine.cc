#include "core/policy/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/policy/exit_classifier.h"
#include "core/policy/options.h"
#include "core/policy/success_eval.h"

namespace tfyarn::policy {
namespace {

bool Answers(Condition ask, bool fact) {
  return ask == Condition::kEither || (ask == Condition::kYes) == fact;
}

bool IsFailure(ExitClass c) {
  return c != ExitClass::kOk && c != ExitClass::kKilledByUs;
}

bool OwnRuleMatches(const ExitRule& rule, const ExitView& exit) {
  if (!rule.task_type.empty() && rule.task_type != exit.task.type) return false;
  if (rule.classes.empty() && rule.exits.empty()) return IsFailure(exit.exit_class);
  if (!rule.classes.empty() &&
      std::find(rule.classes.begin(), rule.classes.end(), exit.exit_class) == rule.classes.end()) {
    return false;
  }
  if (rule.exits.empty()) return true;
  return exit.exit &&
         std::find(rule.exits.begin(), rule.exits.end(), *exit.exit) != rule.exits.end();
}

bool IsWaived(std::string_view task_type, const JobView& view) {
  for (const TypeCounts& type : view.types()) {
    if (type.name == task_type) return type.waived;
  }
  return false;
}

SuccessExpr OkOf(std::string_view task_type) {
  SuccessExpr expr;
  expr.op = SuccessOp::kOk;
  expr.task_type = std::string(task_type);
  return expr;
}

/// ok of every chief type of the job, else ok(tracked).
SuccessExpr DefaultSuccess(const JobSpec& job, const Table& table) {
  SuccessExpr both;
  for (const std::string_view chief : table.chiefs) {
    if (job.FindType(chief) != nullptr) both.children.push_back(OkOf(chief));
  }
  if (both.children.empty()) return OkOf("tracked");
  if (both.children.size() == 1) return std::move(both.children.front());
  return both;
}

TaskClass ClassByTable(const Table& table, const std::map<std::string, std::string>& options,
                       std::string_view task_type) {
  for (const ClassRow& row : table.classes) {
    if (!row.task_type.empty() && row.task_type != task_type) continue;
    if (!row.list.empty() && !ListNames(options.at(std::string(row.list)), task_type)) continue;
    return row.task_class;
  }
  TF_CHECK(false);  // The last row of every table takes any type.
}

}  // namespace

bool IsRestart(ExitAction action) {
  switch (action) {
    case ExitAction::kRestartTask:
    case ExitAction::kRestartType:
    case ExitAction::kRestartGang:
    case ExitAction::kRaiseMemory:
      return true;
    case ExitAction::kIgnore:
    case ExitAction::kTally:
    case ExitAction::kFail:
    case ExitAction::kSucceed:
      break;
  }
  return false;
}

Expected<Engine> Engine::Make(const JobSpec& job) {
  const auto table = FindPolicy(job.policy.name);
  if (!table) return tl::unexpected<Error>(table.error());
  return Make(job, **table);
}

Expected<Engine> Engine::Make(const JobSpec& job, const Table& table) {
  std::vector<std::string> types;
  for (const TaskTypeSpec& type : job.tasks) types.push_back(type.name);
  if (auto checked = CheckOptions(table, job.policy.options, types); !checked)
    return tl::unexpected<Error>(checked.error());

  Engine engine;
  engine.table_ = &table;
  for (const OptionRow& option : engine.table_->options) {
    const bool of_horovod = job.framework == Framework::kHorovod && !option.in_horovod.empty();
    engine.options_.emplace(option.name, of_horovod ? option.in_horovod : option.standard);
  }
  for (const auto& [key, value] : job.policy.options) engine.options_[key] = value;
  engine.options_["strategy"] = KebabName(job.strategy);
  engine.options_["framework"] = KebabName(job.framework);
  for (const TaskTypeSpec& type : job.tasks) {
    engine.classes_.emplace(
        type.name, type.task_class ? *type.task_class
                                   : ClassByTable(*engine.table_, engine.options_, type.name));
    engine.has_chief_ =
        engine.has_chief_ || std::find(engine.table_->chiefs.begin(), engine.table_->chiefs.end(),
                                       type.name) != engine.table_->chiefs.end();
  }
  engine.one_trains_ = engine.CountTraining(job) == 1;
  engine.on_exit_ = job.on_exit;
  for (const ExitRule& rule : job.on_exit) {
    if (rule.task_type.empty() || engine.classes_.contains(rule.task_type)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("on_exit: the job has no task type '{}'", rule.task_type));
  }
  if (job.watch) engine.watch_action_ = job.watch->action;
  engine.retries_ = job.retries;
  if (auto taken = engine.TakeSuccess(job); !taken) return tl::unexpected<Error>(taken.error());
  return engine;
}

Expected<void> Engine::TakeSuccess(const JobSpec& job) {
  std::vector<TypeCounts> types;
  for (const TaskTypeSpec& type : job.tasks) {
    types.push_back(
        {.name = type.name, .task_class = ClassOf(type.name), .instances = type.instances});
  }
  if (job.success) {
    success_ = job.success;
  } else if (table_->judge == nullptr) {
    success_ = DefaultSuccess(job, *table_);
  }
  return CheckSuccess(success_ ? *success_ : OkOf("tracked"), types);
}

std::int64_t Engine::CountTraining(const JobSpec& job) const {
  std::int64_t count = 0;
  for (const TaskTypeSpec& type : job.tasks) {
    if (IsTraining(ClassOf(type.name), type.name)) count += type.instances;
  }
  return count;
}

TaskClass Engine::ClassOf(std::string_view task_type) const {
  const auto found = classes_.find(task_type);
  TF_CHECK(found != classes_.end());
  return found->second;
}

bool Engine::IsChief(const TaskId& task) const {
  if (has_chief_)
    return std::find(table_->chiefs.begin(), table_->chiefs.end(), task.type) !=
           table_->chiefs.end();
  return table_->worker0_is_chief && task.type == "worker" && task.index == 0;
}

std::string Engine::Option(std::string_view key, std::string_view type) const {
  if (!type.empty()) {
    const auto own = options_.find(fmt::format("{}.{}", key, type));
    if (own != options_.end()) return own->second;
  }
  const auto all = options_.find(std::string(key));
  return all == options_.end() ? std::string() : all->second;
}

std::optional<std::int32_t> Engine::NumberOf(std::string_view key, std::string_view type) const {
  return ParseCount(Option(key, type));
}

std::optional<std::int32_t> Engine::user_limit() const {
  return table_->user_limit != nullptr ? table_->user_limit(*this) : retries_.user;
}

Budget Engine::BudgetFor(const ExitView& exit) {
  const Budget budget = DefaultBudget(exit.exit_class);
  return budget == Budget::kUser && exit.peer_unreachable ? Budget::kInfrastructure : budget;
}

Allowance Engine::AllowanceFor(Budget budget) const {
  switch (budget) {
    case Budget::kNone:
      return {};
    case Budget::kUser:
      // The originals count over the whole life of a job.
      if (table_->one_budget) return {.restarts = user_limit()};
      return {.restarts = user_limit(), .window = retries_.window};
    case Budget::kInfrastructure:
      return {.restarts = retries_.infrastructure, .window = retries_.window};
  }
  return {};
}

std::string Engine::LimitedBy(Budget budget) const {
  if (budget == Budget::kNone) return {};
  const std::string_view option = table_->user_limit_option;
  if (budget == Budget::kUser && !option.empty() && !Option(option).empty())
    return std::string(option);
  return "retries." + KebabName(budget);
}

Allowance Engine::AllowanceFor(const Row& row, Budget budget, const TaskId& task) const {
  const RowLimit& limit = row.limit;
  Allowance allowance;
  if (!limit.option.empty()) {
    allowance = {.restarts = NumberOf(limit.option, task.type), .window = limit.window};
  } else if (limit.at_most) {
    allowance = {.restarts = limit.at_most, .window = limit.window};
  } else {
    allowance = AllowanceFor(budget);
  }
  allowance.counted = limit.counted;
  if (allowance.restarts) allowance.restarts = std::max(*allowance.restarts - limit.less, 0);
  return allowance;
}

Decision Engine::OnExit(const ExitView& exit, const JobView& view) const {
  for (std::size_t i = 0; i < on_exit_.size(); ++i) {
    if (OwnRuleMatches(on_exit_[i], exit)) return ByOwnRule(i, exit);
  }
  if (exit.stalled && watch_action_) return ByWatch(exit);
  return ByRows(0, exit, view);
}

Decision Engine::ByRows(std::size_t from, const ExitView& exit, const JobView& view) const {
  for (std::size_t i = from; i < table_->rows.size(); ++i) {
    const Row& row = table_->rows[i];
    if (!Matches(row, exit, view)) continue;
    Decision decision = ByRow(row, exit);
    if (row.next_when_spent) decision.next.push_back(ByRows(i + 1, exit, view));
    return decision;
  }
  TF_CHECK(false);  // The last row of every table matches every end that no row before it does.
}

Decision Engine::ByOwnRule(std::size_t index, const ExitView& exit) const {
  const ExitRule& rule = on_exit_[index];
  Decision decision;
  decision.action = rule.action;
  decision.rule = fmt::format("on_exit/{}", index);
  decision.why = fmt::format("row {} of the job's on_exit", index);
  static constinit ProbeSite probe("policy", "on-exit");
  TF_PROBE_GROUP(&probe, 1);
  decision.probe = &probe;
  if (!IsRestart(rule.action)) return decision;
  Budget by_class = table_->one_budget ? Budget::kUser : BudgetFor(exit);
  // More memory is bounded by itself; and nothing restarts for ever unless `pays: none` says so.
  if (rule.action == ExitAction::kRaiseMemory && !table_->one_budget)
    by_class = Budget::kInfrastructure;
  if (by_class == Budget::kNone) by_class = Budget::kUser;
  decision.pays = rule.pays.value_or(by_class);
  if (table_->one_budget && decision.pays == Budget::kInfrastructure) decision.pays = Budget::kUser;
  decision.allowance = AllowanceFor(decision.pays);
  decision.limited_by = LimitedBy(decision.pays);
  const TaskClass task_class = ClassOf(exit.task.type);
  if (task_class == TaskClass::kDrained) decision.when_spent = ExitAction::kTally;
  if (task_class == TaskClass::kSidecar) decision.when_spent = ExitAction::kIgnore;
  decision.raise_factor_percent = rule.raise_factor_percent;
  decision.raise_max_memory_mb = rule.raise_max_memory_mb;
  decision.spent_rule = fmt::format("{}/{}-exhausted", table_->name, KebabName(exit.exit_class));
  return decision;
}

Decision Engine::ByWatch(const ExitView& exit) const {
  Decision decision;
  decision.action = *watch_action_;
  decision.rule = "watch";
  decision.why = "it made no progress for the time of `watch`";
  static constinit ProbeSite probe("policy", "watch");
  TF_PROBE_GROUP(&probe, 1);
  decision.probe = &probe;
  if (!IsRestart(decision.action)) return decision;
  decision.pays = table_->one_budget ? Budget::kUser : Budget::kInfrastructure;
  decision.allowance = AllowanceFor(decision.pays);
  decision.limited_by = LimitedBy(decision.pays);
  decision.spent_rule = fmt::format("{}/{}-exhausted", table_->name, KebabName(exit.exit_class));
  return decision;
}

bool Engine::Matches(const Row& row, const ExitView& exit, const JobView& view) const {
  if (!row.classes.Has(exit.exit_class)) return false;
  if (!row.task_type.empty() && row.task_type != exit.task.type) return false;
  if (row.exit_to != 0 && (!exit.exit || *exit.exit < row.exit_from || *exit.exit > row.exit_to))
    return false;
  if (!row.exits.empty() &&
      (!exit.exit || std::find(row.exits.begin(), row.exits.end(), *exit.exit) == row.exits.end()))
    return false;
  if (!row.option.empty() && Option(row.option, exit.task.type) != row.value) return false;
  if (!Answers(row.registered, exit.ever_registered)) return false;
  if (!HasRole(row, exit.task, view)) return false;
  return row.tracked_ended == Condition::kEither ||
         Answers(row.tracked_ended, AllTrackedEnded(view));
}

bool Engine::HasRole(const Row& row, const TaskId& task, const JobView& view) const {
  const TaskClass task_class = ClassOf(task.type);
  switch (row.role) {
    case RoleIs::kAny:
      return true;
    case RoleIs::kChief:
      return IsChief(task);
    case RoleIs::kTracked:
      return task_class == TaskClass::kTracked;
    case RoleIs::kWaived:
      return task_class == TaskClass::kTracked && IsWaived(task.type, view);
    case RoleIs::kService:
      return task_class == TaskClass::kService;
    case RoleIs::kDrained:
      return task_class == TaskClass::kDrained;
    case RoleIs::kSidecar:
      return task_class == TaskClass::kSidecar;
    case RoleIs::kInList:
      return ListNames(Option(row.list), task.type);
  }
  return false;
}

Decision Engine::ByRow(const Row& row, const ExitView& exit) const {
  Decision decision;
  decision.action = row.action;
  decision.when_spent = row.when_spent;
  decision.rule = fmt::format("{}/{}", table_->name, row.name);
  decision.why = std::string(one_trains_ && !row.why_alone.empty() ? row.why_alone : row.why);
  decision.probe = &table_->ProbeOf(row);
  if (row.action == ExitAction::kFail && table_->retry_instead_of_failing &&
      user_limit().value_or(1) > 0 && exit.exit_class != ExitClass::kInfeasible) {
    decision.action = ExitAction::kRestartGang;
    decision.session = true;
    decision.pays = Budget::kUser;
    decision.allowance = AllowanceFor(Budget::kUser);
    decision.limited_by = LimitedBy(Budget::kUser);
    decision.when_spent = ExitAction::kFail;
    decision.spent_rule = decision.rule;
    return decision;
  }
  if (!IsRestart(row.action)) return decision;
  switch (row.pays) {
    case Pays::kNone:
      break;
    case Pays::kUser:
      decision.pays = Budget::kUser;
      break;
    case Pays::kByClass:
      decision.pays = BudgetFor(exit);
      break;
  }
  decision.allowance = AllowanceFor(row, decision.pays, exit.task);
  decision.limited_by =
      row.limit.option.empty() ? LimitedBy(decision.pays) : std::string(row.limit.option);
  decision.other_container = row.other_container;
  const std::string class_name = KebabName(exit.exit_class);
  decision.spent_rule = row.limit.name.empty()
                            ? fmt::format("{}/{}-exhausted", table_->name, class_name)
                            : fmt::format("{}/{}", table_->name, row.limit.name);
  return decision;
}

}  // namespace tfyarn::policy
