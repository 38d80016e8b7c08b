// RunOptions::future: the same run up to a moment, and another one after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/trace/json.h"
#include "tests/unit/sim/small_run.h"

namespace tfyarn::sim::future_test {
namespace {

constexpr const char* kRandomFaults = R"(name: random-faults
horizon: 6h
cluster: {nodes: [{name: n, count: 4, resources: {memory: 64GiB, vcores: 8}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 3, memory: 4GiB, placement: {spread: node}}}
    training: {steps: 600, step_time: 1s, checkpoint: {every: 60s}}
faults:
  - {kind: node_crash, every: {dist: exponential, mean: 4m}, for: 1m, target: {random: 1, of: nodes}}
)";

/// Nothing in it is left to chance.
constexpr const char* kFixed = R"(name: fixed
horizon: 6h
cluster: {nodes: [{name: n, count: 2, resources: {memory: 64GiB, vcores: 8}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 4GiB}}
    training: {steps: 60, step_time: 1s}
)";

std::string TextOf(const trace::TraceRecord& record) {
  return trace::RecordJson(record);
}

/// How many records are the same from the beginning on.
std::size_t SameFromTheStart(const SmallRun& left, const SmallRun& right) {
  const auto& a = left.records();
  const auto& b = right.records();
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && TextOf(a[same]) == TextOf(b[same])) ++same;
  return same;
}

std::size_t RecordsUntil(const SmallRun& run, Instant at) {
  return static_cast<std::size_t>(
      std::count_if(run.records().begin(), run.records().end(),
                    [&](const trace::TraceRecord& record) { return record.at <= at; }));
}

TEST(FutureTest, WhatHappenedUntilThenIsTheSame) {
  const SmallRun run(kRandomFaults);
  const Instant from = Instant{} + 300s;
  const SmallRun other(kRandomFaults, true, {}, Future{.from = from, .seed = 7});
  EXPECT_GE(SameFromTheStart(run, other), RecordsUntil(run, from));
  EXPECT_NE(run.result.digest, other.result.digest);
}

TEST(FutureTest, RandomFaultsStrikeAtOtherTimes) {
  const SmallRun run(kRandomFaults);
  const SmallRun one(kRandomFaults, true, {}, Future{.from = Instant{}, .seed = 7});
  const SmallRun two(kRandomFaults, true, {}, Future{.from = Instant{}, .seed = 8});
  EXPECT_NE(run.When<trace::FaultBegan>(), one.When<trace::FaultBegan>());
  EXPECT_NE(one.When<trace::FaultBegan>(), two.When<trace::FaultBegan>());
}

TEST(FutureTest, TheSameFutureIsTheSame) {
  const Future future{.from = Instant{} + 100s, .seed = 7};
  EXPECT_EQ(SmallRun(kRandomFaults, true, {}, future).result.digest,
            SmallRun(kRandomFaults, true, {}, future).result.digest);
}

TEST(FutureTest, SkippedHeartbeatsChangeNothingInItEither) {
  const Future future{.from = Instant{} + 20s, .seed = 7};
  EXPECT_EQ(SmallRun(kFixed, true, {}, future).result.digest,
            SmallRun(kFixed, false, {}, future).result.digest);
}

/// kRandomFaults with these futures of its own.
std::string WithFutures(const std::string& futures) {
  return std::string(kRandomFaults) + "futures: " + futures + "\n";
}

TEST(FutureTest, AScenariosOwnFutureIsTheSameAsOneThatIsAskedFor) {
  const SmallRun asked(kRandomFaults, true, {}, Future{.from = Instant{} + 300s, .seed = 7});
  const SmallRun own(WithFutures("[{from: 5m, seed: 7}]"));
  EXPECT_EQ(asked.When<trace::FaultBegan>(), own.When<trace::FaultBegan>());
  EXPECT_EQ(asked.Ordered<VerdictReached>(), own.Ordered<VerdictReached>());
}

TEST(FutureTest, EachFutureOfAScenarioBeginsInTheOneBefore) {
  const Instant second = Instant{} + 10min;
  const SmallRun one(WithFutures("[{from: 5m, seed: 7}]"));
  const SmallRun two(WithFutures("[{from: 5m, seed: 7}, {from: 10m, seed: 8}]"));
  const auto until = [&](const SmallRun& run) {
    Times times = run.When<trace::FaultBegan>();
    std::erase_if(times, [&](double at) { return at > SecondsOf(second); });
    return times;
  };
  EXPECT_EQ(until(one), until(two));
  EXPECT_NE(one.When<trace::FaultBegan>(), two.When<trace::FaultBegan>());
}

TEST(FutureTest, AFutureThatIsAskedForTakesThePlaceOfThoseAfterIt) {
  const Future future{.from = Instant{} + 400s, .seed = 9};
  const SmallRun one(WithFutures("[{from: 5m, seed: 7}]"), true, {}, future);
  const SmallRun two(WithFutures("[{from: 5m, seed: 7}, {from: 10m, seed: 8}]"), true, {}, future);
  EXPECT_EQ(one.When<trace::FaultBegan>(), two.When<trace::FaultBegan>());
}

TEST(FutureTest, SkippedHeartbeatsChangeNothingInSeveralEither) {
  const std::string text = WithFutures("[{from: 20s, seed: 7}, {from: 5m, seed: 8}]");
  EXPECT_EQ(SmallRun(text).result.digest, SmallRun(text, false).result.digest);
}

TEST(FutureTest, DelaysThatAreConstantsVary) {
  const SmallRun run(kFixed);
  const SmallRun other(kFixed, true, {}, Future{.from = Instant{}, .seed = 7});
  EXPECT_NE(run.Ordered<VerdictReached>(), other.Ordered<VerdictReached>());
}

}  // namespace
}  // namespace tfyarn::sim::future_test
