// SimHost and YARN: calls to the ResourceManager and the NodeManagers, and the containers that
// NodeManagers start.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/launch.h"
#include "core/model/visit.h"
#include "sim/sim_host.h"
#include "sim/sim_host_calls.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

constexpr std::int32_t kKilledStatus = 137;

}  // namespace

// ---------------------------------------------------------------- ResourceManager

void SimHost::StepRm(const fakes::RmEvent& event) {
  TF_CHECK(rm_ != nullptr);
  SpareList<fakes::RmAction> actions(spare_rm_actions_);
  StepMachine(doubles_.rm, *rm_, now_, event, *actions);
  for (fakes::RmAction& action : *actions) HandleRm(action);
  Reschedule(*actors_[0]);
}

void SimHost::HandleRm(fakes::RmAction& action) {
  std::visit(
      Overloaded{Ignore<fakes::RmNote>{},
                 [&](fakes::RmReply& reply) { rm_response_ = std::move(reply.response); },
                 [&](fakes::RmCallNm& call) { RmCallsNm(std::move(call)); },
                 [&](fakes::NewsForAttempt& news) {
                   JobRt* job = JobOf(news.attempt.application);
                   AmActor* am = job == nullptr ? nullptr : AmOf(*job, news.attempt);
                   if (am != nullptr) ForceBeat(*am);
                 },
                 [&](fakes::NewsForNode& news) {
                   const std::uint32_t nm =
                       nm_of_node_[static_cast<std::size_t>(*nodes_.Find(news.node.host))];
                   if (nm != 0) ForceBeat(*actors_[nm]);
                 },
                 [&](fakes::NewsForClient& news) {
                   JobRt* job = JobOf(news.application);
                   if (job != nullptr && job->client != 0) ForceBeat(*actors_[job->client]);
                 },
                 [&](fakes::Granted& granted) { TraceGranted(std::move(granted)); },
                 [&](fakes::Freed& freed) { TraceFreed(freed.container, freed.exit_status); },
                 [&](fakes::ApplicationEnded& ended) {
                   JobRt* job = JobOf(ended.application);
                   if (job == nullptr) return;
                   Trace(trace::ApplicationEnded{.job = job->index,
                                                 .application = ended.application,
                                                 .final_status = ended.final_status});
                   // With its client gone only the RM says that the job is over.
                   if (job->client == 0) JobEndSeen(*job);
                 }},
      action);
}

void SimHost::TraceGranted(fakes::Granted&& granted) {
  // A restarted RM recovers what its predecessor granted: nothing new for the trace.
  if (!granted_.insert(granted.container).second) return;
  const JobRt* job = JobOf(granted.container.application_attempt.application);
  Trace(trace::ContainerGranted{.job = job == nullptr ? trace::JobIndex{} : job->index,
                                .container = granted.container,
                                .node = std::move(granted.node),
                                .resource = std::move(granted.resource),
                                .am = granted.am});
}

void SimHost::TraceFreed(const ContainerId& container, std::int32_t exit_status) {
  if (granted_.erase(container) == 0) return;
  if (AgentActor* agent = AgentOf(container)) {
    agent->disowned = true;
    UpdateLink(*agent);
  }
  const JobRt* job = JobOf(container.application_attempt.application);
  Trace(trace::ContainerFreed{.job = job == nullptr ? trace::JobIndex{} : job->index,
                              .container = container,
                              .exit_status = exit_status});
}

void SimHost::RmCallsNm(fakes::RmCallNm call) {
  const std::optional<std::int32_t> node = nodes_.Find(call.node.host);
  TF_CHECK(node.has_value());
  const Duration latency = network_.Latency(kRmPlace, *node, 0);
  const bool lost = !network_.Reachable(kRmPlace, *node) || network_.Lost(kRmPlace, *node, 0);
  const auto answer = [this, id = call.id, node_id = call.node](Duration back,
                                                                yarn::NmResponse response) {
    After(back, [this, id, node_id, response = std::move(response)]() mutable {
      if (rm_ == nullptr) return;
      StepRm(fakes::NmAnswered{.id = id, .node = node_id, .response = std::move(response)});
    });
  };
  if (lost) return answer(kRpcTimeout, NotAnswered(call.node.host));
  After(latency, [this, node = *node, latency, answer, call = std::move(call)]() mutable {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (nodes_[node].down > 0) return answer(kRpcTimeout, NotAnswered(call.node.host));
    if (index == 0) return answer(latency, Refused(call.node.host));
    answer(latency, DeliverToNm(static_cast<NmActor&>(*actors_[index]), call.caller, call.token,
                                std::move(call.request)));
  });
}

yarn::NmResponse SimHost::DeliverToNm(NmActor& nm, const fakes::Caller& caller,
                                      const yarn::Token& token, yarn::NmRequest request) {
  nm_response_.reset();
  StepNm(
      nm,
      fakes::NmCall{
          .id = next_rm_call_++, .caller = caller, .token = token, .request = std::move(request)});
  TF_CHECK(nm_response_.has_value());
  return std::move(*nm_response_);
}

JobRt* SimHost::JobOf(const ApplicationId& application) {
  const auto entry = job_of_application_.find(application);
  if (entry == job_of_application_.end()) return nullptr;
  const auto job = jobs_.find(entry->second);
  return job == jobs_.end() ? nullptr : job->second.get();
}

// ---------------------------------------------------------------- NodeManagers

void SimHost::StartNm(std::int32_t node, std::optional<fakes::NmState> state) {
  const auto id = static_cast<std::uint32_t>(actors_.size());
  auto actor = std::make_unique<NmActor>(ActorKind::kNm, id, node);
  const fakes::NmOptions options = NmOptionsOf(scenario_.yarn, nodes_[node], seed_, node);
  actor->machine = state
                       ? std::make_unique<fakes::NodeManager>(options, tokens_, std::move(*state),
                                                              SeedFor("nm", id))
                       : std::make_unique<fakes::NodeManager>(options, tokens_, SeedFor("nm", id));
  actor->beat.period = scenario_.yarn.nm_heartbeat;
  actor->beat.round_trip = network_.PollRoundTrip(node, kRmPlace, id);
  nm_of_node_[static_cast<std::size_t>(node)] = id;
  NmActor& nm = *actor;
  actors_.push_back(std::move(actor));
  StepNm(nm, fakes::NmStarted{});
  if (!nodes_[node].unhealthy_by.empty()) TellHealth(node);
}

void SimHost::StepNm(NmActor& nm, const fakes::NmEvent& event) {
  CatchUp(nm);
  SpareList<fakes::NmAction> actions(spare_nm_actions_);
  StepMachine(doubles_.nm, *nm.machine, now_, event, *actions);
  for (fakes::NmAction& action : *actions) HandleNm(nm, action);
  if (nm.machine->is_shut_down()) NmShutDown(nm);
  Reschedule(nm);
}

void SimHost::NmShutDown(NmActor& nm) {
  if (nm.beat.last_sent) StartBeatsAnew(nm);  // It beats no more.
  NodeInfo& node = nodes_[nm.place];
  if (!node.restart_nm || !nm.alive || !node.leaving_by.empty()) return;
  // The RM's order crossed the operator's, which has taken the node in again.
  After(Duration::zero(), [this, place = nm.place] { RestartShutDownNm(place); });
}

void SimHost::HandleNm(NmActor& nm, fakes::NmAction& action) {
  std::visit(Overloaded{Ignore<fakes::NmNote>{},
                        [&](fakes::NmReply& reply) { nm_response_ = std::move(reply.response); },
                        [&](fakes::NmCallRm& call) { NmCallsRm(nm, std::move(call)); },
                        [&](fakes::Localize& localize) { LocalizeContainer(nm, localize); },
                        [&](fakes::Launch& launch) { LaunchContainer(nm, std::move(launch)); },
                        [&](fakes::SignalContainer& signal) {
                          After(Duration::zero(),
                                [this, container = signal.container, kill = signal.kill] {
                                  SignalContainerProcess(container, kill);
                                });
                        },
                        [&](fakes::ContainerDone& done) { ContainerIsDone(nm, done.container); }},
             action);
}

void SimHost::ContainerIsDone(const NmActor& nm, const ContainerId& container) {
  Trace(trace::ContainerGone{.container = container});
  containers_.erase(container);
  // No RM has it in its books: what was allocated before a restart ends with it. One that its
  // node had not claimed in time ends unheard.
  if (unclaimed_.contains(nm.place) && (IsRegistered(nm.place) || now_ >= claims_end_))
    After(scenario_.yarn.nm_heartbeat, [this, place = nm.place] { ForgetUnclaimedOn(place); });
}

void SimHost::NmCallsRm(NmActor& nm, fakes::NmCallRm call) {
  const bool beat = std::holds_alternative<yarn::NodeHeartbeatRequest>(call.request);
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kNm;
  caller.node = nodes_[nm.place].id;
  if (std::holds_alternative<yarn::RegisterNodeManagerRequest>(call.request)) StartBeatsAnew(nm);
  if (beat) {
    // As for AMs: this one may be lost.
    const Instant heard = nm.beat.last_sent.value_or(Instant{});
    BeatSent(nm, call.id);
    const std::uint64_t unseen = TakeUnseen(nm.beat);
    if (unseen > 0 && rm_ != nullptr) {
      StepRm(fakes::NodeHeartbeatsElided{.node = caller.node, .count = unseen, .last = heard});
    }
  }
  SendToRm(nm, std::move(caller), {}, std::move(call.request), beat,
           [this, id = nm.id, call_id = call.id, beat](yarn::RmResponse&& response) {
             Actor* actor = Living(id);
             if (actor == nullptr) return;
             if (beat) BeatAnswered(*actor, call_id);
             const bool registered =
                 std::holds_alternative<yarn::RegisterNodeManagerResponse>(response);
             StepNm(static_cast<NmActor&>(*actor),
                    fakes::RmAnswered{.id = call_id, .response = std::move(response)});
             UpdateLink(*actor);  // It may have been told to register anew.
             // The RM before the one that runs may have answered: then the node still takes what
             // that one allocated, and has yet to tell the next.
             if (registered && IsRegistered(actor->place)) ForgetUnclaimedOn(actor->place);
           });
}

// ---------------------------------------------------------------- containers

void SimHost::LocalizeContainer(NmActor& nm, const fakes::Localize& order) {
  const ContainerId container = order.container;
  Trace(trace::ContainerLocalizing{.container = container});
  JobRt* job = JobOf(container.application_attempt.application);
  containers_[container] = {
      .node = nm.place, .actor = 0, .job = job == nullptr ? trace::JobIndex{} : job->index};
  FetchFiles(nm, order, 0);
}

// Source: ipc.client.connect.max.retries (10) and .retry.interval (1 s): a NodeManager's client of
// HDFS gives a NameNode that refuses connections up after those.
void SimHost::FetchFiles(NmActor& nm, const fakes::Localize& order, int tries) {
  static constexpr int kConnectRetries = 10;
  if (name_node_.down() && tries < kConnectRetries) {
    return After(1s, [this, id = nm.id, order, tries] {
      if (Actor* actor = Living(id)) FetchFiles(static_cast<NmActor&>(*actor), order, tries + 1);
    });
  }
  const ContainerId container = order.container;
  JobRt* job = JobOf(container.application_attempt.application);
  Duration time = LocalizationTime(nm.place, container.application_attempt.application);
  time += SlowedByHdfs(fakes::TransferTime(job == nullptr ? 0 : job->config->files_bytes,
                                           scenario_.hdfs.bandwidth_bps));
  time = time / 1000 * nodes_[nm.place].localize_permille;
  std::string failure = LaunchFailure(nm.place, /*localize=*/true);
  if (failure.empty()) failure = FailureByDisks(nm.place);
  if (failure.empty()) failure = MissingFile(order.context);
  if (!failure.empty() && job != nullptr)
    job->localized.erase({container.application_attempt.application, nm.place});
  After(time, [this, id = nm.id, container, failure = std::move(failure)] {
    Actor* actor = Living(id);
    if (actor == nullptr) return;
    auto& same = static_cast<NmActor&>(*actor);
    if (failure.empty()) {
      StepNm(same, fakes::Localized{.container = container});
    } else {
      StepNm(same, fakes::LocalizationFailed{.container = container, .diagnostics = failure});
    }
  });
}

// Source: LocalResourcesTrackerImpl.java: who asks for a resource that is being fetched waits for
// it, who asks later has it.
Duration SimHost::LocalizationTime(Place node, const ApplicationId& application) {
  const config::YarnSpec& yarn = scenario_.yarn;
  JobRt* job = JobOf(application);
  if (!yarn.localize_again || job == nullptr) return launch_delays_.DrawDuration(yarn.localize);
  const auto [common, first] = job->localized.try_emplace({application, node});
  if (!first) {
    return std::max(common->second - now_, Duration::zero()) +
           launch_delays_.DrawDuration(*yarn.localize_again);
  }
  const Duration time = launch_delays_.DrawDuration(yarn.localize);
  common->second = now_ + time;
  return time;
}

std::string SimHost::MissingFile(const yarn::ContainerLaunchContext& context) {
  for (const auto& [name, resource] : context.local_resources) {
    const hdfs::HdfsResponse status =
        name_node_.Call(WallNow(), hdfs::GetFileStatusRequest{.path = resource.path});
    if (const auto* error = std::get_if<hdfs::HdfsError>(&status)) {
      return fmt::format("localization of {} failed: {}", resource.path, error->message);
    }
  }
  return {};
}

void SimHost::LaunchContainer(NmActor& nm, fakes::Launch&& order) {
  const config::YarnSpec& yarn = scenario_.yarn;
  const bool am = LaunchRole(order.context.environment) == "am";
  const Duration delay =
      launch_delays_.DrawDuration(am ? yarn.am_launch.value_or(yarn.launch) : yarn.launch);
  // The script that starts it is a process of its own, which a restart of the NM does not touch.
  After(delay, [this, node = nm.place, container = order.container,
                context = std::move(order.context)] {
    if (!containers_.contains(container)) return;
    if (const std::string failure = FailureByDisks(node); !failure.empty()) {
      return TellNmOf(node, fakes::LaunchFailed{.container = container,
                                                .exit_status = container_exit::kDisksFailed,
                                                .diagnostics = failure});
    }
    if (const std::string failure = LaunchFailure(node, /*localize=*/false); !failure.empty()) {
      return TellNmOf(node, fakes::LaunchFailed{
                                .container = container, .exit_status = 1, .diagnostics = failure});
    }
    TellNmOf(node, fakes::ProcessStarted{.container = container});
    Trace(trace::ContainerLaunched{.container = container});
    StartContainerProcess(node, container, context);
  });
}

void SimHost::StartContainerProcess(std::int32_t node, const ContainerId& container,
                                    const yarn::ContainerLaunchContext& context) {
  const std::string role = LaunchRole(context.environment);
  JobRt* job = JobOf(container.application_attempt.application);
  if (job == nullptr || job->ended) return ContainerProcessEnded(container, 1, "the job is gone");
  if (role == "am") {
    const Expected<AmLaunch> launch = AmLaunchFrom(context.environment);
    TF_CHECK(launch.has_value());
    return StartAm(*job, node, container, launch->staging_directory);
  }
  TF_CHECK(role == "agent");
  const Expected<AgentLaunch> launch = AgentLaunchFrom(context.environment);
  TF_CHECK(launch.has_value());
  StartAgent(*job, node, *launch);
}

void SimHost::SignalContainerProcess(const ContainerId& container, bool kill) {
  const auto entry = containers_.find(container);
  if (entry == containers_.end()) return;
  if (entry->second.actor == 0) {
    // Localised but not running yet: nothing that could resist.
    return ContainerProcessEnded(container, kill ? kKilledStatus : 143, "");
  }
  Actor& actor = *actors_[entry->second.actor];
  if (actor.kind == ActorKind::kAm) {
    EndAm(static_cast<AmActor&>(actor));
    return ContainerProcessEnded(container, kill ? kKilledStatus : 143, "");
  }
  auto& agent = static_cast<AgentActor&>(actor);
  if (kill) {
    EndAgent(agent);
    return ContainerProcessEnded(container, kKilledStatus, "");
  }
  if (!agent.paused) StepAgent(agent, TerminationRequested{});
}

void SimHost::ContainerProcessEnded(const ContainerId& container, std::int32_t exit_status,
                                    const std::string& diagnostics) {
  const auto entry = containers_.find(container);
  if (entry == containers_.end()) return;
  entry->second.actor = 0;
  TellNmOf(entry->second.node,
           fakes::ProcessEnded{
               .container = container, .exit_status = exit_status, .diagnostics = diagnostics});
}

void SimHost::TellNmOf(std::int32_t node, fakes::NmEvent event) {
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm == 0) {
    unreported_[node].push_back(std::move(event));
  } else {
    StepNm(static_cast<NmActor&>(*actors_[nm]), std::move(event));
  }
}

}  // namespace tfyarn::sim
