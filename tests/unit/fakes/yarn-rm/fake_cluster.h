// A small host for the fake RM and NMs: messages with a latency, processes that run until told, AMs
// by script.
//
// For tests of fakes/yarn-rm only. It carries every heartbeat, or (elide) only those that matter,
// so that a test can compare the two.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/time.h"
#include "core/model/yarn.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/node_manager.h"
#include "fakes/yarn-rm/resource_manager.h"

namespace tfyarn::fakes {

inline Resource Amount(std::int64_t memory_gib, std::int64_t vcores, std::int64_t gpus = 0) {
  return {.memory_mb = memory_gib * 1024, .vcores = vcores, .gpus = gpus, .others = {}};
}

inline yarn::ResourceRequest Ask(std::int32_t count, Resource capability,
                                 std::int32_t priority = 1) {
  return {.priority = priority, .capability = std::move(capability), .num_containers = count};
}

struct ClusterOptions {
  RmOptions rm;
  bool elide = false;
  Duration latency = 200us;
  Duration localize = 500ms;
  Duration launch = 100ms;
  Duration am_heartbeat = 1s;
};

/// An ApplicationMaster by script: beats, sends what the test puts into `next`, starts what it
/// gets.
struct ScriptedAm {
  ApplicationAttemptId attempt;
  ContainerId container;
  NodeId node;
  bool alive = true;
  bool registered = false;
  bool beats = true;
  bool starts_containers = true;
  yarn::AllocateRequest next;
  std::int32_t response_id = 0;
  std::optional<yarn::Token> token;
  std::map<NodeId, yarn::Token> nm_tokens;
  yarn::RegisterApplicationMasterResponse registration;
  std::vector<yarn::Container> granted;
  std::vector<yarn::ContainerStatus> completed;
  std::vector<yarn::NodeReport> updated_nodes;
  std::vector<ContainerId> preempt_strict;
  std::vector<ContainerId> preempt_contract;
  std::vector<yarn::Container> from_previous;
  std::vector<yarn::Token> new_tokens;
  std::vector<yarn::FailedContainer> failed_starts;
  std::optional<yarn::AllocateResponse> last;
  std::optional<yarn::RpcError> error;  ///< The last one.
};

class FakeCluster {
 public:
  explicit FakeCluster(ClusterOptions options);

  NodeId AddNode(const std::string& host, Resource capacity, std::string partition = "",
                 std::string rack = "/r1", Duration phase = Duration(-1));
  /// Submits now; the AM appears in ams() once its process runs.
  ApplicationId Submit(yarn::SubmitApplicationRequest request = {});
  void RunFor(Duration time);
  /// Until the condition holds or `limit` has passed; true when it holds.
  bool RunUntil(const std::function<bool()>& condition, Duration limit);

  /// A call carried out at once.
  yarn::RmResponse CallRm(Caller caller, yarn::RmRequest request, yarn::Token token = {});
  yarn::NmResponse CallNm(const NodeId& node, const ApplicationAttemptId& caller, yarn::Token token,
                          yarn::NmRequest request);
  void StepRm(const RmEvent& event);
  void StepNm(const NodeId& node, const NmEvent& event);

  yarn::ApplicationReport Report(const ApplicationId& application);
  ScriptedAm& Am(const ApplicationId& application) { return *ams_.at(application); }
  [[nodiscard]] bool HasAm(const ApplicationId& application) const {
    const auto at = ams_.find(application);
    return at != ams_.end() && at->second->alive && at->second->registered;
  }
  /// The process ends by itself.
  void Exit(const ContainerId& container, std::int32_t status);
  /// finishApplicationMaster until unregistered, then the process exits 0.
  void FinishAm(const ApplicationId& application, yarn::FinalApplicationStatus status);
  void AmBeatsNow(const ApplicationId& application) { AmBeat(application); }

  void CrashNode(const NodeId& node);  ///< NM and processes.
  void StopNm(const NodeId& node);     ///< The NM process alone.
  void StartNm(const NodeId& node);
  void StopRm();
  void StartRm();
  [[nodiscard]] Instant now() const { return now_; }
  ResourceManager& rm() { return *rm_; }
  NodeManager& nm(const NodeId& node) { return *nodes_.at(node).nm; }
  [[nodiscard]] bool Runs(const ContainerId& container) const {
    return processes_.count(container) > 0;
  }
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }
  std::set<ContainerId> ignores_term;  ///< Processes that only SIGKILL ends.
  std::uint64_t node_beats = 0;
  std::uint64_t news_for_nodes = 0;

 private:
  struct Node {
    NmOptions options;
    std::unique_ptr<NodeManager> nm;
    NmState left;                 // by a stopped NM
    std::vector<NmEvent> missed;  // while stopped
    bool up = true;
    bool news = false;
    std::uint64_t wake = 0;  // generation of the pending wake-up
  };
  void At(Instant when, std::function<void()> what);
  void RmActions(std::vector<RmAction> actions, yarn::RmResponse* reply);
  void NmActions(const NodeId& node, std::vector<NmAction> actions, yarn::NmResponse* reply);
  void ScheduleRm();
  void ScheduleNm(Node& node);
  void Materialise(Node& node);
  void CatchUp(Node& node, Instant until);
  void StartProcess(const NodeId& node, const ContainerId& container);
  void EndProcess(const NodeId& node, const ContainerId& container, std::int32_t status);
  void AmStart(const NodeId& node, const ContainerId& container);
  void AmBeat(const ApplicationId& application);
  void AmTakes(ScriptedAm& am, const yarn::AllocateResponse& response);
  void AmBeatLater(const ApplicationId& application, const ApplicationAttemptId& attempt);

  ClusterOptions options_;
  Instant now_{};
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> queue_;
  std::uint64_t sequence_ = 0;
  std::uint64_t calls_ = 0;
  std::unique_ptr<ResourceManager> rm_;
  std::shared_ptr<const TokenBook> tokens_;
  std::optional<RmStateStore> rm_left_;
  std::uint64_t rm_wake_ = 0;
  std::optional<Instant> rm_wake_at_;
  std::map<NodeId, Node> nodes_;
  std::map<ApplicationId, std::unique_ptr<ScriptedAm>> ams_;
  std::set<ContainerId> am_containers_;
  std::map<ContainerId, NodeId> processes_;
  std::vector<std::string> log_;
  std::int32_t next_phase_ = 0;
};

}  // namespace tfyarn::fakes
