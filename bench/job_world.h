// One job's core on a bench: the real ApplicationMaster and, if wanted, the real agents, in a world
// in which everything works and nothing takes time but heartbeats.
//
// Only the core is measured: a meter is told when a machine is about to step and when it has. The
// ResourceManager is the caller's; ImmediateRm grants every ask at the next allocate. What the AM
// is told has the size that it has in production: names of hosts, launch contexts, and the list of
// the cluster's nodes that every client hands to its AM.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/agent/task_agent.h"
#include "core/am/application_master.h"
#include "core/model/am.h"
#include "core/model/job_spec.h"

namespace tfyarn::bench {

/// Told around every step, construction included.
class StepMeter {
 public:
  virtual ~StepMeter() = default;
  virtual void BeforeAm() {}
  virtual void AfterAm() {}
  virtual void BeforeAgent() {}
  virtual void AfterAgent() {}
  /// Around the making of the node list, of which the AM is then the only owner.
  virtual void BeforeNodes() {}
  virtual void AfterNodes() {}
};

/// A multi-worker job of so many workers, 4 GiB and 1 core each; all or none of them.
[[nodiscard]] std::shared_ptr<const JobSpec> WorkersJob(std::int32_t workers,
                                                        Strategy strategy = Strategy::kMultiWorker);

/// A cluster of so many nodes as the client finds it: all but the last `full` have room for
/// kRoomPerNode workers of WorkersJob each, spread over racks of 40. Sorted by id.
[[nodiscard]] std::vector<yarn::NodeReport> NodeReports(std::int32_t nodes, std::int32_t full);
inline constexpr std::int32_t kRoomPerNode = 4;

using RmService = std::function<yarn::RmResponse(Instant now, const yarn::RmRequest& request)>;

/// Grants what is asked at the allocate that asks: on the hosts that are named, else on one node
/// after the other of NodeReports(nodes, full).
[[nodiscard]] RmService ImmediateRm(ApplicationAttemptId attempt, std::int32_t nodes,
                                    std::int32_t full = 0);

struct JobWorldOptions {
  std::shared_ptr<const JobSpec> job;
  ApplicationAttemptId attempt;
  RmService rm;
  /// What the client tells the AM of the cluster; called once.
  std::function<SharedList<yarn::NodeReport>()> nodes;
  StepMeter* meter = nullptr;
  bool agents = true;  ///< False: containers are never started, the AM waits.
};

class JobWorld {
 public:
  /// Creates the AM and steps it with AmStarted.
  JobWorld(Instant now, JobWorldOptions options);

  /// Steps whatever is due by `now`, and carries all that follows at once.
  void RunDue(Instant now);
  /// The process of that worker, which must run, is killed; carries all that follows.
  void KillProcess(std::int32_t worker);
  /// When RunDue has something to do.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] const am::AmSnapshot& snapshot() const { return am_->snapshot(); }
  /// Agents that were ordered to start their process and therefore hold the spec.
  [[nodiscard]] std::size_t spawned() const { return spawned_; }
  /// When the AM recorded that the gang was complete.
  [[nodiscard]] bool gang_complete() const { return gang_complete_; }

 private:
  struct Agent {
    std::unique_ptr<agent::TaskAgent> machine;
    ContainerId container;
    TaskId task;
    std::optional<TaskAttempt> running;
  };

  [[nodiscard]] SharedList<yarn::NodeReport> Nodes();
  void StepAm(const AmEvent& event);
  void StepAgent(Agent& agent, const AgentEvent& event);
  void Carry(AmAction& action);
  void Carry(Agent& agent, AgentAction& action);
  void StartContainers(const CallNm& call, const yarn::StartContainersRequest& request);
  void Drain();

  JobWorldOptions options_;
  StepMeter none_;
  StepMeter& meter_;
  Instant now_{};
  std::unique_ptr<am::ApplicationMaster> am_;
  std::map<ContainerId, Agent> agents_;
  std::deque<AmEvent> to_am_;
  std::deque<std::pair<ContainerId, AgentEvent>> to_agents_;
  std::int32_t next_port_ = 20000;
  std::size_t spawned_ = 0;
  bool gang_complete_ = false;
};

}  // namespace tfyarn::bench
