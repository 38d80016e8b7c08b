// Events and actions of the ApplicationMaster.
//
// Events are facts, grouped by producer; actions are orders, each saying which events may answer it
// and whether the AM repeats it. The last group of actions orders nothing: they are the AM's own
// account of what it decided, for the trace.
#pragma once

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/channel.h"
#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/elision.h"
#include "core/model/exit.h"
#include "core/model/hdfs.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"
#include "core/model/yarn.h"

namespace tfyarn {

// ---------------------------------------------------------------- states that all machines name

/// submitted: no AM yet (by the client). Terminal: kFinished.
enum class JobState {
  kSubmitted,
  kAllocating,
  kLaunching,
  kRegistering,
  kRunning,
  kDraining,
  kFinished
};
BOOST_DESCRIBE_ENUM(JobState, kSubmitted, kAllocating, kLaunching, kRegistering, kRunning,
                    kDraining, kFinished)

enum class JobStatus { kUnfinished, kSucceeded, kFailed, kKilled };
BOOST_DESCRIBE_ENUM(JobStatus, kUnfinished, kSucceeded, kFailed, kKilled)

/// The first cause of a failure: not the first report, the first thing that broke.
struct Cause {
  TaskId task;  ///< Empty type: no task (infeasible, deadline).
  std::optional<std::int32_t> exit;
  ExitClass exit_class = ExitClass::kUnknown;
  std::string node;
  Instant at{};
  std::string detail;  ///< Last lines of stderr, or YARN's diagnostics.
};
BOOST_DESCRIBE_STRUCT(Cause, (), (task, exit, exit_class, node, at, detail))

// ---------------------------------------------------------------- events

/// First event of every AM process. The AM starts by reading its journal.
struct AmStarted {
  ApplicationAttemptId attempt;
  ContainerId container;
  HostPort address;  ///< Where agents can reach this process.
  WallTime wall{};   ///< Calendar time of this instant: relates Instant to what the journal stores.
  SharedList<yarn::NodeReport> nodes;  ///< From the client: for host rows and feasibility.
  /// Most that the queue may ever use of each partition, from the client; not there = unknown.
  yarn::PartitionAmounts queue_maximum;
  Resource
      maximum_container;  ///< Largest container the RM allows, from the client; zero = unknown.
};
BOOST_DESCRIBE_STRUCT(AmStarted, (),
                      (attempt, container, address, wall, nodes, queue_maximum, maximum_container))
/// Time has come to next_deadline() or beyond.
struct DeadlineReached {};
BOOST_DESCRIBE_STRUCT(DeadlineReached, (), ())
/// Answers ReadJournal: everything earlier attempts appended, perhaps cut in the middle; empty when
/// there is none.
struct JournalRead {
  std::string bytes;
};
BOOST_DESCRIBE_STRUCT(JournalRead, (), (bytes))
/// Answers AppendJournal; entries become durable in order.
struct JournalAppended {
  JournalSeq seq;
};
BOOST_DESCRIBE_STRUCT(JournalAppended, (), (seq))
/// Answers ReadJournal (seq 0) or AppendJournal when storage failed. The AM repeats it; kLeaseLost
/// says that another attempt has read the journal: the AM reads it again before that, and ends
/// where a later one has written.
struct JournalFailed {
  JournalSeq seq;
  hdfs::HdfsError error;
};
BOOST_DESCRIBE_STRUCT(JournalFailed, (), (seq, error))
/// Answers CallRm. RpcError::kUnavailable when no answer came.
struct RmReplied {
  CallId call;
  yarn::RmResponse response;
};
BOOST_DESCRIBE_STRUCT(RmReplied, (), (call, response))
/// Answers CallNm.
struct NmReplied {
  CallId call;
  NodeId node;
  yarn::NmResponse response;
};
BOOST_DESCRIBE_STRUCT(NmReplied, (), (call, node, response))
/// Answers CallHdfs.
struct HdfsReplied {
  CallId call;
  hdfs::HdfsResponse response;
};
BOOST_DESCRIBE_STRUCT(HdfsReplied, (), (call, response))
/// A message from an agent.
struct AgentSaid {
  AgentToAm message;
};
BOOST_DESCRIBE_STRUCT(AgentSaid, (), (message))

using AmEvent =
    std::variant<AmStarted, DeadlineReached, JournalRead, JournalAppended, JournalFailed, RmReplied,
                 NmReplied, HdfsReplied, AgentSaid, HeartbeatsElided, PeerVouched>;

// ---------------------------------------------------------------- actions: orders

/// Answered by JournalRead or JournalFailed{seq 0}. May be repeated. Takes the journal from earlier
/// attempts: what they append from then on fails, so that two never decide at once.
struct ReadJournal {};
BOOST_DESCRIBE_STRUCT(ReadJournal, (), ())
/// Answered by JournalAppended or JournalFailed. The host appends in the order of the actions,
/// never two at a time out of order. Repeated after a failure with the same seq: a reader takes the
/// first whole copy of each seq.
struct AppendJournal {
  JournalSeq seq;
  std::string bytes;
};
BOOST_DESCRIBE_STRUCT(AppendJournal, (), (seq, bytes))
/// Write this attempt's address beside the journal, where agents look for it. The host repeats it
/// by itself until it is written; not answered.
struct PublishAddress {
  std::int32_t am_attempt = 0;
  HostPort address;
};
BOOST_DESCRIBE_STRUCT(PublishAddress, (), (am_attempt, address))
/// Answered by RmReplied with the same call. An allocate may be repeated under its response id.
struct CallRm {
  CallId call;
  yarn::RmRequest request;
};
BOOST_DESCRIBE_STRUCT(CallRm, (), (call, request))
/// Answered by NmReplied with the same call.
struct CallNm {
  CallId call;
  NodeId node;
  yarn::Token nm_token;
  yarn::NmRequest request;
};
BOOST_DESCRIBE_STRUCT(CallNm, (), (call, node, nm_token, request))
/// Answered by HdfsReplied with the same call.
struct CallHdfs {
  CallId call;
  hdfs::HdfsRequest request;
};
BOOST_DESCRIBE_STRUCT(CallHdfs, (), (call, request))
/// To the agent in that container. Not answered as such: channel.h says what answers each message.
struct SendToAgent {
  ContainerId container;
  AmToAgent message;
};
BOOST_DESCRIBE_STRUCT(SendToAgent, (), (container, message))
/// Last action: the AM process ends with this code (0 only after the RM confirmed the final
/// status).
struct ExitAm {
  std::int32_t code = 0;
};
BOOST_DESCRIBE_STRUCT(ExitAm, (), (code))

// ---------------------------------------------------------------- actions: the account

struct JobStateChanged {
  JobState state = JobState::kAllocating;
};
BOOST_DESCRIBE_STRUCT(JobStateChanged, (), (state))
/// Every task of the gang holds a container.
struct GangCompleted {
  Epoch epoch;
  std::int32_t containers = 0;
};
BOOST_DESCRIBE_STRUCT(GangCompleted, (), (epoch, containers))
/// An incomplete gang was given back; asked again after `backoff`.
struct GangReleased {
  std::int32_t containers = 0;
  Duration backoff{};
};
BOOST_DESCRIBE_STRUCT(GangReleased, (), (containers, backoff))
/// All addresses are known: this is the epoch's cluster spec.
struct SpecAssembled {
  SpecRef spec;
  Epoch epoch;
};
BOOST_DESCRIBE_STRUCT(SpecAssembled, (), (spec, epoch))
/// A task's process was seen running.
struct TaskAttemptStarted {
  TaskId task;
  ProcessRef process;
  ContainerId container;
  NodeId node;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptStarted, (), (task, process, container, node))
/// How an attempt ended, or a better account of it: the latest one for an attempt counts.
struct TaskAttemptEnded {
  TaskId task;
  ProcessRef process;
  ContainerId container;
  NodeId node;
  std::optional<std::int32_t> exit;  ///< Process status or YARN exit; nullopt when none is known.
  ExitClass exit_class = ExitClass::kUnknown;
  std::string diagnostics;
};
BOOST_DESCRIBE_STRUCT(TaskAttemptEnded, (),
                      (task, process, container, node, exit, exit_class, diagnostics))
enum class RestartUnit { kTask, kGang };
BOOST_DESCRIBE_ENUM(RestartUnit, kTask, kGang)
/// A decision to start processes again: kTask one process, kGang several or all.
struct RestartDecided {
  RestartUnit unit = RestartUnit::kTask;
  Budget paid = Budget::kNone;
  Epoch epoch;  ///< In which they start again.
  Cause cause;
  std::vector<TaskId> tasks;
};
BOOST_DESCRIBE_STRUCT(RestartDecided, (), (unit, paid, epoch, cause, tasks))
/// A decision of an earlier AM attempt that may not have come to be said: the journal has it.
struct RestartTakenOver {
  std::int32_t number = 0;  ///< Of all that the application has had, in order, from 1.
  RestartDecided decided;
};
BOOST_DESCRIBE_STRUCT(RestartTakenOver, (), (number, decided))
/// The one verdict, durable from here on.
struct VerdictReached {
  JobStatus status = JobStatus::kUnfinished;
  std::string diagnostics;  ///< Cause, rule that decided, what to do.
  std::optional<Cause> cause;
  std::string rule;  ///< Name of the deciding row, "default/user-permanent-exhausted".
};
BOOST_DESCRIBE_STRUCT(VerdictReached, (), (status, diagnostics, cause, rule))
/// More is needed than the nodes seen so far can ever hold: nothing is asked for until nodes come
/// that can, for `at_most`; then the job fails. `limit` empty: they are not waited for any more.
struct NodesAwaited {
  std::string limit;  ///< For people: what they cannot hold.
  Duration at_most{};
};
BOOST_DESCRIBE_STRUCT(NodesAwaited, (), (limit, at_most))
/// A process that should listen on its port in the cluster spec was seen to, or not to for
/// deadlines.listen, or with a stranger there. The latest one for an attempt counts.
struct PortUseFound {
  TaskId task;
  ProcessRef process;
  ContainerId container;
  HostPort address;  ///< Where it should listen.
  PortUse use;
  Duration after{};  ///< From the process's start.
};
BOOST_DESCRIBE_STRUCT(PortUseFound, (), (task, process, container, address, use, after))
/// Something was seen and deliberately not acted on: a late, stale or repeated event.
struct Note {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Note, (), (text))

using AmOrders = boost::mp11::mp_list<ReadJournal, AppendJournal, PublishAddress, CallRm, CallNm,
                                      CallHdfs, SendToAgent, ExitAm>;
/// The account: a host records them, as it does every action, and has nothing to carry out.
using AmAnnouncements =
    boost::mp11::mp_list<JobStateChanged, GangCompleted, GangReleased, SpecAssembled,
                         TaskAttemptStarted, TaskAttemptEnded, RestartDecided, VerdictReached, Note,
                         NodesAwaited, PortUseFound, RestartTakenOver>;
using AmAction =
    boost::mp11::mp_rename<boost::mp11::mp_append<AmOrders, AmAnnouncements>, std::variant>;

}  // namespace tfyarn
