// SimHost and faults: which effect each kind of fault has. When and whom it strikes is the plan's
// (fault_plan.h); what users may write is config/fault_kinds.h. The effects themselves are in
// sim_host_faults_{nodes,masters,tasks,network}.cc; a kind that needs an end has both halves in one
// function.
#include <algorithm>
#include <array>

#include "core/model/check.h"
#include "sim/coverage.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

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
  NoteReach(order);
  CarryOut(order);
  NoteReachOfDormant();
}

/// RunOptions::coverage hears of it.
void SimHost::Cover(const FaultOrder& order) {
  const std::uint64_t instance = (std::uint64_t{order.fault} << 32) | order.instance;
  if (!order.begins) return options_.coverage->FaultEnds(instance);
  if (StrikesNobody(order)) return;
  std::vector<std::optional<Coverage::MetAm>> met;
  const auto meet = [&](const JobRt& job) {
    if (job.am == 0) return met.push_back(std::nullopt);
    const auto& am = static_cast<const AmActor&>(*actors_[job.am]);
    met.push_back(Coverage::MetAm{.state = am.state, .attempt = am.attempt.attempt});
  };
  for (const Struck& struck : order.struck) {
    if (const JobRt* job = JobNamed(struck.job)) meet(*job);
  }
  if (met.empty()) {
    for (const auto& [index, job] : jobs_) meet(*job);
  }
  options_.coverage->FaultStrikes(now_, order.kind, instance, order.lasts, met);
}

void SimHost::CarryOut(const FaultOrder& order) {
  if (options_.coverage != nullptr) Cover(order);
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

}  // namespace tfyarn::sim
