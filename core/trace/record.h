// The trace: everything that happened in a run, simulated or real, in order. Result, report and
// digest are functions of it and of nothing else.
//
// A record is what a machine was told (an event), what it ordered (an action), or a fact of the
// world that only the host's side knows (a container granted, a node gone, training done). Idle
// heartbeats and elision are not in it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/agent.h"
#include "core/model/am.h"
#include "core/model/client.h"
#include "core/model/describe.h"

namespace tfyarn::trace {

/// Position of a job in order of submission, from 0.
using JobIndex = StrongInt<struct JobIndexTag, std::uint32_t>;
/// Of the one job that a process outside the simulator serves.
inline constexpr JobIndex kOnlyJob{};

// ---------------------------------------------------------------- facts of the world

/// Of a simulated run.
struct RunStarted {
  std::string scenario;
  std::uint64_t scenario_digest = 0;
  std::uint64_t seed = 0;
};
BOOST_DESCRIBE_STRUCT(RunStarted, (), (scenario, scenario_digest, seed))
/// Every node of the cluster, once, before anything else; and again whenever its capacity changes.
struct NodeDeclared {
  NodeId node;
  std::string rack;
  std::string partition;
  std::vector<std::string> labels;
  Resource capacity;
};
BOOST_DESCRIBE_STRUCT(NodeDeclared, (), (node, rack, partition, labels, capacity))
/// `up` false: the machine does nothing any more (crashed, rebooting).
struct NodePower {
  NodeId node;
  bool up = true;
};
BOOST_DESCRIBE_STRUCT(NodePower, (), (node, up))
struct JobCreated {
  JobIndex job;
  std::string name;
  std::string queue;
  std::int32_t tasks = 0;
  std::int64_t gpus = 0;  ///< Of all its tasks.
};
BOOST_DESCRIBE_STRUCT(JobCreated, (), (job, name, queue, tasks, gpus))
/// From the RM's books. `am`: it is an application master's.
struct ContainerGranted {
  JobIndex job;
  ContainerId container;
  NodeId node;
  Resource resource;
  bool am = false;
};
BOOST_DESCRIBE_STRUCT(ContainerGranted, (), (job, container, node, resource, am))
/// The RM gave the resource back to the scheduler.
struct ContainerFreed {
  JobIndex job;
  ContainerId container;
  std::int32_t exit_status = 0;
};
BOOST_DESCRIBE_STRUCT(ContainerFreed, (), (job, container, exit_status))
/// From the NM's books: localisation began; the first process of the container runs; nothing of it
/// is left.
struct ContainerLocalizing {
  ContainerId container;
};
BOOST_DESCRIBE_STRUCT(ContainerLocalizing, (), (container))
struct ContainerLaunched {
  ContainerId container;
};
BOOST_DESCRIBE_STRUCT(ContainerLaunched, (), (container))
struct ContainerGone {
  ContainerId container;
};
BOOST_DESCRIBE_STRUCT(ContainerGone, (), (container))
enum class TrainingPhase { kIdle, kRestore, kTraining, kCheckpoint, kDone };
BOOST_DESCRIBE_ENUM(TrainingPhase, kIdle, kRestore, kTraining, kCheckpoint, kDone)
/// What the job's training does from now on (workload model).
struct TrainingPhaseChanged {
  JobIndex job;
  TrainingPhase phase = TrainingPhase::kIdle;
};
BOOST_DESCRIBE_STRUCT(TrainingPhaseChanged, (), (job, phase))
/// Training time whose result was lost with the processes that held it.
struct WorkLost {
  JobIndex job;
  Duration work{};
};
BOOST_DESCRIBE_STRUCT(WorkLost, (), (job, work))
struct FaultBegan {
  std::uint32_t fault = 0;     ///< Position in the scenario.
  std::uint32_t instance = 0;  ///< Which time it happens, from 0.
  std::string kind;
  std::string target;
};
BOOST_DESCRIBE_STRUCT(FaultBegan, (), (fault, instance, kind, target))
struct FaultEnded {
  std::uint32_t fault = 0;
  std::uint32_t instance = 0;
};
BOOST_DESCRIBE_STRUCT(FaultEnded, (), (fault, instance))
struct InvariantBroken {
  std::string invariant;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(InvariantBroken, (), (invariant, detail))
/// Still held by the RM or a reachable node a minute after the job's end (later under `loss`).
struct ContainersLeaked {
  JobIndex job;
  std::int32_t containers = 0;
};
BOOST_DESCRIBE_STRUCT(ContainersLeaked, (), (job, containers))
enum class StopReason { kQuiescent, kHorizon, kInterrupted, kInvariant };
BOOST_DESCRIBE_ENUM(StopReason, kQuiescent, kHorizon, kInterrupted, kInvariant)
struct RunStopped {
  StopReason reason = StopReason::kQuiescent;
};
BOOST_DESCRIBE_STRUCT(RunStopped, (), (reason))

// ---------------------------------------------------------------- machines

/// An AM is known by its job, its attempt, and, of a job that is submitted again, by which of its
/// applications it is of: the AM of the one before may still wait for the RM's answer.
struct AmTold {
  JobIndex job;
  std::int32_t am_attempt = 0;
  AmEvent event;
  std::optional<std::int32_t> resubmission{};  ///< From the job's second application on: 1, 2, ...
};
BOOST_DESCRIBE_STRUCT(AmTold, (), (job, am_attempt, event, resubmission))
struct AmOrdered {
  JobIndex job;
  std::int32_t am_attempt = 0;
  AmAction action;
  std::optional<std::int32_t> resubmission{};  ///< As in AmTold.
};
BOOST_DESCRIBE_STRUCT(AmOrdered, (), (job, am_attempt, action, resubmission))
struct AgentTold {
  JobIndex job;
  ContainerId container;
  AgentEvent event;
};
BOOST_DESCRIBE_STRUCT(AgentTold, (), (job, container, event))
struct AgentOrdered {
  JobIndex job;
  ContainerId container;
  AgentAction action;
};
BOOST_DESCRIBE_STRUCT(AgentOrdered, (), (job, container, action))
struct ClientTold {
  JobIndex job;
  ClientEvent event;
};
BOOST_DESCRIBE_STRUCT(ClientTold, (), (job, event))
struct ClientOrdered {
  JobIndex job;
  ClientAction action;
};
BOOST_DESCRIBE_STRUCT(ClientOrdered, (), (job, action))

/// The RM's books of the application are closed: its final status cannot change any more.
struct ApplicationEnded {
  JobIndex job;
  ApplicationId application;
  yarn::FinalApplicationStatus final_status = yarn::FinalApplicationStatus::kUndefined;
};
BOOST_DESCRIBE_STRUCT(ApplicationEnded, (), (job, application, final_status))

/// Where the time of a job's training went since the last such account, each times the GPUs that
/// took part (workload model). Made when training stops, pauses or changes its GPUs, not at every
/// checkpoint.
struct TrainingAccounted {
  JobIndex job;
  Duration useful{};
  Duration checkpoint{};
  Duration lost{};
  Duration restore{};
};
BOOST_DESCRIBE_STRUCT(TrainingAccounted, (), (job, useful, checkpoint, lost, restore))

/// A run of real processes began: there is no scenario, but one job. Older histories have
/// RunStarted in its place, with the job's name as `scenario`.
struct JobRunStarted {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(JobRunStarted, (), (name))

/// New alternatives are added at the end: the digest counts them by position. Copies and moves are
/// compiled in record.cc alone: of so many alternatives, most of them variants again, they took a
/// quarter of the time of every source that moves a record.
struct Fact
    : std::variant<RunStarted, NodeDeclared, NodePower, JobCreated, ContainerGranted,
                   ContainerFreed, ContainerLocalizing, ContainerLaunched, ContainerGone,
                   TrainingPhaseChanged, WorkLost, FaultBegan, FaultEnded, InvariantBroken,
                   ContainersLeaked, RunStopped, AmTold, AmOrdered, AgentTold, AgentOrdered,
                   ClientTold, ClientOrdered, ApplicationEnded, TrainingAccounted, JobRunStarted> {
  using variant::variant;
  Fact();
  Fact(const Fact& other);
  Fact(Fact&& other) noexcept;
  Fact& operator=(const Fact& other);
  Fact& operator=(Fact&& other) noexcept;
  ~Fact();
};

struct TraceRecord {
  Instant at{};
  Fact fact;
};
BOOST_DESCRIBE_STRUCT(TraceRecord, (), (at, fact))

}  // namespace tfyarn::trace
