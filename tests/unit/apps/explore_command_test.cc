// `tfsim explore` as a whole, with a simulator behind it in which some faults break something.
#include "apps/cli/explore_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "apps/cli/exit_codes.h"
#include "sim/coverage.h"
#include "tests/unit/files.h"

namespace tfyarn::cli::explore_command_test {
namespace {

/// A fault of that kind, apart from the one that the relation unused-node adds.
bool Has(const config::Scenario& scenario, std::string_view kind) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [&](const config::FaultSpec& fault) {
                       const bool added = fault.target && fault.target->name == "unused";
                       return fault.kind == kind && !added;
                     });
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

/// Each kind of fault reaches something of its own; a scenario with another future breaks
/// `capacity`.
sim::RunOutcome Branching(const config::Scenario& scenario, const sim::RunOptions& options) {
  sim::RunOutcome outcome;
  for (std::size_t i = 0; i < scenario.faults.size() && options.coverage != nullptr; ++i) {
    options.coverage->FaultStrikes(Instant{} + 100s, scenario.faults[i].kind, i, true, {{}});
    options.coverage->FaultEnds(i);
  }
  if (scenario.futures.empty()) return outcome;
  outcome.result.invariants.push_back({.name = "capacity",
                                       .checked = 1,
                                       .violations = 1,
                                       .off_because = "",
                                       .first_at = Instant{} + 3s,
                                       .first_detail = "the future is bleak"});
  return outcome;
}

/// Nothing breaks, and of each seed comes another digest.
sim::RunOutcome Different(const config::Scenario& scenario, const sim::RunOptions&) {
  sim::RunOutcome outcome;
  outcome.result.digest = std::to_string(scenario.seed);
  return outcome;
}

class ExploreCommandTest : public testing::Test {
 protected:
  ExploreCommandTest() {
    arguments_.out = (directory_ / "out").string();
    arguments_.quiet = true;
    arguments_.seconds = 0;
    arguments_.runs = Some(300);
    arguments_.seed = 3;
    arguments_.at_once = 2;
  }

  /// Each run is a process, which costs twenty times as much under sanitizers.
  [[nodiscard]] static std::uint64_t Some(std::uint64_t runs) {
    return std::getenv("TFYARN_SANITIZED") == nullptr ? runs : runs / 5;
  }
  [[nodiscard]] int Explore(decltype(Brittle)* simulator = Brittle) {
    return ExploreCommand(arguments_, {.run = simulator, .version = "test"});
  }
  [[nodiscard]] std::string TextOf(const std::string& file) const {
    return ReadFile(directory_ / file);
  }
  /// All findings, one after the other.
  [[nodiscard]] std::string Findings() const {
    std::string all;
    for (int i = 1; i <= 9; ++i) all += TextOf("out/finding-" + std::to_string(i) + ".yaml");
    return all;
  }
  static std::size_t Count(const std::string& text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
      ++count;
    return count;
  }

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
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

TEST_F(ExploreCommandTest, TheDigestOfEachRunIsWrittenInOrder) {
  arguments_.digests = (directory_ / "digests").string();
  EXPECT_EQ(Explore(Different), ToInt(ExitCode::kOk));
  const std::string digests = TextOf("digests");
  EXPECT_EQ(digests.substr(0, 2), "0 ");
  EXPECT_EQ(Count(digests, "\n"), arguments_.runs);
  EXPECT_EQ(Count(digests, "\n" + std::to_string(arguments_.runs - 1) + " "), 1U);
  arguments_.at_once = 1;
  EXPECT_EQ(Explore(Different), ToInt(ExitCode::kOk));
  EXPECT_EQ(TextOf("digests"), digests);
  arguments_.digests = (directory_ / "none" / "digests").string();
  std::ofstream(directory_ / "none") << "a file where a folder should be";
  EXPECT_EQ(Explore(Different), ToInt(ExitCode::kInternal));
}

TEST_F(ExploreCommandTest, ASearchThatWasBrokenOffGoesOnWithTheSameRuns) {
  arguments_.guided = false;
  arguments_.runs = 210;
  arguments_.digests = (directory_ / "digests").string();
  EXPECT_EQ(Explore(Different), ToInt(ExitCode::kOk));
  const std::string all = TextOf("digests");
  arguments_.from = 200;
  arguments_.runs = 10;
  EXPECT_EQ(Explore(Different), ToInt(ExitCode::kOk));
  const std::string rest = TextOf("digests");
  EXPECT_EQ(rest.substr(0, 4), "200 ");
  EXPECT_EQ(Count(rest, "\n"), 10U);
  EXPECT_TRUE(all.ends_with(rest));
}

TEST_F(ExploreCommandTest, WhatARunDrawsIsPrintedAndNothingRuns) {
  const auto crash = [](const config::Scenario&, const sim::RunOptions&) -> sim::RunOutcome {
    std::abort();
  };
  arguments_.print = 17;
  testing::internal::CaptureStdout();
  EXPECT_EQ(Explore(crash), ToInt(ExitCode::kOk));
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(printed.starts_with("schema: tfsim/v1\n")) << printed;
  arguments_.print = 18;
  testing::internal::CaptureStdout();
  EXPECT_EQ(Explore(crash), ToInt(ExitCode::kOk));
  EXPECT_NE(testing::internal::GetCapturedStdout(), printed);
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

// From the third generation, of 100 runs each, on.
TEST_F(ExploreCommandTest, RunsBranchFromThoseThatReachedSomethingNewHoweverManyRunAtOnce) {
  arguments_.runs = 500;
  EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kInvariantBroken));
  const std::string reached = TextOf("out/coverage.json");
  const std::string first = Findings();
  // The file shows it by itself.
  EXPECT_EQ(Count(first, "futures:"), 1U);
  for (const std::size_t at_once : {1U, 7U}) {
    arguments_.at_once = at_once;
    std::filesystem::remove_all(arguments_.out);
    EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kInvariantBroken));
    EXPECT_EQ(TextOf("out/coverage.json"), reached);
    EXPECT_EQ(Findings(), first);
  }
  arguments_.guided = false;
  EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kOk));
}

TEST_F(ExploreCommandTest, ALaterSearchTakesUpWhatAnEarlierOneKept) {
  arguments_.guided = false;
  EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kOk));
  const auto reached = [](const std::string& json) {
    const std::size_t at = json.find("\"reached\": ");
    return json.substr(at, json.find(',', at) - at);
  };
  const std::string before = reached(TextOf("out/coverage.json"));
  std::uint64_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "out/corpus"))
    kept += entry.path().extension() == ".yaml" ? 1 : 0;
  EXPECT_GT(kept, 10U);
  EXPECT_LT(kept, arguments_.runs);
  arguments_.corpus = (directory_ / "out/corpus").string();
  arguments_.out = (directory_ / "again").string();
  arguments_.runs = kept;
  arguments_.seed = 999;
  EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kOk));
  EXPECT_EQ(reached(TextOf("again/coverage.json")), before);
}

TEST_F(ExploreCommandTest, OfWhatScenariosReachNoFindingIsTold) {
  const std::string file = (directory_ / "mine.yaml").string();
  std::ofstream(file) << R"(schema: tfsim/v1
name: mine
cluster: {nodes: [{name: mine, count: 2, resources: {memory: 8GiB, vcores: 8}}]}
jobs: [{name: mine, tasks: {worker: {instances: 1, memory: 1GiB}}}]
faults: [{kind: node_crash, at: 1s, target: {node: mine-1}}]
)";
  arguments_.inputs = {file};
  arguments_.coverage_only = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(Explore(Brittle), ToInt(ExitCode::kOk));
  EXPECT_EQ(Explore(Branching), ToInt(ExitCode::kOk));
  const std::string told = testing::internal::GetCapturedStdout();
  EXPECT_NE(told.find("reached 0 of "), std::string::npos);
  EXPECT_NE(told.find("reached 1 of "), std::string::npos);
  EXPECT_NE(told.find("fault x state of the job's AM: 1 of "), std::string::npos);
  EXPECT_EQ(Findings(), "");
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
}  // namespace tfyarn::cli::explore_command_test
