// What a run reaches: probes, and the tables that the host fills.
#include "sim/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "core/model/probe.h"
#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim::coverage_test {
namespace {

using testing::Contains;
using testing::Not;

std::set<std::string> NamesOf(const Coverage& coverage) {
  std::set<std::string> names;
  for (const ReachedCell& one : coverage.reached()) names.insert(NameOf(one.cell));
  return names;
}

constexpr const char* kNodeDies = R"(name: node-dies
horizon: 6h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 8}}]}
yarn: {expiry: {nm: 3s}}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 4GiB, placement: {spread: node}}}
    training: {steps: 600, step_time: 1s, checkpoint: {every: 60s}}
faults:
  - {kind: node_crash, when: {job: a, state: running}, after: 10s, target: {job: a, task: "worker:1"}, for: 20m}
  - {kind: hdfs_slow, when: {fault: 0}, after: 1s, factor: 2, for: 1m}
)";

// ---------------------------------------------------------------- probes

TEST(ProbesTest, EveryPlaceHasANameOfItsOwn) {
  const std::regex form("[a-z-]+(/[a-z-]+)?/[a-z0-9-]+");
  std::set<std::string> names;
  for (const ProbeSite* probe : AllProbes()) {
    EXPECT_TRUE(names.insert(probe->name()).second) << probe->name() << " stands in two places";
    EXPECT_TRUE(std::regex_match(probe->name(), form)) << probe->name();
  }
  EXPECT_GE(names.size(), 200U);
}

TEST(ProbesTest, APlaceIsPassedOnceUntilItIsForgotten) {
  ForgetProbes();
  EXPECT_EQ(PassedProbes(), 0U);
  for (int i = 0; i < 3; ++i) TF_PROBE("test/first");
  TF_PROBE("test/second");
  EXPECT_EQ(PassedProbes(), 2U);
  const auto rank = [](std::string_view name) {
    const auto found = std::find_if(AllProbes().begin(), AllProbes().end(),
                                    [&](const ProbeSite* probe) { return probe->name() == name; });
    return (*found)->rank();
  };
  EXPECT_EQ(rank("test/first"), 1U);
  EXPECT_EQ(rank("test/second"), 2U);
  ForgetProbes();
  EXPECT_EQ(rank("test/first"), 0U);
}

// ---------------------------------------------------------------- cells

TEST(CellsTest, EveryCellHasANameThatLeadsBackToIt) {
  std::set<std::string> names;
  for (Cell cell = 0; cell < CellCount(); ++cell) {
    const std::string name = NameOf(cell);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(CellNamed(name), cell);
  }
  EXPECT_EQ(CellNamed("no/such/cell"), std::nullopt);
}

TEST(CoverageTest, ARunReachesWhatItsMachinesHear) {
  Coverage coverage;
  const SmallRun run(kNodeDies, true, {}, {}, &coverage);
  const std::set<std::string> names = NamesOf(coverage);
  EXPECT_THAT(names, Contains("am/registering/RegisterAgent"));
  EXPECT_THAT(names, Contains("am/running/rm-nodes"));
  EXPECT_THAT(names, Contains("agent/connected.running/StopProcess"));
  EXPECT_THAT(names, Contains("fault/node_crash/running"));
  EXPECT_THAT(names, Contains("faults/node_crash+hdfs_slow"));
  EXPECT_THAT(names, Contains("restart/node-lost/infrastructure"));
  EXPECT_THAT(names, Contains("rule/default/success"));
  EXPECT_THAT(names, Contains("times/epochs/2"));
  EXPECT_THAT(names, Contains("times/task-starts/2"));
  EXPECT_THAT(names, Not(Contains("times/am-attempts/2")));
  EXPECT_THAT(names, Contains("failover/blame-window-begins"));
  EXPECT_THAT(names, Contains("policy/default/restart-gang"));
  EXPECT_THAT(names, Contains("verdict/default/success"));
  EXPECT_THAT(names, Not(Contains("recovery/takes-over")));
  EXPECT_THAT(names, Not(Contains("faults/hdfs_slow+node_crash")));
}

TEST(CoverageTest, ACellHasTheTimeOfItsFirstTime) {
  Coverage coverage;
  const SmallRun run(kNodeDies, true, {}, {}, &coverage);
  const auto at = [&](std::string_view name) {
    for (const ReachedCell& one : coverage.reached()) {
      if (NameOf(one.cell) == name) return SecondsOf(one.at);
    }
    return -1.0;
  };
  EXPECT_EQ(at("fault/node_crash/running"), run.When<trace::FaultBegan>().front());
  EXPECT_GT(at("restart/node-lost/infrastructure"), at("fault/node_crash/running"));
  EXPECT_EQ(at("rule/default/success"), run.Ordered<VerdictReached>().front());
}

TEST(CoverageTest, ItIsTheSameWhetherIdleBeatsAreSkippedOrNot) {
  Coverage skipped;
  const SmallRun run(kNodeDies, true, {}, {}, &skipped);
  const std::vector<ReachedCell> reached = skipped.reached();
  Coverage every;
  const SmallRun other(kNodeDies, false, {}, {}, &every);
  EXPECT_EQ(reached, every.reached());
}

TEST(CoverageTest, CollectingChangesNothing) {
  Coverage coverage;
  const SmallRun with(kNodeDies, true, {}, {}, &coverage);
  const SmallRun without(kNodeDies);
  EXPECT_EQ(with.result.digest, without.result.digest);
}

TEST(CoverageTest, TheNextRunBeginsWithNothing) {
  Coverage first;
  const SmallRun run(kNodeDies, true, {}, {}, &first);
  const std::vector<ReachedCell> reached = first.reached();
  Coverage second;
  EXPECT_TRUE(second.reached().empty());
  const SmallRun again(kNodeDies, true, {}, {}, &second);
  EXPECT_EQ(second.reached(), reached);
}

}  // namespace
}  // namespace tfyarn::sim::coverage_test
