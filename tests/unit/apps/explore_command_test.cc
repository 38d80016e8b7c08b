// `tfsim explore` as a whole, with a simulator behind it in which some faults break something.
#include "apps/cli/explore_command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "apps/cli/exit_codes.h"

namespace tfyarn::cli {
namespace {

bool Has(const config::Scenario& scenario, std::string_view kind) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [&](const config::FaultSpec& fault) { return fault.kind == kind; });
}

/// A node's crash breaks `capacity`; a restart of the RM crashes the simulator.
sim::RunOutcome Brittle(const config::Scenario& scenario, const sim::RunOptions&) {
  sim::RunOutcome outcome;
  if (Has(scenario, "rm_restart")) {
    std::cerr << "sim/somewhere.cc:12: check failed: rm_ != nullptr" << std::endl;
    std::abort();
  }
  if (Has(scenario, "node_crash")) {
    outcome.result.invariants.push_back({.name = "capacity",
                                         .checked = 1,
                                         .violations = 1,
                                         .off_because = "",
                                         .first_at = Instant{} + 3s,
                                         .first_detail = "n-1 holds 3 of 2 GPUs"});
  }
  return outcome;
}

class ExploreCommandTest : public testing::Test {
 protected:
  ExploreCommandTest() {
    std::string name = testing::TempDir() + "/tfsim-explore-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    arguments_.out = (directory_ / "out").string();
    arguments_.quiet = true;
    arguments_.seconds = 0;
    arguments_.runs = 300;
    arguments_.seed = 3;
    arguments_.at_once = 2;
  }
  ~ExploreCommandTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] int Explore() {
    return ExploreCommand(arguments_, {.run = Brittle, .version = "test"});
  }
  /// All findings, one after the other.
  [[nodiscard]] std::string Findings() const {
    std::string all;
    for (int i = 1; i <= 9; ++i) {
      std::ifstream file(directory_ / "out" / ("finding-" + std::to_string(i) + ".yaml"));
      std::ostringstream text;
      text << file.rdbuf();
      all += text.str();
    }
    return all;
  }
  static std::size_t Count(const std::string& text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++count;
    return count;
  }

  std::filesystem::path directory_;
  ExploreArguments arguments_;
};

TEST_F(ExploreCommandTest, EachProblemIsToldOnceAndShrunk) {
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  const std::string findings = Findings();
  EXPECT_EQ(Count(findings, "invariant capacity: n-1 holds 3 of 2 GPUs (at 3s)"), 1U);
  EXPECT_EQ(Count(findings, "the simulator crashed: signal 6 (Aborted): sim/somewhere.cc:12"), 1U);
  EXPECT_EQ(Count(findings, "schema: tfsim/v1"), 2U);
  // Nothing but the fault that does it is left.
  EXPECT_EQ(Count(findings, "kind: "), 2U);
  EXPECT_EQ(Count(findings, "Found by tfsim explore --seed 3, run "), 2U);
}

TEST_F(ExploreCommandTest, TheSameSeedFindsTheSame) {
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  const std::string first = Findings();
  arguments_.at_once = 1;
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  EXPECT_EQ(Findings(), first);
}

TEST_F(ExploreCommandTest, StopsAfterTheFirstFindingWhateverRunsBesideIt) {
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  const std::string all = Findings();
  arguments_.stop_after = 1;
  std::filesystem::remove_all(arguments_.out);
  EXPECT_NE(Explore(), ToInt(ExitCode::kOk));
  const std::string first = Findings();
  EXPECT_EQ(Count(first, "schema: tfsim/v1"), 1U);
  EXPECT_TRUE(all.starts_with(first));
}

TEST_F(ExploreCommandTest, WhatIsKnownIsNoFinding) {
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  arguments_.known = arguments_.out;
  arguments_.out = (directory_ / "again").string();
  EXPECT_EQ(Explore(), ToInt(ExitCode::kOk));
  arguments_.known = (directory_ / "nowhere").string();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvalidInput));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nowhere: No such file"),
            std::string::npos);
}

TEST_F(ExploreCommandTest, OfAScenarioOnlyFaultsAndSeedsAreDrawn) {
  const std::string file = (directory_ / "mine.yaml").string();
  std::ofstream(file) << R"(schema: tfsim/v1
name: mine
cluster: {nodes: [{name: mine, count: 2, resources: {memory: 8GiB, vcores: 8}}]}
jobs: [{name: mine, tasks: {worker: {instances: 1, memory: 1GiB}}}]
expect: [{job: mine, status: FAILED}]
)";
  arguments_.inputs = {file};
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  EXPECT_EQ(Count(Findings(), "name: mine\n"), 6U);  // Scenario, node class and job, twice.
  EXPECT_EQ(Count(Findings(), "expect:"), 0U);
}

TEST_F(ExploreCommandTest, OfAFolderWhatIsNoScenarioIsToldAndLeftOut) {
  std::ofstream(directory_ / "cluster.yaml")
      << "cluster: {nodes: [{name: mine, count: 2, resources: {memory: 8GiB, vcores: 8}}]}\n";
  arguments_.inputs = {directory_.string()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvalidInput));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no scenario (*.yaml) in "),
            std::string::npos);
  std::ofstream(directory_ / "mine.yaml") << R"(schema: tfsim/v1
name: mine
include: [cluster.yaml]
jobs: [{name: mine, tasks: {worker: {instances: 1, memory: 1GiB}}}]
)";
  testing::internal::CaptureStderr();
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvariantBroken));
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(told.starts_with("tfsim: left out " + directory_.string() + "/cluster.yaml:1:1: "))
      << told;
  EXPECT_EQ(Count(told, "\n"), 1U);
  EXPECT_EQ(Count(Findings(), "name: mine\n"), 6U);
}

TEST_F(ExploreCommandTest, AFileThatIsWrongIsToldAndNothingRuns) {
  arguments_.inputs = {(directory_ / "none.yaml").string()};
  EXPECT_EQ(Explore(), ToInt(ExitCode::kInvalidInput));
}

}  // namespace
}  // namespace tfyarn::cli
