// The journal: the few decisions that a new AM attempt must know. Its bytes, and reading them back
// after any cut.
//
// Not the trace: the trace has everything and may be lost. The file only ever grows; an append may
// be torn, repeated, or followed by the appends of a later attempt. So every frame carries a marker
// to find the next whole frame by, the attempt that wrote it, its sequence number and a hash.
// Instants mean nothing to the next process: times are WallTime. Source of the idea: LevelDB's log
// format, with sequence numbers in place of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/am/outcome.h"
#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/policy/exit_classifier.h"

namespace tfyarn::am {

/// Raised with every change of an entry below.
inline constexpr std::uint8_t kJournalVersion = 5;

/// A Cause with calendar time.
struct JournaledCause {
  TaskId task;
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  std::string node;
  WallTime at{};
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(JournaledCause, (), (task, exit, exit_class, node, at, detail))

/// First entry of every AM attempt.
struct AttemptStarted {
  std::int32_t am_attempt = 0;
  WallTime wall{};
};
BOOST_DESCRIBE_STRUCT(AttemptStarted, (), (am_attempt, wall))

struct JournaledAgent {
  TaskId task;
  Incarnation incarnation;
  Nonce nonce;
  ContainerId container;
  NodeId node;
};
BOOST_DESCRIBE_STRUCT(JournaledAgent, (), (task, incarnation, nonce, container, node))
/// Written before the containers are started: who may register.
struct AgentsLaunched {
  WallTime wall{};
  std::vector<JournaledAgent> agents;
};
BOOST_DESCRIBE_STRUCT(AgentsLaunched, (), (wall, agents))

struct JournaledProcess {
  TaskId task;
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(JournaledProcess, (), (task, attempt))
/// Written before the first process of the epoch is ordered. `spec.epoch` is the epoch.
struct EpochBegan {
  WallTime wall{};
  ClusterSpec spec;
  std::vector<JournaledProcess>
      processes;  ///< Which start in it; the others keep the spec they have.
};
BOOST_DESCRIBE_STRUCT(EpochBegan, (), (wall, spec, processes))
/// Written before processes are ordered within an epoch (a restart of one task in its container).
struct ProcessesOrdered {
  WallTime wall{};
  Epoch epoch;
  std::vector<JournaledProcess> processes;
};
BOOST_DESCRIBE_STRUCT(ProcessesOrdered, (), (wall, epoch, processes))
/// Every process of the gang was seen running for the first time: deadlines.run counts from here.
struct AllRunning {
  WallTime wall{};
};
BOOST_DESCRIBE_STRUCT(AllRunning, (), (wall))
/// A decision to start processes again, and who paid; written before it is carried out.
struct RestartPaid {
  Budget budget = Budget::kNone;
  WallTime wall{};
  RestartUnit unit = RestartUnit::kTask;
  std::vector<TaskId> tasks;
  std::vector<TaskId> replaced;  ///< Of these, who do not keep the container they had.
  bool epoch_rises = false;      ///< They start in a new epoch.
  bool processes = true;         ///< False: no process had been started.
  JournaledCause cause;
  std::string rule;
};
BOOST_DESCRIBE_STRUCT(RestartPaid, (),
                      (budget, wall, unit, tasks, replaced, epoch_rises, processes, cause, rule))
/// A task has ended for good, or does not start again where others' sake stopped it.
struct TaskEnded {
  TaskId task;
  ProcessRef process;
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  Outcome outcome = Outcome::kOpen;
  WallTime wall{};
  std::string node;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(TaskEnded, (), (task, process, exit, exit_class, outcome, wall, node, detail))
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
  WallTime wall{};
};
BOOST_DESCRIBE_STRUCT(FailureSeen, (),
                      (task, process, container, node, evidence, detail, blamed, container_alive,
                       stopped, wall))
/// A dependency with `do: ignore` expired.
struct TypeWaived {
  std::string task_type;
};
BOOST_DESCRIBE_STRUCT(TypeWaived, (), (task_type))
/// From now on the task is given that much memory.
struct MemoryRaised {
  TaskId task;
  std::int64_t memory_mb = 0;
};
BOOST_DESCRIBE_STRUCT(MemoryRaised, (), (task, memory_mb))
/// The verdict; durable before anybody hears of it.
struct VerdictDecided {
  JobStatus status = JobStatus::kUnfinished;
  std::string diagnostics;
  std::optional<JournaledCause> cause;
  std::string rule;
  WallTime wall{};
};
BOOST_DESCRIBE_STRUCT(VerdictDecided, (), (status, diagnostics, cause, rule, wall))

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

/// The order of the alternatives is part of the format.
using JournalEntry = std::variant<AttemptStarted, AgentsLaunched, EpochBegan, ProcessesOrdered,
                                  AllRunning, RestartPaid, TaskEnded, TypeWaived, MemoryRaised,
                                  VerdictDecided, FailureSeen, HostsKeptOff, GaveBack>;

/// Who writes, and what it knows to be stored.
struct JournalWriter {
  std::int32_t am_attempt = 0;
  JournalSeq heard;  ///< Storage has told it that entries up to this one are durable.
};

/// Bytes of one append. With `first` the file's header comes before the frame: for the first append
/// to a file that was found empty.
[[nodiscard]] std::string EncodeJournalFrame(const JournalWriter& writer, JournalSeq seq,
                                             const JournalEntry& entry, bool first);

struct ReadEntry {
  JournalSeq seq;
  JournalWriter writer;
  JournalEntry entry;
};

struct JournalReading {
  std::vector<ReadEntry> entries;  ///< seq 1, 2, 3, ... without a gap.
  bool cut =
      false;  ///< Bytes that are no whole frame follow the last entry, or lie between entries.
  /// Whole frames were found beyond a missing one, or the file is of another version: entries end
  /// before the gap.
  bool damaged = false;
  std::size_t good_bytes = 0;  ///< Up to the end of the last frame that was taken.

  /// What the next append must be numbered.
  [[nodiscard]] JournalSeq next_seq() const {
    return entries.empty() ? JournalSeq(1) : entries.back().seq.next();
  }
};

/// Never fails: what cannot be read is left out. Of repeated frames of one attempt the first whole
/// one counts; an attempt's frame also takes the place of entries that an earlier attempt wrote
/// under the same or later numbers without the later attempt knowing, and an earlier attempt's
/// frames after it are ignored.
[[nodiscard]] JournalReading ReadJournalBytes(std::string_view bytes);

}  // namespace tfyarn::am
