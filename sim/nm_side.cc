#include "sim/nm_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/check.h"
#include "core/model/launch.h"
#include "core/model/visit.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

/// The exit status of a process that a signal has ended, as a shell shows it.
constexpr std::int32_t kKilledStatus = 137;
constexpr std::int32_t kTerminatedStatus = 143;

}  // namespace

NmSide::NmSide(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
               FaultMarks& marks, TraceTap& trace, HdfsSide& hdfs, RmSide& rm, Claims& claims)
    : Driver(kernel, links, setup),
      cluster_(cluster),
      marks_(marks),
      trace_(trace),
      hdfs_(hdfs),
      rm_(rm),
      claims_(claims),
      start_delays_(setup.seed, "containers") {}

void NmSide::Start(std::int32_t node, std::optional<fakes::NmState> state) {
  NmActor& nm = cluster_.nms.Add(links_, *this, node);
  const fakes::NmOptions options =
      NmOptionsOf(setup_.scenario.yarn, cluster_.nodes[node], setup_.seed, node);
  nm.machine = state ? std::make_unique<fakes::NodeManager>(
                           options, rm_.tokens(), std::move(*state), setup_.SeedFor("nm", nm.id))
                     : std::make_unique<fakes::NodeManager>(options, rm_.tokens(),
                                                            setup_.SeedFor("nm", nm.id));
  nm.beat.period = setup_.scenario.yarn.nm_heartbeat;
  nm.beat.round_trip = cluster_.network.PollRoundTrip(node, kRmPlace, nm.id);
  cluster_.nm_of_node[static_cast<std::size_t>(node)] = &nm;
  nm.Step(fakes::NmStarted{});
  if (!cluster_.nodes[node].unhealthy_by.empty()) TellHealth(node);
}

void NmSide::End(NmActor& nm) {
  nm.alive = false;
  links_.Update(nm);
  cluster_.nm_of_node[static_cast<std::size_t>(nm.place)] = nullptr;
  cluster_.nms.RemoveAfterStep(kernel_, nm.id);
}

Party NmSide::PartyOf(const NmActor& nm) const {
  return {.job = {}, .task = {}, .place = nm.place};
}

bool NmSide::HasQuietLink(const NmActor& nm) const {
  if (cluster_.nodes[nm.place].muted > 0) return false;
  // The RM expects the next one a period after the last one came.
  if (nm.beat.late) return false;
  // While it ends its containers to register anew it does not beat.
  if (!nm.machine->registered()) return false;
  return rm_.answers() && cluster_.network.Undisturbed(nm.place, kRmPlace);
}

void NmSide::SendIdleBeat(NmActor& nm, Instant at, Instant answered) {
  const fakes::NmAction order = nm.OrderAtDeadline(at);
  const auto& call = std::get<fakes::NmCallRm>(order);
  const auto& request = std::get<yarn::NodeHeartbeatRequest>(call.request);
  nm.beat.awaited = call.id;
  yarn::NodeHeartbeatResponse idle{.response_id = request.response_id + 1};
  kernel_.AtTurnOf(nm.id, answered, [this, id = nm.id, call_id = call.id, idle] {
    NmActor* sender = cluster_.nms.Living(id);
    if (sender == nullptr) return;
    links_.BeatAnswered(*sender, call_id);
    sender->Step(fakes::RmAnswered{.id = call_id, .response = idle});
  });
}

void NmSide::Vouch(NmActor& nm, bool vouched, Instant last) {
  rm_.Tell(
      fakes::NodeVouched{.node = cluster_.nodes[nm.place].id, .vouched = vouched, .last = last});
}

void NmSide::Stepped(NmActor& nm) {
  if (!nm.machine->is_shut_down()) return;
  if (nm.beat.last_sent) links_.StartAnew(nm);  // It beats no more.
  const NodeInfo& node = cluster_.nodes[nm.place];
  if (!node.restart_nm || !nm.alive || !node.leaving_by.empty()) return;
  // The RM's order crossed the operator's, which has taken the node in again.
  kernel_.After(Duration::zero(), [this, place = nm.place] { RestartShutDown(place); });
}

void NmSide::Carry(NmActor& nm, fakes::NmAction& action) {
  std::visit(Overloaded{Ignore<fakes::NmNote>{},
                        [&](fakes::NmReply& reply) { nm.response = std::move(reply.response); },
                        [&](fakes::NmCallRm& call) { CallRm(nm, std::move(call)); },
                        [&](fakes::Localize& localize) { Localize(nm, localize); },
                        [&](fakes::Launch& launch) { Launch(nm.place, std::move(launch)); },
                        [&](fakes::SignalContainer& signal) {
                          kernel_.After(Duration::zero(),
                                        [this, container = signal.container, kill = signal.kill] {
                                          SignalProcess(container, kill);
                                        });
                        },
                        [&](fakes::ContainerDone& done) { ContainerIsDone(nm, done.container); }},
             action);
}

void NmSide::ContainerIsDone(const NmActor& nm, const ContainerId& container) {
  trace_.Tell(trace::ContainerGone{.container = container});
  cluster_.containers.erase(container);
  claims_.ContainerEnded(nm.place);
}

void NmSide::CallRm(NmActor& nm, fakes::NmCallRm call) {
  const bool beat = std::holds_alternative<yarn::NodeHeartbeatRequest>(call.request);
  fakes::Caller caller;
  caller.kind = fakes::CallerKind::kNm;
  caller.node = cluster_.nodes[nm.place].id;
  if (std::holds_alternative<yarn::RegisterNodeManagerRequest>(call.request)) links_.StartAnew(nm);
  if (beat) {
    // As for AMs: this one may be lost.
    const Instant heard = nm.beat.last_sent.value_or(Instant{});
    links_.BeatSent(nm, call.id);
    const std::uint64_t unseen = Links::TakeUnseen(nm.beat);
    if (unseen > 0) {
      rm_.Tell(fakes::NodeHeartbeatsElided{.node = caller.node, .count = unseen, .last = heard});
    }
  }
  rm_.Call(nm, std::move(caller), {}, std::move(call.request), beat,
           [this, id = nm.id, call_id = call.id, beat](yarn::RmResponse&& response) {
             NmActor* same = cluster_.nms.Living(id);
             if (same == nullptr) return;
             if (beat) links_.BeatAnswered(*same, call_id);
             const bool registered =
                 std::holds_alternative<yarn::RegisterNodeManagerResponse>(response);
             same->Step(fakes::RmAnswered{.id = call_id, .response = std::move(response)});
             links_.Update(*same);  // It may have been told to register anew.
             if (registered) claims_.NodeHasReported(same->place);
           });
}

// ---------------------------------------------------------------- containers

void NmSide::Localize(NmActor& nm, const fakes::Localize& order) {
  const ContainerId container = order.container;
  trace_.Tell(trace::ContainerLocalizing{.container = container});
  const JobRecord* job = cluster_.JobOf(container.application_attempt.application);
  cluster_.containers[container] = {.node = nm.place,
                                    .job = job == nullptr ? trace::JobIndex{} : job->index};
  FetchFiles(nm, order, 0);
}

// Source: ipc.client.connect.max.retries (10) and .retry.interval (1 s): a NodeManager's client of
// HDFS gives a NameNode that refuses connections up after those.
void NmSide::FetchFiles(NmActor& nm, const fakes::Localize& order, int tries) {
  static constexpr int kConnectRetries = 10;
  if (hdfs_.down() && tries < kConnectRetries) {
    return kernel_.After(1s, [this, id = nm.id, order, tries] {
      if (NmActor* same = cluster_.nms.Living(id)) FetchFiles(*same, order, tries + 1);
    });
  }
  const ContainerId container = order.container;
  JobRecord* job = cluster_.JobOf(container.application_attempt.application);
  Duration time = LocalizationTime(nm.place, container.application_attempt.application);
  time += hdfs_.Slowed(fakes::TransferTime(job == nullptr ? 0 : job->config->files_bytes,
                                           setup_.scenario.hdfs.bandwidth_bps));
  time = time / 1000 * cluster_.nodes[nm.place].localize_permille;
  std::string failure = FailureByFault(nm.place, /*localize=*/true);
  if (failure.empty()) failure = FailureByDisks(nm.place);
  if (failure.empty()) failure = MissingFile(order.context);
  if (!failure.empty() && job != nullptr)
    job->localized.erase({container.application_attempt.application, nm.place});
  kernel_.After(time, [this, id = nm.id, container, failure = std::move(failure)] {
    NmActor* same = cluster_.nms.Living(id);
    if (same == nullptr) return;
    if (failure.empty()) {
      same->Step(fakes::Localized{.container = container});
    } else {
      same->Step(fakes::LocalizationFailed{.container = container, .diagnostics = failure});
    }
  });
}

// Source: LocalResourcesTrackerImpl.java: who asks for a resource that is being fetched waits for
// it, who asks later has it.
Duration NmSide::LocalizationTime(Place node, const ApplicationId& application) {
  const config::YarnSpec& yarn = setup_.scenario.yarn;
  JobRecord* job = cluster_.JobOf(application);
  if (!yarn.localize_again || job == nullptr) return start_delays_.DrawDuration(yarn.localize);
  const auto [common, first] = job->localized.try_emplace({application, node});
  if (!first) {
    return std::max(common->second - kernel_.now(), Duration::zero()) +
           start_delays_.DrawDuration(*yarn.localize_again);
  }
  const Duration time = start_delays_.DrawDuration(yarn.localize);
  common->second = kernel_.now() + time;
  return time;
}

std::string NmSide::MissingFile(const yarn::ContainerLaunchContext& context) {
  for (const auto& [name, resource] : context.local_resources) {
    const hdfs::HdfsResponse status =
        hdfs_.CallAtOnce(hdfs::GetFileStatusRequest{.path = resource.path});
    if (const auto* error = std::get_if<hdfs::HdfsError>(&status)) {
      return fmt::format("localization of {} failed: {}", resource.path, error->message);
    }
  }
  return {};
}

void NmSide::Launch(std::int32_t node, fakes::Launch&& order) {
  const config::YarnSpec& yarn = setup_.scenario.yarn;
  const bool am = LaunchRole(order.context.environment) == "am";
  const Duration delay =
      start_delays_.DrawDuration(am ? yarn.am_launch.value_or(yarn.launch) : yarn.launch);
  // The script that starts it is a process of its own, which a restart of the NM does not touch.
  kernel_.After(delay, [this, node, container = order.container,
                        context = std::move(order.context)] {
    if (!cluster_.containers.contains(container)) return;
    if (const std::string failure = FailureByDisks(node); !failure.empty()) {
      return Tell(node, fakes::LaunchFailed{.container = container,
                                            .exit_status = container_exit::kDisksFailed,
                                            .diagnostics = failure});
    }
    if (const std::string failure = FailureByFault(node, /*localize=*/false); !failure.empty()) {
      return Tell(node, fakes::LaunchFailed{
                            .container = container, .exit_status = 1, .diagnostics = failure});
    }
    Tell(node, fakes::ProcessStarted{.container = container});
    trace_.Tell(trace::ContainerLaunched{.container = container});
    StartProcess(node, container, context);
  });
}

void NmSide::StartProcess(std::int32_t node, const ContainerId& container,
                          const yarn::ContainerLaunchContext& context) {
  JobRecord* job = cluster_.JobOf(container.application_attempt.application);
  if (job == nullptr || job->ended) return ProcessEnded(container, 1, "the job is gone");
  starters_.at(LaunchRole(context.environment))->StartProcess(*job, node, container, context);
}

void NmSide::SignalProcess(const ContainerId& container, bool kill) {
  const auto entry = cluster_.containers.find(container);
  if (entry == cluster_.containers.end()) return;
  const std::int32_t status = kill ? kKilledStatus : kTerminatedStatus;
  if (AmActor* am = entry->second.am) {
    am->End();
    return ProcessEnded(container, status, "");
  }
  AgentActor* agent = entry->second.agent;
  // Localised but not running yet: nothing that could resist.
  if (agent == nullptr) return ProcessEnded(container, status, "");
  if (!kill) return agent->Step(TerminationRequested{});
  agent->End();
  ProcessKilled(container);
}

void NmSide::ProcessKilled(const ContainerId& container) {
  ProcessEnded(container, kKilledStatus, "");
}

void NmSide::ProcessEnded(const ContainerId& container, std::int32_t exit_status,
                          const std::string& diagnostics) {
  const auto entry = cluster_.containers.find(container);
  if (entry == cluster_.containers.end()) return;
  Tell(entry->second.node,
       fakes::ProcessEnded{
           .container = container, .exit_status = exit_status, .diagnostics = diagnostics});
}

void NmSide::Tell(std::int32_t node, fakes::NmEvent event) {
  if (NmActor* nm = cluster_.NmOn(node)) return nm->Step(std::move(event));
  unreported_[node].push_back(std::move(event));
}

std::string NmSide::FailureByDisks(std::int32_t node) const {
  const NodeInfo& info = cluster_.nodes[node];
  if (info.disks_lost_by.empty()) return {};
  return fmt::format("most of the disks failed on {}: {}", info.id.host,
                     info.disks_lost_by.begin()->second);
}

std::string NmSide::FailureByFault(std::int32_t node, bool localize) {
  NodeInfo& info = cluster_.nodes[node];
  const std::int32_t always = localize ? info.localize_fails : info.launch_fails;
  std::int32_t& next = localize ? info.localize_fails_next : info.launch_fails_next;
  if (always == 0 && next == 0) return {};
  if (always == 0) --next;
  for (const std::uint32_t fault : localize ? info.localize_failed_by : info.launch_failed_by)
    marks_.struck[fault] = true;
  return localize ? fmt::format("localization failed on {}: no space left on device", info.id.host)
                  : fmt::format("container launch failed on {}: cannot run program", info.id.host);
}

// ---------------------------------------------------------------- faults

void NmSide::EndContainersOn(std::int32_t node) {
  for (const ContainerId& id : cluster_.ContainersOn(node)) {
    const ContainerRecord ends = cluster_.containers.at(id);
    if (ends.am != nullptr) ends.am->End();
    if (ends.agent != nullptr) ends.agent->End();
    trace_.Tell(trace::ContainerGone{.container = id});
    cluster_.containers.erase(id);
  }
}

void NmSide::TakeDown(std::int32_t node, bool recovers) {
  NmActor* nm = cluster_.NmOn(node);
  if (nm == nullptr) return;
  links_.CatchUp(*nm);
  const bool keeps = recovers && !nm->machine->is_shut_down();
  if (keeps) states_.insert_or_assign(node, nm->machine->state());
  nm->End();
  // Without recovery a stopping NodeManager ends its containers.
  if (!keeps) EndContainersOn(node);
}

void NmSide::BringBack(std::int32_t node) {
  std::optional<fakes::NmState> state;
  if (const auto kept = states_.find(node); kept != states_.end()) {
    state = std::move(kept->second);
    states_.erase(kept);
  }
  Start(node, std::move(state));
  const auto missed = unreported_.find(node);
  if (missed == unreported_.end()) return;
  const std::vector<fakes::NmEvent> events = std::move(missed->second);
  unreported_.erase(missed);
  for (const fakes::NmEvent& event : events) Tell(node, event);
}

void NmSide::Crash(std::int32_t node) {
  if (NmActor* nm = cluster_.NmOn(node)) nm->End();
  unreported_.erase(node);
  states_.erase(node);
  for (const auto& [index, job] : cluster_.jobs)
    std::erase_if(job->localized, [node](const auto& entry) { return entry.first.second == node; });
  EndContainersOn(node);
}

void NmSide::RestartShutDown(std::int32_t node) {
  NmActor* nm = cluster_.NmOn(node);
  if (nm == nullptr || !nm->machine->is_shut_down()) return;
  cluster_.nodes[node].restart_nm = false;
  nm->End();
  EndContainersOn(node);
  Start(node);
}

void NmSide::SetUnhealthy(std::int32_t node, std::uint64_t fault, const std::string& report) {
  std::map<std::uint64_t, std::string>& behind = cluster_.nodes[node].unhealthy_by;
  const bool was_healthy = behind.empty();
  behind.erase(fault);
  if (!report.empty()) behind[fault] = report;
  if (behind.empty() != was_healthy) TellHealth(node);
}

void NmSide::TellHealth(std::int32_t node) {
  const std::map<std::uint64_t, std::string>& behind = cluster_.nodes[node].unhealthy_by;
  NmActor* nm = cluster_.NmOn(node);
  if (nm == nullptr) return;
  nm->Step(fakes::HealthChanged{.healthy = behind.empty(),
                                .report = behind.empty() ? "" : behind.begin()->second});
}

void NmSide::DrawAnew() {
  start_delays_ = Random(setup_.seed, "containers").Shaking();
}

}  // namespace tfyarn::sim
