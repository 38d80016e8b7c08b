// SimHost and agents: the process in every task's container, and the user's processes that it runs.
#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/visit.h"
#include "sim/calls.h"
#include "sim/coverage.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

void SimHost::StartAgent(JobRecord& job, std::int32_t node,
                         const yarn::ContainerLaunchContext& context) {
  const Expected<AgentLaunch> read = AgentLaunchFrom(context.environment);
  TF_CHECK(read.has_value());
  const AgentLaunch& launch = *read;
  AgentActor& agent = cluster_.agents.Add(links_, *this, node);
  agent.job = job.index;
  agent.fence = launch.fence;
  agent.staging_directory = launch.staging_directory;
  // By its container: what other actors there are changes nothing.
  const ContainerId& container = launch.fence.container;
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

void SimHost::Hears(AgentActor& agent, const AgentEvent& event) {
  if (setup_.options.coverage != nullptr)
    setup_.options.coverage->AgentHears(kernel_.now(), agent.machine->snapshot(), event);
}

void SimHost::Heard(AgentActor& agent, AgentEvent&& event) {
  trace_.Tell(trace::AgentTold{
      .job = agent.job, .container = agent.fence.container, .event = std::move(event)});
}

void SimHost::Carry(AgentActor& agent, AgentAction& action) {
  trace::TraceRecord& record = trace_.Tell(trace::AgentOrdered{
      .job = agent.job, .container = agent.fence.container, .action = std::move(action)});
  AgentAction order = std::move(std::get<trace::AgentOrdered>(record.fact).action);
  sabotage_.Obey(
      EffectActor::kAgent, agent, order, [&] { Handle(agent, order); },
      [&] { KillProcess(agent); });
}

void SimHost::KillProcess(AgentActor& agent) {
  if (!agent.alive) return;
  const ContainerId container = agent.fence.container;
  agent.End();
  // Its node learns of it when the step that runs now is over.
  kernel_.After(Duration::zero(),
                [this, container] { nms_.ProcessEnded(container, 128 + kSigkill, ""); });
}

Party SimHost::PartyOf(const AgentActor& agent) const {
  return {.job = cluster_.NameOf(agent.job), .task = agent.fence.task, .place = agent.place};
}

bool SimHost::HasQuietLink(const AgentActor& agent) const {
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

void SimHost::SendIdleBeat(AgentActor&, Instant, Instant) {
  TF_CHECK(!"an agent awaits no answers");
}

void SimHost::Vouch(AgentActor& agent, bool vouched, Instant last) {
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
  // What the AM has answered comes, whatever became of the AM meanwhile.
  if (under_way) {
    kernel_.AtTurnOf(
        agent.id, answered,
        [this, id = agent.id, fence = agent.fence, from = am->id, attempt = am->attempt.attempt] {
          AgentHears(id, from, AmSaid{.message = HeartbeatSeen{fence}, .am_attempt = attempt});
        });
  }
  const Instant heard = answered <= kernel_.now() ? answered : last;
  agent.StepQuietly(kernel_.now(), PeerVouched{.task = {},
                                               .incarnation = {},
                                               .vouched = vouched,
                                               .last = vouched ? kernel_.now() : heard});
  links_.Reschedule(agent);
}

void SimHost::Handle(AgentActor& agent, AgentAction& action) {
  // A simulated process has no stacks; the order is in the trace.
  std::visit(Overloaded{Ignore<DumpStacks, Note>{}, [&](LeasePort&) { LeasePortFor(agent); },
                        [&](SendToAm& send) { AgentSendsToAm(agent, std::move(send)); },
                        [&](SpawnProcess& spawn) { SpawnUserProcess(agent, spawn); },
                        [&](SignalProcess& signal) { SignalUserProcess(agent, signal); },
                        [&](ReadAmAddress&) { ReadAmAddressFor(agent); },
                        [&](ExitAgent& exit) {
                          if (sabotage_.Is(Damage::kLost)) return;
                          const ContainerId container = agent.fence.container;
                          agent.End();
                          kernel_.After(Duration::zero(),
                                        [this, container, code = exit.code, reason = exit.reason] {
                                          nms_.ProcessEnded(container, code, reason);
                                        });
                        }},
             action);
}

void SimHost::LeasePortFor(AgentActor& agent) {
  if (sabotage_.Is(Damage::kLost)) return;
  if (sabotage_.Is(Damage::kFails))
    return workloads_.TellLater(agent, PortLeaseFailed{.reason = "no port is free"});
  NodeInfo& node = cluster_.nodes[agent.place];
  agent.port = node.next_port;
  node.next_port = node.next_port == kLastPort ? kFirstPort : node.next_port + 1;
  workloads_.TellLater(agent, PortLeased{.port = agent.port});
}

void SimHost::SignalUserProcess(const AgentActor& agent, const SignalProcess& order) {
  JobRecord* job = cluster_.JobAt(agent.job);
  if (job == nullptr || sabotage_.Is(Damage::kLost)) return;
  workloads_.Do(
      *job, [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
        workload.Signalled(now, agent.fence.container, order.attempt, order.signal, outputs);
      });
}

void SimHost::ReadAmAddressFor(const AgentActor& agent) {
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

void SimHost::AgentSendsToAm(AgentActor& agent, SendToAm send) {
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
    return am->Step(AgentSaid{.message = std::move(send.message)});
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

void SimHost::End(AgentActor& agent) {
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
  // The object stays until the step that runs now is over.
  kernel_.After(Duration::zero(), [this, id = agent.id] { cluster_.agents.Remove(id); });
}

// ---------------------------------------------------------------- user processes

void SimHost::SpawnUserProcess(AgentActor& agent, const SpawnProcess& order) {
  JobRecord* job = cluster_.JobAt(agent.job);
  if (job == nullptr || sabotage_.Is(Damage::kLost)) return;
  if (sabotage_.Is(Damage::kFails)) {
    return workloads_.TellLater(agent, SpawnFailed{.attempt = order.process.attempt,
                                                   .reason = "Resource temporarily unavailable"});
  }
  workloads_.TellLater(agent, ProcessSpawned{.attempt = order.process.attempt});
  const auto stolen = stolen_ports_.find({job->name, order.task});
  const bool port_taken = stolen != stolen_ports_.end() && stolen->second.starts > 0;
  if (port_taken) {
    --stolen->second.starts;
    for (const std::uint32_t fault : stolen->second.by) marks_.struck[fault] = true;
  }
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

}  // namespace tfyarn::sim
