// A fake NodeManager: registers, beats, starts and stops containers, and reports their ends.
//
// It decides nothing about what runs inside a container: it orders Localize, Launch and
// SignalContainer, and its host reports how they ended. It heartbeats on a grid of its own, and
// out of turn when a container ends (which moves the grid); a heartbeat without news may be left
// out by the host (messages.h). Assumptions: a status that the RM has answered is not sent again
// with every heartbeat (a real NM repeats completed ones until the RM lets it forget them; the RM
// ignores the repetitions); log aggregation and auxiliary services do not exist; while a call to
// the RM is unanswered no other is made.
//
// Source: NodeStatusUpdaterImpl.java, ContainerManagerImpl.java, ContainerImpl.java,
// NMTokenSecretManagerInNM.java, NMContainerTokenSecretManager.java (3.4.1 was read, 3.4.2 was
// run).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/tokens.h"

namespace tfyarn::fakes {

struct NmOptions {
  NodeId node;
  std::string rack = "/default-rack";
  std::string partition;  ///< "" = default partition.
  Resource capacity;
  Duration heartbeat = 1s;
  Duration
      heartbeat_phase{};  ///< The first heartbeat is at this time past a whole number of periods.
  Duration sigkill_delay = 250ms;  ///< yarn.nodemanager.sleep-delay-before-sigkill.ms.
  bool recovery = true;  ///< yarn.nodemanager.recovery.enabled: containers outlive this process.
  bool work_preserving_restart = true;  ///< Of the RM: without it a resync kills all containers.
  Duration register_retry =
      1s;  ///< Wait after the RM could not be reached (assumption: stock is 30 s).
  Duration
      clock_offset{};  ///< How far this machine's clock is ahead; judges container tokens' expiry.
};

/// One container as the NM knows it. Source: ContainerState.java of the NM.
struct NmContainer {
  enum class Stage { kLocalizing, kLaunching, kRunning, kDone };
  ContainerId id;
  Resource resource;
  std::int32_t priority = 0;
  yarn::ContainerLaunchContext context;
  Stage stage = Stage::kLocalizing;
  std::optional<std::int32_t> stop_status;  ///< Set once it is to end: the exit to be reported.
  std::string stop_reason;
  std::optional<Instant> kill_at;  ///< SIGKILL is due.
  bool recovered = false;          ///< Its process was started by an NM process before this one.
  std::int32_t exit_status = -1000;
  std::string diagnostics;
};

struct NmApplication {
  bool over = false;  ///< By the RM's word.
  std::map<ApplicationAttemptId, std::uint32_t>
      token_keys;  ///< Under which containers were started: those stay valid.
};

/// What a NM process leaves to its successor on the same node.
struct NmState {
  std::map<ContainerId, NmContainer> containers;
  std::map<ApplicationId, NmApplication> applications;
  std::deque<std::pair<Instant, ContainerId>> recently_stopped;
  std::uint64_t next_call = 1;
};

class NodeManager {
 public:
  /// `tokens`: ResourceManager::tokens(). `seed` is for what may become random; nothing is now.
  NodeManager(NmOptions options, std::shared_ptr<const TokenBook> tokens, std::uint64_t seed);
  /// The successor of the NM that left `state`.
  NodeManager(NmOptions options, std::shared_ptr<const TokenBook> tokens, NmState state,
              std::uint64_t seed);

  void Step(Instant now, const NmEvent& event, std::vector<NmAction>& actions);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] std::optional<Instant> next_decision() const;

  /// What survives this process: empty without recovery (its processes are then the host's to
  /// kill).
  [[nodiscard]] NmState state() const;

  [[nodiscard]] const std::map<ContainerId, NmContainer>& containers() const {
    return state_.containers;
  }
  [[nodiscard]] const std::map<ApplicationId, NmApplication>& applications() const {
    return state_.applications;
  }
  /// False before it registered, while it resyncs, and after a shutdown.
  [[nodiscard]] bool registered() const { return phase_ == Phase::kRegistered; }
  /// A call that registers it is under way.
  [[nodiscard]] bool registering() const {
    return phase_ == Phase::kRegistering && awaited_call_ != 0;
  }
  [[nodiscard]] bool is_shut_down() const { return phase_ == Phase::kShutDown; }
  [[nodiscard]] const NmOptions& options() const { return options_; }

 private:
  enum class Phase {
    kNew,       // not started
    kEmptying,  // resync without work-preserving restart: waits for its containers to end
    kRegistering,
    kRegistered,
    kShutDown,  // until NmStarted
  };
  /// The current master key and the one before: both are accepted.
  struct Keys {
    std::uint32_t current = 0;
    std::uint32_t previous = 0;
    void Set(std::uint32_t key);
    [[nodiscard]] bool Accepts(std::uint32_t key) const {
      return key != 0 && (key == current || key == previous);
    }
  };

  // node_manager.cc: the RM's side
  void On(const NmStarted& event);
  void On(const RmAnswered& answer);
  void On(const NmDeadlineReached& event);
  void On(const OwnHeartbeatsElided& elided);
  void On(const CapacityChanged& change);
  void On(const HealthChanged& change);
  void On(const ClockChanged& change);
  void Register();
  void Beat();
  void BeatOutOfTurn();
  void OnRegistered(const yarn::RegisterNodeManagerResponse& response);
  void OnBeatAnswered(const yarn::NodeHeartbeatResponse& response);
  void OnCallFailed();
  void Resync();
  void ShutDown();
  void PlaceOnGrid();
  [[nodiscard]] bool HasNews() const;
  void ForgetDelivered();
  void Forget(const ContainerId& id);

  // nm_calls.cc: the AM's side
  void On(const NmCall& call);
  [[nodiscard]] yarn::NmResponse Answer(const NmCall& call,
                                        const yarn::StartContainersRequest& request);
  [[nodiscard]] yarn::NmResponse Answer(const NmCall& call,
                                        const yarn::StopContainersRequest& request);
  [[nodiscard]] yarn::NmResponse Answer(const NmCall& call,
                                        const yarn::GetContainerStatusesRequest& request);
  [[nodiscard]] std::optional<yarn::RpcError> CheckCaller(const NmCall& call) const;
  [[nodiscard]] std::optional<yarn::RpcError> CheckStart(
      const NmCall& call, const yarn::StartContainerRequest& start,
      const ContainerTokenMeaning& meaning) const;
  [[nodiscard]] bool WasRecentlyStopped(const ContainerId& id) const;

  // nm_containers.cc: the host's side
  void On(const Localized& event);
  void On(const LocalizationFailed& event);
  void On(const ProcessStarted& event);
  void On(const LaunchFailed& event);
  void On(const ProcessEnded& event);
  void StopContainer(NmContainer& container, std::int32_t exit_status, std::string reason);
  void Signal(NmContainer& container);
  void KillDue();
  void Finish(NmContainer& container, std::int32_t exit_status, std::string diagnostics);
  [[nodiscard]] NmContainer* Find(const ContainerId& id);

  template <class Action>
  void Emit(Action action) {
    actions_->emplace_back(std::move(action));
  }

  NmOptions options_;
  std::shared_ptr<const TokenBook> tokens_;
  NmState state_;
  Instant now_{};
  std::vector<NmAction>* actions_ = nullptr;

  Phase phase_ = Phase::kNew;
  Keys container_keys_;
  Keys nm_keys_;
  std::int64_t rm_identifier_ = 0;
  Resource capacity_sent_;  // with the last registration
  std::int32_t response_id_ = 0;
  std::optional<Instant> retry_at_;  // registering again
  Instant next_beat_{};
  Duration grid_{};                 // a point of the grid
  std::uint64_t awaited_call_ = 0;  // 0: none
  std::uint64_t last_call_ = 0;
  bool beat_again_ = false;          // out of turn, once the awaited call is answered
  bool uncertain_ = false;           // the last beat may or may not have been taken in
  std::set<ContainerId> changed_;    // to be reported
  std::set<ContainerId> reporting_;  // in the call that is awaited
  bool healthy_ = true;
  std::string health_report_;
  bool health_changed_ = false;
  std::set<std::pair<Instant, ContainerId>> kills_;  // SIGKILLs that are due
};

}  // namespace tfyarn::fakes
