// Every situation that the rows of a policy table can tell apart, and what a table decides in each:
// the jobs, the ends of their tasks, and the views of the other tasks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/policy/engine.h"
#include "core/policy/table.h"
#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy {

/// A policy table whose parts may be changed. What no row takes falls to a last one that decides
/// like no other, so that a copy without a row still decides everything.
struct TableCopy {
  explicit TableCopy(const Table& original);
  /// Refers to this copy, which outlives what is made of it.
  [[nodiscard]] Table Whole() const;

  Table rest;  ///< All but the lists below.
  std::vector<OptionRow> options;
  std::vector<ClassRow> classes;
  std::vector<std::string_view> chiefs;
  std::vector<Row> rows;
};

inline constexpr std::string_view kNoRow = "no-row";

/// One end, and what rows ask of it and of the other tasks.
struct Situation {
  TaskId task;
  ExitClass exit_class = ExitClass::kOk;
  std::optional<std::int32_t> exit;
  bool registered = true;
  bool waived = false;         ///< The task's type.
  bool tracked_ended = false;  ///< All tracked tasks of other types have ended.
  bool stalled = false;
};
[[nodiscard]] std::string ToText(const JobSpec& job, const Situation& situation);

/// One for each strategy and option value that the table knows, with a chief and without, with
/// restarts to spend and without; the last one has rules of its own and a watch.
[[nodiscard]] std::vector<JobSpec> JobsFor(const Table& table);
/// The same of few tasks, so that each of them can be given each outcome.
[[nodiscard]] std::vector<JobSpec> SmallJobsFor(const Table& table);
/// Values that the option may be given.
[[nodiscard]] std::vector<std::string> ValuesOf(const OptionRow& option);
/// Of every task of the job; conditions that no row of the table has are not varied.
[[nodiscard]] std::vector<Situation> SituationsOf(const JobSpec& job, const Table& table);

/// What a table decides for one job.
class Bench {
 public:
  /// `job` outlives the bench, and so do the lists of the table.
  Bench(const JobSpec& job, const Table& table);
  Bench(const Bench&) = delete;  // The engine refers to the table.
  Bench& operator=(const Bench&) = delete;
  /// False when the table does not take the job's options.
  [[nodiscard]] bool takes_job() const { return engine_.has_value(); }
  [[nodiscard]] const Engine& engine() const { return *engine_; }
  [[nodiscard]] Decision Decide(const Situation& situation);
  /// The roles that the table gives to the job's tasks, and how success is judged.
  [[nodiscard]] std::string Roles() const;

 private:
  [[nodiscard]] const TableView& ViewFor(const Situation& situation);

  const JobSpec* job_;
  Table table_;
  Expected<Engine> engine_;
  std::map<std::tuple<std::string, bool, bool>, TableView> views_;
};

/// The same action, payer, limit, and the same once the limit is reached.
[[nodiscard]] bool SameDecision(const Decision& a, const Decision& b);
/// The same names of rules, of which users read.
[[nodiscard]] bool SameNames(const Decision& a, const Decision& b);

}  // namespace tfyarn::policy
