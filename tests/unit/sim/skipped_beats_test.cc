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

}  // namespace
}  // namespace tfyarn::sim
