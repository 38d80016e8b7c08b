// What faults do to tasks: their containers, processes and ports.
#include <algorithm>

#include "sim/behavior.h"
#include "sim/fault_words.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {
namespace {

constexpr std::int32_t kVmemKilled = -103;

}  // namespace

std::vector<AgentActor*> SimHost::AgentsOf(const FaultOrder& order) {
  std::vector<AgentActor*> agents;
  for (const Struck& struck : order.struck) {
    const JobRt* job = JobNamed(struck.job);
    if (job == nullptr) continue;
    for (const std::uint32_t id : job->agents) {
      auto* agent = static_cast<AgentActor*>(Living(id));
      if (agent != nullptr &&
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

// The end of a hang concerns the processes that stand still because of it: a later process of the
// task never did.
void SimHost::FaultHang(const FaultOrder& order) {
  const Freeze how = WordOf(order, "state", "stopped") == "busy" ? Freeze::kBusy : Freeze::kStopped;
  for (const AgentActor* agent : AgentsOf(order)) {
    JobRt& job = *jobs_.at(agent->job.value);
    std::vector<WorkloadOutput> outputs;
    job.workload->Froze(now_, agent->fence.container, KeyOf(order),
                        order.begins ? how : Freeze::kNone, outputs);
    HandleWorkload(job, outputs);
  }
}

void SimHost::FaultPortInUse(const FaultOrder& order) {
  if (!order.begins) return;
  const auto count = static_cast<std::int32_t>(NumberOf(order, "count", 1));
  for (const Struck& struck : order.struck) {
    StolenPort& stolen = stolen_ports_[{struck.job, struck.task}];
    stolen.starts += count;
    stolen.by.insert(order.fault);
  }
}

}  // namespace tfyarn::sim
