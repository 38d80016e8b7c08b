// Events and actions of the TaskAgent, the process that runs inside every task's container.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/model/am.h"
#include "core/model/channel.h"
#include "core/model/describe.h"
#include "core/model/elision.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"

namespace tfyarn {

// ---------------------------------------------------------------- events

/// First event: what the launch context told the process. The environment keys that carry it are in
/// core/agent.
struct AgentStarted {
  AgentFence fence;
  std::int32_t am_attempt = 0;
  HostPort am_address;
  std::string host;  ///< Name of this node as peers can reach it.
};
BOOST_DESCRIBE_STRUCT(AgentStarted, (), (fence, am_attempt, am_address, host))
/// Answers LeasePort: this port is held for the task until ReleasePort.
struct PortLeased {
  std::int32_t port = 0;
};
BOOST_DESCRIBE_STRUCT(PortLeased, (), (port))
/// Answers LeasePort.
struct PortLeaseFailed {
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(PortLeaseFailed, (), (reason))
/// A message from the AM.
struct AmSaid {
  AmToAgent message;
  std::int32_t am_attempt = 0;  ///< Whose word it is; the channel knows at which AM its end is.
};
BOOST_DESCRIBE_STRUCT(AmSaid, (), (message, am_attempt))
/// Answers ReadAmAddress: the newest attempt that published one; am_attempt 0 when nothing is there
/// or storage fails.
struct AmAddressRead {
  std::int32_t am_attempt = 0;
  HostPort address;
};
BOOST_DESCRIBE_STRUCT(AmAddressRead, (), (am_attempt, address))
/// Answers SpawnProcess: it runs.
struct ProcessSpawned {
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(ProcessSpawned, (), (attempt))
/// Answers SpawnProcess: it could not be started.
struct SpawnFailed {
  TaskAttempt attempt;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(SpawnFailed, (), (attempt, reason))
/// The process has ended and nothing of its process group is left.
struct ProcessExited {
  TaskAttempt attempt;
  ProcessExit exit;
  bool port_conflict = false;  ///< The host saw that another process took its leased port.
  std::string stderr_tail;
};
BOOST_DESCRIBE_STRUCT(ProcessExited, (), (attempt, exit, port_conflict, stderr_tail))
/// The pattern or file of `watch` was seen to move. Only sent when the job has `watch`.
struct ProgressSeen {
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(ProgressSeen, (), (attempt))
/// What the kernel shows of the process and its descendants has changed. Nothing was seen before
/// the first one.
struct ProcessSignsSeen {
  TaskAttempt attempt;
  Standstill standstill = Standstill::kNone;
  bool catches_term = false;  ///< One of them has a handler for SIGTERM.
};
BOOST_DESCRIBE_STRUCT(ProcessSignsSeen, (), (attempt, standstill, catches_term))
/// The listener on the task's port is seen to have changed, or is as before when deadlines.listen
/// is over. Only of a process that should listen; nothing was seen before the first one.
struct PortUseSeen {
  TaskAttempt attempt;
  PortUse use;
};
BOOST_DESCRIBE_STRUCT(PortUseSeen, (), (attempt, use))
/// SIGTERM from the NodeManager (or a user): the container ends soon.
struct TerminationRequested {};
BOOST_DESCRIBE_STRUCT(TerminationRequested, (), ())

/// New alternatives are added at the end: the digest counts them by position.
using AgentEvent =
    std::variant<AgentStarted, PortLeased, PortLeaseFailed, AmSaid, AmAddressRead, ProcessSpawned,
                 SpawnFailed, ProcessExited, ProgressSeen, TerminationRequested, DeadlineReached,
                 HeartbeatsElided, PeerVouched, ProcessSignsSeen, PortUseSeen>;

// ---------------------------------------------------------------- actions

/// Answered by PortLeased or PortLeaseFailed. A lease held before is given up.
struct LeasePort {};
BOOST_DESCRIBE_STRUCT(LeasePort, (), ())
/// To the AM at its last known address. Unanswered as such: channel.h says what answers each
/// message.
struct SendToAm {
  std::int32_t am_attempt = 0;
  HostPort am_address;
  AgentToAm message;
};
BOOST_DESCRIBE_STRUCT(SendToAm, (), (am_attempt, am_address, message))
/// Answered by ProcessSpawned or SpawnFailed, and later by ProcessExited.
struct SpawnProcess {
  TaskId task;
  ProcessRef process;
  SpecRef spec;
  bool resume = false;
  /// Its framework makes it listen on its port: the host looks whether it does, PortUseSeen.
  bool should_listen = false;
};
BOOST_DESCRIBE_STRUCT(SpawnProcess, (), (task, process, spec, resume, should_listen))
enum class StopSignal {
  kTerm,
  kKill,
  kContinue,  ///< SIGCONT to every process of it: a stopped one hears SIGTERM only then.
};
BOOST_DESCRIBE_ENUM(StopSignal, kTerm, kKill, kContinue)
/// To the process group of that attempt. Harmless when it has ended.
struct SignalProcess {
  TaskAttempt attempt;
  StopSignal signal = StopSignal::kTerm;
};
BOOST_DESCRIBE_STRUCT(SignalProcess, (), (attempt, signal))
/// Answered by AmAddressRead.
struct ReadAmAddress {};
BOOST_DESCRIBE_STRUCT(ReadAmAddress, (), ())
/// Last action: the agent's own process ends with this code, and with it the container.
struct ExitAgent {
  std::int32_t code = 0;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(ExitAgent, (), (code, reason))

/// What the processes of that attempt are doing, into files beside its logs. Not answered.
struct DumpStacks {
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(DumpStacks, (), (attempt))

/// New alternatives are added at the end: the digest counts them by position.
using AgentAction = std::variant<LeasePort, SendToAm, SpawnProcess, SignalProcess, ReadAmAddress,
                                 ExitAgent, Note, DumpStacks>;

}  // namespace tfyarn
