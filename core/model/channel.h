// What the ApplicationMaster and the TaskAgents say to each other.
//
// The channel may lose, repeat, delay and reorder. So every message is idempotent, names exactly
// its sender and receiver (the fence), and its sender repeats it until the answer named in its
// comment comes. The simulator carries these structs; real hosts carry their protobuf form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/cluster_spec.h"
#include "core/model/describe.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/time.h"

namespace tfyarn {

/// The identity of an agent. The AM refuses a message whose fence is not that of the incarnation it
/// knows for the task.
struct AgentFence {
  ContainerId container;
  TaskId task;
  Incarnation incarnation;
  Nonce nonce;
  friend bool operator==(const AgentFence&, const AgentFence&) = default;
};
BOOST_DESCRIBE_STRUCT(AgentFence, (), (container, task, incarnation, nonce))

/// One process of a task: which attempt, started in which epoch.
struct ProcessRef {
  TaskAttempt attempt;
  Epoch epoch;
  friend bool operator==(const ProcessRef&, const ProcessRef&) = default;
};
BOOST_DESCRIBE_STRUCT(ProcessRef, (), (attempt, epoch))

/// The listener on the port that the agent leased for its task.
enum class PortListener {
  kNobody,
  kOurs,      ///< The task's process or a descendant.
  kStranger,  ///< Another program: alone, or beside them.
};
BOOST_DESCRIBE_ENUM(PortListener, kNobody, kOurs, kStranger)
struct PortUse {
  PortListener listener = PortListener::kNobody;
  /// With kNobody: where its processes listen instead; the lowest ports, if any.
  std::vector<std::int32_t> elsewhere;
  friend bool operator==(const PortUse&, const PortUse&) = default;
};
BOOST_DESCRIBE_STRUCT(PortUse, (), (listener, elsewhere))

/// That a process stood still, as an AM attempt before this one was told.
struct PastStandstill {
  ProcessRef process;
  Standstill standstill = Standstill::kNone;
  std::optional<Duration> ago;  ///< When it went on; unset: not before its end, or not yet.
};
BOOST_DESCRIBE_STRUCT(PastStandstill, (), (process, standstill, ago))

// ---------------------------------------------------------------- agent -> AM

/// First message of an agent, also to every new AM attempt. Repeated until AgentAccepted or
/// AgentRefused.
struct RegisterAgent {
  AgentFence fence;
  HostPort address;  ///< Host of the node and the leased port.
  std::optional<ProcessRef>
      running;  ///< A process that lives, when it registers again after an AM restart.
  std::optional<ProcessRef>
      ended;  ///< The last process that ended and whose exit was not acknowledged.
  std::optional<ProcessExit> exit;  ///< With `ended`.
  /// Peers that gave the process up meanwhile may fail only now. Of `running` or `ended`, and no
  /// longer ago than a failure looks for its cause (deadlines.blame).
  std::optional<PastStandstill> stood;
};
BOOST_DESCRIBE_STRUCT(RegisterAgent, (), (fence, address, running, ended, exit, stood))
/// Every heartbeat period. Answered by HeartbeatSeen.
struct AgentHeartbeat {
  AgentFence fence;
};
BOOST_DESCRIBE_STRUCT(AgentHeartbeat, (), (fence))
/// The ordered process runs. Repeated until ReportSeen.
struct ProcessRunning {
  AgentFence fence;
  ProcessRef process;
};
BOOST_DESCRIBE_STRUCT(ProcessRunning, (), (fence, process))
/// The ordered process has ended, or could not be started (`launch_error`). Repeated until
/// ReportSeen.
struct ProcessEnded {
  AgentFence fence;
  ProcessRef process;
  ProcessExit exit;
  std::string launch_error;    ///< Set when it never ran.
  bool port_conflict = false;  ///< It ended because its leased port was taken.
  bool agent_leaves = false;   ///< The agent ends too, and with it the container.
  std::string stderr_tail;
};
BOOST_DESCRIBE_STRUCT(ProcessEnded, (),
                      (fence, process, exit, launch_error, port_conflict, agent_leaves,
                       stderr_tail))
// What follows tells of something that changes again. An agent numbers these reports in the order
// in which it makes them, from 1: only the answer to the latest of a kind ends its repetition, and
// an AM that hears an older one late leaves it aside.

/// The agent leased another port (the first was taken before the process started). Repeated until
/// NewsSeen.
struct AddressChanged {
  AgentFence fence;
  HostPort address;
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(AddressChanged, (), (fence, address, number))
/// The process made no progress for the time of `watch`. Repeated until NewsSeen.
struct ProgressStalled {
  AgentFence fence;
  ProcessRef process;
  Duration silent{};
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(ProgressStalled, (), (fence, process, silent, number))

/// What is to be seen of the process from outside has changed: evidence, no failure yet. Repeated
/// until NewsSeen.
struct ProcessSigns {
  AgentFence fence;
  ProcessRef process;
  Standstill standstill = Standstill::kNone;  ///< For some seconds, or when it was told to end.
  /// It has a handler for SIGTERM of its own: it may have something to save. Always false under
  /// TensorFlow, which catches SIGTERM whether the program saves or not.
  bool catches_term = false;
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(ProcessSigns, (), (fence, process, standstill, catches_term, number))

/// Whether a process that should listen does: when it is seen to, when a stranger is, and when it
/// has not for deadlines.listen. Repeated until NewsSeen.
struct PortReport {
  AgentFence fence;
  ProcessRef process;
  PortUse use;
  Duration after{};  ///< From the process's start to what was seen.
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(PortReport, (), (fence, process, use, after, number))

/// New alternatives are added at the end: the digest counts them by position.
using AgentToAm = std::variant<RegisterAgent, AgentHeartbeat, ProcessRunning, ProcessEnded,
                               AddressChanged, ProgressStalled, ProcessSigns, PortReport>;

// ---------------------------------------------------------------- AM -> agent

/// Answers RegisterAgent: the agent belongs to this AM attempt from now on.
struct AgentAccepted {
  AgentFence fence;
};
BOOST_DESCRIBE_STRUCT(AgentAccepted, (), (fence))
/// Answers anything from a sender that is not (or no longer) an agent of this job: stop the process
/// and end.
struct AgentRefused {
  AgentFence fence;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(AgentRefused, (), (fence, reason))
/// Answers AgentHeartbeat.
struct HeartbeatSeen {
  AgentFence fence;
};
BOOST_DESCRIBE_STRUCT(HeartbeatSeen, (), (fence))
enum class ReportKind {
  kProcessRunning,
  kProcessEnded,
  kAddressChanged,
  kProgressStalled,
  kProcessSigns,
  kPortReport
};
BOOST_DESCRIBE_ENUM(ReportKind, kProcessRunning, kProcessEnded, kAddressChanged, kProgressStalled,
                    kProcessSigns, kPortReport)
inline constexpr std::size_t kReportKinds = 6;
/// Answers ProcessRunning or ProcessEnded, by kind, of that attempt: they never change.
struct ReportSeen {
  AgentFence fence;
  ReportKind kind = ReportKind::kProcessRunning;
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(ReportSeen, (), (fence, kind, attempt))
/// Run this process, after ending any older one. Repeated until ProcessRunning or ProcessEnded for
/// that attempt, or the verdict.
struct StartProcess {
  AgentFence fence;
  ProcessRef process;
  SpecRef spec;
  bool resume = false;  ///< TFYARN_RESUME: an earlier attempt of the task ran in this job.
};
BOOST_DESCRIBE_STRUCT(StartProcess, (), (fence, process, spec, resume))
/// End that process: SIGTERM, then SIGKILL after `grace`. Repeated until ProcessEnded for that
/// attempt. The agent stays.
struct StopProcess {
  AgentFence fence;
  TaskAttempt attempt;
  Duration grace{};
};
BOOST_DESCRIBE_STRUCT(StopProcess, (), (fence, attempt, grace))
/// Send SIGTERM once and let the process decide (a preemption notice: checkpoint now). The AM does
/// not repeat it; the agent takes a second one within 5 s for the same notice.
struct WarnProcess {
  AgentFence fence;
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(WarnProcess, (), (fence, attempt))
/// End the process if any, then the agent itself. Repeated until the container is reported
/// completed.
struct EndAgent {
  AgentFence fence;
  Duration grace{};
};
BOOST_DESCRIBE_STRUCT(EndAgent, (), (fence, grace))

/// Write down what that process and its descendants are doing: some rank has stalled, and what
/// comes next ends them. Not repeated.
struct ShowStacks {
  AgentFence fence;
  TaskAttempt attempt;
};
BOOST_DESCRIBE_STRUCT(ShowStacks, (), (fence, attempt))
/// Answers the numbered report of that number, and none that was made after it.
struct NewsSeen {
  AgentFence fence;
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(NewsSeen, (), (fence, number))

/// New alternatives are added at the end: the digest counts them by position.
using AmToAgent = std::variant<AgentAccepted, AgentRefused, HeartbeatSeen, ReportSeen, StartProcess,
                               StopProcess, WarnProcess, EndAgent, ShowStacks, NewsSeen>;

[[nodiscard]] const AgentFence& FenceOf(const AgentToAm& message);
[[nodiscard]] const AgentFence& FenceOf(const AmToAgent& message);
/// Heartbeats and their answers: in neither trace nor digest.
[[nodiscard]] bool IsIdle(const AgentToAm& message);
[[nodiscard]] bool IsIdle(const AmToAgent& message);

}  // namespace tfyarn
