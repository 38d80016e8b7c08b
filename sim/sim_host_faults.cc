// SimHost and faults: what each kind of fault does to the simulated world. When and whom is the
// plan's (fault_plan.h); what users may write is config/fault_kinds.h. A kind that needs an end has
// both halves here, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/model/check.h"
#include "sim/sim_host.h"
#include "sim/sim_host_calls.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {
namespace {

constexpr std::int32_t kVmemKilled = -103;
constexpr std::int32_t kSigkill = 9;

std::uint64_t KeyOf(const FaultOrder& order) {
  return (std::uint64_t{order.fault} << 32) | order.instance;
}

double NumberOf(const FaultOrder& order, const std::string& name, double otherwise) {
  const auto entry = order.spec->numbers.find(name);
  return entry == order.spec->numbers.end() ? otherwise : entry->second;
}

std::string WordOf(const FaultOrder& order, const std::string& name, std::string otherwise) {
  const auto entry = order.spec->words.find(name);
  return entry == order.spec->words.end() ? std::move(otherwise) : entry->second;
}

std::int32_t PermilleOf(const FaultOrder& order, double otherwise) {
  return std::max(1, static_cast<std::int32_t>(NumberOf(order, "factor", otherwise) * 1000.0));
}

std::vector<std::int32_t> NodesOf(const FaultOrder& order) {
  std::vector<std::int32_t> nodes;
  for (const Struck& struck : order.struck) {
    if (struck.node >= 0 && std::find(nodes.begin(), nodes.end(), struck.node) == nodes.end()) {
      nodes.push_back(struck.node);
    }
  }
  return nodes;
}

std::set<Place> PlacesOf(const std::vector<Struck>& group) {
  std::set<Place> places;
  for (const Struck& struck : group) {
    switch (struck.kind) {
      case StruckKind::kRm:
        places.insert(kRmPlace);
        break;
      case StruckKind::kHdfs:
        places.insert(kHdfsPlace);
        break;
      case StruckKind::kNode:
      case StruckKind::kTask:
      case StruckKind::kAm:
      case StruckKind::kJob:
        if (struck.node >= 0) places.insert(struck.node);
        break;
    }
  }
  return places;
}

}  // namespace

// ---------------------------------------------------------------- when

void SimHost::ScheduleFaults() {
  const std::optional<Instant> due = faults_->next_deadline();
  if (!due || faults_scheduled_ <= *due || *due > horizon_) return;
  faults_scheduled_ = std::max(*due, now_);
  At(faults_scheduled_, [this, at = faults_scheduled_] {
    if (faults_scheduled_ != at) return;
    faults_scheduled_ = kNever;
    for (const FaultOrder& order : faults_->Fire(now_)) ApplyFault(order);
    ScheduleFaults();
  });
}

void SimHost::ApplyFault(const FaultOrder& order) {
  if (order.begins) {
    Trace(trace::FaultBegan{.fault = order.fault,
                            .instance = order.instance,
                            .kind = order.kind,
                            .target = DescribeStruck(order, *this)});
  } else {
    Trace(trace::FaultEnded{.fault = order.fault, .instance = order.instance});
  }
  using Effect = void (SimHost::*)(const FaultOrder&);
  struct Kind {
    std::string_view name;
    Effect effect;
  };
  static constexpr std::array<Kind, 36> kKinds{{{"node_crash", &SimHost::FaultNodeDown},
                                                {"node_reboot", &SimHost::FaultNodeDown},
                                                {"trace", &SimHost::FaultNodeDown},
                                                {"node_decommission", &SimHost::FaultDecommission},
                                                {"slow_node", &SimHost::FaultSlowNode},
                                                {"nm_restart", &SimHost::FaultNmRestart},
                                                {"nm_heartbeat_loss", &SimHost::FaultNmMuted},
                                                {"launch_fail", &SimHost::FaultLaunch},
                                                {"localize_fail", &SimHost::FaultLaunch},
                                                {"localize_slow", &SimHost::FaultLocalizeSlow},
                                                {"rm_restart", &SimHost::FaultRmRestart},
                                                {"rm_pause", &SimHost::FaultRmPause},
                                                {"rm_drop_response", &SimHost::FaultMessage},
                                                {"rm_duplicate_response", &SimHost::FaultMessage},
                                                {"am_crash", &SimHost::FaultAmCrash},
                                                {"am_pause", &SimHost::FaultAmPause},
                                                {"container_exit", &SimHost::FaultProcess},
                                                {"container_signal", &SimHost::FaultProcess},
                                                {"container_oom", &SimHost::FaultProcess},
                                                {"container_vmem", &SimHost::FaultContainerKilled},
                                                {"container_lost", &SimHost::FaultContainerKilled},
                                                {"preempt", &SimHost::FaultPreempt},
                                                {"hang", &SimHost::FaultHang},
                                                {"port_in_use", &SimHost::FaultPortInUse},
                                                {"client_kill", &SimHost::FaultClient},
                                                {"client_lost", &SimHost::FaultClient},
                                                {"gpu_scarcity", &SimHost::FaultGpus},
                                                {"gpu_lost", &SimHost::FaultGpus},
                                                {"partition", &SimHost::FaultPartition},
                                                {"latency", &SimHost::FaultLatency},
                                                {"loss", &SimHost::FaultLoss},
                                                {"drop", &SimHost::FaultMessage},
                                                {"delay", &SimHost::FaultMessage},
                                                {"duplicate", &SimHost::FaultMessage},
                                                {"hdfs_down", &SimHost::FaultHdfs},
                                                {"hdfs_safemode", &SimHost::FaultHdfs}}};
  for (const Kind& kind : kKinds) {
    if (kind.name == order.kind) return (this->*kind.effect)(order);
  }
  TF_CHECK(order.kind == "hdfs_slow" || order.kind == "hdfs_quota");
  FaultHdfs(order);
}

// ---------------------------------------------------------------- nodes

void SimHost::FaultNodeDown(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (nodes_[node].down++ == 0) CrashNode(node);
    } else if (--nodes_[node].down == 0) {
      Trace(trace::NodePower{.node = nodes_[node].id, .up = true});
      StartNm(node, std::nullopt);
    }
  }
}

void SimHost::CrashNode(std::int32_t node) {
  Trace(trace::NodePower{.node = nodes_[node].id, .up = false});
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
  unreported_exits_.erase(node);
  for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
}

std::vector<ContainerId> SimHost::ContainersOn(std::int32_t node) const {
  std::vector<ContainerId> containers;
  for (const auto& [id, container] : containers_) {
    if (container.node == node) containers.push_back(id);
  }
  std::sort(containers.begin(), containers.end());
  return containers;
}

void SimHost::EndContainer(const ContainerId& id) {
  const std::uint32_t index = containers_.at(id).actor;
  if (index != 0 && actors_[index]->kind == ActorKind::kAm)
    EndAm(static_cast<AmActor&>(*actors_[index]));
  if (index != 0 && actors_[index]->kind == ActorKind::kAgent)
    EndAgent(static_cast<AgentActor&>(*actors_[index]));
  Trace(trace::ContainerGone{.container = id});
  containers_.erase(id);
}

void SimHost::EndNm(NmActor& nm) {
  nm.alive = false;
  UpdateLink(nm);
  nm_of_node_[static_cast<std::size_t>(nm.place)] = 0;
  // The object stays until the step that runs now is over.
  After(Duration::zero(), [this, id = nm.id] { actors_[id].reset(); });
}

void SimHost::FaultDecommission(const FaultOrder& order) {
  if (rm_ == nullptr) return;
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
      StepRm(
          fakes::DecommissionNode{.node = nodes_[node].id, .graceful = grace > Duration::zero()});
      if (grace == Duration::zero()) continue;
      After(grace, [this, node] {
        if (rm_ != nullptr)
          StepRm(fakes::DecommissionNode{.node = nodes_[node].id, .graceful = false});
      });
    } else {
      StepRm(fakes::RecommissionNode{.node = nodes_[node].id});
      const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
      // An excluded NodeManager has shut itself down; its operator starts it again.
      if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
      if (nodes_[node].down == 0) StartNm(node, std::nullopt);
    }
  }
}

void SimHost::FaultSlowNode(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].pace_permille = order.begins ? PermilleOf(order, 4) : 1000;
    for (const ContainerId& id : ContainersOn(node)) {
      const AgentActor* agent = AgentOf(id);
      if (agent == nullptr) continue;
      JobRt& job = *jobs_.at(agent->job.value);
      std::vector<WorkloadOutput> outputs;
      job.workload->PaceChanged(now_, id, nodes_[node].pace_permille, outputs);
      HandleWorkload(job, outputs);
    }
  }
}

void SimHost::FaultNmRestart(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (order.begins) {
      if (index == 0) continue;
      auto& nm = static_cast<NmActor&>(*actors_[index]);
      CatchUp(nm);
      nm_states_.insert_or_assign(node, nm.machine->state());
      EndNm(nm);
      if (NumberOf(order, "recover", 1) != 0) continue;
      // Without recovery a stopping NodeManager ends its containers.
      nm_states_.erase(node);
      for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
    } else {
      if (index != 0 || nodes_[node].down > 0) continue;
      std::optional<fakes::NmState> state;
      if (const auto kept = nm_states_.find(node); kept != nm_states_.end()) {
        state = std::move(kept->second);
        nm_states_.erase(kept);
      }
      StartNm(node, std::move(state));
      ReportMissedExits(node);
    }
  }
}

void SimHost::ReportMissedExits(std::int32_t node) {
  const auto missed = unreported_exits_.find(node);
  if (missed == unreported_exits_.end()) return;
  const std::vector<fakes::ProcessEnded> exits = std::move(missed->second);
  unreported_exits_.erase(missed);
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  for (const fakes::ProcessEnded& exit : exits) StepNm(static_cast<NmActor&>(*actors_[nm]), exit);
}

void SimHost::FaultNmMuted(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
    if (index == 0) continue;
    auto& nm = static_cast<NmActor&>(*actors_[index]);
    nm.muted = order.begins;
    UpdateLink(nm);
    Reschedule(nm);
  }
}

void SimHost::FaultLaunch(const FaultOrder& order) {
  const bool launch = order.kind == "launch_fail";
  for (const std::int32_t node : NodesOf(order)) {
    if (order.lasts || !order.begins) {
      (launch ? nodes_[node].launch_fails : nodes_[node].localize_fails) += order.begins ? 1 : -1;
    } else {
      (launch ? nodes_[node].launch_fails_next : nodes_[node].localize_fails_next) +=
          static_cast<std::int32_t>(NumberOf(order, "count", 1));
    }
  }
}

std::string SimHost::LaunchFailure(std::int32_t node, bool localize) {
  NodeInfo& info = nodes_[node];
  const std::int32_t always = localize ? info.localize_fails : info.launch_fails;
  std::int32_t& next = localize ? info.localize_fails_next : info.launch_fails_next;
  if (always == 0 && next == 0) return {};
  if (always == 0) --next;
  return localize ? fmt::format("localization failed on {}: no space left on device", info.id.host)
                  : fmt::format("container launch failed on {}: cannot run program", info.id.host);
}

void SimHost::FaultLocalizeSlow(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    nodes_[node].localize_permille = order.begins ? PermilleOf(order, 10) : 1000;
  }
}

void SimHost::FaultGpus(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    NodeInfo& info = nodes_[node];
    const std::int64_t gone =
        std::min(info.capacity.gpus,
                 static_cast<std::int64_t>(NumberOf(
                     order, "gpus",
                     order.kind == "gpu_lost" ? 1 : static_cast<double>(info.capacity.gpus))));
    info.now.gpus += order.begins ? -gone : gone;
    info.now.gpus = std::clamp<std::int64_t>(info.now.gpus, 0, info.capacity.gpus);
    Trace(trace::NodeDeclared{.node = info.id,
                              .rack = info.rack,
                              .partition = info.partition,
                              .labels = info.labels,
                              .capacity = info.now});
    const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
    if (nm != 0)
      StepNm(static_cast<NmActor&>(*actors_[nm]), fakes::CapacityChanged{.capacity = info.now});
    if (order.kind == "gpu_lost" && order.begins) FailProcessOn(node);
  }
}

/// The first user process on the node, in order of container, finds its GPU gone and exits 1.
void SimHost::FailProcessOn(std::int32_t node) {
  for (const ContainerId& id : ContainersOn(node)) {
    if (AgentOf(id) != nullptr) return EndUserProcess(id, {.code = 1});
  }
}

// ---------------------------------------------------------------- RM, HDFS

void SimHost::FaultRmRestart(const FaultOrder& order) {
  if (order.begins) {
    if (rm_ == nullptr) return;
    DisturbAllLinks();
    rm_store_ = rm_->state_store();
    ForgetUnstarted();
    rm_.reset();
  } else if (rm_ == nullptr) {
    rm_ = std::make_unique<fakes::ResourceManager>(RmOptionsOf(scenario_, nodes_), *rm_store_,
                                                   SeedFor("rm", KeyOf(order) + 1), now_);
    rm_store_.reset();
    RestoreAllLinks();
    Reschedule(*actors_[0]);
  }
}

void SimHost::ForgetUnstarted() {
  // What no NodeManager has started dies with the RM, and nobody ever reports it (hadoop-yarn,
  // work-preserving recovery); without that recovery everything does. A node may have started what
  // the RM has not heard of yet: it says so when it registers again.
  std::vector<ContainerId> lost;
  for (const auto& [application, booked] : rm_->books().applications) {
    for (const auto& [id, container] : booked->containers) {
      const bool started =
          container.state == fakes::BookedState::kRunning || containers_.contains(id);
      if (!scenario_.yarn.work_preserving_restart || !started) lost.push_back(id);
    }
  }
  for (const ContainerId& id : lost) TraceFreed(id, container_exit::kAborted);
}

void SimHost::FaultRmPause(const FaultOrder& order) {
  if (order.begins) {
    DisturbAllLinks();
    rm_paused_ = actors_[0]->paused = true;
    return;
  }
  rm_paused_ = actors_[0]->paused = false;
  for (const std::uint32_t task : rm_backlog_) queue_.Push(now_, task << 1);
  rm_backlog_.clear();
  RestoreAllLinks();
  Reschedule(*actors_[0]);
}

void SimHost::FaultHdfs(const FaultOrder& order) {
  if (order.kind == "hdfs_down") name_node_.set_down(order.begins);
  if (order.kind == "hdfs_safemode") name_node_.set_safe_mode(order.begins);
  if (order.kind == "hdfs_slow") {
    hdfs_slowness_ = order.begins ? std::max<std::int64_t>(
                                        1, static_cast<std::int64_t>(NumberOf(order, "factor", 10)))
                                  : 1;
  }
  if (order.kind == "hdfs_quota") {
    std::optional<std::int64_t> bytes;
    if (order.begins) bytes = static_cast<std::int64_t>(NumberOf(order, "bytes", 0));
    name_node_.SetQuota("/", bytes);
  }
}

// ---------------------------------------------------------------- AMs, clients

void SimHost::FaultAmCrash(const FaultOrder& order) {
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr || job->am == 0) continue;
    auto& am = static_cast<AmActor&>(*actors_[job->am]);
    const ContainerId container = am.container;
    EndAm(am);
    ContainerProcessEnded(container, 128 + kSigkill, "");
  }
}

void SimHost::FaultAmPause(const FaultOrder& order) {
  std::vector<std::uint32_t>& paused = paused_ams_[{order.fault, order.instance}];
  if (order.begins) {
    for (const Struck& struck : order.struck) {
      const JobRt* job = JobNamed(struck.job);
      if (job == nullptr || job->am == 0) continue;
      paused.push_back(job->am);
      PauseAm(static_cast<AmActor&>(*actors_[job->am]), true);
    }
    return;
  }
  // The process that stood still goes on, though its job may have another AM by now.
  for (const std::uint32_t id : paused) {
    Actor* actor = actors_[id].get();
    if (actor != nullptr && actor->alive) PauseAm(static_cast<AmActor&>(*actor), false);
  }
  paused_ams_.erase({order.fault, order.instance});
}

void SimHost::PauseAm(AmActor& am, bool paused) {
  am.paused = paused;
  UpdateLink(am);
  const auto job = jobs_.find(am.job.value);
  if (job != jobs_.end()) {
    for (const std::uint32_t id : std::vector<std::uint32_t>(job->second->agents)) {
      if (actors_[id] != nullptr) UpdateLink(*actors_[id]);
    }
  }
  if (paused) return;
  std::deque<AmEvent> inbox = std::move(am.inbox);
  am.inbox.clear();
  for (AmEvent& event : inbox) {
    After(Duration::zero(), [this, id = am.id, event = std::move(event)]() mutable {
      Actor* actor = actors_[id].get();
      if (actor != nullptr && actor->alive) StepAm(static_cast<AmActor&>(*actor), std::move(event));
    });
  }
  Reschedule(am);
}

void SimHost::FaultClient(const FaultOrder& order) {
  for (const Struck& struck : order.struck) {
    const auto named = job_by_name_.find(struck.job);
    if (named == job_by_name_.end()) continue;
    JobRt& job = *jobs_.at(named->second);
    if (job.client == 0) continue;
    auto& client = static_cast<ClientActor&>(*actors_[job.client]);
    if (order.kind == "client_kill") {
      if (order.begins) StepClient(client, KillRequested{.reason = "killed by the user"});
    } else if (order.begins && !order.lasts) {
      client.alive = false;
      UpdateLink(client);
      actors_[job.client].reset();
      job.client = 0;
    } else {
      // A new client finds where the old one was in the staging directory: to the RM they are one.
      client.paused = order.begins;
      UpdateLink(client);
      Reschedule(client);
    }
  }
}

// ---------------------------------------------------------------- containers and processes

std::vector<AgentActor*> SimHost::AgentsOf(const FaultOrder& order) {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr) continue;
    for (const std::uint32_t id : job->agents) {
      auto* agent = static_cast<AgentActor*>(actors_[id].get());
      if (agent != nullptr && agent->alive &&
          (struck.kind == StruckKind::kJob || agent->fence.task == struck.task)) {
        agents.push_back(agent);
      }
    }
  }
  return agents;
}

void SimHost::EndUserProcess(const ContainerId& container, const ProcessExit& exit) {
  const AgentActor* agent = AgentOf(container);
  if (agent == nullptr) return;
  JobRt& job = *jobs_.at(agent->job.value);
  std::vector<WorkloadOutput> outputs;
  job.workload->Ends(now_, container, exit, outputs);
  HandleWorkload(job, outputs);
}

void SimHost::FaultProcess(const FaultOrder& order) {
  if (!order.begins) return;
  for (const AgentActor* agent : AgentsOf(order)) {
    ProcessExit exit;
    if (order.kind == "container_exit") {
      exit.code = static_cast<std::int32_t>(NumberOf(order, "exit", 1));
    } else {
      exit.signal = static_cast<std::int32_t>(NumberOf(order, "signal", kSigkill));
      exit.out_of_memory = order.kind == "container_oom";
    }
    EndUserProcess(agent->fence.container, exit);
  }
}

void SimHost::FaultContainerKilled(const FaultOrder& order) {
  if (!order.begins) return;
  for (AgentActor* agent : AgentsOf(order)) {
    const ContainerId container = agent->fence.container;
    EndAgent(*agent);
    if (order.kind == "container_vmem") {
      ContainerProcessEnded(
          container, kVmemKilled,
          "Container is running beyond the 'VIRTUAL' memory limit. Killing container.");
    } else {
      ContainerProcessEnded(container, static_cast<std::int32_t>(NumberOf(order, "exit", -100)),
                            "Container released on a *lost* node");
    }
  }
}

void SimHost::FaultPreempt(const FaultOrder& order) {
  if (!order.begins || rm_ == nullptr) return;
  const Duration notice = SecondsToDuration(NumberOf(order, "notice", 15));
  for (const AgentActor* agent : AgentsOf(order)) {
    StepRm(fakes::PreemptContainer{.container = agent->fence.container, .notice = notice});
  }
}

void SimHost::FaultHang(const FaultOrder& order) {
  for (const AgentActor* agent : AgentsOf(order)) {
    JobRt& job = *jobs_.at(agent->job.value);
    std::vector<WorkloadOutput> outputs;
    job.workload->Froze(now_, agent->fence.container, order.begins, outputs);
    HandleWorkload(job, outputs);
  }
}

void SimHost::FaultPortInUse(const FaultOrder& order) {
  if (!order.begins) return;
  const auto count = static_cast<std::int32_t>(NumberOf(order, "count", 1));
  for (const Struck& struck : order.struck) stolen_ports_[{struck.job, struck.task}] += count;
}

// ---------------------------------------------------------------- network

void SimHost::FaultPartition(const FaultOrder& order) {
  DisturbAllLinks();
  if (order.begins) {
    Cut cut;
    if (!order.groups.empty()) cut.from = PlacesOf(order.groups[0]);
    for (std::size_t i = 1; i < order.groups.size(); ++i) cut.to.merge(PlacesOf(order.groups[i]));
    const std::string direction = WordOf(order, "direction", "both");
    cut.forward = direction != "backward";
    cut.backward = direction != "forward";
    network_.AddCut(KeyOf(order), std::move(cut));
  } else {
    network_.RemoveCut(KeyOf(order));
  }
  TellWorkloadsOfCuts();
  RestoreAllLinks();
}

std::vector<PeerCut> SimHost::PeerCuts() const {
  std::vector<PeerCut> cuts;
  for (const auto& [key, cut] : network_.cuts()) {
    PeerCut peers;
    for (const Place place : cut.from) {
      if (place >= 0) peers.from.insert(nodes_[place].id.host);
    }
    for (const Place place : cut.to) {
      if (place >= 0) peers.to.insert(nodes_[place].id.host);
    }
    // A group of masters only cuts no peer from another.
    if (peers.from.empty() || (peers.to.empty() && !cut.to.empty())) continue;
    cuts.push_back(std::move(peers));
  }
  return cuts;
}

void SimHost::TellWorkloadsOfCuts() {
  std::vector<std::uint32_t> indices;
  for (const auto& [index, job] : jobs_) indices.push_back(index);
  std::sort(indices.begin(), indices.end());
  for (const std::uint32_t index : indices) {
    JobRt& job = *jobs_.at(index);
    std::vector<WorkloadOutput> outputs;
    job.workload->CutsChanged(now_, PeerCuts(), outputs);
    HandleWorkload(job, outputs);
  }
}

void SimHost::FaultLatency(const FaultOrder& order) {
  DisturbAllLinks();
  if (order.begins) {
    network_.AddDelay(KeyOf(order), PlacesOf(order.struck),
                      SecondsToDuration(NumberOf(order, "delay", 0.1)));
  } else {
    network_.RemoveDelay(KeyOf(order));
  }
  RestoreAllLinks();
}

void SimHost::FaultLoss(const FaultOrder& order) {
  DisturbAllLinks();
  if (order.begins) {
    network_.AddLoss(KeyOf(order), PlacesOf(order.struck), NumberOf(order, "loss", 0));
  } else {
    network_.RemoveLoss(KeyOf(order));
  }
  RestoreAllLinks();
}

void SimHost::FaultMessage(const FaultOrder& order) {
  DisturbAllLinks();
  if (!order.begins) {
    message_faults_.Remove(KeyOf(order));
    return RestoreAllLinks();
  }
  const bool answer = order.kind.starts_with("rm_");
  MessageFaults::Rule rule;
  rule.key = KeyOf(order);
  if (answer) {
    const std::string method = WordOf(order, "method", "any");
    rule.message = (method == "any" ? "*" : method) + "Response";
    rule.count = static_cast<std::int64_t>(NumberOf(order, "count", 1));
  } else {
    rule.message = WordOf(order, "message", "");
    rule.first = static_cast<std::int64_t>(NumberOf(order, "nth", 1));
    if (rule.first == 0) rule.first = 1, rule.count = 0;
  }
  if (order.kind == "delay") rule.effect = MessageEffect::kDelay;
  if (order.kind == "duplicate" || order.kind == "rm_duplicate_response")
    rule.effect = MessageEffect::kDuplicate;
  rule.delay = SecondsToDuration(NumberOf(order, "delay", 10));
  for (const Struck& struck : order.struck) {
    MessageFaults::Rule one = rule;
    if (struck.kind == StruckKind::kNode) {
      one.places = {struck.node};
    } else {
      one.job = struck.job;
      one.task = struck.task;
    }
    message_faults_.Add(std::move(one));
  }
  if (order.struck.empty() && !order.spec->target) message_faults_.Add(std::move(rule));
  RestoreAllLinks();
}

}  // namespace tfyarn::sim
