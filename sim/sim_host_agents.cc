// SimHost and agents: the process in every task's container, and the user's processes that it runs.
#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/visit.h"
#include "sim/coverage.h"
#include "sim/sim_host.h"
#include "sim/sim_host_calls.h"
#include "sim/sim_host_sabotage.h"

namespace tfyarn::sim {
AgentActor* SimHost::AgentOf(const ContainerId& container) {
  const auto entry = containers_.find(container);
  if (entry == containers_.end() || entry->second.actor == 0) return nullptr;
  Actor* actor = Living(entry->second.actor);
  if (actor == nullptr || actor->kind != ActorKind::kAgent) return nullptr;
  return static_cast<AgentActor*>(actor);
}

void SimHost::StartAgent(JobRt& job, std::int32_t node, const AgentLaunch& launch) {
  const auto id = static_cast<std::uint32_t>(actors_.size());
  auto actor = std::make_unique<AgentActor>(ActorKind::kAgent, id, node);
  actor->job = job.index;
  actor->fence = launch.fence;
  actor->staging_directory = launch.staging_directory;
  // By its container: what other actors there are changes nothing.
  const ContainerId& container = launch.fence.container;
  const ApplicationAttemptId& attempt = container.application_attempt;
  const auto entity = (static_cast<std::uint64_t>(attempt.application.id) << 48) ^
                      (static_cast<std::uint64_t>(attempt.attempt) << 40) ^
                      static_cast<std::uint64_t>(container.id);
  actor->machine = std::make_unique<agent::TaskAgent>(job.spec, SeedFor("agent", entity));
  actor->beat.period = job.spec->heartbeat.every;
  const Place am_place = job.am == 0 ? kRmPlace : actors_[job.am]->place;
  actor->beat.round_trip = network_.PollRoundTrip(node, am_place, id);
  containers_.at(container).actor = id;
  // Written off before its process began: its AM hears of that later.
  actor->disowned = !granted_.contains(container);
  job.agents.push_back(id);
  AgentActor& agent = *actor;
  actors_.push_back(std::move(actor));
  StepAgent(agent, AgentStarted{.fence = launch.fence,
                                .am_attempt = launch.am_attempt,
                                .am_address = launch.am_address,
                                .host = nodes_[node].id.host});
}

void SimHost::StepAgent(AgentActor& agent, AgentEvent event) {
  if (agent.paused) {
    agent.inbox.push_back(std::move(event));
    return;
  }
  CatchUp(agent);
  if (options_.coverage != nullptr)
    options_.coverage->AgentHears(now_, agent.machine->snapshot(), event);
  SpareList<AgentAction> actions(spare_agent_actions_);
  StepMachine(doubles_.agent, *agent.machine, now_, event, *actions);
  const std::uint32_t id = agent.id;
  Trace(trace::AgentTold{
      .job = agent.job, .container = agent.fence.container, .event = std::move(event)});
  for (AgentAction& action : *actions) {
    trace::TraceRecord& record = Trace(trace::AgentOrdered{
        .job = agent.job, .container = agent.fence.container, .action = std::move(action)});
    AgentAction order = std::move(std::get<trace::AgentOrdered>(record.fact).action);
    Obey(agent, order);
    if (actors_[id] == nullptr || !agent.alive) return;
  }
  Reschedule(agent);
}

void SimHost::HandleAgent(AgentActor& agent, AgentAction& action) {
  // A simulated process has no stacks; the order is in the trace.
  std::visit(Overloaded{Ignore<DumpStacks, Note>{}, [&](LeasePort&) { LeasePortFor(agent); },
                        [&](SendToAm& send) { AgentSendsToAm(agent, std::move(send)); },
                        [&](SpawnProcess& spawn) { SpawnUserProcess(agent, spawn); },
                        [&](SignalProcess& signal) { SignalUserProcess(agent, signal); },
                        [&](ReadAmAddress&) { ReadAmAddressFor(agent); },
                        [&](ExitAgent& exit) {
                          if (Damaged(Damage::kLost)) return;
                          const ContainerId container = agent.fence.container;
                          EndAgent(agent);
                          After(Duration::zero(),
                                [this, container, code = exit.code, reason = exit.reason] {
                                  ContainerProcessEnded(container, code, reason);
                                });
                        }},
             action);
}

void SimHost::LeasePortFor(AgentActor& agent) {
  if (Damaged(Damage::kLost)) return;
  if (Damaged(Damage::kFails))
    return LaterToAgent(agent, PortLeaseFailed{.reason = "no port is free"});
  NodeInfo& node = nodes_[agent.place];
  agent.port = node.next_port;
  node.next_port = node.next_port == kLastPort ? kFirstPort : node.next_port + 1;
  LaterToAgent(agent, PortLeased{.port = agent.port});
}

void SimHost::SignalUserProcess(const AgentActor& agent, const SignalProcess& order) {
  const auto job = jobs_.find(agent.job.value);
  if (job == jobs_.end() || Damaged(Damage::kLost)) return;
  SpareList<WorkloadOutput> outputs(spare_workload_outputs_);
  job->second->workload->Signalled(now_, agent.fence.container, order.attempt, order.signal,
                                   *outputs);
  HandleWorkload(*job->second, *outputs);
}

void SimHost::ReadAmAddressFor(const AgentActor& agent) {
  if (!jobs_.contains(agent.job.value)) return;
  CallNameNode(agent.place, agent.id,
               hdfs::ReadRequest{.path = agent.staging_directory + "/am-address"},
               [this, id = agent.id](const hdfs::HdfsResponse& response) {
                 Actor* actor = Living(id);
                 if (actor == nullptr) return;
                 const auto* read = std::get_if<hdfs::ReadResponse>(&response);
                 const AmAddress known = read == nullptr ? AmAddress{} : AmAddressFrom(read->bytes);
                 StepAgent(static_cast<AgentActor&>(*actor),
                           AmAddressRead{.am_attempt = known.am_attempt, .address = known.address});
               });
}

void SimHost::LaterToAgent(const AgentActor& agent, AgentEvent event) {
  After(Duration::zero(), [this, id = agent.id, event = std::move(event)]() mutable {
    Actor* actor = Living(id);
    if (actor == nullptr) return;
    StepAgent(static_cast<AgentActor&>(*actor), std::move(event));
  });
}

void SimHost::AgentSendsToAm(AgentActor& agent, SendToAm send) {
  const bool beat = IsIdle(send.message);
  if (beat) BeatSent(agent, 0);
  const auto job = jobs_.find(agent.job.value);
  if (job == jobs_.end()) return;
  // An AM that was cut off and replaced listens still, until it learns of it.
  AmActor* listener =
      AmOf(*job->second, {.application = agent.fence.container.application_attempt.application,
                          .attempt = send.am_attempt});
  if (listener == nullptr) return;
  AmActor& am = *listener;
  const MessageFate fate = FateOf(agent, [&] { return MessageName(send.message); });
  if (fate.dropped || damage_ != nullptr || network_.Lost(agent.place, am.place, agent.id) ||
      !network_.Reachable(agent.place, am.place))
    return;
  if (beat && fate.copies == 1 && fate.delay == Duration::zero() && !am.paused) {
    // One of the very instant in which the AM gives its sender up is late, whatever the AM has
    // heard before it in that instant: the beats of others may be skipped.
    if (IsDue(am.machine->next_decision(), now_)) StepAm(am, DeadlineReached{});
    if (am.alive) StepAm(am, AgentSaid{.message = std::move(send.message)});
    return;
  }
  const Duration latency =
      beat ? Duration::zero() : network_.Latency(agent.place, am.place, agent.id);
  for (int copy = 0; copy < fate.copies; ++copy) {
    After(latency + fate.delay, [this, id = am.id, message = send.message]() mutable {
      Actor* actor = Living(id);
      if (actor == nullptr) return;
      StepAm(static_cast<AmActor&>(*actor), AgentSaid{.message = std::move(message)});
    });
  }
}

void SimHost::EndAgent(AgentActor& agent) {
  if (!agent.alive) return;
  const auto job = jobs_.find(agent.job.value);
  if (job != jobs_.end()) {
    SpareList<WorkloadOutput> outputs(spare_workload_outputs_);
    job->second->workload->Vanished(now_, agent.fence.container, *outputs);
    HandleWorkload(*job->second, *outputs);
    std::erase(job->second->agents, agent.id);
  }
  agent.alive = false;
  UpdateLink(agent);
  const auto container = containers_.find(agent.fence.container);
  if (container != containers_.end()) container->second.actor = 0;
  // The object stays until the step that runs now is over.
  After(Duration::zero(), [this, id = agent.id] { actors_[id].reset(); });
}

// ---------------------------------------------------------------- user processes

void SimHost::SpawnUserProcess(AgentActor& agent, const SpawnProcess& order) {
  const auto job = jobs_.find(agent.job.value);
  if (job == jobs_.end() || Damaged(Damage::kLost)) return;
  if (Damaged(Damage::kFails)) {
    return LaterToAgent(agent, SpawnFailed{.attempt = order.process.attempt,
                                           .reason = "Resource temporarily unavailable"});
  }
  LaterToAgent(agent, ProcessSpawned{.attempt = order.process.attempt});
  const auto stolen = stolen_ports_.find({job->second->name, order.task});
  const bool port_taken = stolen != stolen_ports_.end() && stolen->second.starts > 0;
  if (port_taken) {
    --stolen->second.starts;
    for (const std::uint32_t fault : stolen->second.by) fault_struck_[fault] = true;
  }
  SpareList<WorkloadOutput> outputs(spare_workload_outputs_);
  job->second->workload->Spawned(now_,
                                 SpawnedProcess{.container = agent.fence.container,
                                                .task = order.task,
                                                .process = order.process,
                                                .spec = order.spec,
                                                .host = nodes_[agent.place].id.host,
                                                .pace_permille = PaceOf(agent),
                                                .port_taken = port_taken,
                                                .should_listen = order.should_listen},
                                 *outputs);
  HandleWorkload(*job->second, *outputs);
}

void SimHost::HandleWorkload(JobRt& job, std::vector<WorkloadOutput>& outputs) {
  const auto tell = [this](const ContainerId& container, AgentEvent event) {
    const AgentActor* agent = AgentOf(container);
    if (agent != nullptr) LaterToAgent(*agent, std::move(event));
  };
  const Overloaded handle{
      [&](ProcessExits& exits) {
        tell(exits.container, ProcessExited{.attempt = exits.attempt,
                                            .exit = exits.exit,
                                            .port_conflict = exits.port_conflict,
                                            .stderr_tail = exits.stderr_tail});
      },
      [&](PhaseChanged& changed) {
        Trace(trace::TrainingPhaseChanged{.job = job.index, .phase = changed.phase});
      },
      [&](WorkIsLost& lost) { Trace(trace::WorkLost{.job = job.index, .work = lost.work}); },
      [&](Accounted& accounted) {
        Trace(trace::TrainingAccounted{.job = job.index,
                                       .useful = accounted.gpu.useful,
                                       .checkpoint = accounted.gpu.checkpoint,
                                       .lost = accounted.gpu.lost,
                                       .restore = accounted.gpu.restore});
      },
      [&](ProgressIsSeen& seen) { tell(seen.container, ProgressSeen{.attempt = seen.attempt}); },
      [&](SignsAreSeen& signs) {
        tell(signs.container, ProcessSignsSeen{.attempt = signs.attempt,
                                               .standstill = signs.standstill,
                                               .catches_term = signs.catches_term});
      },
      [&](PortIsSeen& port) {
        tell(port.container, PortUseSeen{.attempt = port.attempt,
                                         .use = {.listener = port.listener, .elsewhere = {}}});
      },
      [&](FileIsWritten& file) {
        static_cast<void>(name_node_.Call(
            WallNow(), hdfs::CreateRequest{.path = file.path, .bytes = "", .size = 1}));
      }};
  for (WorkloadOutput& output : outputs) std::visit(handle, output);
  ScheduleWorkload(job);
}

void SimHost::ScheduleWorkload(JobRt& job) {
  const std::optional<Instant> due = job.workload->next_deadline();
  if (!due || job.workload_scheduled <= *due) return;
  job.workload_scheduled = std::max(*due, now_);
  At(job.workload_scheduled, [this, index = job.index.value, at = job.workload_scheduled] {
    const auto entry = jobs_.find(index);
    if (entry == jobs_.end() || entry->second->workload_scheduled != at) return;
    JobRt& same = *entry->second;
    same.workload_scheduled = kNever;
    const std::optional<Instant> deadline = same.workload->next_deadline();
    if (!deadline) return;
    if (*deadline > now_) return ScheduleWorkload(same);
    SpareList<WorkloadOutput> outputs(spare_workload_outputs_);
    same.workload->DeadlineReached(now_, *outputs);
    HandleWorkload(same, *outputs);
  });
}

}  // namespace tfyarn::sim
