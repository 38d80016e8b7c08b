// Invariants of user processes: gang-start, one-spec, own-address, the agents' side of one-owner
// and after-final, the nodes' side of budgets.
#include <algorithm>
#include <utility>

#include "core/journal/journal.h"
#include "core/model/probe.h"
#include "core/model/text.h"
#include "sim/behavior.h"
#include "sim/checkers_books.h"

namespace tfyarn::sim {
namespace {

/// An order that was on its way when the job was decided may still start a process; nothing may do
/// so later than this.
constexpr Duration kOrdersOnTheirWay = 10s;

}  // namespace

void Checkers::Books::On(const trace::AgentTold& fact) {
  ContainerBook* container = ContainerOf(fact.container);
  if (container == nullptr) return;
  if (const JobBook* its = JobOf(container->job))
    LimitsToldAgent(*its, fact.container, *container, fact.event);
  if (const auto* started = std::get_if<AgentStarted>(&fact.event)) {
    if (Checks(Invariant::kOneOwner) &&
        (container->job != fact.job || started->fence.container != fact.container)) {
      Report(Invariant::kOneOwner, ToString(fact.container) + " of job " +
                                       std::to_string(container->job.value) +
                                       " runs an agent of job " + std::to_string(fact.job.value));
    }
    container->task = started->fence.task;
    container->port = 0;
    if (const JobBook* job = JobOf(container->job))
      CheckLaunchedBeside(*job, *container, started->fence.task);
  } else if (const auto* leased = std::get_if<PortLeased>(&fact.event)) {
    container->port = leased->port;
  } else if (std::holds_alternative<PortLeaseFailed>(fact.event)) {
    container->port = 0;
  } else if (const auto* exited = std::get_if<ProcessExited>(&fact.event)) {
    ProcessEnds(*container);
    JobBook* job = JobOf(container->job);
    if (job == nullptr || !container->task) return;
    ApplicationBook& application =
        ApplicationOf(*job, fact.container.application_attempt.application);
    ProcessBook& process = application.processes[*container->task];
    // A container that was given up may hold its process for longer than the next one runs.
    if (exited->attempt >= process.attempt) {
      process.attempt = exited->attempt;
      process.exit = exited->exit.status();
      process.told = 0;
    }
    application.evidence.exits[*container->task].insert(exited->exit.status());
    if (exited->exit.out_of_memory) application.evidence.out_of_memory.insert(*container->task);
  } else if (const auto* said = std::get_if<AmSaid>(&fact.event);
             said != nullptr && std::holds_alternative<StopProcess>(said->message)) {
    JobBook* job = JobOf(container->job);
    if (job == nullptr || !container->task) return;
    // One that was to be stopped before it ran has neither a code nor a signal.
    ApplicationOf(*job, fact.container.application_attempt.application)
        .evidence.exits[*container->task]
        .insert(ProcessExit{}.status());
  }
}

void Checkers::Books::On(const trace::AgentOrdered& fact) {
  const auto* spawn = std::get_if<SpawnProcess>(&fact.action);
  JobBook* job = JobOf(fact.job);
  ContainerBook* container = ContainerOf(fact.container);
  if (job == nullptr || container == nullptr) return;
  // What it held is given up.
  if (std::holds_alternative<LeasePort>(fact.action)) container->port = 0;
  LimitsOrderedByAgent(*job, fact.container, *container, fact.action);
  if (spawn == nullptr) return;
  if (Checks(Invariant::kOneOwner) && container->task && *container->task != spawn->task) {
    Report(Invariant::kOneOwner, ToString(fact.container) + " belongs to " +
                                     ToString(*container->task) + ", but starts a process of " +
                                     ToString(spawn->task));
  }
  ProcessStarts(*job, *container, fact.container, *spawn);
}

void Checkers::Books::ProcessStarts(JobBook& job, ContainerBook& container, const ContainerId& id,
                                    const SpawnProcess& spawn) {
  job.last_event = now_;
  ApplicationBook& application = ApplicationOf(job, id.application_attempt.application);
  CheckStartIsPaid(job, application, spawn);
  if (container.start_ordered != spawn.process.attempt)
    CheckGangStart(job, application, spawn.task);
  CheckOwnAddress(job, container, spawn);
  if (job.spec == nullptr || Trains(*job.spec, spawn.task))
    CheckSpec(job, application, spawn.process.epoch, spawn.spec.id());
  const bool late = application.verdict && now_ - application.verdict_at > kOrdersOnTheirWay;
  if (Checks(Invariant::kAfterFinal) && late && Undisturbed(kOrdersOnTheirWay)) {
    Report(Invariant::kAfterFinal, NameOf(job) + ": a process of " + ToString(spawn.task) +
                                       " starts " + ToString(now_ - application.verdict_at) +
                                       " after the verdict");
  }
  ProcessEnds(container);
  container.process = true;
  container.epoch = spawn.process.epoch;
  // The AM cannot end what YARN took before it started.
  container.training =
      job.spec != nullptr && Trains(*job.spec, spawn.task) && !(container.freed && container.taken);
  if (container.training) {
    ++job.training_processes[spawn.process.epoch];
    CheckOneEpoch(job, spawn);
  } else {
    HeldChanged(job);
  }
  LimitsOfStart(job, application, id, container, spawn);
}

void Checkers::Books::ProcessEnds(ContainerBook& container) {
  if (!container.process) return;
  container.process = false;
  JobBook* job = JobOf(container.job);
  if (job == nullptr) return;
  job->last_event = now_;
  if (!container.training) HeldChanged(*job);
  CountOut(*job, container);
}

// What trained in this container is none of the AM's from here on: it has ended, or YARN has given
// its node up, or has taken the container.
void Checkers::Books::CountOut(JobBook& job, ContainerBook& container) {
  if (!std::exchange(container.training, false)) return;
  const auto living = job.training_processes.find(container.epoch);
  if (living != job.training_processes.end() && --living->second == 0)
    job.training_processes.erase(living);
  if (!job.applications.empty()) LimitsOfTraining(job, Acting(job));
}

// budgets, as nodes see it: a process starts once, and again for each restart that was decided (and
// judged by what it pays). The successor of an AM may carry out what its predecessor decided last.
void Checkers::Books::CheckStartIsPaid(const JobBook& job, ApplicationBook& application,
                                       const SpawnProcess& spawn) {
  ProcessBook& process = application.processes[spawn.task];
  ++process.starts;
  const auto successors = static_cast<std::int32_t>(application.attempts.size()) - 1;
  if (!Checks(Invariant::kBudgets) ||
      process.starts <= 1 + process.restarts + std::max(successors, 0))
    return;
  Report(Invariant::kBudgets, NameOf(job) + ": " + ToString(spawn.task) + " starts for the " +
                                  std::to_string(process.starts) + "th time after " +
                                  std::to_string(process.restarts) + " decisions to restart it");
}

// gang-start: under gang `all` there was a moment, since the gang was last decided on, at which as
// many containers were held as there are tasks that train together. The AM's order counts, when it
// is given first: what it decides on next may overtake it. Without an order the process counts.
void Checkers::Books::OrdersStart(JobBook& job, const StartProcess& start) {
  ContainerBook* container = ContainerOf(start.fence.container);
  if (container == nullptr || container->start_ordered == start.process.attempt) return;
  container->start_ordered = start.process.attempt;
  CheckGangStart(job, Acting(job), start.fence.task);
}

void Checkers::Books::CheckGangStart(const JobBook& job, const ApplicationBook& application,
                                     const TaskId& task) {
  if (job.spec == nullptr || job.spec->gang.policy != GangPolicy::kAll) return;
  // Only a collective stands still until it is whole again.
  const bool whole = application.gang_complete || (application.gang_was_complete &&
                                                   job.spec->strategy != Strategy::kMultiWorker);
  // What an RM forgets as it restarts may live on, and the AM need not know that it was lost.
  if (!Trains(*job.spec, task) || !Checks(Invariant::kGangStart) || whole ||
      !Undisturbed(times_.nm_expiry))
    return;
  Report(Invariant::kGangStart, NameOf(job) + ": " + ToString(task) + " is to start, but only " +
                                    std::to_string(job.held) + " of " +
                                    std::to_string(job.gang_size) +
                                    " containers of its gang were ever held together");
}

// Each AM takes a gang for one that has trained when the journal has an epoch of it, whether or not
// the one that stored it came to order its processes.
void Checkers::Books::LooksForEpoch(JobBook& job, const AppendJournal& append) {
  ApplicationBook& application = Acting(job);
  if (application.epoch_appended) return;
  for (const journal::ReadEntry& read : journal::ReadFrames(append.bytes))
    application.epoch_appended =
        application.epoch_appended || std::holds_alternative<journal::EpochBegan>(read.entry);
}

/// A call that was not answered may have been carried out: the AM repeats it.
bool Checkers::Books::LaunchesAlone(JobBook& job, const ContainerBook& container) {
  const ApplicationBook& application = Acting(job);
  const bool repeats_another = container.limits.launch_ordered && !container.launched_alone;
  return !repeats_another && !application.epoch_appended &&
         (!application.gang_complete ||
          (application.short_again && application.held <= GangLeft(job, application)));
}

// What runs beside the training follows it: its container is not launched for a gang that waits.
void Checkers::Books::CheckLaunchedBeside(const JobBook& job, const ContainerBook& container,
                                          const TaskId& task) {
  if (job.spec == nullptr || job.spec->gang.policy != GangPolicy::kAll || Trains(*job.spec, task) ||
      job.gang_size == 0)
    return;
  if (!Checks(Invariant::kGangStart) || !container.launched_alone || !Undisturbed(times_.nm_expiry))
    return;
  Report(Invariant::kGangStart, NameOf(job) + ": a container is launched for " + ToString(task) +
                                    ", which runs beside a gang that never was whole");
}

// own-address: the spec that a process is started with sends its peers to the node that it is on
// and the port that was leased there for it. Neither comes from the AM: the node is the one of the
// container's grant, the port what the node answered to the agent.
void Checkers::Books::CheckOwnAddress(const JobBook& job, const ContainerBook& container,
                                      const SpawnProcess& spawn) {
  const ClusterSpec* spec = spawn.spec.get();
  if (spec == nullptr || !Checks(Invariant::kOwnAddress)) return;
  const auto type = spec->tasks.find(spawn.task.type);
  const auto index = static_cast<std::size_t>(spawn.task.index);
  const HostPort own{.host = nodes_[container.node].id.host, .port = container.port};
  const bool listed = type != spec->tasks.end() && index < type->second.size();
  if (own.port != 0 && listed && type->second[index] == own) return;
  // What does not train does not wait for the spec, and its peers do not wait for it.
  const bool came_late = listed && type->second[index].port == 0;
  if (came_late && job.spec != nullptr && !Trains(*job.spec, spawn.task)) {
    TF_PROBE("checkers/came-late-beside-the-training");
    return;
  }
  const std::string held =
      own.port == 0 ? "holds no port" : "holds port " + std::to_string(own.port);
  const std::string said =
      listed ? "has " + type->second[index].host + ":" + std::to_string(type->second[index].port)
             : std::string("does not have it");
  Report(Invariant::kOwnAddress, NameOf(job) + ": " + ToString(spawn.task) + " starts on " +
                                     own.host + ", where it " + held + ", but its cluster spec " +
                                     said);
}

// one-spec, first half: a process that starts in an epoch gets that epoch's spec.
void Checkers::Books::CheckSpec(JobBook& job, ApplicationBook& application, Epoch epoch,
                                SpecId spec) {
  if (!Checks(Invariant::kOneSpec)) return;
  const auto [known, is_new] = application.specs.try_emplace(epoch, spec);
  if (is_new || known->second == spec) return;
  Report(Invariant::kOneSpec, NameOf(job) + ": epoch " + std::to_string(epoch.value) +
                                  " has spec #" + std::to_string(known->second.value) + " and #" +
                                  std::to_string(spec.value));
}

// one-spec, second half: under multi-worker nothing of another epoch trains beside it. A process
// that cannot be reached cannot be stopped either, so while something is disturbed only full scans
// judge, which know who can be reached.
void Checkers::Books::CheckOneEpoch(JobBook& job, const SpawnProcess& spawn) {
  if (job.spec == nullptr || job.spec->strategy != Strategy::kMultiWorker) return;
  if (!Checks(Invariant::kOneSpec) || job.training_processes.size() < 2) return;
  if (lossy_ || !Undisturbed(times_.nm_expiry)) return;
  Report(Invariant::kOneSpec, NameOf(job) + ": " + ToString(spawn.task) + " starts in epoch " +
                                  std::to_string(spawn.process.epoch.value) +
                                  " beside processes of epoch " +
                                  std::to_string(job.training_processes.begin()->first.value));
}

void Checkers::Books::ScanProcesses(const WorldView& world) {
  if (!on(Invariant::kOneSpec)) return;
  std::map<std::uint32_t, LiveProcess> seen;
  for (const LiveProcess& process : world.LiveProcesses()) {
    const JobBook* job = JobOf(process.job);
    if (job == nullptr || job->spec == nullptr || job->spec->strategy != Strategy::kMultiWorker)
      continue;
    if (!process.reachable || !Trains(*job->spec, process.task)) continue;
    // YARN has taken it from the AM, and its node has yet to hear of that.
    const ContainerBook* container = ContainerOf(process.container);
    if (container != nullptr && !container->training) continue;
    Checks(Invariant::kOneSpec);
    const auto [other, is_new] = seen.try_emplace(process.job.value, process);
    if (is_new || other->second.spec == process.spec) continue;
    Report(Invariant::kOneSpec, NameOf(*job) + ": " + ToString(other->second.task) + " of epoch " +
                                    std::to_string(other->second.process.epoch.value) + " and " +
                                    ToString(process.task) + " of epoch " +
                                    std::to_string(process.process.epoch.value) +
                                    " run side by side");
  }
}

}  // namespace tfyarn::sim
