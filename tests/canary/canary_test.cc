// Bugs of nodes, of the ResourceManager and of agents: capacity, one-owner, released-once,
// gang-start, one-spec, progress, quiescence.
#include "tests/canary/canary.h"

#include <memory>
#include <optional>
#include <utility>

namespace tfyarn::sim::canary_test {
namespace {

// ---------------------------------------------------------------- nodes and the RM

TEST(CanaryTest, ANodeThatSaysItHasMoreThanItHasBreaksCapacity) {
  Doubles doubles;
  doubles.nm = [](fakes::NodeManager& real, Instant now, const fakes::NmEvent& event,
                  std::vector<fakes::NmAction>& actions) {
    real.Step(now, event, actions);
    for (fakes::NmAction& action : actions) {
      auto* request = RequestIn<yarn::RegisterNodeManagerRequest, fakes::NmCallRm>(action);
      if (request != nullptr) request->resource.gpus *= 4;
    }
  };
  constexpr std::string_view kOneSlot = R"(
schema: tfsim/v1
name: one-slot
horizon: 2h
cluster: {nodes: [{name: n, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
defaults:
  tasks: {worker: {instances: 1, memory: 1GiB, gpus: 1}}
  training: {steps: 120, step_time: 1s}
yarn: {scheduler: fifo}
jobs: [{name: a}, {name: b, submit: 30s}]
)";
  ExpectCaught(kOneSlot, doubles, "capacity");
}

constexpr std::string_view kTwoJobs = R"(
schema: tfsim/v1
name: two-jobs
horizon: 2h
cluster: {nodes: [{name: n, count: 4, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
defaults:
  tasks: {worker: {instances: 1, memory: 1GiB, gpus: 1}}
  training: {steps: 120, step_time: 1s}
jobs:
  - {name: a}
  - {name: b, submit: 30s}
)";

TEST(CanaryTest, AContainerGivenToTwoApplicationsBreaksOneOwner) {
  std::optional<ContainerId> taken;
  Doubles doubles;
  doubles.rm = [&taken](fakes::ResourceManager& real, Instant now, const fakes::RmEvent& event,
                        std::vector<fakes::RmAction>& actions) {
    real.Step(now, event, actions);
    for (fakes::RmAction& action : actions) {
      auto* reply = std::get_if<fakes::RmReply>(&action);
      auto* allocated =
          reply == nullptr ? nullptr : std::get_if<yarn::AllocateResponse>(&reply->response);
      if (allocated == nullptr || allocated->allocated_containers.empty()) continue;
      ContainerId& id = allocated->allocated_containers.front().id;
      if (!taken) {
        taken = id;
      } else if (taken->application_attempt != id.application_attempt) {
        id = *taken;
      }
    }
  };
  ExpectCaught(kTwoJobs, doubles, "one-owner");
}

/// An agent that never ends, on a node that kills no process.
Doubles Immortal() {
  Doubles doubles;
  doubles.agent = [](agent::TaskAgent& real, Instant now, const AgentEvent& event,
                     std::vector<AgentAction>& actions) {
    real.Step(now, event, actions);
    std::erase_if(actions, [](const AgentAction& action) {
      return std::holds_alternative<ExitAgent>(action);
    });
  };
  doubles.nm = [](fakes::NodeManager& real, Instant now, const fakes::NmEvent& event,
                  std::vector<fakes::NmAction>& actions) {
    real.Step(now, event, actions);
    std::erase_if(actions, [](const fakes::NmAction& action) {
      return std::holds_alternative<fakes::SignalContainer>(action);
    });
  };
  return doubles;
}

constexpr std::string_view kQuickExpiry = R"(
schema: tfsim/v1
name: quick-expiry
horizon: 2h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
yarn: {expiry: {nm: 10s, am: 10s}}
jobs:
  - name: a
    strategy: multi-worker
    tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}
    training: {steps: 60, step_time: 1s}
)";

TEST(CanaryTest, AContainerThatOutlivesItsApplicationBreaksReleasedOnce) {
  ExpectCaught(kQuickExpiry, Immortal(), "released-once");
}

TEST(CanaryTest, AnAgentThatOutlivesItsJobBreaksQuiescence) {
  ExpectCaught(kQuickExpiry, Immortal(), "quiescence");
}

TEST(CanaryTest, AnRmThatForgetsToFreeBreaksReleasedOnce) {
  Doubles doubles;
  doubles.rm = [](fakes::ResourceManager& real, Instant now, const fakes::RmEvent& event,
                  std::vector<fakes::RmAction>& actions) {
    real.Step(now, event, actions);
    std::erase_if(actions, [](const fakes::RmAction& action) {
      return std::holds_alternative<fakes::Freed>(action);
    });
  };
  ExpectCaught(kQuickExpiry, doubles, "released-once");
}

/// The node's report that the AM's container has ended arrives only after `late`, as if it had been
/// lost until then. For one node.
Doubles TellingTheAmsExitLate(Duration late) {
  struct Held {
    Instant since;
    std::optional<yarn::ContainerStatus> exit;
  };
  Doubles doubles;
  doubles.nm = [late, held = std::make_shared<Held>()](fakes::NodeManager& real, Instant now,
                                                       const fakes::NmEvent& event,
                                                       std::vector<fakes::NmAction>& actions) {
    real.Step(now, event, actions);
    for (fakes::NmAction& action : actions) {
      auto* beat = RequestIn<yarn::NodeHeartbeatRequest, fakes::NmCallRm>(action);
      if (beat == nullptr) continue;
      if (held->exit && now - held->since >= late) {
        beat->containers.push_back(*std::exchange(held->exit, std::nullopt));
        continue;
      }
      std::erase_if(beat->containers, [&](const yarn::ContainerStatus& status) {
        if (status.id.id != 1 || status.state != yarn::ContainerState::kComplete) return false;
        *held = {.since = now, .exit = status};
        return true;
      });
    }
  };
  return doubles;
}

TEST(CanaryTest, AnExitToldLateBreaksReleasedOnceOnlyWhereNothingGetsLost) {
  // One message in a million: none of this run, but two repetitions could get lost.
  constexpr std::string_view kOneTask = R"(
schema: tfsim/v1
name: one-task
horizon: 2h
cluster:
  network: {loss: LOSS}
  nodes: [{name: n, resources: {memory: 16GiB, vcores: 8}}]
jobs:
  - {name: a, tasks: {worker: {instances: 1, memory: 1GiB}}, training: {steps: 10, step_time: 1s}}
)";
  const auto broken_with_loss = [&](const std::string& loss) {
    std::string text(kOneTask);
    const Doubles late = TellingTheAmsExitLate(80s);
    return sim::Run(text.replace(text.find("LOSS"), 4, loss), &late);
  };
  EXPECT_EQ(broken_with_loss("0").count("released-once"), 1u);
  EXPECT_EQ(broken_with_loss("0.000001"), Broken{});
}

TEST(CanaryTest, AContainerStartedWhileTheRmIsDownStaysAllocated) {
  // The journal takes two seconds, so that the RM ends between the last grant and the first start.
  constexpr std::string_view kStartedWithoutRm = R"(
schema: tfsim/v1
name: started-without-rm
horizon: 2h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8}}]}
hdfs: {latency: 2s}
jobs:
  - {name: a, tasks: {worker: {instances: 2, memory: 1GiB}}, training: {steps: 60, step_time: 1s}}
faults:
  - {kind: rm_restart, when: {job: a, state: launching}, after: 500ms, for: 15s}
)";
  EXPECT_EQ(sim::Run(kStartedWithoutRm, nullptr), Broken{});
}

// Fails when only what a new RM books is given back in the trace: it never knew of this one.
TEST(CanaryTest, AContainerThatEndsBeforeItsNodeHasRegisteredAgainIsGivenBack) {
  constexpr std::string_view kEndsUnseen = R"(
schema: tfsim/v1
name: ends-unseen
horizon: 2h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8}}]}
jobs:
  - {name: a, tasks: {worker: {instances: 2, memory: 12GiB}}, training: {steps: 60, step_time: 1s}}
  - {name: b, submit: 5m, tasks: {worker: {instances: 3, memory: 12GiB}}, training: {steps: 60, step_time: 1s}}
faults:
  - {kind: nm_heartbeat_loss, when: {job: a, state: running}, after: 20s, target: {job: a, task: "worker:1"}, for: 2m}
  - {kind: rm_restart, when: {job: a, state: running}, after: 30s, for: 5s}
)";
  EXPECT_EQ(sim::Run(kEndsUnseen, nullptr), Broken{});
}

// ---------------------------------------------------------------- agents

TEST(CanaryTest, AProcessThatStartsBeforeItsGangIsCompleteBreaksGangStart) {
  constexpr std::string_view kHalfAGang = R"(
schema: tfsim/v1
name: half-a-gang
horizon: 4h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
defaults:
  strategy: independent
  gang: {policy: all, deadline: 3h, hold: 5m}
jobs:
  - {name: a, tasks: {worker: {instances: 1, memory: 1GiB, gpus: 1}}, training: {steps: 600, step_time: 1s}}
  - {name: b, submit: 60s, tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}, training: {steps: 60, step_time: 1s}}
)";
  Doubles doubles;
  doubles.am_spec = [](const std::shared_ptr<const JobSpec>& spec) {
    auto hasty = std::make_shared<JobSpec>(*spec);
    hasty->gang.policy = GangPolicy::kNone;
    return hasty;
  };
  // And its agents do not wait for a spec: the process starts with the port.
  std::map<const agent::TaskAgent*, TaskId> tasks;
  doubles.agent = [&tasks](agent::TaskAgent& real, Instant now, const AgentEvent& event,
                           std::vector<AgentAction>& actions) {
    if (const auto* started = std::get_if<AgentStarted>(&event)) tasks[&real] = started->fence.task;
    // What the agent did not order, it is not told of.
    if (std::holds_alternative<ProcessSpawned>(event)) return;
    real.Step(now, event, actions);
    std::vector<AgentEvent> lies;
    std::erase_if(actions, [&lies](const AgentAction& action) {
      const auto* spawn = std::get_if<SpawnProcess>(&action);
      if (spawn != nullptr) lies.emplace_back(ProcessSpawned{.attempt = spawn->process.attempt});
      return spawn != nullptr;
    });
    for (const AgentEvent& lie : lies) real.Step(now, lie, actions);
    if (!std::holds_alternative<PortLeased>(event)) return;
    actions.emplace_back(SpawnProcess{.task = tasks.at(&real),
                                      .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
                                      .spec = Share({.epoch = Epoch(1), .tasks = {}})});
  };
  ExpectCaught(kHalfAGang, doubles, "gang-start");
}

TEST(CanaryTest, AProcessWithAnotherSpecThanItsPeersBreaksOneSpec) {
  Doubles doubles;
  doubles.agent = [](agent::TaskAgent& real, Instant now, const AgentEvent& event,
                     std::vector<AgentAction>& actions) {
    real.Step(now, event, actions);
    for (AgentAction& action : actions) {
      auto* spawn = std::get_if<SpawnProcess>(&action);
      if (spawn == nullptr || spawn->task.index != 1) continue;
      ClusterSpec other = *spawn->spec.get();
      other.tasks.begin()->second.front().port += 1;
      spawn->spec = Share(std::move(other));
    }
  };
  ExpectCaught(kTwoWorkers, doubles, "one-spec");
}

TEST(CanaryTest, AProcessOfAnEarlierEpochThatStaysBreaksOneSpec) {
  constexpr std::string_view kOneFails = R"(
schema: tfsim/v1
name: one-fails
horizon: 6h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
jobs:
  - name: a
    strategy: multi-worker
    retries: {user: 1}
    tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}
    training: {steps: 60, step_time: 1s, peer_loss: none}
    behavior: [{task: "worker:1", attempt: 0, after: 20s, exit: 1}]
)";
  // worker:0 says that its process has ended and that the next one runs; neither is true.
  Doubles doubles;
  doubles.agent = [](agent::TaskAgent& real, Instant now, const AgentEvent& event,
                     std::vector<AgentAction>& actions) {
    real.Step(now, event, actions);
    std::vector<AgentEvent> lies;
    std::erase_if(actions, [&lies](const AgentAction& action) {
      if (const auto* signal = std::get_if<SignalProcess>(&action)) {
        lies.emplace_back(ProcessExited{.attempt = signal->attempt, .exit = {.code = 143}});
        return true;
      }
      const auto* spawn = std::get_if<SpawnProcess>(&action);
      if (spawn == nullptr || spawn->task.index != 0 || spawn->process.epoch.value == 1)
        return false;
      lies.emplace_back(ProcessSpawned{.attempt = spawn->process.attempt});
      return true;
    });
    for (const AgentEvent& lie : lies) real.Step(now, lie, actions);
  };
  ExpectCaught(kOneFails, doubles, "one-spec");
}

TEST(CanaryTest, AJobThatHoldsItsGangAndStartsNothingBreaksProgress) {
  Doubles doubles;
  doubles.am_spec = [](const std::shared_ptr<const JobSpec>& spec) {
    auto patient = std::make_shared<JobSpec>(*spec);
    patient->deadlines.start = 240h;
    return patient;
  };
  doubles.agent = [](agent::TaskAgent& real, Instant now, const AgentEvent& event,
                     std::vector<AgentAction>& actions) {
    const auto* said = std::get_if<AmSaid>(&event);
    if (said != nullptr && std::holds_alternative<StartProcess>(said->message)) return;
    real.Step(now, event, actions);
  };
  ExpectCaught(kTwoWorkers, doubles, "progress");
}

}  // namespace
}  // namespace tfyarn::sim::canary_test
