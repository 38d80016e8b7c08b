// What a journal stores: the few decisions that the next ApplicationMaster attempt must know.
//
// Not the trace: the trace has everything and may be lost. An instant means nothing to the next
// process, so times are StoredTime. Their bytes: journal.proto and codec.h; the file around them:
// journal.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/policy/exit_classifier.h"
#include "core/policy/outcome.h"

namespace tfyarn::journal {

/// A Cause with calendar time.
struct JournaledCause {
  TaskId task;
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  std::string node;
  StoredTime at{};
  std::string detail;
  friend bool operator==(const JournaledCause&, const JournaledCause&) = default;
};
BOOST_DESCRIBE_STRUCT(JournaledCause, (), (task, exit, exit_class, node, at, detail))

/// First entry of every AM attempt.
struct AttemptStarted {
  std::int32_t am_attempt = 0;
  StoredTime at{};
};
BOOST_DESCRIBE_STRUCT(AttemptStarted, (), (am_attempt, at))

struct JournaledAgent {
  TaskId task;
  Incarnation incarnation;
  Nonce nonce;
  ContainerId container;
  NodeId node;
  friend bool operator==(const JournaledAgent&, const JournaledAgent&) = default;
};
BOOST_DESCRIBE_STRUCT(JournaledAgent, (), (task, incarnation, nonce, container, node))
/// Written before the containers are started: who may register.
struct AgentsLaunched {
  StoredTime at{};
  std::vector<JournaledAgent> agents;
};
BOOST_DESCRIBE_STRUCT(AgentsLaunched, (), (at, agents))

struct JournaledProcess {
  TaskId task;
  TaskAttempt attempt;
  friend bool operator==(const JournaledProcess&, const JournaledProcess&) = default;
};
BOOST_DESCRIBE_STRUCT(JournaledProcess, (), (task, attempt))
/// Written before the first process of the epoch is ordered. `spec.epoch` is the epoch.
struct EpochBegan {
  StoredTime at{};
  ClusterSpec spec;
  std::vector<JournaledProcess>
      processes;  ///< Which start in it; the others keep the spec they have.
};
BOOST_DESCRIBE_STRUCT(EpochBegan, (), (at, spec, processes))
/// Written before processes are ordered within an epoch (a restart of one task in its container).
struct ProcessesOrdered {
  StoredTime at{};
  Epoch epoch;
  std::vector<JournaledProcess> processes;
};
BOOST_DESCRIBE_STRUCT(ProcessesOrdered, (), (at, epoch, processes))
/// Every process of the gang was seen running for the first time: deadlines.run counts from here.
struct AllRunning {
  StoredTime at{};
};
BOOST_DESCRIBE_STRUCT(AllRunning, (), (at))
/// A decision to start processes again, and its payer; written before the AM carries it out.
struct RestartPaid {
  Budget budget = Budget::kNone;
  StoredTime at{};
  RestartUnit unit = RestartUnit::kTask;
  std::vector<TaskId> tasks;
  std::vector<TaskId> replaced;  ///< Of these, who do not keep the container they had.
  bool epoch_rises = false;      ///< They start in a new epoch.
  bool processes = true;         ///< False: no process had been started.
  JournaledCause cause;
  std::string rule;
  /// Other tasks that fail within deadlines.blame of the cause are its victims.
  bool has_victims = false;
  /// The task could not reach that process of a peer, which excuses no other one.
  std::optional<JournaledProcess> excused_by;
};
BOOST_DESCRIBE_STRUCT(RestartPaid, (),
                      (budget, at, unit, tasks, replaced, epoch_rises, processes, cause, rule,
                       has_victims, excused_by))
/// A task has ended for good, or does not start again where others' sake stopped it.
struct TaskEnded {
  TaskId task;
  ProcessRef process;
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  policy::Outcome outcome = policy::Outcome::kOpen;
  StoredTime at{};
  std::string node;
  std::string detail;
  /// A restart was due, and this limit, which allows so many, did not allow it: "retries.user".
  std::optional<std::string> unpaid_by;
  std::int32_t restarts = 0;
};
BOOST_DESCRIBE_STRUCT(TaskEnded, (),
                      (task, process, exit, exit_class, outcome, at, node, detail, unpaid_by,
                       restarts))
/// A failure on which nothing is decided yet. Written before what follows from it at once, and
/// would falsify or hide its evidence: others are told to end for its sake, or its container goes.
struct FailureSeen {
  TaskId task;
  ProcessRef process;
  ContainerId container;
  NodeId node;
  policy::ExitEvidence evidence;
  std::string detail;
  bool blamed = false;           ///< Its process lives, and is the failure.
  bool container_alive = false;  ///< Another process can be started where it was.
  std::vector<JournaledProcess> stopped;
  StoredTime at{};
  friend bool operator==(const FailureSeen&, const FailureSeen&) = default;
};
BOOST_DESCRIBE_STRUCT(FailureSeen, (),
                      (task, process, container, node, evidence, detail, blamed, container_alive,
                       stopped, at))
/// A dependency with `do: ignore` expired.
struct TypeWaived {
  std::string task_type;
};
BOOST_DESCRIBE_STRUCT(TypeWaived, (), (task_type))
/// From now on the task is given that much memory.
struct MemoryRaised {
  TaskId task;
  std::int64_t memory_mb = 0;
  TaskAttempt attempt;  ///< The process that had too little.
};
BOOST_DESCRIBE_STRUCT(MemoryRaised, (), (task, memory_mb, attempt))
/// The verdict; durable before the AM tells the RM, a client or an agent.
struct VerdictDecided {
  JobStatus status = JobStatus::kUnfinished;
  std::string diagnostics;
  std::optional<JournaledCause> cause;
  std::string rule;
  StoredTime at{};
  friend bool operator==(const VerdictDecided&, const VerdictDecided&) = default;
};
BOOST_DESCRIBE_STRUCT(VerdictDecided, (), (status, diagnostics, cause, rule, at))

/// Hosts that the RM may keep off for this application, as a whole: written before it is told to,
/// and when it has heard that one is offered again. It goes on to do so for the next attempt.
struct HostsKeptOff {
  std::vector<std::string> hosts;
};
BOOST_DESCRIBE_STRUCT(HostsKeptOff, (), (hosts))

/// A gang that gave up what it held has given these tasks' containers back: they start again in
/// others. Written before the RM takes them.
struct GaveBack {
  std::vector<TaskId> tasks;
  bool all = false;  ///< The job holds no other container: its gang is to be collected anew.
};
BOOST_DESCRIBE_STRUCT(GaveBack, (), (tasks, all))

/// All tasks that a row of `depends` waits for ran: its `within` counts from here.
struct DependencyRan {
  std::uint32_t row = 0;  ///< Position in JobSpec::depends.
  StoredTime at{};
};
BOOST_DESCRIBE_STRUCT(DependencyRan, (), (row, at))

using JournalEntry =
    std::variant<AttemptStarted, AgentsLaunched, EpochBegan, ProcessesOrdered, AllRunning,
                 RestartPaid, TaskEnded, TypeWaived, MemoryRaised, VerdictDecided, FailureSeen,
                 HostsKeptOff, GaveBack, DependencyRan>;

/// When it was decided, or what it tells of was seen; nullopt where it does not say.
[[nodiscard]] std::optional<StoredTime> TimeOf(const JournalEntry& entry);

}  // namespace tfyarn::journal
