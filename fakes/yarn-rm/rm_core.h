// The inside of the fake ResourceManager: its state, and the steps that several calls share.
//
// One class, as a real RM's parts all change the same records; its source is split by whom it
// serves: rm_core.cc (events and timers), rm_clients.cc, rm_masters.cc, rm_asks.cc, rm_trackers.cc,
// rm_nodes.cc, rm_attempts.cc, rm_containers.cc, rm_capacity.cc, rm_immediate.cc, rm_preemption.cc,
// rm_recovery.cc. Not for others: resource_manager.h is the face.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/random_stream.h"
#include "fakes/yarn-rm/asks.h"
#include "fakes/yarn-rm/capacity_scheduler.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/node_ring.h"
#include "fakes/yarn-rm/queue_tree.h"
#include "fakes/yarn-rm/rm_books.h"
#include "fakes/yarn-rm/rm_options.h"
#include "fakes/yarn-rm/rm_records.h"
#include "fakes/yarn-rm/rm_state_store.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

class RmCore {
 public:
  RmCore(RmOptions options, std::uint64_t seed);
  RmCore(RmOptions options, const RmStateStore& store, std::uint64_t seed, Instant now);
  RmCore(const RmCore&) = delete;
  RmCore& operator=(const RmCore&) = delete;

  void Step(Instant now, const RmEvent& event, std::vector<RmAction>& actions);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] const RmBooks& books() const { return books_; }
  [[nodiscard]] RmStateStore StateStore() const;
  [[nodiscard]] std::shared_ptr<const TokenBook> tokens() const { return tokens_; }
  [[nodiscard]] yarn::Token AmRmTokenOf(const ApplicationAttemptId& attempt) const;
  [[nodiscard]] bool HasNewsForNode(const NodeId& id) const;
  [[nodiscard]] bool ConfirmNewsForNode(const NodeId& id);

 private:
  enum class TimerKind {
    kAmrmKey,
    kNmKey,
    kContainerKey,
    kSchedulingReady,
    kNodeExpiry,
    kAmExpiry,
    kLaunchRetry,
    kPreemptKill,
    kPreemptionMonitor,
    kPass
  };
  /// `a`, `b`: whom it is about; an application's id, a node's index, or a number of its kind.
  struct Timer {
    Instant at{};
    TimerKind kind = TimerKind::kPass;
    std::int64_t a = 0;
    std::int64_t b = 0;
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };
  /// A master key that is replaced from time to time: the next is spread first and used later.
  /// Source: NMTokenSecretManagerInRM.java, AMRMTokenSecretManager.java,
  /// RMContainerTokenSecretManager.java.
  struct RollingKey {
    StoredKey key;
    Duration every{};
    Duration activation{};
  };
  /// Why a container is completed, in the words of SchedulerUtils.java and RMContainerImpl.java.
  struct Ending {
    std::int32_t exit_status = 0;
    std::string diagnostics;
    bool tell_node = true;  ///< The NM must kill it.
    bool report = true;     ///< The AM hears of it.
  };

  // ------------------------------------------------------------ rm_core.cc: events and timers
  void On(const RmCall& call);
  void On(const NmAnswered& answer);
  void On(const RmDeadlineReached& event);
  void On(const AmHeartbeatsElided& elided);
  void On(const NodeHeartbeatsElided& elided);
  void On(const AmVouched& vouched);
  void On(const NodeVouched& vouched);
  void On(const DecommissionNode& order);
  void On(const RecommissionNode& order);
  void On(const PreemptContainer& order);
  void On(const ForgetRegistration& order);
  void On(const ExpireAmRmToken& order);

  struct NodeIdHash {
    std::size_t operator()(const NodeId& id) const {
      return std::hash<std::string>()(id.host) ^ static_cast<std::size_t>(id.port);
    }
  };

  template <class Action>
  void Emit(Action action) {
    actions_->emplace_back(std::move(action));
  }
  void Note(std::string text) { Emit(RmNote{.text = std::move(text)}); }
  void OnTimer(const Timer& timer);
  void RollKey(TimerKind kind, RollingKey& key);
  void ArmKey(TimerKind kind, const RollingKey& key);
  void WatchAm(RmApplication& application);
  void UnwatchAm(RmApplication& application);
  void WatchNode(RmNode& node);
  void UnwatchNode(RmNode& node);
  void ExpireContainers();
  void NewsFor(RmApplication& application);
  void NewsFor(RmNode& node);
  void ReportChanged(const ApplicationId& application) {
    Emit(NewsForClient{.application = application});
  }
  [[nodiscard]] RmApplication* FindApplication(const ApplicationId& id);
  [[nodiscard]] RmNode* FindNode(const NodeId& id);
  [[nodiscard]] const RmNode* FindNode(const NodeId& id) const;
  [[nodiscard]] RmNode& NodeAt(std::int32_t index) {
    return nodes_[static_cast<std::size_t>(index)];
  }
  /// What clients are told of the node has changed.
  void Restate(RmNode& node) {
    if (node.restated) return;
    node.restated = true;
    restated_.push_back(node.index);
  }
  [[nodiscard]] BookedContainer* FindContainer(const ContainerId& id);
  [[nodiscard]] static Timer TimerOf(Instant at, TimerKind kind, const ApplicationId& id) {
    return {.at = at, .kind = kind, .a = id.cluster_timestamp, .b = id.id};
  }

  // ------------------------------------------------------------ rm_clients.cc
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::GetNewApplicationRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::SubmitApplicationRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::GetApplicationReportRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::KillApplicationRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::GetClusterNodesRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::GetQueueInfoRequest& request);
  [[nodiscard]] std::optional<yarn::RpcError> CheckSubmission(
      const yarn::SubmitApplicationRequest& request) const;
  [[nodiscard]] yarn::ApplicationReport ReportOf(const RmApplication& application) const;
  void BringNodeListUpToDate();
  [[nodiscard]] yarn::NodeReport ReportOf(const RmNode& node) const;
  [[nodiscard]] Resource MaximumCapability() const;
  [[nodiscard]] Resource WithKnownTypes(const Resource& asked) const;
  [[nodiscard]] Resource Normalized(const Resource& asked) const;
  [[nodiscard]] std::optional<yarn::RpcError> CheckCapability(const Resource& asked) const;
  [[nodiscard]] std::optional<std::int32_t> FindPartition(const std::string& label) const;
  std::int32_t PartitionNumber(const std::string& label);
  std::int32_t UserNumber(const std::string& user);
  RmApplication& AddApplication(std::shared_ptr<const yarn::SubmitApplicationRequest> submission,
                                std::int32_t leaf);
  void RememberEnded(yarn::ApplicationReport report);

  // ------------------------------------------------------------ rm_masters.cc
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::RegisterApplicationMasterRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call, const yarn::AllocateRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::FinishApplicationMasterRequest& request);
  /// The attempt that the caller is, or why he is refused.
  [[nodiscard]] std::optional<yarn::RpcError> CheckMaster(const RmCall& call,
                                                          RmApplication*& application);
  [[nodiscard]] yarn::AllocateResponse FillResponse(RmApplication& application, const RmCall& call);
  [[nodiscard]] yarn::Container DeliverContainer(RmApplication& application,
                                                 const BookedContainer& container,
                                                 std::vector<yarn::NmToken>& nm_tokens);
  void AcknowledgeDelivered(RmApplication& application);
  [[nodiscard]] Resource HeadroomOf(const RmApplication& application) const;

  // ------------------------------------------------------------ rm_asks.cc
  [[nodiscard]] std::optional<yarn::RpcError> CheckAllocate(
      const RmApplication& application, const yarn::AllocateRequest& request) const;
  [[nodiscard]] std::optional<yarn::RpcError> CheckRow(const RmApplication& application,
                                                       const yarn::ResourceRequest& row) const;
  void TakeAsks(RmApplication& application, const std::vector<yarn::ResourceRequest>& rows);
  void TakeReleases(RmApplication& application, const std::vector<ContainerId>& releases);
  void TakeBlacklist(RmApplication& application, const yarn::AllocateRequest& request);
  /// Brings the demand index in line with the application's asks.
  void RefreshDemand(RmApplication& application);
  void ClearDemand(RmApplication& application);
  void RefreshReservable(RmApplication& application, const AskEntry& ask);
  void SetWanting(RmApplication& application, bool wanting);
  /// Ends all asks of the attempt, with what is pending for them.
  void DropAsks(RmApplication& application);
  void DropReservation(RmNode& node);

  // ------------------------------------------------------------ rm_trackers.cc
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::RegisterNodeManagerRequest& request);
  [[nodiscard]] yarn::RmResponse Answer(const RmCall& call,
                                        const yarn::NodeHeartbeatRequest& request);
  void TakeNodeStatus(RmNode& node, const yarn::NodeHeartbeatRequest& request);
  void TakeContainerStatus(RmNode& node, const yarn::ContainerStatus& status);
  [[nodiscard]] yarn::NodeHeartbeatResponse TakeNodeOrders(RmNode& node);
  [[nodiscard]] bool HasOrders(const RmNode& node) const;

  // ------------------------------------------------------------ rm_nodes.cc
  RmNode& AddNode(const yarn::RegisterNodeManagerRequest& request);
  void SetCapacity(RmNode& node, const Resource& capacity);
  void SetNodeState(RmNode& node, yarn::NodeState state);
  /// Lost, unhealthy, decommissioned or rebooted: its containers are completed, the scheduler no
  /// longer has it.
  void DeactivateNode(RmNode& node, yarn::NodeState state);
  void TellApplications(const RmNode& node);
  void FinishDecommission(RmNode& node);

  // ------------------------------------------------------------ rm_attempts.cc
  void StartAttempt(RmApplication& application);
  void AskForAm(RmApplication& application);
  void ActivateApplications(std::int32_t leaf);
  void LaunchAm(RmApplication& application);
  void CallAmLaunch(RmApplication& application);
  void OnLaunchAnswer(RmApplication& application, const NmAnswered& answer);
  void OnAmExited(RmApplication& application, const yarn::ContainerStatus& status);
  void OnAmExpired(RmApplication& application);
  void FailAttempt(RmApplication& application, std::int32_t exit_status,
                   const std::string& diagnostics);
  void StartNextAttempts();
  /// Takes the attempt out of the scheduler; running containers stay when `keep`.
  void StopAttempt(RmApplication& application, bool keep);
  void StoreFinal(RmApplication& application, yarn::FinalApplicationStatus final_status);
  /// The application is over; `application` is gone afterwards.
  void EndApplication(RmApplication& application, yarn::YarnApplicationState state,
                      yarn::FinalApplicationStatus final_status, std::string diagnostics);

  // ------------------------------------------------------------ rm_containers.cc
  BookedContainer& Grant(RmApplication& application, AskEntry& ask, RmNode& node, Locality locality,
                         const Resource& resource);
  BookedContainer& Book(RmApplication& application, BookedContainer container, RmNode& node);
  /// The scheduler has the resource back; `container` is gone afterwards.
  void Complete(RmApplication& application, BookedContainer& container, const Ending& ending);
  void AskAgainFor(RmApplication& application, const ContainerId& id);
  void MarkRunning(BookedContainer& container);
  void CleanUpOnNode(RmNode& node, const ContainerId& container);
  [[nodiscard]] yarn::Token ContainerTokenOf(const BookedContainer& container);

  // ------------------------------------------------------------ rm_capacity.cc
  void AssignOnHeartbeat(RmNode& node);
  void CarryOut(RmNode& node, const Proposal& proposal);
  void GiveUpReservation(AskEntry& ask, const RmNode& except);
  /// Says NewsForNode to nodes whose heartbeat is due and would be assigned something.
  void Announce();
  void AnnounceNode(RmNode& node, bool again = false);
  void AnnounceDeclined();
  [[nodiscard]] bool SchedulingAllowed() const;
  [[nodiscard]] bool is_capacity() const { return options_.scheduler == SchedulerKind::kCapacity; }

  // ------------------------------------------------------------ rm_immediate.cc
  void WantPass();
  void Pass();
  void PassByOrder();
  void PassUniform();
  void PassGangs();
  struct Placement {
    RmNode* node = nullptr;  ///< nullptr: no room.
    Locality locality = Locality::kOffSwitch;
  };
  [[nodiscard]] Placement FindRoom(const RmApplication& application, const AskEntry& ask);
  [[nodiscard]] Placement FindNamedRoom(const RmApplication& application, const AskEntry& ask);
  [[nodiscard]] bool GrantGang(RmApplication& application);
  void GrantAt(const Demand& demand, const Placement& placement);
  void Rebucket(const RmNode& node, std::int64_t gpus_before);
  [[nodiscard]] std::map<std::int64_t, std::set<std::int32_t>>& FreeGpus(std::int32_t partition);

  // ------------------------------------------------------------ rm_preemption.cc
  struct Preempted {
    ContainerId container;
    bool by_policy = false;  ///< Spared when nobody needs it any more.
  };
  void NoticePreemption(BookedContainer& container, Duration notice, bool by_policy);
  void PreemptNow(const Preempted& chosen);
  void MonitorQueues();
  void ArmMonitor();
  /// What leaf queues below their capacity want in this partition, up to their capacity, beyond
  /// what is free.
  [[nodiscard]] Resource Starved(std::int32_t partition) const;
  void ChooseVictims(std::int32_t partition, Resource& shortage);

  // ------------------------------------------------------------ rm_recovery.cc
  void Recover(const RmStateStore& store);
  void RecoverApplication(const StoredApplication& stored);
  void TakeOverNode(RmNode& node, const yarn::RegisterNodeManagerRequest& request, bool is_new);
  void RecoverContainer(RmNode& node, const yarn::NmContainerStatus& status);

  RmOptions options_;
  Instant now_{};
  std::vector<RmAction>* actions_ = nullptr;
  RandomStream random_;

  std::int64_t epoch_ = 0;
  std::int64_t rm_identifier_ = 0;
  std::shared_ptr<TokenBook> tokens_;
  RollingKey amrm_key_;
  RollingKey nm_key_;
  RollingKey container_key_;

  std::set<Timer> timers_;
  std::deque<std::pair<Instant, ContainerId>> unstarted_;  // delivered containers, by expiry
  std::optional<Instant> announce_at_;
  std::int64_t announced_slots_ = 0;  // slots below this were announced
  std::set<std::int32_t> declined_;   // nodes whose slots were, but for whom nothing was found then
  std::int32_t reserved_nodes_ = 0;   // kept for an ask
  bool scheduler_dirty_ = false;
  bool monitor_armed_ = false;
  bool pass_wanted_ = false;

  std::deque<RmNode> nodes_;  // by index; addresses are stable
  boost::unordered_flat_map<NodeId, std::int32_t, NodeIdHash> node_by_id_;  // for look-ups only
  std::set<NodeId> excluded_;               // taken out of service before they registered
  SharedList<yarn::NodeReport> node_list_;  // as it was when a client asked last, in NodeId order
  std::vector<std::int32_t> restated_;      // nodes of which it no longer holds
  NodeRing ring_;
  std::vector<std::string> partitions_;
  std::set<std::string> resource_types_;
  Resource largest_node_;
  bool any_node_seen_ = false;
  Instant started_at_{};             // this RM
  std::int32_t nodes_awaited_ = 0;   // after a restart
  std::optional<Instant> ready_at_;  // scheduling waits until then

  PlaceNumbers places_;
  ShapeNumbers shapes_;
  QueueTree queues_;
  CapacityScheduler capacity_;
  // Not kCapacity: nodes by partition and free GPUs.
  std::vector<std::map<std::int64_t, std::set<std::int32_t>>> by_free_gpus_;

  std::int32_t next_application_ = 1;
  std::uint64_t next_sequence_ = 1;  // of applications
  std::uint64_t next_grant_ = 1;
  std::uint64_t next_call_ = 1;
  std::map<ApplicationId, std::unique_ptr<RmApplication>> applications_;
  std::map<ApplicationId, yarn::ApplicationReport> ended_;
  std::deque<ApplicationId> ended_order_;
  std::map<std::uint64_t, ApplicationId> launches_;  // RmCallNm awaited
  std::vector<ApplicationId> next_attempts_;         // to be started when the event is over
  std::map<std::string, std::int32_t> users_;
  std::map<std::uint64_t, Preempted> preempting_;  // by the container's sequence
  RmBooks books_;
};

}  // namespace tfyarn::fakes
