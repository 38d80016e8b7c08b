// ApplicationMasters as a simulated cluster has them: their processes, what they say to the
// ResourceManager, to NodeManagers and to agents, and their journal and address in HDFS.
//
// It owns which of them stand still by which fault. It uses the kernel, links, the cluster's
// records, message faults, the fault schedule, the trace, the sabotage desk, HDFS, the
// ResourceManager's side, the NodeManagers' and the agents.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/am.h"
#include "sim/agents.h"
#include "sim/cluster.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/nm_side.h"
#include "sim/rm_side.h"
#include "sim/sabotage_desk.h"
#include "sim/trace_tap.h"

namespace tfyarn::sim {

class ApplicationMasters : private Driver<am::ApplicationMaster>, private ProcessStarter {
 public:
  /// All must outlive it. It starts what `nms` launches in the role "am".
  ApplicationMasters(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster,
                     MessageFaults& message_faults, FaultSchedule& faults, TraceTap& trace,
                     SabotageDesk& sabotage, HdfsSide& hdfs, RmSide& rm, NmSide& nms,
                     Agents& agents);

  /// Its process is killed; its node hears of it.
  void Kill(AmActor& am);
  /// It stands still by that fault, until GoOn.
  void Pause(AmActor& am, std::uint64_t fault);
  /// That fault is over. A process that stood still goes on, though its job may have another AM by
  /// now.
  void GoOn(std::uint64_t fault);

 private:
  void StartProcess(JobRecord& job, std::int32_t node, const ContainerId& container,
                    const yarn::ContainerLaunchContext& context) override;
  void Hears(AmActor& am, const AmEvent& event) override;
  void Heard(AmActor& am, AmEvent&& event) override;
  void Carry(AmActor& am, AmAction& action) override;
  void End(AmActor& am) override;
  [[nodiscard]] Party PartyOf(const AmActor& am) const override;
  [[nodiscard]] bool HasQuietLink(const AmActor& am) const override;
  void SendIdleBeat(AmActor& am, Instant at, Instant answered) override;
  void Vouch(AmActor& am, bool vouched, Instant last) override;

  void Obey(AmActor& am, AmAction& order);
  void Exit(AmActor& am, const ExitAm& exit);
  void ChangeState(AmActor& am, JobState state);
  void CallRmFor(AmActor& am, CallRm call);
  void TakeRmAnswer(AmActor& am, CallId call, bool poll, yarn::RmResponse&& response);
  void CallNmFor(AmActor& am, CallNm call);
  void Send(AmActor& am, SendToAgent send);
  void ReadJournalFor(AmActor& am);
  void AppendNext(AmActor& am);
  void AppendAnswered(std::uint32_t am, JournalSeq seq, const hdfs::HdfsResponse& response);
  void Publish(std::uint32_t am, const PublishAddress& address);
  /// Whether its own link and its agents' may be skipped has changed.
  void UpdateLinks(AmActor& am);

  Cluster& cluster_;
  MessageFaults& message_faults_;
  FaultSchedule& faults_;
  TraceTap& trace_;
  SabotageDesk& sabotage_;
  HdfsSide& hdfs_;
  RmSide& rm_;
  NmSide& nms_;
  Agents& agents_;
  std::map<std::uint64_t, std::vector<std::uint32_t>> paused_by_;  ///< Actors, by fault.
};

}  // namespace tfyarn::sim
