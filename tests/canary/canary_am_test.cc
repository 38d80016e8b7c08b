// Bugs of ApplicationMasters: one-attempt, final-once, verdict, after-final, budgets,
// excluded-nodes, good-citizen, own-address, durable-before-visible, limits-kept,
// rule-matches-cause.
#include <optional>

#include "tests/canary/canary.h"

namespace tfyarn::sim::canary_am_test {
namespace {

using AmStep = DoubleOf<am::ApplicationMaster, AmEvent, AmAction>;

/// An AM whose orders `spoil` has looked at, one by one.
template <class Spoil>
Doubles SpoiledAm(Spoil spoil) {
  Doubles doubles;
  doubles.am = [spoil](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                       std::vector<AmAction>& actions) mutable {
    real.Step(now, event, actions);
    for (AmAction& action : actions) spoil(action);
  };
  return doubles;
}

constexpr std::string_view kWorkerFails = R"(
schema: tfsim/v1
name: worker-fails
horizon: 6h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
jobs:
  - name: a
    strategy: multi-worker
    retries: {user: 1}
    tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}
    training: {steps: 60, step_time: 1s}
    behavior: [{task: "worker:1", after: 20s, exit: 1}]
expect: [{job: a, status: FAILED}]
)";

TEST(CanaryAmTest, AnAmThatDoesNotHearOfItsSuccessorBreaksOneAttempt) {
  constexpr std::string_view kPaused = R"(
schema: tfsim/v1
name: paused
horizon: 6h
cluster: {nodes: [{name: n, count: 4, resources: {memory: 16GiB, vcores: 8, gpus: 1}}]}
yarn: {expiry: {am: 30s}}
jobs:
  - name: a
    strategy: multi-worker
    tasks: {worker: {instances: 2, memory: 1GiB, gpus: 1}}
    training: {steps: 600, step_time: 1s}
faults:
  - {kind: am_pause, when: {job: a, state: running}, after: 20s, target: {am: a}, for: 60s}
)";
  // It is not told that it was refused, writes its last journal entry again and again for twelve
  // seconds, and its node does not kill it.
  Doubles doubles;
  doubles.nm = [](fakes::NodeManager& real, Instant now, const fakes::NmEvent& event,
                  std::vector<fakes::NmAction>& actions) {
    real.Step(now, event, actions);
    std::erase_if(actions, [](const fakes::NmAction& action) {
      return std::holds_alternative<fakes::SignalContainer>(action);
    });
  };
  const am::ApplicationMaster* first = nullptr;
  std::optional<AppendJournal> entry;
  std::optional<Instant> refused;
  doubles.am = [&](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                   std::vector<AmAction>& actions) {
    if (first == nullptr) first = &real;
    if (first != &real) return real.Step(now, event, actions);
    const auto* reply = std::get_if<RmReplied>(&event);
    if (reply != nullptr && std::holds_alternative<yarn::RpcError>(reply->response) && !refused)
      refused = now;
    const bool written = std::holds_alternative<JournalAppended>(event) ||
                         std::holds_alternative<JournalFailed>(event);
    if (refused && (reply != nullptr || written)) {
      if (now - *refused < 12s) actions.emplace_back(*entry);
      return;
    }
    if (refused) {
      std::vector<AmAction> unheard;
      return real.Step(now, event, unheard);
    }
    real.Step(now, event, actions);
    for (const AmAction& action : actions) {
      if (const auto* append = std::get_if<AppendJournal>(&action)) entry = *append;
    }
  };
  ExpectCaught(kPaused, doubles, "one-attempt");
}

TEST(CanaryAmTest, AFinalStatusThatIsNotTheVerdictBreaksFinalOnce) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    auto* finish = RequestIn<yarn::FinishApplicationMasterRequest, CallRm>(action);
    if (finish != nullptr) finish->final_status = yarn::FinalApplicationStatus::kFailed;
  });
  ExpectCaught(kTwoWorkers, doubles, "final-once");
}

TEST(CanaryAmTest, AFinalStatusWrittenTwiceBreaksFinalOnce) {
  Doubles doubles;
  doubles.am = [](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                  std::vector<AmAction>& actions) {
    real.Step(now, event, actions);
    std::vector<AmAction> again;
    for (const AmAction& action : actions) {
      again.push_back(action);
      if (const auto* verdict = std::get_if<VerdictReached>(&action)) {
        VerdictReached other = *verdict;
        other.status = JobStatus::kFailed;
        again.emplace_back(std::move(other));
      }
    }
    actions = std::move(again);
  };
  ExpectCaught(kTwoWorkers, doubles, "final-once");
}

TEST(CanaryAmTest, ASuccessThatNoExitGivesBreaksVerdict) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    if (auto* verdict = std::get_if<VerdictReached>(&action)) {
      verdict->status = JobStatus::kSucceeded;
      verdict->cause.reset();
    }
    auto* finish = RequestIn<yarn::FinishApplicationMasterRequest, CallRm>(action);
    if (finish != nullptr) finish->final_status = yarn::FinalApplicationStatus::kSucceeded;
  });
  ExpectCaught(kWorkerFails, doubles, "verdict");
}

TEST(CanaryAmTest, AnExitThatTheAmMisreadsBreaksVerdict) {
  // The AM hears 0 from every agent, and believes what it hears.
  Doubles doubles;
  doubles.am = [](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                  std::vector<AmAction>& actions) {
    AmEvent heard = event;
    if (auto* said = std::get_if<AgentSaid>(&heard)) {
      if (auto* ended = std::get_if<ProcessEnded>(&said->message)) ended->exit = {.code = 0};
    }
    real.Step(now, heard, actions);
  };
  ExpectCaught(kWorkerFails, doubles, "verdict");
}

TEST(CanaryAmTest, AProcessOrderedAfterTheVerdictBreaksAfterFinal) {
  std::optional<SendToAgent> start;
  Doubles doubles;
  doubles.am = [&start](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                        std::vector<AmAction>& actions) {
    real.Step(now, event, actions);
    bool decided = false;
    for (const AmAction& action : actions) {
      const auto* send = std::get_if<SendToAgent>(&action);
      if (send != nullptr && std::holds_alternative<StartProcess>(send->message)) start = *send;
      decided = decided || std::holds_alternative<VerdictReached>(action);
    }
    if (decided && start) actions.emplace_back(*start);
  };
  ExpectCaught(kTwoWorkers, doubles, "after-final");
}

TEST(CanaryAmTest, MoreRestartsThanTheJobAllowsBreakBudgets) {
  Doubles doubles;
  doubles.am_spec = [](const std::shared_ptr<const JobSpec>& spec) {
    auto generous = std::make_shared<JobSpec>(*spec);
    generous->retries.user = 3;
    return generous;
  };
  ExpectCaught(kWorkerFails, doubles, "budgets");
}

TEST(CanaryAmTest, RestartsThatTheAmKeepsSilentAboutBreakBudgets) {
  Doubles doubles;
  doubles.am_spec = [](const std::shared_ptr<const JobSpec>& spec) {
    auto generous = std::make_shared<JobSpec>(*spec);
    generous->retries.user = 3;
    return generous;
  };
  doubles.am = [](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                  std::vector<AmAction>& actions) {
    real.Step(now, event, actions);
    std::erase_if(actions, [](const AmAction& action) {
      return std::holds_alternative<RestartDecided>(action);
    });
  };
  ExpectCaught(kWorkerFails, doubles, "budgets");
}

TEST(CanaryAmTest, AnAskForAnExcludedNodeBreaksExcludedNodes) {
  const Doubles doubles =
      SpoiledAm([row = std::optional<yarn::ResourceRequest>()](AmAction& action) mutable {
        auto* allocate = RequestIn<yarn::AllocateRequest, CallRm>(action);
        if (allocate == nullptr) return;
        if (row) {
          allocate->ask.push_back(*row);
        } else if (!allocate->ask.empty()) {
          allocate->blacklist_additions.emplace_back("n-2");
          row = allocate->ask.front();
          row->resource_name = "n-2";
          row->num_containers = 1;
        }
      });
  ExpectCaught(kTwoWorkers, doubles, "excluded-nodes");
}

TEST(CanaryAmTest, ANegativeAskBreaksGoodCitizen) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    auto* allocate = RequestIn<yarn::AllocateRequest, CallRm>(action);
    if (allocate == nullptr || allocate->ask.empty()) return;
    yarn::ResourceRequest row = allocate->ask.front();
    row.priority = 99;
    row.num_containers = -1;
    allocate->ask.push_back(std::move(row));
  });
  ExpectCaught(kTwoWorkers, doubles, "good-citizen");
}

TEST(CanaryAmTest, AnAskWithoutPriorityBreaksGoodCitizen) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    auto* allocate = RequestIn<yarn::AllocateRequest, CallRm>(action);
    if (allocate == nullptr) return;
    for (yarn::ResourceRequest& row : allocate->ask) row.priority.reset();
  });
  ExpectCaught(kTwoWorkers, doubles, "good-citizen");
}

// A process that is sent to a peer's port: in a simulation without its own ports it would even
// work.
TEST(CanaryAmTest, AnAmThatMixesUpPortsBreaksOwnAddress) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    auto* send = std::get_if<SendToAgent>(&action);
    auto* start = send == nullptr ? nullptr : std::get_if<StartProcess>(&send->message);
    if (start == nullptr) return;
    ClusterSpec spec = *start->spec.get();
    spec.tasks["worker"][static_cast<std::size_t>(start->fence.task.index)].host = "n-9";
    start->spec = Share(std::move(spec));
  });
  ExpectCaught(kTwoWorkers, doubles, "own-address");
}

// It believes what storage answers; what it wrote is nothing that a successor can read.
TEST(CanaryAmTest, AnAmThatWritesRubbishBreaksDurableBeforeVisible) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    if (auto* append = std::get_if<AppendJournal>(&action)) append->bytes = "?";
  });
  ExpectCaught(kTwoWorkers, doubles, "durable-before-visible");
}

TEST(CanaryAmTest, AnAmThatLeavesNoTimeToEndBreaksLimitsKept) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    auto* send = std::get_if<SendToAgent>(&action);
    auto* stop = send == nullptr ? nullptr : std::get_if<StopProcess>(&send->message);
    if (stop != nullptr) stop->grace = 3s;
  });
  ExpectCaught(kWorkerFails, doubles, "limits-kept");
}

TEST(CanaryAmTest, AnAmThatNamesAnotherRuleBreaksRuleMatchesCause) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    if (auto* verdict = std::get_if<VerdictReached>(&action))
      verdict->rule = "default/node-lost-exhausted";
  });
  ExpectCaught(kWorkerFails, doubles, "rule-matches-cause");
}

TEST(CanaryAmTest, AnAmThatTakesTheWrongBudgetBreaksReferenceVerdict) {
  const Doubles doubles = SpoiledAm([](AmAction& action) {
    if (auto* decision = std::get_if<RestartDecided>(&action))
      decision->paid = Budget::kInfrastructure;
  });
  ExpectCaught(kWorkerFails, doubles, "reference-verdict");
}

}  // namespace
}  // namespace tfyarn::sim::canary_am_test
