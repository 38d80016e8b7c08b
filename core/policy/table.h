// The shape of a policy table: rows of conditions and what they lead to. Data only; policy.cc reads
// it, and policy_table_*.cc hold the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/model/am.h"
#include "core/model/exit.h"
#include "core/model/job_spec.h"
#include "core/model/probe.h"

namespace tfyarn::policy {

/// A set of exit classes.
struct ExitClassSet {
  std::uint32_t bits = 0;
  constexpr ExitClassSet() = default;
  constexpr ExitClassSet(std::initializer_list<ExitClass> classes) {
    for (const ExitClass c : classes) bits |= 1U << static_cast<unsigned>(c);
  }
  [[nodiscard]] constexpr bool Has(ExitClass c) const {
    return (bits >> static_cast<unsigned>(c) & 1U) != 0;
  }
  /// The classes of neither.
  [[nodiscard]] static constexpr ExitClassSet Except(ExitClassSet without) {
    ExitClassSet all;
    all.bits = ((1U << (static_cast<unsigned>(ExitClass::kUnknown) + 1)) - 1U) & ~without.bits;
    return all;
  }
};

/// What the row asks of the task.
enum class RoleIs { kAny, kChief, kTracked, kWaived, kService, kDrained, kSidecar, kInList };
/// A yes/no condition that a row may leave open.
enum class Condition { kEither, kYes, kNo };
/// Who pays for a restart.
enum class Pays { kNone, kUser, kByClass };
/// Which allowance a restart has.
enum class Limit {
  kBudget,         ///< That of the budget in the job's `retries`.
  kFewPerTask,     ///< Three of each task.
  kBackoff,        ///< tfjob's backoff_limit for re-created pods.
  kBackoffInPlace  ///< tfjob's backoff_limit for restarts in place.
};

/// All conditions must hold.
struct Row {
  std::string_view name;
  RoleIs role = RoleIs::kAny;
  std::string_view list;       ///< With kInList: the option that lists task types.
  std::string_view task_type;  ///< "" = any.
  ExitClassSet classes;        ///< Never empty.
  std::int32_t exit_from = 0;  ///< With exit_to != 0: only known exits in [exit_from, exit_to].
  std::int32_t exit_to = 0;
  std::string_view
      option;  ///< "" = none; else the option must have `value` (per type where the policy allows).
  std::string_view value;
  Condition registered = Condition::kEither;
  Condition succeeded = Condition::kEither;      ///< Success is decided.
  Condition tracked_ended = Condition::kEither;  ///< Every tracked task has ended.
  ExitAction action = ExitAction::kTally;
  Pays pays = Pays::kNone;
  Limit limit = Limit::kBudget;
  ExitAction when_spent = ExitAction::kFail;
  std::string_view why;
  std::string_view why_alone;  ///< In place of `why` in a job of one training task; "" = the same.
};

struct OptionRow {
  std::string_view name;
  std::string_view standard;  ///< Value when not given.
  std::string_view allowed;  ///< "a|b|c", "number", "types" (a comma-separated list of task types).
  bool per_type = false;     ///< Also as "name.TYPE".
  std::string_view why;
};

/// One clause of a policy's verdict function, for people; the function itself is code.
struct VerdictRow {
  std::string_view name;
  std::string_view when;
  JobStatus status = JobStatus::kFailed;
  std::string_view why;
};

/// The class of a task type that gives none itself; the first matching row counts.
struct ClassRow {
  std::string_view task_type;  ///< "" = any.
  std::string_view list;       ///< "" = none; else the option that must list the type.
  TaskClass task_class = TaskClass::kTracked;
};

/// Which verdict function judges a job that has no success expression of its own.
enum class VerdictFunction { kExpression, kTony, kTfYarn, kTfJob };

struct Table {
  std::string_view name;
  std::string_view summary;
  std::span<const OptionRow> options;
  std::span<const ClassRow> classes;
  std::span<const std::string_view> chiefs;  ///< Task types that are chiefs.
  bool worker0_is_chief = false;             ///< worker:0 is, when the job has none of them.
  std::span<const Row> rows;
  std::span<const VerdictRow> verdicts;
  VerdictFunction verdict = VerdictFunction::kExpression;
  bool first_report_wins = false;
  bool one_budget = false;  ///< Everything is paid from `user`.
  bool retry_instead_of_failing =
      false;  ///< Every failure restarts the gang while the budget `user` lasts.
  /// One probe for each of `rows`, then one for each of `verdicts`.
  ProbeSite* probes = nullptr;

  [[nodiscard]] ProbeSite& ProbeOf(const Row& row) const { return probes[&row - rows.data()]; }
  [[nodiscard]] ProbeSite& ProbeOf(const VerdictRow& row) const {
    return probes[static_cast<std::ptrdiff_t>(rows.size()) + (&row - verdicts.data())];
  }
};

/// nullptr when there is no such policy in this release.
[[nodiscard]] const Table* FindTable(std::string_view name);
[[nodiscard]] std::span<const Table* const> AllTables();

}  // namespace tfyarn::policy
