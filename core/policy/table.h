// The shape of a policy table: rows of conditions and what they lead to. engine.cc reads
// it, tables/*.cc hold the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/exit.h"
#include "core/model/job_spec.h"
#include "core/model/probe.h"
#include "core/model/time.h"
#include "core/policy/decision.h"

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
/// The budget that pays for a restart.
enum class Pays { kNone, kUser, kByClass };

/// How many restarts a row allows. With neither `option` nor `at_most` set: as many as the budget
/// that pays has in the job's `retries`.
struct RowLimit {
  Counted counted = Counted::kPaid;
  std::string_view option;  ///< The option with the number; a word in it means no limit.
  std::optional<std::int32_t> at_most;  ///< A number that the original fixes.
  std::optional<Duration> window;       ///< Only restarts in this time count.
  std::int32_t less = 0;                ///< So many fewer than the above.
  std::string_view name;                ///< What is used up, "backoff-limit"; "" = the end's class.
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
  std::span<const std::int32_t> exits;  ///< Not empty: only these.
  std::string_view
      option;  ///< "" = none; else the option must have `value` (per type where the policy allows).
  std::string_view value;
  Condition registered = Condition::kEither;
  Condition tracked_ended = Condition::kEither;  ///< Every tracked task has ended.
  ExitAction action = ExitAction::kTally;
  Pays pays = Pays::kNone;
  RowLimit limit;
  ExitAction when_spent = ExitAction::kFail;
  bool next_when_spent = false;  ///< In its place the next row that matches decides.
  bool other_container = false;  ///< The task starts again in another container.
  std::string_view why;
  std::string_view why_alone;  ///< In place of `why` in a job of one training task; "" = the same.
};

/// An option as job.yaml takes it: `policy: {name: ..., OPTION: ...}`.
struct OptionRow {
  std::string_view name;
  std::string_view standard;  ///< Value when not given.
  /// Kinds and words, separated by '|': "number" (from 0), "positive" (from 1), "percent" (0 to
  /// 100), "types" (task types, separated by commas), anything else is a word that may be written.
  std::string_view allowed;
  bool per_type = false;           ///< Also a map from task type to value: option "name.TYPE".
  std::string_view doc;            ///< What it does, and its name in the original.
  std::string_view in_horovod;     ///< In place of `standard` in a Horovod job; "" = the same.
  std::string_view standard_text;  ///< For people, where `standard` does not say it; "" = it does.
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

class Engine;
class JobView;

struct Table {
  std::string_view name;
  std::string_view summary;
  std::span<const OptionRow> options;
  std::span<const ClassRow> classes;
  std::span<const std::string_view> chiefs;  ///< Task types that are chiefs.
  bool worker0_is_chief = false;             ///< worker:0 is, when the job has none of them.
  std::span<const Row> rows;
  std::span<const VerdictRow> verdicts;
  /// Judges a job that has no success expression of its own; null: ok of the chiefs, else of all
  /// tracked tasks.
  std::optional<Verdict> (*judge)(const Engine& engine, const JobView& view) = nullptr;
  /// How many restarts `user` pays for, nullopt = no limit; null: `retries.user`.
  std::optional<std::int32_t> (*user_limit)(const Engine& engine) = nullptr;
  std::string_view user_limit_option;  ///< The option that stands for `retries.user`, if given.
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

/// nullptr when there is no such policy.
[[nodiscard]] const Table* FindTable(std::string_view name);
/// In the order of their names. Every file in tables/ is one.
[[nodiscard]] std::span<const Table* const> AllTables();

}  // namespace tfyarn::policy
