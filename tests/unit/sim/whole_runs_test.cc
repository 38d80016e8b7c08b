// Whole runs that say something wrong of the simulator or of a checker, not of the job.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/load.h"
#include "sim/run.h"

namespace tfyarn::sim::whole_runs_test {
namespace {

config::Scenario Load(std::string_view text) {
  return config::LoadScenarioText(std::string(text), "run.yaml").value();
}

/// The first invariant that broke; "" = none did.
std::string BrokenIn(const trace::Result& result) {
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations > 0) return invariant.name + ": " + invariant.first_detail;
  }
  return "";
}

// A partition keeps the ApplicationMaster and its agent from all the world but each other; the
// next one, elsewhere, has finished the job meanwhile.
TEST(WholeRunsTest, AnAmThatWasReplacedHearsItsAgentAlsoWhenTheNextOneIsGone) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: replaced
cluster:
  nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 3}}]
  network: {latency: 90ms}
yarn: {scheduler: gang}
jobs:
  - name: a
    tasks: {worker: {memory: 1GiB}}
  - name: b
    tasks: {worker: {memory: 2GiB}}
faults:
  - {kind: partition, between: [{am: b}], at: 1900ms}
  - {kind: node_decommission, target: {node: n-1}, at: 1990001us}
)");
  const std::string skipped = RunScenario(scenario, {.seed = 1}).result.digest;
  EXPECT_EQ(RunScenario(scenario, {.seed = 1, .elide = false}).result.digest, skipped);
}

// The ResourceManager hears in one heartbeat that the tasks on a node run, and that the
// ApplicationMaster there has ended: they are kept.
TEST(WholeRunsTest, AHeartbeatTellsWhatRunsBeforeWhatHasEnded) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: one-heartbeat
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 1GiB}}
    training: {steps: 600, step_time: 100ms}
faults:
  - {kind: nm_heartbeat_loss, when: {job: a, task: "worker:0", state: registered}, target: {node: n}, for: 7s}
  - {kind: am_crash, when: {job: a, state: running}, after: 6s, target: {am: a}}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).status, JobStatus::kSucceeded);
  EXPECT_EQ(result.jobs.at(0).am_attempts, 2);
  EXPECT_EQ(result.jobs.at(0).epochs, 1);
  EXPECT_EQ(BrokenIn(result), "");
}

// The worker waits by `depends`, and what it waits for is no part of the training by its class: the
// job counts as running before any process does.
TEST(WholeRunsTest, TheRunDeadlineDoesNotWaitForASidecar) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: sidecar
cluster:
  nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]
  network: {latency: 200ms}
jobs:
  - name: a
    tasks: {worker: {memory: 3GiB}, prepare: {memory: 2GiB, class: sidecar}}
    depends: [{task: worker, after: prepare, state: succeeded}]
    behavior: [{task: prepare, runs: 5s}]
    deadlines: {run: 1s}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "deadlines/run");
  EXPECT_EQ(BrokenIn(result), "");
}

// A ResourceManager that has restarted grants nothing before its time, also when all nodes are
// back.
TEST(WholeRunsTest, ARestartedRmWaitsAsLongAsItIsTold) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: waits
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]}
yarn: {scheduling_wait: 20s}
jobs:
  - name: a
    tasks: {worker: {memory: 1GiB}}
faults:
  - {kind: rm_restart, when: {job: a, state: allocating}, for: 1s}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).status, JobStatus::kSucceeded);
  EXPECT_GE(result.jobs.at(0).started, Instant(21s));
  EXPECT_EQ(BrokenIn(result), "");
}

// What its own `success` lets be decides nothing, and the evaluator waits for the training.
TEST(WholeRunsTest, AnEvaluatorWaitsForWhatSuccessLetsFail) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: let-be
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 4}}]}
jobs:
  - name: a
    tasks: {worker: {memory: 4GiB}, evaluator: {memory: 6GiB}}
    deadlines: {run: 20m}
    policy: {name: tfjob}
    success: failed(tracked) < 2
    behavior: [{task: worker, signal: KILL}]
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "deadlines/run");
  EXPECT_EQ(BrokenIn(result), "");
}

// The others wait for a worker that has ended well before the training is done: only a deadline
// ends that.
TEST(WholeRunsTest, ATeamThatOneOfThemLeavesStandsStill) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: leaves
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 4}}]}
yarn: {expiry: {am: 10s}}
jobs:
  - name: a
    tasks: {worker: {instances: 3, memory: 2GiB}}
    deadlines: {start: 1s, run: 20m}
    behavior: [{task: "worker:2", attempt: 0, runs: 35ms}]
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "deadlines/run");
  EXPECT_EQ(BrokenIn(result), "");
}

// One answer of the ResourceManager says that both containers of a node are lost: the worker's
// starts the gang again, and a row fails the job for the other one.
TEST(WholeRunsTest, ARowMayFailTheJobForWhatIsToStartAgainWithAnother) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: together
cluster:
  nodes: [{name: n, count: 2, resources: {memory: 8GiB, vcores: 2}}]
yarn: {am_launch: 1s}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 1GiB}, prepare: {memory: 2GiB}}
    on_exit: [{task: prepare, do: fail}]
faults:
  - {kind: hdfs_slow, when: {job: a, state: registering}, factor: 4000, for: 1m}
  - {kind: node_decommission, at: 10s, target: {node: n-2}}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1, .reference = true}).result;
  EXPECT_EQ(BrokenIn(result), "");
}

// The end of a container whose task is to start again already decides nothing.
TEST(WholeRunsTest, ANoticeIsAnsweredBeforeItsContainerEnds) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: notice
cluster:
  nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 4}}]
  network: {latency: {dist: uniform, min: 200ms, max: 600ms}}
yarn: {queues: [{path: root.ml, capacity: 60%}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 4GiB}}
  - name: b
    tasks:
      worker: {memory: 3GiB, placement: {spread: node}}
      evaluator: {memory: 2GiB, vcores: 2}
      tensorboard: {memory: 1GiB, vcores: 2}
    gang: {policy: none}
    training: {steps: 269, step_time: 100ms}
faults:
  - {kind: preempt, at: 531345148us, target: {job: b}, notice: 520ms}
)");
  EXPECT_EQ(BrokenIn(RunScenario(scenario, {.seed = 1, .reference = true}).result), "");
}

// The first worker to end is a victim of the ps that was lost; the next, which started after that,
// could not reach the new one, and that excuse is its own.
TEST(WholeRunsTest, AVictimLeavesTheNextItsExcuse) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: excuse
cluster: {nodes: [{name: n, count: 3, resources: {memory: 8GiB, vcores: 4}}]}
jobs:
  - name: a
    tasks: {ps: {memory: 1GiB}, worker: {instances: 2, memory: 2GiB}}
    behavior:
      - {task: "ps:0", attempt: 0, runs: 37ms, exit: 137}
      - start: 98ms
        exit: 1
        says: "UnavailableError: failed to connect to all addresses; from remote target /job:ps/replica:0/task:0: "
)");
  EXPECT_EQ(BrokenIn(RunScenario(scenario, {.seed = 1, .reference = true}).result), "");
}

// All that was paid within a window of less than two seconds counts when the verdict is judged.
TEST(WholeRunsTest, TheCheckerOfVerdictsKnowsWhatAShortWindowHolds) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: window
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]}
jobs:
  - name: a
    tasks: {worker: {memory: 1GiB}}
    retries: {user: 2, window: 1900ms}
    on_exit: [{exit: [0], do: restart-gang}]
    training: {steps: 1, step_time: 100ms, restore: 800ms}
    behavior: [{start: 100ms}]
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "default/ok-exhausted");
  EXPECT_EQ(BrokenIn(result), "");
}

// All tracked tasks have ended, and the success is not true yet: the AM has decided. TensorBoard's
// end in the same instant, which would make it true, comes too late.
TEST(WholeRunsTest, AFailureStandsWhenASuccessIsHeardOfBeforeItIsStored) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: stands
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 4}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 4GiB}, tensorboard: {memory: 2GiB}}
    policy: {name: tfjob}
    success: done(tensorboard)
    behavior: [{exit: 1}]
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "tfjob/tracked-ended");
  EXPECT_EQ(BrokenIn(result), "");
}

// The decision waits for an entry that HDFS does not take, and its drain goes on meanwhile: after
// the outage the AM's next try is longer away than the drain.
TEST(WholeRunsTest, ADrainBeginsWithTheDecisionThatWaitsForTheJournal) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: waits
cluster: {nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 32}}]}
jobs:
  - name: a
    tasks: {ps: {memory: 4GiB}, prepare: {memory: 3GiB}}
    behavior: [{task: ps, runs: forever}, {task: prepare, runs: 5700ms}]
    finish: {drain: {ps: 9s}}
faults:
  - {kind: hdfs_down, when: {job: a, state: running}, for: 68s}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).rule, "default/success");
  EXPECT_EQ(BrokenIn(result), "");
}

// Four answers in a row do not come to a node: it hears 80 s late that the job was killed.
TEST(WholeRunsTest, WhatIsLeftOfAJobWaitsForTheAnswersThatAreYetToBeDropped) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: answers
cluster: {nodes: [{name: n, count: 2, resources: {memory: 8GiB, vcores: 4}}]}
yarn: {expiry: {nm: 5s}}
jobs:
  - name: a
    tasks: {worker: {instances: 4, memory: 3GiB}}
    training: {steps: 6000, step_time: 100ms}
faults:
  - {kind: rm_drop_response, at: 20s, target: {node: n-2}, count: 4}
  - {kind: client_kill, at: 22s, target: {job: a}}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 1}).result;
  EXPECT_EQ(result.jobs.at(0).status, JobStatus::kKilled);
  EXPECT_EQ(BrokenIn(result), "");
}

// With this seed the last call of a node that is cut off is lost just before the cut ends: the node
// calls again 20 s later, and hears only then that the job is over.
TEST(WholeRunsTest, WhatIsLeftOfAJobWaitsForANodeThatWasCutOff) {
  const config::Scenario scenario = Load(R"(
schema: tfsim/v1
name: cut-off
horizon: 1571939224ms
cluster:
  nodes: [{name: n, count: 3, resources: {memory: 64GiB, vcores: 4}}]
  network: {latency: {dist: uniform, min: 34ms, max: 100ms}}
yarn:
  expiry: {nm: 5s}
  localize: {dist: uniform, min: 100ms, max: 300ms}
  launch: {dist: uniform, min: 200ms, max: 750ms}
jobs:
  - name: a
    tasks: {chief: {memory: 1GiB}, worker: {memory: 1GiB}, prepare: {memory: 2GiB}}
    deadlines: {stop: 400ms}
    submit: 780ms
  - name: b
    tasks: {worker: {instances: 2, memory: 1GiB}}
    submit: 700ms
faults:
  - {kind: partition, at: 5373987us, between: [{job: a, task: "chief:0"}], for: 44s}
)");
  const trace::Result result = RunScenario(scenario, {.seed = 804190}).result;
  EXPECT_EQ(result.jobs.at(0).status, JobStatus::kSucceeded);
  EXPECT_EQ(BrokenIn(result), "");
}

}  // namespace
}  // namespace tfyarn::sim::whole_runs_test
