#include "sim/workloads.h"

#include <algorithm>
#include <optional>

#include "core/model/visit.h"

namespace tfyarn::sim {

void Workloads::Settle(JobRecord& job) {
  Do(job, [](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
    workload.Settle(now, outputs);
  });
}

void Workloads::EndProcess(const ContainerId& container, const ProcessExit& exit) {
  const AgentActor* agent = cluster_.AgentIn(container);
  if (agent == nullptr) return;
  Do(*cluster_.JobAt(agent->job),
     [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
       workload.Ends(now, container, exit, outputs);
     });
}

bool Workloads::HasGpus(const AgentActor& agent) const {
  const JobSpec& job = *cluster_.JobAt(agent.job)->spec;
  return std::any_of(job.tasks.begin(), job.tasks.end(), [&](const TaskTypeSpec& type) {
    return type.name == agent.fence.task.type && type.resource.gpus > 0;
  });
}

std::int32_t Workloads::PaceOf(const AgentActor& agent) const {
  constexpr std::int64_t kMost = 1'000'000'000;
  const NodeInfo& node = cluster_.nodes[agent.place];
  const std::int64_t gpus = HasGpus(agent) ? node.gpu_pace_permille : 1000;
  return static_cast<std::int32_t>(std::min(kMost, node.pace_permille * gpus / 1000));
}

void Workloads::TellLater(const AgentActor& agent, AgentEvent event) {
  cluster_.agents.StepAfter(kernel_, Duration::zero(), agent.id, std::move(event));
}

void Workloads::Handle(JobRecord& job, std::vector<WorkloadOutput>& outputs) {
  const auto tell = [this](const ContainerId& container, AgentEvent event) {
    const AgentActor* agent = cluster_.AgentIn(container);
    if (agent != nullptr) TellLater(*agent, std::move(event));
  };
  const Overloaded handle{
      [&](ProcessExits& exits) {
        tell(exits.container, ProcessExited{.attempt = exits.attempt,
                                            .exit = exits.exit,
                                            .port_conflict = exits.port_conflict,
                                            .stderr_tail = exits.stderr_tail});
      },
      [&](PhaseChanged& changed) {
        trace_.Tell(trace::TrainingPhaseChanged{.job = job.index, .phase = changed.phase});
      },
      [&](WorkIsLost& lost) { trace_.Tell(trace::WorkLost{.job = job.index, .work = lost.work}); },
      [&](Accounted& accounted) {
        trace_.Tell(trace::TrainingAccounted{.job = job.index,
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
        static_cast<void>(
            hdfs_.CallAtOnce(hdfs::CreateRequest{.path = file.path, .bytes = "", .size = 1}));
      }};
  for (WorkloadOutput& output : outputs) std::visit(handle, output);
  Schedule(job);
}

void Workloads::Schedule(JobRecord& job) {
  const std::optional<Instant> due = job.workload->next_deadline();
  if (!due || job.workload_scheduled <= *due) return;
  job.workload_scheduled = std::max(*due, kernel_.now());
  kernel_.At(job.workload_scheduled,
             [this, index = job.index, at = job.workload_scheduled] { ReachDeadline(index, at); });
}

void Workloads::ReachDeadline(trace::JobIndex index, Instant at) {
  JobRecord* job = cluster_.JobAt(index);
  if (job == nullptr || job->workload_scheduled != at) return;
  job->workload_scheduled = kNever;
  const std::optional<Instant> due = job->workload->next_deadline();
  if (!due) return;
  if (*due > kernel_.now()) return Schedule(*job);
  Do(*job, [](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
    workload.DeadlineReached(now, outputs);
  });
}

}  // namespace tfyarn::sim
