// NodeManagers as a simulated cluster has them: their processes, their calls to the
// ResourceManager, and the containers that they fetch files for, start, signal and end.
//
// It owns how long starts take, what a NodeManager that is down has missed, and what one that will
// recover has stored. It uses the kernel, links, the cluster's records, the trace, HDFS, the
// ResourceManager's side and the claims on it. What a container is for it starts through
// ProcessStarter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/yarn.h"
#include "fakes/yarn-rm/node_manager.h"
#include "sim/claims.h"
#include "sim/cluster.h"
#include "sim/fault_schedule.h"
#include "sim/hdfs_side.h"
#include "sim/random.h"
#include "sim/rm_side.h"
#include "sim/trace_tap.h"

namespace tfyarn::sim {

/// Starts the process that a container is for.
class ProcessStarter {
 public:
  /// The container has none yet; its job is not over.
  virtual void StartProcess(JobRecord& job, std::int32_t node, const ContainerId& container,
                            const yarn::ContainerLaunchContext& context) = 0;

 protected:
  ~ProcessStarter() = default;
};

class NmSide : private Driver<fakes::NodeManager> {
 public:
  /// All must outlive it.
  NmSide(Kernel& kernel, Links& links, const RunSetup& setup, Cluster& cluster, FaultMarks& marks,
         TraceTap& trace, HdfsSide& hdfs, RmSide& rm, Claims& claims);

  /// Containers that are launched in this role (core/model/launch.h) are the starter's from now on.
  /// It must outlive this.
  void SetStarter(const std::string& role, ProcessStarter& starter) { starters_[role] = &starter; }

  /// The node has none. `state`: what its predecessor has stored.
  void Start(std::int32_t node, std::optional<fakes::NmState> state = std::nullopt);
  /// A container's own process has ended: its node's NodeManager hears of it.
  void ProcessEnded(const ContainerId& container, std::int32_t exit_status,
                    const std::string& diagnostics);
  /// The same for one that SIGKILL has ended.
  void ProcessKilled(const ContainerId& container);

  // ---- faults

  /// The NodeManager's process ends. Its containers go on where it is to recover.
  void TakeDown(std::int32_t node, bool recovers);
  /// Another one starts, from what the one before has stored, and finds what it has missed.
  void BringBack(std::int32_t node);
  /// The node is gone, with its NodeManager and all its containers.
  void Crash(std::int32_t node);
  /// An excluded NodeManager has shut itself down; its operator starts it again, when nothing of it
  /// runs any more. One that has not heard of it goes on.
  void RestartShutDown(std::int32_t node);
  /// `report`: why the node is unhealthy by that fault; empty when it is not any more.
  void SetUnhealthy(std::int32_t node, std::uint64_t fault, const std::string& report);

  /// The seed is another one.
  void DrawAnew();

 private:
  void Carry(NmActor& nm, fakes::NmAction& action) override;
  void Stepped(NmActor& nm) override;
  void End(NmActor& nm) override;
  [[nodiscard]] Party PartyOf(const NmActor& nm) const override;
  [[nodiscard]] bool HasQuietLink(const NmActor& nm) const override;
  void SendIdleBeat(NmActor& nm, Instant at, Instant answered) override;
  void Vouch(NmActor& nm, bool vouched, Instant last) override;

  void CallRm(NmActor& nm, fakes::NmCallRm call);
  /// The NodeManager of the node hears how the node is; one that starts later hears it then.
  void TellHealth(std::int32_t node);
  /// A NodeManager that is down finds it when it recovers.
  void Tell(std::int32_t node, fakes::NmEvent event);

  void Localize(NmActor& nm, const fakes::Localize& order);
  /// `tries`: how often HDFS has refused so far.
  void FetchFiles(NmActor& nm, const fakes::Localize& order, int tries);
  /// Besides what is fetched from HDFS.
  [[nodiscard]] Duration LocalizationTime(Place node, const ApplicationId& application);
  /// Why a file of the container cannot be fetched; empty when all can.
  [[nodiscard]] std::string MissingFile(const yarn::ContainerLaunchContext& context);
  void Launch(std::int32_t node, fakes::Launch&& order);
  void StartProcess(std::int32_t node, const ContainerId& container,
                    const yarn::ContainerLaunchContext& context);
  /// Why nothing can start on the node; empty while its disks are well.
  [[nodiscard]] std::string FailureByDisks(std::int32_t node) const;
  /// Why a launch (or a localisation) that begins now on the node fails; empty when it does not.
  [[nodiscard]] std::string FailureByFault(std::int32_t node, bool localize);
  void SignalProcess(const ContainerId& container, bool kill);
  void ContainerIsDone(const NmActor& nm, const ContainerId& container);
  /// What runs in them is gone, and the node forgets them.
  void EndContainersOn(std::int32_t node);

  Cluster& cluster_;
  FaultMarks& marks_;
  TraceTap& trace_;
  HdfsSide& hdfs_;
  RmSide& rm_;
  Claims& claims_;
  std::map<std::string, ProcessStarter*> starters_;  ///< By role.
  Random start_delays_;
  /// How containers' processes ended while their NodeManager was down.
  std::map<std::int32_t, std::vector<fakes::NmEvent>> unreported_;
  std::map<std::int32_t, fakes::NmState> states_;  ///< Of those that are down and will recover.
};

}  // namespace tfyarn::sim
