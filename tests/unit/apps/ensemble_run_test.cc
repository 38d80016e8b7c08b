#include "apps/cli/ensemble_run.h"

#include <gtest/gtest.h>

#include "apps/cli/ensemble_judge.h"

namespace tfyarn::cli::ensemble_run_test {
namespace {

config::Expectation AtMost(const std::string& metric, double most,
                           std::map<std::string, std::string> where = {}) {
  config::Expectation expectation;
  expectation.text = metric;
  expectation.all_of = {
      {.metric = metric, .op = config::ExpectOp::kAtMost, .low = 0, .high = most, .words = {}}};
  expectation.where = std::move(where);
  return expectation;
}

TEST(EnsembleRunTest, CellsAreEveryCombinationWithTheLastPathFastest) {
  config::SweepSpec sweep;
  sweep.matrix = {{"a", {"1", "2"}}, {"b", {"x", "y"}}};
  EXPECT_EQ(CellsOf(sweep), (std::vector<CellSettings>{{{"a", "1"}, {"b", "x"}},
                                                       {{"a", "1"}, {"b", "y"}},
                                                       {{"a", "2"}, {"b", "x"}},
                                                       {{"a", "2"}, {"b", "y"}}}));
  EXPECT_EQ(CellsOf(std::nullopt), std::vector<CellSettings>{{}});
}

TEST(EnsembleRunTest, AnExpectationAboutACellIsJudgedOnThatCell) {
  trace::Ensemble ensemble;
  ensemble.cells = {{.set = {{"policy", "hold"}}, .runs = 10, .deadlock_rate = 0.5},
                    {.set = {{"policy", "all"}}, .runs = 10, .deadlock_rate = 0}};
  ensemble.all = {.set = {}, .runs = 20, .deadlock_rate = 0.25};
  const auto results =
      JudgeEnsemble({AtMost("deadlock_rate", 0, {{"policy", "all"}}), AtMost("deadlock_rate", 0),
                     AtMost("deadlock_rate", 0, {{"policy", "none"}}), AtMost("job/a.epochs", 1)},
                    ensemble);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[0].passed);
  EXPECT_FALSE(results[1].passed);
  EXPECT_EQ(results[1].got, "0.25");
  EXPECT_FALSE(results[2].passed);
}

TEST(EnsembleRunTest, TheWorstRunDecidesTheExitCode) {
  trace::Ensemble ensemble;
  Judge(ensemble);
  EXPECT_EQ(ensemble.exit_code, 0);
  ensemble.all.failed = {{.seed = 1, .exit_code = 10, .reason = "job"}};
  Judge(ensemble);
  EXPECT_EQ(ensemble.exit_code, 10);
  ensemble.expectations = {{.text = "t", .passed = false, .got = "g"}};
  Judge(ensemble);
  EXPECT_EQ(ensemble.exit_code, 20);
  ensemble.all.failed.push_back({.seed = 2, .exit_code = 21, .reason = "invariant"});
  Judge(ensemble);
  EXPECT_EQ(ensemble.exit_code, 21);
}

TEST(EnsembleRunTest, FiguresOfManyRunsAreToldFromThoseOfOne) {
  for (const char* name :
       {"deadlock_rate", "pass_rate", "runs", "jct_mean_seconds.p99", "goodput.sd"}) {
    EXPECT_TRUE(IsAboutEnsemble(AtMost(name, 1))) << name;
  }
  for (const char* name :
       {"goodput", "job/a.max", "job/v1.2.epochs", "metrics.goodput", "fault/0.at"}) {
    EXPECT_FALSE(IsAboutEnsemble(AtMost(name, 1))) << name;
  }
}

}  // namespace
}  // namespace tfyarn::cli::ensemble_run_test
