// One job's core on a bench: the real ApplicationMaster and, if wanted, the real agents, in a world
// in which everything works and nothing takes time but heartbeats.
//
// Only the core is measured: a meter is told when a machine is about to step and when it has. The
// ResourceManager is the caller's; ImmediateRm grants every ask at the next allocate.
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
};

/// A multi-worker job of so many workers, 4 GiB and 1 core each; all or none of them.
[[nodiscard]] std::shared_ptr<const JobSpec> WorkersJob(std::int32_t workers,
                                                        Strategy strategy = Strategy::kMultiWorker);

using RmService = std::function<yarn::RmResponse(Instant now, const yarn::RmRequest& request)>;

/// Grants what is asked, each container on a node of its own, at the allocate that asks.
[[nodiscard]] RmService ImmediateRm(ApplicationAttemptId attempt);

struct JobWorldOptions {
  std::shared_ptr<const JobSpec> job;
  ApplicationAttemptId attempt;
  RmService rm;
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
  /// The AM's word that the gang was complete.
  [[nodiscard]] bool gang_complete() const { return gang_complete_; }

 private:
  struct Agent {
    std::unique_ptr<agent::TaskAgent> machine;
    ContainerId container;
    TaskId task;
    std::optional<TaskAttempt> running;
  };

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
