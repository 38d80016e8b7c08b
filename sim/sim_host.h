// SimHost: the world around the machines in a simulation. It turns their actions into messages,
// processes and files, and those into events, in simulated time.
//
// It decides nothing that a machine decides. What it owns: the queue of events, the processes
// (actors) and where they run, the network, the fakes, each job's workload, the faults, and the
// trace. One run, one thread, one object.
//
// Idle heartbeats are skipped (elision): see links.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/fault_kinds.h"
#include "config/scenario.h"
#include "core/model/launch.h"
#include "sim/actors.h"
#include "sim/agents.h"
#include "sim/application_masters.h"
#include "sim/arrivals.h"
#include "sim/claims.h"
#include "sim/cluster.h"
#include "sim/fault_plan.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/kernel.h"
#include "sim/links.h"
#include "sim/message_faults.h"
#include "sim/nm_side.h"
#include "sim/rm_side.h"
#include "sim/run.h"
#include "sim/run_setup.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"
#include "sim/views.h"
#include "sim/workloads.h"

namespace tfyarn::sim {

class SimHost : private FaultCarrier, private JobEnds, private Driver<client::JobClient> {
 public:
  SimHost(const config::Scenario& scenario, const RunOptions& options);
  ~SimHost();
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  [[nodiscard]] RunOutcome Run();

 private:
  // ---- sim_host.cc: the loop, tasks, trace
  void Start();
  /// RunOptions::future.
  void DrawAnew(std::uint64_t seed);
  bool RunNext();
  RunOutcome Finish(trace::StopReason reason);
  void ScanInvariants();
  void SettleWorkloads();

  // ---- sim_host_jobs.cc: arrivals, clients
  void SubmitNextArrival();
  void CreateJob(std::shared_ptr<const config::JobConfig> config);
  void Heard(ClientActor& client, ClientEvent&& event) override;
  void Carry(ClientActor& client, ClientAction& action) override;
  void Stepped(ClientActor& client) override;
  void Keep(ClientActor& client, ClientEvent&& event) override;
  [[nodiscard]] Party PartyOf(const ClientActor& client) const override;
  [[nodiscard]] bool HasQuietLink(const ClientActor& client) const override;
  void SendIdleBeat(ClientActor& client, Instant at, Instant answered) override;
  void Vouch(ClientActor& /*client*/, bool /*vouched*/, Instant /*last*/) override {}
  void Handle(ClientActor& client, ClientAction& action);
  void ClientCallsRm(ClientActor& client, CallRm call);
  void End(ClientActor& client) override;
  void EndSeen(JobRecord& job) override;
  void CheckLeaks(trace::JobIndex job);

  // ---- sim_host_faults*.cc
  void Carry(const FaultOrder& order) override;
  void Cover(const FaultOrder& order);
  void CarryOut(const FaultOrder& order);
  [[nodiscard]] std::vector<trace::FaultWithoutEffect> FaultsWithoutEffect() const;
  void NoteReach(const FaultOrder& order);
  void NoteReachOfDormant();
  [[nodiscard]] bool Reaches(const FaultOrder& order, bool began);
  [[nodiscard]] bool ReachesTask(const FaultOrder& order);
  [[nodiscard]] bool ReachesSuspendedClient(const FaultOrder& order);
  /// What a kind of fault does and, when not order.begins, how what it began ends: sim/faults.
  template <config::FaultId id>
  void Strike(const FaultOrder& order);

  // ---- sim/faults: what kinds share, and what others ask
  void SwitchNodes(const FaultOrder& order);
  void Recommission(std::int32_t node);
  void SetClocks(const FaultOrder& order);
  void LoseDisks(const FaultOrder& order, const std::string& error, const std::string& report);
  void FailStarts(const FaultOrder& order, bool launch);
  /// `fails`: under the process that has some.
  void TakeGpus(const FaultOrder& order, bool fails);
  void FailGpuProcessOn(std::int32_t node);
  void PaceChanged(std::int32_t node);
  void ReplaceRm(const FaultOrder& order);
  [[nodiscard]] std::vector<AmActor*> AmsOf(const FaultOrder& order);
  [[nodiscard]] std::vector<ClientActor*> ClientsOf(const FaultOrder& order);
  void ReturnClients(std::uint64_t fault);
  void GoOn(ClientActor& client);
  void EndProcesses(const FaultOrder& order, const ProcessExit& exit);
  void EndContainers(const FaultOrder& order, std::int32_t exit_status,
                     const std::string& diagnostics);
  void DelayMessages(const FaultOrder& order);
  void SingleOut(const FaultOrder& order, MessageFaults::Rule rule);
  [[nodiscard]] std::vector<PeerCut> PeerCuts() const;
  void TellWorkloadsOfCuts();

  [[nodiscard]] std::vector<AgentActor*> AgentsOf(const FaultOrder& order) const;

  RunSetup setup_;
  Kernel kernel_;
  MessageFaults message_faults_;
  Links links_;
  Cluster cluster_;
  PlanView plan_view_;
  FaultSchedule fault_schedule_;
  FaultMarks marks_;
  TraceTap trace_;
  SabotageDesk sabotage_;
  HdfsSide hdfs_;
  Workloads workloads_;
  RmSide rm_;
  Claims claims_;
  NmSide nms_;
  Agents agents_;
  ApplicationMasters ams_;
  CheckersView checkers_view_;

  std::uint64_t jobs_created_ = 0;
  std::uint64_t jobs_ended_ = 0;
  std::uint64_t jobs_alive_ = 0;

  Arrivals arrivals_;
  /// Those that reach nothing as yet, by fault and instance.
  std::map<std::uint64_t, FaultOrder> dormant_faults_;
  /// By fault and instance: clients that it took away.
  std::map<std::uint64_t, std::vector<std::uint32_t>> paused_;
};

}  // namespace tfyarn::sim
