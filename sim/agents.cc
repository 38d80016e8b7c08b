#include "sim/agents.h"

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/deadline.h"
#include "core/model/launch.h"
#include "core/model/visit.h"
#include "sim/behavior.h"
#include "sim/coverage.h"

namespace tfyarn::sim {

Agents::Agents(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
               MessageFaults& message_faults, FaultMarks& marks, TraceTap& trace,
               SabotageDesk& sabotage, HdfsSide& hdfs, Workloads& workloads, const RmSide& rm,
               NmSide& nms)
    : Driver(kernel, links, setup),
      cluster_(cluster),
      message_faults_(message_faults),
      marks_(marks),
      trace_(trace),
      sabotage_(sabotage),
      hdfs_(hdfs),
      workloads_(workloads),
      rm_(rm),
      nms_(nms) {
  nms.SetStarter("agent", *this);
}

void Agents::StartProcess(JobRecord& job, std::int32_t node, const ContainerId& container,
                          const yarn::ContainerLaunchContext& context) {
  const Expected<AgentLaunch> read = AgentLaunchFrom(context.environment);
  TF_CHECK(read.has_value());
  const AgentLaunch& launch = *read;
  AgentActor& agent = cluster_.agents.Add(links_, *this, node);
  agent.job = job.index;
  agent.fence = launch.fence;
  agent.staging_directory = launch.staging_directory;
  // By its container: what other actors there are changes nothing.
  const ApplicationAttemptId& attempt = container.application_attempt;
  const auto entity = (static_cast<std::uint64_t>(attempt.application.id) << 48) ^
                      (static_cast<std::uint64_t>(attempt.attempt) << 40) ^
                      static_cast<std::uint64_t>(container.id);
  agent.machine = std::make_unique<agent::TaskAgent>(job.spec, setup_.SeedFor("agent", entity));
  agent.awaits_answers = false;
  agent.beat.period = job.spec->heartbeat.every;
  const Place am_place = job.am == nullptr ? kRmPlace : job.am->place;
  agent.beat.round_trip = cluster_.network.PollRoundTrip(node, am_place, agent.id);
  cluster_.containers.at(container).agent = &agent;
  // Written off before its process began: its AM hears of that later.
  agent.disowned = !rm_.HasGranted(container);
  job.agents.push_back(&agent);
  agent.Step(AgentStarted{.fence = launch.fence,
                          .am_attempt = launch.am_attempt,
                          .am_address = launch.am_address,
                          .host = cluster_.nodes[node].id.host});
}

void Agents::Hears(AgentActor& agent, const AgentEvent& event) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AgentHears(kernel_.now(), agent.machine->snapshot(), event);
}

void Agents::Heard(AgentActor& agent, AgentEvent&& event) {
  trace_.Tell(trace::AgentTold{
      .job = agent.job, .container = agent.fence.container, .event = std::move(event)});
}

void Agents::Carry(AgentActor& agent, AgentAction& action) {
  trace::TraceRecord& record = trace_.Tell(trace::AgentOrdered{
      .job = agent.job, .container = agent.fence.container, .action = std::move(action)});
  AgentAction order = std::move(std::get<trace::AgentOrdered>(record.fact).action);
  sabotage_.Obey(
      EffectActor::kAgent, agent, order, [&] { Obey(agent, order); }, [&] { Kill(agent); });
}

void Agents::Kill(AgentActor& agent) {
  if (!agent.alive) return;
  const ContainerId container = agent.fence.container;
  agent.End();
  // Its node learns of it when the step that runs now is over.
  kernel_.After(Duration::zero(), [this, container] { nms_.ProcessKilled(container); });
}

void Agents::HearAm(std::uint32_t id, std::uint32_t from, AmSaid said) {
  AgentActor* agent = cluster_.agents.Living(id);
  if (agent == nullptr) return;
  // One that stood still may yet take in an agent that reports to its successor.
  const bool is_its_am = said.am_attempt == agent->machine->snapshot().am_attempt;
  if (std::holds_alternative<AgentAccepted>(said.message) && agent->am != from && is_its_am) {
    links_.Update(*agent);
    agent->am = from;
    // Its beats to this AM are on a grid of their own, which starts with the first of them.
    agent->beat.last_sent.reset();
  }
  agent->Step(std::move(said));
}

Party Agents::PartyOf(const AgentActor& agent) const {
  return {.job = cluster_.NameOf(agent.job), .task = agent.fence.task, .place = agent.place};
}

bool Agents::HasQuietLink(const AgentActor& agent) const {
  const AmActor* am = cluster_.ams.Living(agent.am);
  if (agent.disowned || am == nullptr) return false;
  // Before its first answer it may take its AM for silent, and several answers are under way at
  // once.
  if (agent.beat.round_trip >= agent.beat.period) return false;
  const agent::AgentSnapshot snapshot = agent.machine->snapshot();
  // One that looks for its AM has not heard from it yet, and the AM may have given it up in the
  // very instant of its first beat.
  if (snapshot.link != agent::LinkState::kConnected) return false;
  // The next answer may come after the agent has taken its AM for silent.
  if (!agent.beat.vouched && kernel_.now() - snapshot.last_heard > agent.beat.period * 3 / 2)
    return false;
  // What it has yet to read it has yet to answer, and may stand still again before that.
  const bool reads = !am->paused && am->inbox.empty();
  return reads && cluster_.network.Undisturbed(agent.place, am->place);
}

void Agents::SendIdleBeat(AgentActor& agent, Instant /*at*/, Instant /*answered*/) {
  TF_CHECK(agent.awaits_answers);
}

void Agents::Vouch(AgentActor& agent, bool vouched, Instant last) {
  AmActor* am = cluster_.ams.Find(agent.am);
  if (am != nullptr && am->alive) {
    links_.CatchUp(*am);
    am->StepQuietly(kernel_.now(), PeerVouched{.task = agent.fence.task,
                                               .incarnation = agent.fence.incarnation,
                                               .vouched = vouched,
                                               .last = last});
    links_.Reschedule(*am);
  }
  if (!agent.alive) return;
  links_.CatchUp(agent);
  const Instant answered = last + agent.beat.round_trip;
  const bool under_way = !vouched && am != nullptr && answered > kernel_.now();
  // What the AM has answered comes, also where the AM has ended meanwhile.
  if (under_way) {
    kernel_.AtTurnOf(
        agent.id, answered,
        [this, id = agent.id, fence = agent.fence, from = am->id, attempt = am->attempt.attempt] {
          HearAm(id, from, AmSaid{.message = HeartbeatSeen{fence}, .am_attempt = attempt});
        });
  }
  const Instant heard = answered <= kernel_.now() ? answered : last;
  agent.StepQuietly(kernel_.now(), PeerVouched{.task = {},
                                               .incarnation = {},
                                               .vouched = vouched,
                                               .last = vouched ? kernel_.now() : heard});
  links_.Reschedule(agent);
}

void Agents::Obey(AgentActor& agent, AgentAction& order) {
  // A simulated process has no stacks; the order is in the trace.
  std::visit(Overloaded{Ignore<DumpStacks, Note>{}, [&](LeasePort&) { LeasePortFor(agent); },
                        [&](SendToAm& send) { Send(agent, std::move(send)); },
                        [&](SpawnProcess& spawn) { Spawn(agent, spawn); },
                        [&](SignalProcess& signal) { Signal(agent, signal); },
                        [&](ReadAmAddress&) { ReadAddressOfAm(agent); },
                        [&](ExitAgent& exit) { Exit(agent, exit); }},
             order);
}

void Agents::Exit(AgentActor& agent, const ExitAgent& exit) {
  if (sabotage_.Is(Damage::kLost)) return;
  const ContainerId container = agent.fence.container;
  agent.End();
  kernel_.After(Duration::zero(), [this, container, code = exit.code, reason = exit.reason] {
    nms_.ProcessEnded(container, code, reason);
  });
}

void Agents::LeasePortFor(AgentActor& agent) {
  if (sabotage_.Is(Damage::kLost)) return;
  if (sabotage_.Is(Damage::kFails))
    return workloads_.TellLater(agent, PortLeaseFailed{.reason = "no port is free"});
  NodeInfo& node = cluster_.nodes[agent.place];
  agent.port = node.next_port;
  node.next_port = node.next_port == kLastPort ? kFirstPort : node.next_port + 1;
  workloads_.TellLater(agent, PortLeased{.port = agent.port});
}

void Agents::Signal(const AgentActor& agent, const SignalProcess& order) {
  JobRecord* job = cluster_.JobAt(agent.job);
  if (job == nullptr || sabotage_.Is(Damage::kLost)) return;
  workloads_.Do(
      *job, [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
        workload.Signalled(now, agent.fence.container, order.attempt, order.signal, outputs);
      });
}

void Agents::ReadAddressOfAm(const AgentActor& agent) {
  if (cluster_.JobAt(agent.job) == nullptr) return;
  hdfs_.Call(agent.place, agent.id,
             hdfs::ReadRequest{.path = agent.staging_directory + "/am-address"},
             [this, id = agent.id](const hdfs::HdfsResponse& response) {
               AgentActor* same = cluster_.agents.Living(id);
               if (same == nullptr) return;
               const auto* read = std::get_if<hdfs::ReadResponse>(&response);
               const AmAddress known = read == nullptr ? AmAddress{} : AmAddressFrom(read->bytes);
               same->Step(AmAddressRead{.am_attempt = known.am_attempt, .address = known.address});
             });
}

void Agents::Send(AgentActor& agent, SendToAm send) {
  const bool beat = IsIdle(send.message);
  if (beat) links_.BeatSent(agent, 0);
  const JobRecord* job = cluster_.JobAt(agent.job);
  if (job == nullptr) return;
  // An AM that was cut off and replaced listens still, until it learns of it.
  AmActor* am =
      cluster_.AmOf(*job, {.application = agent.fence.container.application_attempt.application,
                           .attempt = send.am_attempt});
  if (am == nullptr) return;
  const MessageFate fate = message_faults_.FateOf(agent, [&] { return MessageName(send.message); });
  if (fate.dropped || sabotage_.damage() != nullptr ||
      cluster_.network.Lost(agent.place, am->place, agent.id) ||
      !cluster_.network.Reachable(agent.place, am->place))
    return;
  if (beat && fate.copies == 1 && fate.delay == Duration::zero() && !am->paused) {
    // One of the very instant in which the AM gives its sender up is late, whatever the AM has
    // heard before it in that instant: the beats of others may be skipped.
    if (IsDue(am->machine->next_decision(), kernel_.now())) am->Step(DeadlineReached{});
    if (am->alive) am->Step(AgentSaid{.message = std::move(send.message)});
    return;
  }
  const Duration latency =
      beat ? Duration::zero() : cluster_.network.Latency(agent.place, am->place, agent.id);
  for (int copy = 0; copy < fate.copies; ++copy) {
    kernel_.After(latency + fate.delay, [this, id = am->id, message = send.message]() mutable {
      if (AmActor* same = cluster_.ams.Living(id))
        same->Step(AgentSaid{.message = std::move(message)});
    });
  }
}

void Agents::End(AgentActor& agent) {
  if (!agent.alive) return;
  if (JobRecord* job = cluster_.JobAt(agent.job)) {
    workloads_.Do(*job,
                  [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
                    workload.Vanished(now, agent.fence.container, outputs);
                  });
    std::erase(job->agents, &agent);
  }
  agent.alive = false;
  links_.Update(agent);
  const auto container = cluster_.containers.find(agent.fence.container);
  if (container != cluster_.containers.end()) container->second.agent = nullptr;
  cluster_.agents.RemoveAfterStep(kernel_, agent.id);
}

void Agents::Spawn(AgentActor& agent, const SpawnProcess& order) {
  JobRecord* job = cluster_.JobAt(agent.job);
  if (job == nullptr || sabotage_.Is(Damage::kLost)) return;
  if (sabotage_.Is(Damage::kFails)) {
    return workloads_.TellLater(agent, SpawnFailed{.attempt = order.process.attempt,
                                                   .reason = "Resource temporarily unavailable"});
  }
  workloads_.TellLater(agent, ProcessSpawned{.attempt = order.process.attempt});
  const bool port_taken = TakePortOf(job->name, order.task);
  workloads_.Do(*job,
                [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
                  workload.Spawned(now,
                                   SpawnedProcess{.container = agent.fence.container,
                                                  .task = order.task,
                                                  .process = order.process,
                                                  .spec = order.spec,
                                                  .host = cluster_.nodes[agent.place].id.host,
                                                  .pace_permille = workloads_.PaceOf(agent),
                                                  .port_taken = port_taken,
                                                  .should_listen = order.should_listen},
                                   outputs);
                });
}

bool Agents::TakePortOf(const std::string& job, const TaskId& task) {
  const auto taken = taken_ports_.find({job, task});
  if (taken == taken_ports_.end() || taken->second.starts == 0) return false;
  --taken->second.starts;
  for (const std::uint32_t fault : taken->second.by) marks_.struck[fault] = true;
  return true;
}

void Agents::TakePorts(const std::string& job, const TaskId& task, std::int32_t starts,
                       std::uint32_t fault) {
  TakenPort& taken = taken_ports_[{job, task}];
  taken.starts += starts;
  taken.by.insert(fault);
}

}  // namespace tfyarn::sim
