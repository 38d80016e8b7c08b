// Single effects that go wrong: each kind there is, each way in which it can, and what a small job
// then comes to.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "config/load.h"
#include "core/model/text.h"
#include "core/trace/record.h"
#include "sim/damages.h"
#include "sim/effects.h"
#include "sim/run.h"

namespace tfyarn::sim::sabotage_test {
namespace {

/// A gang of two and one that does not train; a worker fails once.
constexpr std::string_view kJob = R"(
schema: tfsim/v1
name: small
horizon: 6h
cluster: {nodes: [{name: n, count: 4, resources: {memory: 16GiB, vcores: 8}}]}
yarn: {am_max_attempts: 4}
jobs:
  - name: a
    am: {attempts: 4}
    tasks: {worker: {instances: 2, memory: 1GiB}, tensorboard: {memory: 1GiB}}
    training: {steps: 200, step_time: 100ms, checkpoint: {every: 5s, cost: 100ms}}
    behavior: [{task: "worker:1", attempt: 0, exit: 137, after: 10s}, {task: tensorboard, runs: forever}]
)";

struct Outcome {
  JobStatus status = JobStatus::kUnfinished;
  std::string broken;  ///< The first invariant.
  EffectCounts census;
  std::int32_t am_attempts = 0;
  std::size_t told = 0;  ///< Effects that went wrong.
};

Outcome RunWith(std::vector<Sabotage> sabotage) {
  static const config::Scenario kScenario =
      config::LoadScenarioText(std::string(kJob), "small.yaml").value();
  Outcome outcome;
  RunOptions options{.seed = 1};
  options.sabotage = std::move(sabotage);
  options.sink = [&](const trace::TraceRecord& record) {
    if (const auto effect = EffectOf(record)) ++outcome.census[*effect];
    if (const auto* began = std::get_if<trace::FaultBegan>(&record.fact))
      outcome.told += static_cast<std::size_t>(began->target.find("of the") != std::string::npos ||
                                               began->kind != "sabotage");
    if (const auto* told = std::get_if<trace::AmTold>(&record.fact))
      outcome.am_attempts = std::max(outcome.am_attempts, told->am_attempt);
  };
  const trace::Result result = RunScenario(kScenario, options).result;
  outcome.status = result.jobs.at(0).status;
  for (const trace::InvariantResult& invariant : result.invariants) {
    if (invariant.violations > 0 && outcome.broken.empty())
      outcome.broken = invariant.name + ": " + invariant.first_detail;
  }
  return outcome;
}

TEST(SabotageTest, EveryKindOfEffectSaysInWhichWaysItCanGoWrong) {
  std::set<EffectName> named;
  for (const EffectRow& row : EffectRows()) {
    for (const std::string& kind : row.kinds)
      EXPECT_TRUE(named.insert({row.actor, kind}).second) << kind << " has two rows";
  }
  for (const EffectName& effect : AllEffects()) {
    EXPECT_TRUE(named.erase(effect) > 0)
        << KebabName(effect.actor) << " " << effect.kind << " has no row in EffectRows()";
  }
  for (const EffectName& left : named) ADD_FAILURE() << left.kind << " is no effect any more";
}

TEST(SabotageTest, ARunWithoutHasEachEffectOnceForItsMachine) {
  const Outcome plain = RunWith({});
  EXPECT_EQ(plain.status, JobStatus::kSucceeded);
  EXPECT_EQ(plain.broken, "");
  EXPECT_EQ(plain.told, 0U);
  EXPECT_EQ(plain.census.at({EffectActor::kAm, "ReadJournal"}), 1U);
  EXPECT_EQ(plain.census.at({EffectActor::kAgent, "SpawnProcess"}), 5U);
  for (const auto& [effect, count] : plain.census)
    EXPECT_NE(SortOf(effect), EffectSort::kUnsent) << effect.kind << " is sent after all";
}

TEST(SabotageTest, AnAppendThatIsLostIsRepeated) {
  const EffectName append{EffectActor::kAm, "AppendJournal"};
  const Outcome plain = RunWith({});
  for (const Damage damage : {Damage::kLost, Damage::kUnanswered, Damage::kTorn}) {
    const Outcome outcome = RunWith({{.effect = append, .nth = 2, .damage = damage, .error = {}}});
    EXPECT_EQ(outcome.told, 1U);
    EXPECT_GT(outcome.census.at(append), plain.census.at(append)) << KebabName(damage);
    EXPECT_EQ(outcome.am_attempts, 1);
  }
}

TEST(SabotageTest, AnAmThatDiesAtAnActionHasASuccessor) {
  const EffectName decided{EffectActor::kAm, "RestartDecided"};
  for (const Damage damage : {Damage::kDies, Damage::kDiesBefore}) {
    const Outcome outcome = RunWith({{.effect = decided, .nth = 1, .damage = damage, .error = {}}});
    EXPECT_EQ(outcome.am_attempts, 2) << KebabName(damage);
  }
}

TEST(SabotageTest, TheRunIsTheSameUpToTheEffect) {
  // An effect that no run has changes nothing but that every heartbeat is carried.
  const Outcome plain = RunWith({});
  const Outcome never = RunWith({{.effect = {EffectActor::kAm, "AppendJournal"}, .nth = 1000}});
  EXPECT_EQ(never.told, 0U);
  EXPECT_EQ(never.census, plain.census);
}

/// Every effect of a run, in every way, one at a time: the first eight and every seventh of a kind.
TEST(SabotageTest, ASmallJobSurvivesEveryEffectThatGoesWrongOnce) {
  const Outcome plain = RunWith({});
  std::size_t runs = 0;
  for (const Sabotage& sabotage : DamagesOf(plain.census)) {
    const Outcome outcome = RunWith({sabotage});
    ++runs;
    EXPECT_EQ(outcome.status, JobStatus::kSucceeded) << DescribeSabotage(sabotage);
    EXPECT_EQ(outcome.broken, "") << DescribeSabotage(sabotage);
    EXPECT_EQ(outcome.told, 1U) << DescribeSabotage(sabotage);
  }
  EXPECT_GT(runs, 200U);
}

}  // namespace
}  // namespace tfyarn::sim::sabotage_test
