#include "core/trace/ensemble.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/trace/json.h"

namespace tfyarn::trace::ensemble_test {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

RunSummary RunOf(std::uint64_t seed, double jct, bool passed = true) {
  return {.seed = seed,
          .verdict = passed ? Verdict::kPassed : Verdict::kFailed,
          .exit_code = passed ? 0 : 20,
          .reason = passed ? "" : "why",
          .deadlocked = !passed,
          .metrics = {{.name = "jct_mean_seconds", .value = jct},
                      {.name = "goodput", .value = std::nullopt}},
          .expectations = {{.text = "fast", .passed = passed, .got = "slow"}}};
}

TEST(EnsembleTest, FiguresAreOverTheRunsThatHaveThem) {
  CellBuilder builder(Settings{});
  for (const auto& run : {RunOf(1, 10), RunOf(2, 20), RunOf(3, 30), RunOf(4, 40, false)})
    builder.Add(run, "again");
  const Cell cell = builder.Finish();
  EXPECT_EQ(cell.runs, 4U);
  EXPECT_EQ(cell.deadlock_rate, 0.25);
  EXPECT_EQ(cell.pass_rate, 0.75);
  ASSERT_EQ(cell.metrics.size(), 1U);
  const Spread& spread = cell.metrics[0].second;
  EXPECT_EQ(spread.count, 4U);
  EXPECT_EQ(spread.mean, 25);
  EXPECT_NEAR(spread.sd, 12.909944, 1e-6);
  EXPECT_EQ(spread.min, 10);
  EXPECT_EQ(spread.p50, 20);
  EXPECT_EQ(spread.p99, 40);
  EXPECT_EQ(spread.max, 40);
  ASSERT_EQ(cell.failed.size(), 1U);
  EXPECT_EQ(cell.failed[0].seed, 4U);
  EXPECT_FALSE(cell.expectations[0].passed);
  EXPECT_EQ(cell.expectations[0].got, "held in 3 of 4 runs; seed 4: slow");
}

TEST(EnsembleTest, ASeedThatFailsInTwoCellsAreTwoFailedRuns) {
  CellBuilder all(Settings{});
  all.Add(RunOf(4, 10, false), "first cell");
  all.Add(RunOf(4, 20, false), "second cell");
  const Cell cell = all.Finish();
  EXPECT_EQ(cell.failed_runs, 2U);
  ASSERT_EQ(cell.failed.size(), 2U);
  EXPECT_EQ(cell.failed[0].replay, "first cell");
  EXPECT_EQ(cell.failed[1].replay, "second cell");
}

TEST(EnsembleTest, TheOrderOfRunsChangesNoFigure) {
  CellBuilder forward(Settings{}), backward(Settings{});
  for (int i = 1; i <= 50; ++i) forward.Add(RunOf(static_cast<std::uint64_t>(i), 1.0 / i), "");
  for (int i = 50; i >= 1; --i) backward.Add(RunOf(static_cast<std::uint64_t>(i), 1.0 / i), "");
  EXPECT_EQ(forward.Finish().metrics[0].second.mean, backward.Finish().metrics[0].second.mean);
  EXPECT_EQ(forward.Finish().metrics[0].second.sd, backward.Finish().metrics[0].second.sd);
}

TEST(EnsembleTest, AFigureIsFoundByNameAndMeansItsMean) {
  CellBuilder builder(Settings{{"p", "v"}});
  builder.Add(RunOf(1, 10), "");
  builder.Add(RunOf(2, 20), "");
  const Cell cell = builder.Finish();
  EXPECT_EQ(LookupCell(cell, "jct_mean_seconds"), 15);
  EXPECT_EQ(LookupCell(cell, "jct_mean_seconds.max"), 20);
  EXPECT_EQ(LookupCell(cell, "deadlock_rate"), 0);
  EXPECT_EQ(LookupCell(cell, "goodput"), std::nullopt);
  EXPECT_EQ(LookupCell(cell, "nonsense"), std::nullopt);
}

TEST(EnsembleTest, TheDocumentHasTheNamesOfTheContract) {
  CellBuilder builder(Settings{{"defaults.gang.policy", "hold"}});
  builder.Add(RunOf(4, 40, false), "tfsim run f.yaml --seed 4");
  Ensemble ensemble{.scenario = "s", .all = builder.Finish(), .cells = {builder.Finish()}};
  const auto json = nlohmann::json::parse(EnsembleJson(ensemble));
  for (const char* name :
       {"schema", "runs", "deadlock_rate", "metrics", "failed", "expectations", "cells"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
  for (const char* name : {"count", "mean", "sd", "min", "p50", "p99", "max"}) {
    EXPECT_TRUE(json["metrics"]["jct_mean_seconds"].contains(name)) << name;
  }
  EXPECT_EQ(json["failed_runs"], 1);
  EXPECT_EQ(json["failed"][0]["replay"], "tfsim run f.yaml --seed 4");
  EXPECT_EQ(json["cells"][0]["set"]["defaults.gang.policy"], "hold");
}

}  // namespace
}  // namespace tfyarn::trace::ensemble_test
