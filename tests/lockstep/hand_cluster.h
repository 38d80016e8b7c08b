// The fake ResourceManager with all machines around it played by hand: clients, ApplicationMasters
// and NodeManagers that send what a sequence says, over YARN's records and in one order.
//
// After each operation its books are held against the models: who holds what, the sums of nodes and
// queues, and a documented reason for each container that it freed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/time.h"
#include "fakes/yarn-rm/messages.h"
#include "fakes/yarn-rm/resource_manager.h"
#include "fakes/yarn-rm/schedulers.h"
#include "tests/lockstep/world.h"
#include "tests/unit/digest.h"

namespace tfyarn::lockstep {

class HandCluster final : public World {
 public:
  explicit HandCluster(const fakes::SchedulerKind& scheduler);

  const std::vector<std::pair<std::string, Place>>& hosts() const override { return hosts_; }
  std::string partition() const override { return "gpu"; }
  Resource unit() const override { return {.memory_mb = 1000, .vcores = 1}; }
  void Submit(bool keep_containers, std::size_t queue) override;
  void Register(Application& application) override;
  void Allocate(Application& application, const yarn::AllocateRequest& request) override;
  void Finish(Application& application) override;
  void Start(Application& application, const ContainerId& container) override;
  void End(Application& application, const ContainerId& container, std::int32_t code) override;
  void EndAm(Application& application, std::int32_t code) override;
  void Kill(Application& application) override;
  void RestartRm() override;
  void TurnNode(std::size_t host) override;
  void Pass(std::size_t rounds) override;
  void Special(Draws& draws) override;
  std::vector<std::string> Check() override;

  /// Of all that the ResourceManager has answered and ordered, in its order.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  struct Process {
    bool done = false;
    std::int32_t exit_status = 0;
    bool said = false;  ///< That it runs.
    Resource resource;
    std::int32_t priority = 0;
  };
  /// A NodeManager as the ResourceManager sees one.
  struct Node {
    NodeId id;
    Resource capacity;
    bool up = true;
    bool registered = false;
    std::int32_t response_id = 0;
    Instant last_heard{};
    std::map<ContainerId, Process> processes;
    yarn::NodeState state = yarn::NodeState::kNew;  ///< As the ResourceManager has it.
  };
  /// The container of an application's AM, as the ResourceManager has it.
  struct Am {
    ContainerId container;
    std::size_t node = 0;
    Resource resource;
    bool away = false;
    bool over = false;  ///< It has been reported as ended, or its node is lost.
  };
  struct Slot : Application {
    using Application::Application;
    std::string queue;
    std::optional<Am> am;
    bool killed = false;
    std::map<ContainerId, Instant> delivered;
    std::map<ContainerId, Instant> preempted;  ///< When they are taken.
  };

  static Slot& SlotOf(Application& application) { return static_cast<Slot&>(application); }
  /// Of its current AM; the container of one that was lost with its node may come back as another.
  static bool IsAm(const Slot& slot, const ContainerId& id);
  Slot* FindSlot(const ApplicationId& id);
  Node& NodeOf(const NodeId& id);
  std::size_t IndexOf(const NodeId& id) const;
  [[nodiscard]] fakes::Caller AmOf(const Application& application) const;

  void Record(const fakes::RmAction& action);
  yarn::RmResponse Call(const fakes::Caller& caller, const yarn::RmRequest& request);
  void Step(const fakes::RmEvent& event);
  void AdvanceTo(Instant when);
  void Take(const fakes::Granted& granted);
  void CheckLimit(const Slot& slot, const NodeId& at);
  /// What was freed in this operation, once the models know what the operation was.
  void Settle();
  void SettleAm(Slot& slot, const fakes::Freed& freed);
  void SettleContainer(Slot& slot, const fakes::Freed& freed);
  void WatchNodes();
  [[nodiscard]] bool MayBeLost(const NodeId& node) const;
  void Launch(const fakes::RmCallNm& call);
  /// The ResourceManager is about to hear that an AM's container has ended.
  void AmEnds(Slot& slot, std::int32_t status);
  void Beat(Node& node, bool repeated = false);
  void RegisterNode(Node& node);
  void TakeOrders(Node& node, const yarn::NodeHeartbeatResponse& response);
  void ToldOf(const Node& node, const ContainerId& id, const Process& process);
  void Break(std::string what) { broken_.push_back(std::move(what)); }
  void CheckContainers();
  void CheckSums();

  bool has_limits_;  // of the queues
  fakes::RmOptions options_;
  std::unique_ptr<fakes::ResourceManager> rm_;
  Instant now_{};
  std::optional<Instant> restarted_;  // the ResourceManager, last
  std::uint64_t calls_ = 0;
  std::uint64_t digest_ = kDigestOfNothing;
  std::vector<std::pair<std::string, Place>> hosts_;
  std::vector<Node> nodes_;
  std::optional<yarn::RmResponse> reply_;
  std::vector<fakes::RmCallNm> launches_;
  std::vector<fakes::Freed> freed_;
  std::set<ApplicationId> ended_;
  std::vector<std::string> broken_;
};

}  // namespace tfyarn::lockstep
