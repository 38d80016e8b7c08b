// The reference model's insides: what it asks of the tables and of what the AM may have known.
// Private to reference_verdict.cc (judgement), verdict_options.cc (rows that may decide an end),
// verdict_budgets.cc (restarts that are left), verdict_stops.cc (orders to stop) and
// verdict_success.cc (success and failure of the whole job).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/reference_verdict.h"
#include "oracles/run_facts.h"

namespace tfyarn::oracles {

/// What may be done about one end, by one row.
struct Option {
  std::string name;
  ExitAction action = kTally;
  bool session = false;  ///< `fail (or restart-gang)`.
  std::vector<Budget> payers;
  Pays pays = Pays::kByClass;  ///< What counts: of a row of `on_exit` the budget.
  ExitAction then = kFail;
  bool elsewhere = false;
};

inline bool IsRestart(ExitAction action) {
  return action == kRestartTask || action == kRestartType || action == kRestartGang ||
         action == kRaiseMemory;
}

/// From such a grace on, only a hanging process has to be killed.
inline constexpr Duration kVictimsEnd = 10s;

/// So long after its time to end an agent is given up that tells of no end.
inline constexpr Duration kGivenUpAfter = 5s;

/// The AM counts by its own clock, and from its decisions.
inline constexpr Duration kClocksDiffer = 1s;

/// How a task may have ended for the AM, and surely has.
struct State {
  bool may_ok = false, must_ok = false;
  bool may_fail = false, must_fail = false;
  bool may_end = false, must_end = false;
  bool must_count = false;  ///< As a failure: a row tallies it, and no restart is left.
  bool ignored = false;     ///< Surely: it ended, and neither helps nor harms success.
};
/// kNever: even if all goes well from now on, and nothing counts that a dependency may have given
/// up waiting for; kNeverOfAll: as if it counted.
enum class Outlook { kMay, kMust, kNever, kNeverOfAll };

inline Tri Sure(bool value) {
  return value ? Tri::kYes : Tri::kNo;
}

[[nodiscard]] bool CouldNotReach(const Job& job, const Task& task);
[[nodiscard]] bool HasFailed(const Task& task);
[[nodiscard]] bool StartsAgainAlready(const Job& job, const Task& task, const Account& account);

class ReferenceVerdict::Model : public RunFacts {
 public:
  using RunFacts::RunFacts;
  void Observe(const trace::TraceRecord& record);

  std::vector<std::string> fresh;
  std::uint64_t judged = 0;

 private:
  // ---- what the documents allow
  [[nodiscard]] Tri Holds(const Job& job, const Task& task, When when,
                          std::optional<std::int32_t> exit) const;
  [[nodiscard]] std::vector<Option> Options(const Job& job, const Task& task, ExitClass cls,
                                            std::optional<std::int32_t> exit, Tri succeeded) const;
  [[nodiscard]] bool Counts(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] std::optional<TaskId> ExcusedBy(const Job& job, const Task& task) const;
  [[nodiscard]] bool AnswersHang(const Job& job, const Task& task) const;
  [[nodiscard]] bool EndsInSuccess(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] bool MustAct(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] static std::optional<std::int64_t> Limit(const Job& job, const TaskId& task,
                                                         const Option& option, Budget budget);
  [[nodiscard]] std::int64_t Spent(const Job& job, const TaskId& task, const Option& option,
                                   Budget budget, bool surely) const;
  [[nodiscard]] bool IsSpent(const Job& job, const TaskId& task, const Option& option,
                             Budget budget, bool surely) const;
  [[nodiscard]] bool MayBeExhausted(const Job& job, const Task& task, const Option& option) const;
  [[nodiscard]] Tri LosesContainer(const Job& job, const Task& task, const Option& option,
                                   ExitClass cls) const;
  static void AddWithType(const Job& job, const Task& task, std::vector<std::set<TaskId>>& units);
  [[nodiscard]] std::set<TaskId> Companions(const Job& job, const TaskId& cause) const;
  [[nodiscard]] std::string WrongUnit(const Job& job, const Task& task, const Option& option,
                                      ExitClass cls, const RestartDecided& decision) const;
  [[nodiscard]] std::string WrongEpoch(const Job& job, const Task& task, const Option& option,
                                       ExitClass cls, const RestartDecided& decision) const;
  [[nodiscard]] std::string WrongCause(const Job& job, const Task& task, const Option& option,
                                       const Cause& cause) const;
  [[nodiscard]] bool HoldsVerdict(const Job& job, std::string_view row) const;
  [[nodiscard]] bool HoldsDeadline(const Job& job, const VerdictReached& verdict) const;
  [[nodiscard]] bool RunsWithoutTheEnded(const Job& job) const;
  [[nodiscard]] bool MayBeReached(const Job& job, const Dependency& rule) const;
  [[nodiscard]] bool HoldsDependency(const Job& job, const Dependency& rule) const;
  /// What rows make of an end with 0.
  struct GoodEnd {
    bool helps = true;     ///< It is a success, ...
    bool may_help = true;  ///< ... or may be one, which one that starts again without end is not.
    bool starts_again = false;
    bool fails = false;  ///< The job, at once.
  };
  [[nodiscard]] GoodEnd EndWell(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] Tri Ignored(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] bool IsTallied(const Job& job, const Task& task, const Account& account) const;
  [[nodiscard]] State StateOf(const Job& job, const Task& task) const;
  [[nodiscard]] bool Every(const Job& job, TaskClass role, bool State::*is) const;
  [[nodiscard]] bool Any(const Job& job, TaskClass role, bool State::*is) const;
  [[nodiscard]] bool EveryOk(const Job& job, bool State::*is) const;
  [[nodiscard]] bool Reaches(const Job& job, const std::string& option,
                             std::optional<std::int64_t> standard, bool State::*is) const;
  [[nodiscard]] bool HoldsOfHbox(const Job& job, std::string_view row, bool surely = false) const;
  [[nodiscard]] bool MustFail(const Job& job) const;
  [[nodiscard]] bool MayBeWaived(const Job& job, const Task& task) const;
  [[nodiscard]] Tri Succeeded(const Job& job) const;
  [[nodiscard]] bool Eval(const Job& job, const SuccessExpr& expr, Outlook outlook) const;

  [[nodiscard]] std::optional<TaskId> BrokenBy(const Job& job) const;

  // ---- judgement
  void Judge(Job& job, const SpecAssembled& assembled);
  void Judge(Job& job, const RestartDecided& decision);
  void Judge(Job& job, const VerdictReached& verdict);
  void Judge(Job& job, const SendToAgent& send);
  void Judge(Job& job, const CallNm& call);
  [[nodiscard]] std::string Wrong(const Job& job, const RestartDecided& decision) const;
  [[nodiscard]] std::optional<std::string> WrongThoughFree(const Job& job,
                                                           const RestartDecided& decision) const;
  [[nodiscard]] bool MayBeTriedInVain(const Job& job) const;
  [[nodiscard]] bool TriesSessionAgain(const Job& job, const RestartDecided& decision) const;
  [[nodiscard]] std::string Wrong(const Job& job, const VerdictReached& verdict);
  [[nodiscard]] std::string FailedSooner(const Job& job);
  void Apply(Job& job, const RestartDecided& decision, Instant earliest, bool own_row = false);
  void Overdue();
  [[nodiscard]] std::string Undecided(Job& job);
  void Report(const Job& job, const std::string& what) {
    if (job.taken_back) return;
    fresh.push_back(fmt::format("job {}: {}", job.spec->name, what));
  }
};

}  // namespace tfyarn::oracles
