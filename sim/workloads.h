// User processes: each job's workload, its deadlines, and what comes of it for agents, HDFS and the
// trace.
//
// It uses the kernel, the cluster's records, the trace and HDFS. An agent hears of its processes in
// an event of its own.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/agent.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "sim/cluster.h"
#include "sim/hdfs_side.h"
#include "sim/kernel.h"
#include "sim/spare_list.h"
#include "sim/trace_tap.h"

namespace tfyarn::sim {

class Workloads {
 public:
  /// All must outlive it.
  Workloads(Kernel& kernel, Cluster& cluster, TraceTap& trace, HdfsSide& hdfs)
      : kernel_(kernel), cluster_(cluster), trace_(trace), hdfs_(hdfs) {}
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;

  /// `change(workload, now, outputs)` does something to the job's workload; what comes of it is
  /// carried out.
  template <class Change>
  void Do(JobRecord& job, Change change) {
    SpareList<WorkloadOutput> outputs(spare_);
    change(*job.workload, kernel_.now(), *outputs);
    Handle(job, *outputs);
  }
  /// Accounts everything up to now.
  void Settle(JobRecord& job);
  /// Harmless when no agent lives there, or no process.
  void EndProcess(const ContainerId& container, const ProcessExit& exit);
  [[nodiscard]] bool HasGpus(const AgentActor& agent) const;
  /// Of the processes of that agent; 2000 = twice as slow.
  [[nodiscard]] std::int32_t PaceOf(const AgentActor& agent) const;
  /// The agent hears it in an event of its own at this instant, if it lives then.
  void TellLater(const AgentActor& agent, AgentEvent event);

 private:
  void Handle(JobRecord& job, std::vector<WorkloadOutput>& outputs);
  void Schedule(JobRecord& job);
  void ReachDeadline(trace::JobIndex index, Instant at);

  Kernel& kernel_;
  Cluster& cluster_;
  TraceTap& trace_;
  HdfsSide& hdfs_;
  std::vector<WorkloadOutput> spare_;
};

}  // namespace tfyarn::sim
