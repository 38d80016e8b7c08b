// The failure policy: what an exit leads to, and when the job is decided.
//
// One engine, many tables (tables/*.cc): `default`, and the rules of the predecessors.
// Rows are tried in order, the user's on_exit rows first, and the first row that matches decides;
// every decision and verdict names its row. The engine is pure and keeps no state: who is running,
// what was paid and how often is the ApplicationMaster's. Sources of the tables: docs/policies.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/am.h"
#include "core/model/error.h"
#include "core/model/exit.h"
#include "core/model/job_spec.h"
#include "core/policy/decision.h"
#include "core/policy/job_view.h"
#include "core/policy/table.h"

namespace tfyarn::policy {

// How the user's on_exit rows are read: a row without `class` and `exit` matches every failure,
// that is every class but ok and killed-by-us; a row that names them matches those too.

class Engine {
 public:
  /// Errors: kInvalidArgument for an unknown policy, an unknown option or
  /// option value, a success expression that names what the job has not, or a job in which nothing
  /// is tracked and that has no success expression of its own.
  [[nodiscard]] static Expected<Engine> Make(const JobSpec& job);
  /// By this table, whatever policy the job names. The table outlives the engine. Errors: as above,
  /// but for the policy's name.
  [[nodiscard]] static Expected<Engine> Make(const JobSpec& job, const Table& table);

  /// The class of every task of the type: from the job, else from the policy's table of roles.
  [[nodiscard]] TaskClass ClassOf(std::string_view task_type) const;
  /// Whether the policy gives this task the chief's role.
  [[nodiscard]] bool IsChief(const TaskId& task) const;

  /// Before the exit is counted in `view` or after it: rows that ask whether all tracked tasks are
  /// complete ask about others' exits only where the exiting task is itself not tracked.
  [[nodiscard]] Decision OnExit(const ExitView& exit, const JobView& view) const;

  /// Call it once after all that one step brought is counted: exits of the same step then have no
  /// order among them. nullopt: not decided.
  [[nodiscard]] std::optional<Verdict> Judge(const JobView& view) const;

  /// True when the first account of an end stays whatever is heard later, and the first failure is
  /// the cause of what follows (TonY).
  [[nodiscard]] bool first_report_wins() const { return table_->first_report_wins; }
  [[nodiscard]] std::string_view name() const { return table_->name; }
  /// The expression that Judge uses; nullopt when the policy has its own verdict function and the
  /// job gives none.
  [[nodiscard]] const std::optional<SuccessExpr>& success() const { return success_; }
  /// Resolved value of an option, for `type` where it can be given per type
  /// ("restart_policy.worker").
  [[nodiscard]] std::string Option(std::string_view key, std::string_view type = {}) const;
  /// The number that an option has; nullopt when it is empty or a word.
  [[nodiscard]] std::optional<std::int32_t> NumberOf(std::string_view key,
                                                     std::string_view type = {}) const;
  /// The job has a task type that is a chief by name.
  [[nodiscard]] bool has_chief() const { return has_chief_; }
  [[nodiscard]] const RetrySpec& retries() const { return retries_; }
  /// For verdict functions: a verdict of that row of the table.
  [[nodiscard]] Verdict Failed(std::string_view row) const;
  [[nodiscard]] Verdict Succeeded(std::string_view row) const;

 private:
  Engine() = default;
  [[nodiscard]] Expected<void> TakeSuccess(const JobSpec& job);
  [[nodiscard]] std::int64_t CountTraining(const JobSpec& job) const;
  [[nodiscard]] Decision ByOwnRule(std::size_t index, const ExitView& exit) const;
  [[nodiscard]] Decision ByWatch(const ExitView& exit) const;
  [[nodiscard]] std::optional<std::int32_t> user_limit() const;
  [[nodiscard]] static Budget BudgetFor(const ExitView& exit);
  [[nodiscard]] bool Matches(const Row& row, const ExitView& exit, const JobView& view) const;
  [[nodiscard]] bool HasRole(const Row& row, const TaskId& task, const JobView& view) const;
  [[nodiscard]] Decision ByRows(std::size_t from, const ExitView& exit, const JobView& view) const;
  [[nodiscard]] Decision ByRow(const Row& row, const ExitView& exit) const;
  [[nodiscard]] Allowance AllowanceFor(Budget budget) const;
  [[nodiscard]] std::string LimitedBy(Budget budget) const;
  [[nodiscard]] Allowance AllowanceFor(const Row& row, Budget budget, const TaskId& task) const;
  [[nodiscard]] std::optional<Verdict> JudgeByExpression(const JobView& view) const;

  const Table* table_ = nullptr;  ///< Never null after Make.
  std::map<std::string, std::string> options_;
  std::map<std::string, TaskClass, std::less<>> classes_;
  std::vector<ExitRule> on_exit_;
  std::optional<ExitAction> watch_action_;
  RetrySpec retries_;
  std::optional<SuccessExpr> success_;
  bool one_trains_ = false;  ///< The job has a single training task.
  bool has_chief_ = false;   ///< The job has a task type that is a chief by name.
};

}  // namespace tfyarn::policy
