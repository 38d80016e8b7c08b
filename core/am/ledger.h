// Everything that the next AM attempt must know, as one value.
//
// It changes in one place only, Apply: live, when an entry is appended to the journal, and in the
// next attempt, when it is read there. So what an AM decides by after a restart is what the AM
// before it decided by. What may be lost with the process (containers, agents, what was seen of
// processes) is not here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/am/task_table.h"
#include "core/journal/entries.h"
#include "core/model/cluster_spec.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/policy/budgets.h"
#include "core/policy/outcome.h"

namespace tfyarn::am {

/// A task's latest agent.
struct LaunchedAgent {
  bool launched = false;  ///< False: none was, and the rest means nothing.
  Incarnation at_spec;    ///< Whose address the latest cluster spec has.
  Incarnation incarnation;
  Nonce nonce;
  ContainerId container;
  NodeId node;
  friend bool operator==(const LaunchedAgent&, const LaunchedAgent&) = default;
};

/// A process that a decided restart ended, or began with the end of, and for whose sake.
struct PastEnd {
  TaskAttempt attempt;
  journal::JournaledCause cause;
  friend bool operator==(const PastEnd&, const PastEnd&) = default;
};

/// A process that ends so soon after its start, and again and again, rests before the next start.
inline constexpr Duration kShortLife = 10s;

struct TaskLedger {
  policy::Outcome outcome = policy::Outcome::kOpen;
  StoredTime ended_at{};  ///< With an outcome.

  StoredTime launched_at{};  ///< When the launch of its latest agent was decided.
  bool replaced = false;     ///< Its container is to go, or is gone.

  bool ordered = false;  ///< A process was ordered at some time; the rest is of the latest.
  TaskAttempt attempt;
  Epoch epoch;
  SpecRef spec;  ///< That it was ordered under.
  StoredTime ordered_at{};
  bool alive = false;  ///< Nothing is stored of its end.

  bool restarting = false;     ///< A restart is decided, and its process not yet ordered.
  bool with_epoch = false;     ///< ... in a new epoch.
  StoredTime start_decided{};  ///< When it was last decided.
  /// Its process ended again and again as soon as it ran: the next one does not start before.
  std::optional<StoredTime> rests_until;

  std::int32_t restarts = 0;  ///< Of processes; shown to people.
  /// Restarts that were paid for it since a process of its was last ordered.
  std::int32_t paid_in_a_row = 0;
  /// Restarts in a row that were paid because it hung, none of its processes having run for long
  /// before.
  std::int32_t hung_in_a_row = 0;
  std::int32_t ended_early = 0;  ///< Processes in a row that ended as soon as they ran.

  std::int64_t memory_mb = 0;  ///< Raised from the job's word after an OOM; 0 = as the job says.
  std::optional<TaskAttempt> memory_raised_for;  ///< Whose end it was last raised for.

  /// Of a peer that was restarted: the process that a victim has blamed.
  std::optional<TaskAttempt> blamed;
  /// The latest process that started again as it could not reach such a peer.
  std::optional<TaskAttempt> excused;

  friend bool operator==(const TaskLedger&, const TaskLedger&) = default;
};

/// Other tasks that fail within deadlines.blame of it are its victims.
struct LastCause {
  journal::JournaledCause cause;
  StoredTime decided{};
  friend bool operator==(const LastCause&, const LastCause&) = default;
};

/// The first failure that was counted, by which a job fails that has no other cause.
struct TalliedFailure {
  journal::JournaledCause cause;
  std::optional<std::string> unpaid_by;
  std::int32_t restarts = 0;
  friend bool operator==(const TalliedFailure&, const TalliedFailure&) = default;
};

struct Ledger {
  std::vector<TaskLedger> tasks;           ///< By task index.
  std::vector<LaunchedAgent> agents;       ///< By task index: the latest of each.
  std::map<TaskIndex, PastEnd> past_ends;  ///< The latest of each task; parameter-server only.
  SpecRef spec;                ///< Of the latest epoch that began; default-made: none did.
  bool gave_all_back = false;  ///< Since that epoch began.
  std::optional<StoredTime> all_running;
  policy::Budgets budgets;
  std::optional<LastCause> last_cause;
  std::optional<TalliedFailure> first_tallied;
  std::vector<journal::FailureSeen> undecided;  ///< In the order in which they came.
  std::set<std::string> waived;                 ///< Task types.
  std::map<std::uint32_t, StoredTime> ran;      ///< By row of `depends`: when all had run.
  std::set<std::string> kept_off;               ///< Hosts that the RM may keep off.
  std::optional<journal::VerdictDecided> verdict;
  std::int32_t restarts_decided = 0;

  [[nodiscard]] TaskLedger& of(TaskIndex task) { return tasks[task.value]; }
  [[nodiscard]] const TaskLedger& of(TaskIndex task) const { return tasks[task.value]; }
  [[nodiscard]] const LaunchedAgent& agent_of(TaskIndex task) const { return agents[task.value]; }
  /// For a job of so many tasks.
  void Size(std::size_t count) {
    tasks.resize(count);
    agents.resize(count);
  }
  [[nodiscard]] bool has_spec() const { return spec.get() != nullptr; }

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// Takes one entry in. `tasks`: the job's tasks by name and index, and which of them train.
void Apply(const journal::JournalEntry& entry, const JobSpec& job, const TaskTable& tasks,
           Ledger& ledger);

/// The rule of a restart that a task has for another one's sake ends so.
inline constexpr std::string_view kVictim = " (victim)";
/// Of a restart that only replaces a container.
inline constexpr std::string_view kReplacedRule = "container-replaced";
/// The rule of a restart names its first cause, not a victim's.
[[nodiscard]] bool IsFirstCause(std::string_view rule);
/// The task itself, and not what befell it, is why it starts again.
[[nodiscard]] bool IsItsOwn(const journal::JournaledCause& cause);
/// Paid restarts in a row that no window forgets, would one more be paid for the task: those since
/// a process of it was last ordered, or of one that hangs again before it has run for longer than
/// `retries.window`. `ran`: from the order to start its latest process to its end.
[[nodiscard]] std::int32_t PaidInARow(const TaskLedger& task, const JobSpec& job,
                                      ExitClass exit_class, Duration ran);

}  // namespace tfyarn::am
