// Clients and their jobs as a simulated cluster has them: arrivals, the user's machine, and what a
// job has come to, until a minute after its end.
//
// It owns when jobs come, how many there are, and which clients are away by which fault. It uses
// the kernel, links, the cluster's records, message faults, the fault schedule, the trace, the
// sabotage desk, HDFS, user processes and the ResourceManager's side. Checkers look at the world at
// a job's end through their view.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "config/scenario.h"
#include "core/model/client.h"
#include "sim/arrivals.h"
#include "sim/cluster.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/rm_side.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"
#include "sim/workloads.h"

namespace tfyarn::sim {

class Clients : private Driver<client::JobClient>, private JobEnds {
 public:
  /// All must outlive it. It hears of ended jobs from `rm`.
  Clients(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
          MessageFaults& message_faults, FaultSchedule& faults, TraceTap& trace,
          SabotageDesk& sabotage, HdfsSide& hdfs, Workloads& workloads, RmSide& rm,
          const WorldView& world);

  /// Jobs come from now on.
  void Start() { SubmitNextArrival(); }
  /// No job is left, and none will come.
  [[nodiscard]] bool all_over() const { return jobs_alive_ == 0 && !arrivals_.next(); }
  [[nodiscard]] std::uint64_t jobs_total() const { return arrivals_.total(); }
  [[nodiscard]] std::uint64_t jobs_ended() const { return jobs_ended_; }

  // ---- faults

  /// The user's machine is lost for good.
  void Lose(ClientActor& client);
  /// It is lost by that fault, until Return. A new client finds where the old one was in the
  /// staging directory: to the ResourceManager they are one.
  void LoseFor(ClientActor& client, std::uint64_t fault);
  void Return(std::uint64_t fault);
  /// Its process stands still by that fault, until Resume or ResumeAll.
  void Suspend(ClientActor& client, std::uint64_t fault);
  void Resume(ClientActor& client, std::uint64_t fault);
  void ResumeAll(ClientActor& client);

 private:
  void Heard(ClientActor& client, ClientEvent&& event) override;
  void Carry(ClientActor& client, ClientAction& action) override;
  void Stepped(ClientActor& client) override;
  void Keep(ClientActor& client, ClientEvent&& event) override;
  void End(ClientActor& client) override;
  [[nodiscard]] Party PartyOf(const ClientActor& client) const override;
  [[nodiscard]] bool HasQuietLink(const ClientActor& client) const override;
  void SendIdleBeat(ClientActor& client, Instant at, Instant answered) override;
  void Vouch(ClientActor& /*client*/, bool /*vouched*/, Instant /*last*/) override {}
  void EndSeen(JobRecord& job) override;

  void SubmitNextArrival();
  void CreateJob(std::shared_ptr<const config::JobConfig> config);
  void StartClient(JobRecord& job);
  void Obey(ClientActor& client, ClientAction& order);
  void CallRmFor(ClientActor& client, CallRm call);
  void TakeRmAnswer(ClientActor& client, CallId call, bool poll, yarn::RmResponse&& response);
  void Exit(ClientActor& client);
  /// What has come meanwhile it hears now, if nothing else keeps it.
  void GoOn(ClientActor& client);
  /// Nothing of the job may be left, and it is forgotten.
  /// `again`: a node that was cut off has had the time to hear what to stop.
  void CheckLeaks(trace::JobIndex job, bool again = false);

  Cluster& cluster_;
  MessageFaults& message_faults_;
  FaultSchedule& faults_;
  TraceTap& trace_;
  SabotageDesk& sabotage_;
  HdfsSide& hdfs_;
  Workloads& workloads_;
  RmSide& rm_;
  const WorldView& world_;
  Arrivals arrivals_;
  std::uint64_t jobs_created_ = 0;
  std::uint64_t jobs_ended_ = 0;
  std::uint64_t jobs_alive_ = 0;
  std::map<std::uint64_t, std::vector<std::uint32_t>> lost_by_;  ///< Actors, by fault.
};

}  // namespace tfyarn::sim
