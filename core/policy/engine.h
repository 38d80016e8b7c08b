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
#include "core/policy/job_view.h"
#include "core/policy/table.h"

namespace tfyarn::policy {

// How the user's on_exit rows are read: a row without `class` and `exit` matches every failure,
// that is every class but ok and killed-by-us; a row that names them matches those too. Rows do not
// apply once success is decided.

/// One exit that asks for a decision. Ends of attempts that were stopped as part of a restart need
/// none.
struct ExitView {
  TaskId task;
  ExitClass exit_class = ExitClass::kUnknown;
  std::optional<std::int32_t> exit;
  bool ever_registered = true;   ///< An agent of this task has registered in this epoch or before.
  bool success_decided = false;  ///< The job has succeeded and is finishing.
  bool stalled =
      false;  ///< Ended by us for want of progress: `watch.do` decides, after the on_exit rows.
  /// By its last words it ended because a peer could not be reached: infrastructure pays what the
  /// user would.
  bool peer_unreachable = false;
};

/// Whether processes start again: the actions that need a budget.
[[nodiscard]] bool IsRestart(ExitAction action);

/// How many restarts may be paid before a budget is spent.
struct Allowance {
  std::optional<std::int32_t> restarts;  ///< nullopt = no limit.
  std::optional<Duration> window;  ///< Only restarts in the last `window` count; nullopt = all.
  bool per_task = false;  ///< Counts this task's own restarts instead of the budget's payments.
};

struct Decision {
  ExitAction action = ExitAction::kTally;
  Budget pays = Budget::kNone;  ///< With a restart or raise.
  Allowance allowance;  ///< With a restart or raise: allowed while fewer than `restarts` were paid.
  ExitAction when_spent =
      ExitAction::kFail;                    ///< Instead of `action` when the allowance is used up.
  std::int32_t raise_factor_percent = 150;  ///< With kRaiseMemory.
  std::int64_t raise_max_memory_mb = 0;     ///< With kRaiseMemory; 0 = the largest container.
  bool session = false;    ///< kRestartGang of a policy that tries whole sessions again: all that
                           ///< trains starts again, and what was counted as failed beside it.
  std::string rule;        ///< "default/restart-gang", "on_exit/0".
  std::string spent_rule;  ///< "default/user-permanent-exhausted"; for when_spent.
  std::string why;         ///< The row's reason, for people.
  ProbeSite* probe = nullptr;  ///< Of what decided; who obeys it passes it.
};

/// A whole-gang restart in place of a FAILED verdict (TonY's session retry).
struct GangRetry {
  Budget pays = Budget::kUser;
  Allowance allowance;
};

struct Verdict {
  JobStatus status = JobStatus::kUnfinished;  ///< kSucceeded or kFailed.
  std::string rule;                           ///< "default/success".
  std::string why;
  std::optional<GangRetry>
      retry;  ///< With kFailed: restart the gang instead while the allowance lasts.
  ProbeSite* probe = nullptr;  ///< Of what decided; who obeys it passes it. Null: none.
};

class Engine {
 public:
  /// Errors: kInvalidArgument for an unknown policy or one of a later release, an unknown option or
  /// option value, a success expression that names what the job has not, or a job in which nothing
  /// is tracked and that has no success expression of its own.
  [[nodiscard]] static Expected<Engine> Make(const JobSpec& job);
  /// By this table, whatever policy the job names. The table outlives the engine. Errors: as above,
  /// but for the policy's name.
  [[nodiscard]] static Expected<Engine> Make(const JobSpec& job, const Table& table);

  /// The class of every task of the type: the job's word, else the policy's table of roles.
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
  [[nodiscard]] Decision ByRow(const Row& row, const ExitView& exit) const;
  [[nodiscard]] Allowance AllowanceFor(Budget budget) const;
  [[nodiscard]] Allowance AllowanceFor(const Row& row, Budget budget) const;
  [[nodiscard]] std::optional<Verdict> JudgeByExpression(const JobView& view) const;
  [[nodiscard]] std::optional<Verdict> JudgeTony(const JobView& view) const;
  [[nodiscard]] std::optional<Verdict> JudgeTfYarn(const JobView& view) const;
  [[nodiscard]] std::optional<Verdict> JudgeTfJob(const JobView& view) const;
  [[nodiscard]] Verdict Failed(std::string_view row) const;
  [[nodiscard]] Verdict Succeeded(std::string_view row) const;

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
