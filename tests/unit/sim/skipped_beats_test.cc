// Runs in which skipping idle heartbeats once changed what was decided
// (docs/decisions/0001-elision.md). Each found by exploration; the digest must be the same with
// every heartbeat carried.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim::skipped_beats_test {
namespace {

void ExpectSame(const std::string& scenario) {
  const SmallRun skipped(scenario);
  const SmallRun carried(scenario, /*elide=*/false);
  EXPECT_EQ(skipped.result.digest, carried.result.digest);
  EXPECT_EQ(skipped.job().status, JobStatus::kSucceeded);
}

TEST(SkippedBeatsTest, AnAnswerThatIsRepeatedHasNoNewsSinceTheFirst) {
  ExpectSame(R"(name: repeated
horizon: 1h
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 32}}]}
jobs: [{name: a, tasks: {worker: {memory: 4GiB}}}]
faults: [{kind: rm_drop_response, method: Allocate}]
)");
}

// The node counts its beats from the one that it sent again after 20 s without an answer.
TEST(SkippedBeatsTest, ANodeThatBeatsAgainIsExpectedAPeriodAfterThat) {
  ExpectSame(R"(name: again
seed: 1
horizon: 1h
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]}
yarn: {scheduler: capacity, heartbeat: {nm: 260ms}}
jobs: [{name: a, tasks: {worker: {memory: 3GiB}}, submit: 20700ms}]
faults: [{kind: loss, at: 7400us, for: 500ms, loss: 0.5}]
)");
}

TEST(SkippedBeatsTest, AnAgentWhoseFirstAnswerIsLateLooksForItsAm) {
  ExpectSame(R"(name: late
horizon: 1h
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 4}}], network: {latency: 200ms}}
jobs: [{name: a, tasks: {worker: {memory: 4GiB}}, heartbeat: {every: 100ms}}]
)");
}

TEST(SkippedBeatsTest, ANodeManagerThatHasShutDownBeatsNoMore) {
  ExpectSame(R"(name: gone
seed: 194132
horizon: 1h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 1}}], network: {latency: 200ms}}
jobs: [{name: a, tasks: {worker: {memory: 4GiB}}}]
faults: [{kind: node_decommission, at: 1s, target: {rack: r1}, for: 6600ms}]
)");
}

// A node kills what it was told to end in the very instant in which the answer to a skipped beat
// has come: what ended first is told at once.
TEST(SkippedBeatsTest, AnAnswerOfThisInstantIsNotUnderWay) {
  ExpectSame(R"(name: kills
horizon: 1h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 8GiB, vcores: 3}}]}
yarn: {scheduler: gang, sigkill_delay: 4s, localize: 35ms}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 2GiB}, evaluator: {memory: 6GiB}}
    training: {steps: 2, step_time: 100ms}
faults:
  - {kind: am_crash, at: 600ms, target: {am: a}}
  - {kind: hang, when: {job: a, message: StartContainers}, after: 300ms, target: {job: a}, state: busy}
  - {kind: rm_restart, at: 800ms, for: 46ms}
)");
}

TEST(SkippedBeatsTest, TheRmHasHeardOfThemWhenAnEarlierCallComesLate) {
  ExpectSame(R"(name: delayed
horizon: 1h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 8GiB, vcores: 4}}]}
jobs: [{name: a, tasks: {worker: {memory: 2GiB}}, training: {steps: 600, step_time: 100ms}}]
faults: [{kind: delay, message: Allocate, delay: 30s, at: 20s}]
)");
}

// Its AM stands still before the first beat to it: the beats to the AM before say nothing of when.
TEST(SkippedBeatsTest, AnAgentBeatsToItsNextAmOnAnotherGrid) {
  ExpectSame(R"(name: grids
horizon: 1h
cluster: {nodes: [{name: n, resources: {memory: 64GiB, vcores: 2}}]}
yarn: {am_max_attempts: 3, launch: 4s}
jobs:
  - name: a
    tasks: {worker: {memory: 3GiB}}
    am: {attempts: 3}
    training: {steps: 600, step_time: 100ms}
    heartbeat: {every: 3200ms}
faults:
  - {kind: am_crash, when: {job: a, state: running}, after: 1m, target: {am: a}}
  - {kind: am_crash, when: {job: a, state: running}, after: 6s, target: {am: a}}
  - {kind: am_pause, target: {am: a}, at: 24900ms, for: 600ms}
)");
}

// The AM has repeated its call when it hears that the RM does not know it, and does not register.
TEST(SkippedBeatsTest, WhatTheRmDoesNotKnowHasNoIdleBeats) {
  ExpectSame(R"(name: unknown
seed: 26621
horizon: 1h
cluster:
  nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 4}}]
  network: {latency: {dist: uniform, min: 89ms, max: 267ms}}
yarn: {localize: 200ms, launch: {dist: uniform, min: 1s, max: 20s}}
jobs:
  - name: a
    tasks: {worker: {instances: 3, memory: 4GiB}}
    training: {steps: 6, step_time: 100ms}
faults:
  - {kind: node_crash, when: {job: a, state: registering}, target: {am: a}, for: 800ms}
  - {kind: am_pause, at: 40s, target: {am: a}}
  - {kind: rm_restart, at: 40s}
)");
}

// It goes on and stands still again before it has read the beats that came meanwhile.
TEST(SkippedBeatsTest, AnAmThatStandsStillAgainHasAnsweredNoBeat) {
  ExpectSame(R"(name: twice
horizon: 1h
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 4}}]}
jobs: [{name: a, tasks: {worker: {instances: 3, memory: 2GiB}}, training: {steps: 600, step_time: 100ms}}]
faults:
  - {kind: am_pause, at: 20s, target: {am: a}, for: 950ms}
  - {kind: am_pause, when: {fault: 0, state: ended}, target: {am: a}, for: 3s}
)");
}

// The agents beat in the same instants, and one of them is heard again as its AM gives it up. The
// AM is a second one: its turn comes after those of its agents.
TEST(SkippedBeatsTest, ABeatAtTheDeadlineIsLateWhoeverBeatsBeforeIt) {
  ExpectSame(R"(name: late
horizon: 1h
cluster: {nodes: [{name: n, count: 3, resources: {memory: 8GiB, vcores: 4}}]}
jobs:
  - name: a
    am: {memory: 5GiB}
    tasks: {worker: {instances: 2, memory: 6GiB}}
    training: {steps: 900, step_time: 100ms}
faults:
  - {kind: am_crash, at: 20s, target: {am: a}}
  - {kind: loss, at: 60500ms, target: {job: a, task: "worker:1"}, loss: 0.6, for: 30s}
)");
}

// The answer that says how the job has ended comes to a client that is gone.
TEST(SkippedBeatsTest, AClientThatHasNotHeardTheNewsAsksAgain) {
  ExpectSame(R"(name: lost
horizon: 1h
cluster: {network: {latency: 100ms}, nodes: [{name: n, resources: {memory: 64GiB, vcores: 32}}]}
jobs: [{name: a, tasks: {worker: {memory: 4GiB}}}]
faults: [{kind: client_lost, when: {job: a, state: finished}, after: 10ms, target: {job: a}, for: 65ms}]
)");
}

}  // namespace
}  // namespace tfyarn::sim::skipped_beats_test
