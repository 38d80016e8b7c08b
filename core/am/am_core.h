// What all parts of the AM share: the job, the ledger, what was observed, the outbox. It decides
// nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/allocation/allocation.h"
#include "core/am/am_options.h"
#include "core/am/ledger.h"
#include "core/am/observe/heartbeat_watch.h"
#include "core/am/observe/standstills.h"
#include "core/am/snapshot.h"
#include "core/am/task_table.h"
#include "core/journal/journal.h"
#include "core/journal/outbox.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"
#include "core/policy/engine.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {

/// The period with which orders to agents are repeated until answered.
inline constexpr Duration kOrderRepeat = 2s;
/// How much longer than its grace time an ordered end may take before the next harder step.
inline constexpr Duration kStopSlack = 5s;

/// So long an agent whose AM has died may look for the next one once that one's address is stored:
/// 30 s at most between two looks (core/agent/task_agent.cc), and the silence before the first.
inline constexpr Duration kAgentsLook = 40s;

/// The end of a task's latest process (or of a container in which none was started), as far as it
/// is known.
struct AttemptEnd {
  TaskIndex task;
  ProcessRef process;
  ContainerId container;
  NodeId node;
  policy::ExitEvidence evidence;
  policy::ExitRecord record;
  std::string detail;  ///< Last lines of stderr, or what YARN or we have to say.
  Instant at{};
  /// The entry after which the agent need not repeat its report, and the record can only be
  /// amended; 0 = undecided.
  JournalSeq decided;
};

struct AmCore {
  AmCore(std::shared_ptr<const JobSpec> job_spec, AmOptions am_options, std::uint64_t random_seed);
  AmCore(const AmCore&) = delete;
  AmCore& operator=(const AmCore&) = delete;

  /// Appends an entry to the journal and takes it into the ledger: the number by which what depends
  /// on it waits.
  JournalSeq Append(const journal::JournalEntry& entry);
  /// Takes an entry into the ledger: one that was appended, or that an earlier attempt stored.
  void Take(const journal::JournalEntry& entry);
  template <class Action>
  void Emit(Action action) {
    out.Emit(std::move(action));
  }
  void Note(std::string text) { out.Note(std::move(text)); }
  /// Tells the task's agent what starts and ends nothing.
  template <class Message>
  void Answer(TaskIndex task, Message message) {
    out.Answer(tasks.shown(task).container, std::move(message));
  }
  /// Moves the job's state and says so; nothing happens when it is there already.
  void Enter(JobState state);

  [[nodiscard]] StoredTime StoredAt(Instant instant) const;
  [[nodiscard]] Instant InstantAt(StoredTime at) const;
  /// The latest epoch whose spec is in force; 0 = none.
  [[nodiscard]] Epoch epoch_in_force() const {
    return spec.get() == nullptr ? Epoch() : spec.get()->epoch;
  }
  /// No dependency holds the task back. What was open once stays open.
  [[nodiscard]] bool MayStart(TaskIndex task) const { return !tasks.record(task).held_back; }
  /// The task's agent is of an earlier attempt, has yet to find this one, and may still come.
  [[nodiscard]] bool Awaits(TaskIndex task) const;
  /// Some task's is.
  [[nodiscard]] bool AwaitsAgents() const;
  /// Its agent has not found this attempt, which has not launched it.
  [[nodiscard]] bool IsOfEarlierAttempt(TaskIndex task) const;
  /// By when an agent of an earlier attempt has found this one, if it still can.
  [[nodiscard]] Instant AgentsLookUntil() const;
  [[nodiscard]] const TaskTypeSpec& TypeOf(TaskIndex task) const {
    return job->tasks[tasks.record(task).type];
  }
  /// A container for the task: what to ask for.
  [[nodiscard]] allocation::SlotRequest SlotFor(TaskIndex task) const;
  [[nodiscard]] Nonce NonceFor(std::int32_t am_attempt, TaskIndex task,
                               Incarnation incarnation) const;
  [[nodiscard]] Cause CauseOf(const AttemptEnd& end) const;
  [[nodiscard]] journal::JournaledCause Journaled(const Cause& cause) const;
  [[nodiscard]] Cause FromJournal(const journal::JournaledCause& cause) const;

  std::shared_ptr<const JobSpec> job;
  AmOptions options;
  std::uint64_t seed;
  std::string policy_error;  ///< Why there is no policy; made before it.
  std::optional<policy::Engine> policy;

  AmSnapshot snapshot;
  TaskTable tasks;
  Ledger ledger;
#ifdef TFYARN_CHECKED
  Ledger folded;  ///< Of the entries as they are read back: equal to `ledger` after every step.
#endif
  HeartbeatWatch heartbeats;
  Standstills standstills;
  journal::Outbox out;
  allocation::Allocation allocation;
  std::map<TaskIndex, AttemptEnd> ends;  ///< Latest end of each task that has one.

  SpecRef spec;  ///< In force; default-made: no epoch has begun.
  Instant now{};
  AmStarted started;  ///< As told; address, own container, wall time.
  Instant started_at{};
  Duration clock_behind{};  ///< This node's clock, where the journal has later times.
  std::optional<Instant> hdfs_writes_since;  ///< This attempt's first entry was stored.
  Instant start_by = kNever;      ///< What starts together must run by then; kNever: nothing must.
  Instant agents_until = kNever;  ///< Agents of an earlier attempt that have not found this one by
                                  ///< then are lost; kNever: none is looked for.
  bool finishing = false;     ///< A verdict was decided, durable or not: nothing starts any more.
  bool stopped = false;       ///< ExitAm was said.
  bool ever_running = false;  ///< The job has been in state running.
  bool gang_open = true;      ///< A gang is being collected; its completion has not been said.
  bool gang_was_complete = false;  ///< At least once in this AM attempt, or before it.
};

}  // namespace tfyarn::am
