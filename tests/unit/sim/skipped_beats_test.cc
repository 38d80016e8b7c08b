// Runs in which skipping idle heartbeats once changed what was decided
// (docs/decisions/0001-elision.md). Each found by exploration; the digest must be the same with
// every heartbeat carried.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim {
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

}  // namespace
}  // namespace tfyarn::sim
