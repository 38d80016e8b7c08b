// Agents as a simulated cluster has them: the process in every task's container, what it says to
// its AM and orders of the user's processes.
//
// It owns the ports that other programs have. It uses the kernel, links, the cluster's records,
// message faults, the trace, the sabotage desk, HDFS, user processes, the ResourceManager's side
// and the NodeManagers', and marks faults that struck.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/model/agent.h"
#include "sim/cluster.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/nm_side.h"
#include "sim/rm_side.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"
#include "sim/workloads.h"

namespace tfyarn::sim {

class Agents : private Driver<agent::TaskAgent>, private ProcessStarter {
 public:
  /// All must outlive it. It starts what `nms` launches in the role "agent".
  Agents(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
         MessageFaults& message_faults, FaultMarks& marks, TraceTap& trace, SabotageDesk& sabotage,
         HdfsSide& hdfs, Workloads& workloads, const RmSide& rm, NmSide& nms);

  /// A message of the AM `from` has arrived at the agent. Both are ids; harmless when the agent is
  /// gone.
  void HearAm(std::uint32_t agent, std::uint32_t from, AmSaid said);
  /// Another program has the port of the task's next `starts` processes, by that fault.
  void TakePorts(const std::string& job, const TaskId& task, std::int32_t starts,
                 std::uint32_t fault);

 private:
  struct TakenPort {
    std::int32_t starts = 0;     ///< Of so many processes.
    std::set<std::uint32_t> by;  ///< Faults.
  };

  void StartProcess(JobRecord& job, std::int32_t node, const ContainerId& container,
                    const yarn::ContainerLaunchContext& context) override;
  void Hears(AgentActor& agent, const AgentEvent& event) override;
  void Heard(AgentActor& agent, AgentEvent&& event) override;
  void Carry(AgentActor& agent, AgentAction& action) override;
  void End(AgentActor& agent) override;
  [[nodiscard]] Party PartyOf(const AgentActor& agent) const override;
  [[nodiscard]] bool HasQuietLink(const AgentActor& agent) const override;
  void SendIdleBeat(AgentActor& agent, Instant at, Instant answered) override;
  void Vouch(AgentActor& agent, bool vouched, Instant last) override;

  void Obey(AgentActor& agent, AgentAction& order);
  void Kill(AgentActor& agent);
  void Exit(AgentActor& agent, const ExitAgent& exit);
  void LeasePortFor(AgentActor& agent);
  void Spawn(AgentActor& agent, const SpawnProcess& order);
  /// Whether another program has the port of the process that starts now.
  [[nodiscard]] bool TakePortOf(const std::string& job, const TaskId& task);
  void Signal(const AgentActor& agent, const SignalProcess& order);
  void ReadAddressOfAm(const AgentActor& agent);
  void Send(AgentActor& agent, SendToAm send);

  Cluster& cluster_;
  MessageFaults& message_faults_;
  FaultMarks& marks_;
  TraceTap& trace_;
  SabotageDesk& sabotage_;
  HdfsSide& hdfs_;
  Workloads& workloads_;
  const RmSide& rm_;
  NmSide& nms_;
  std::map<std::pair<std::string, TaskId>, TakenPort> taken_ports_;  ///< By job's name and task.
};

}  // namespace tfyarn::sim
