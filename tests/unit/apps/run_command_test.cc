// The run command as a whole, with a simulator that answers at once behind it.
#include "apps/cli/run_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cli/compare_commands.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/file_commands.h"
#include "config/load.h"
#include "tests/unit/files.h"

namespace tfyarn::cli::run_command_test {
namespace {

/// Fails on odd seeds, and makes two records.
sim::RunOutcome Answer(const config::Scenario& scenario, const sim::RunOptions& options) {
  trace::ResultBuilder builder;
  const auto add = [&](Instant at, trace::Fact fact) {
    const trace::TraceRecord record{.at = at, .fact = std::move(fact)};
    if (options.sink) options.sink(record);
    builder.Observe(record);
  };
  add(Instant{},
      trace::RunStarted{
          .scenario = scenario.name, .scenario_digest = scenario.digest, .seed = options.seed});
  add(Instant(1s),
      trace::JobCreated{
          .job = trace::JobIndex(0), .name = "j", .queue = "q", .tasks = 1, .gpus = 0});
  const JobStatus status = options.seed % 2 == 0 ? JobStatus::kSucceeded : JobStatus::kFailed;
  add(Instant(2s), trace::ClientOrdered{.job = trace::JobIndex(0),
                                        .action = JobEnded{.status = status, .diagnostics = ""}});
  return {.result =
              builder.Finish({.version = "", .digest = "digest-" + std::to_string(options.seed)})};
}

class RunCommandTest : public testing::Test {
 protected:
  RunCommandTest() {
    EXPECT_EQ(InitCommand({.directory = directory_.string(), .force = false}), 0);
    arguments_.input.file = (directory_ / "scenario.yaml").string();
    arguments_.out = (directory_ / "out").string();
    arguments_.quiet = true;
  }

  [[nodiscard]] std::string Read(const std::string& file) const {
    return ReadFile(directory_ / "out" / file);
  }
  [[nodiscard]] nlohmann::json Document() const {
    return nlohmann::json::parse(Read("result.json"));
  }

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
  RunArguments arguments_;
  const Simulator simulator_{.run = Answer, .version = "1.2.3"};
};

TEST_F(RunCommandTest, OneRunWritesEverythingAndItsExitCodeIsTheVerdict) {
  arguments_.seed = 2;
  arguments_.events = true;
  EXPECT_EQ(RunCommand(arguments_, simulator_), 0);
  EXPECT_EQ(Document()["seed"], 2);
  EXPECT_EQ(Document()["version"], "1.2.3");
  EXPECT_EQ(Document()["verdict"], "passed");
  EXPECT_NE(Read("report.html").find("tfsim.result/v1"), std::string::npos);
  EXPECT_NE(Read("junit.xml").find("<testsuite "), std::string::npos);
  EXPECT_NE(Read("jobs.csv").find("\r\nj,"), std::string::npos);
  EXPECT_EQ(std::ranges::count(Read("events.jsonl"), '\n'), 3);
  arguments_.seed = 3;
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kJobFailed));
  EXPECT_EQ(Document()["verdict"], "failed");
}

TEST_F(RunCommandTest, AnExpectationAboutManyRunsIsJudgedOnOneToo) {
  std::ofstream(directory_ / "scenario.yaml", std::ios::app)
      << "  - {metric: deadlock_rate, at_most: 0}\n";
  arguments_.seed = 2;
  EXPECT_EQ(RunCommand(arguments_, simulator_), 0);
  EXPECT_EQ(Document()["expectations"].back()["got"], "0");
}

TEST_F(RunCommandTest, ManySeedsGiveOneSummaryWithTheFailedOnes) {
  arguments_.seeds = {1, 4};
  arguments_.at_once = 2;
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kJobFailed));
  const nlohmann::json document = Document();
  EXPECT_EQ(document["schema"], "tfsim.ensemble/v1");
  EXPECT_EQ(document["runs"], 4);
  EXPECT_EQ(document["pass_rate"], 0.5);
  ASSERT_EQ(document["failed"].size(), 2U);
  EXPECT_EQ(document["failed"][1]["seed"], 3);
  EXPECT_EQ(document["failed"][1]["replay"], "tfsim run " + arguments_.input.file + " --seed 3");
}

TEST_F(RunCommandTest, EveryRunOfManyHasALine) {
  arguments_.seeds = {1, 4};
  arguments_.at_once = 2;
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kJobFailed));
  const std::string rows = Read("runs.csv");
  EXPECT_EQ(std::ranges::count(rows, '\n'), 5);
  EXPECT_EQ(rows.find("set,seed,verdict,exit_code,reason,digest,"), 0U);
  for (const char* row :
       {"\r\n,1,failed,10,", "\r\n,2,passed,0,", "\r\n,3,failed,10,", "\r\n,4,passed,0,"})
    EXPECT_NE(rows.find(row), std::string::npos) << row << "\n" << rows;
  EXPECT_EQ(Read("jobs.csv"), "");
}

TEST_F(RunCommandTest, OneFileThatCannotBeWrittenTakesNoOtherWithIt) {
  arguments_.seed = 2;
  arguments_.html = "/dev/full";
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kInternal));
  EXPECT_EQ(Document()["verdict"], "passed");
  EXPECT_NE(Read("junit.xml"), "");
}

TEST_F(RunCommandTest, AFileThatIsNotThereIsInvalidInput) {
  arguments_.input.file = (directory_ / "nothing.yaml").string();
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kInvalidInput));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
}

TEST_F(RunCommandTest, WhatAPolicyRefusesIsInvalidInputAndNamesItsJob) {
  std::ofstream(directory_ / "scenario.yaml") << R"(schema: tfsim/v1
name: nothing-tracked
cluster: {nodes: [{name: n, count: 1, resources: {memory: 8GiB, vcores: 4}}]}
jobs: [{name: only-ps, tasks: {ps: {instances: 1, memory: 1GiB, vcores: 1}}}]
)";
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kInvalidInput));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("scenario.yaml: job `only-ps`: "),
            std::string::npos);
  ValidateArguments validate;
  validate.files = {arguments_.input.file};
  testing::internal::CaptureStderr();
  EXPECT_EQ(ValidateCommand(validate), ToInt(ExitCode::kInvalidInput));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("job `only-ps`"), std::string::npos);
}

TEST_F(RunCommandTest, AResultThatCannotBeWrittenIsAnError) {
  arguments_.seed = 2;
  arguments_.html = "/dev/full";
  EXPECT_EQ(RunCommand(arguments_, simulator_), ToInt(ExitCode::kInternal));
}

TEST_F(RunCommandTest, InitDoesNotReplaceAFileUnlessForced) {
  EXPECT_EQ(InitCommand({.directory = directory_.string(), .force = false}),
            ToInt(ExitCode::kInvalidInput));
  EXPECT_EQ(InitCommand({.directory = directory_.string(), .force = true}), 0);
}

TEST_F(RunCommandTest, ReplayComparesWithAnEarlierResult) {
  arguments_.seed = 2;
  ASSERT_EQ(RunCommand(arguments_, simulator_), 0);
  ReplayArguments replay{.input = arguments_.input,
                         .seed = {},
                         .result = arguments_.out + "/result.json",
                         .quiet = true};
  EXPECT_EQ(ReplayCommand(replay, simulator_), 0);
  replay.seed = 4;
  EXPECT_EQ(ReplayCommand(replay, simulator_), ToInt(ExitCode::kRunsDiffer));
  replay.result = arguments_.input.file;
  EXPECT_EQ(ReplayCommand(replay, simulator_), ToInt(ExitCode::kInvalidInput));
}

TEST_F(RunCommandTest, ReplayWithoutAResultComparesBothWaysOfRunning) {
  ReplayArguments replay{.input = arguments_.input, .seed = 2, .result = "", .quiet = true};
  EXPECT_EQ(ReplayCommand(replay, simulator_), 0);
  const Simulator unlike{.run =
                             [](const config::Scenario& scenario, sim::RunOptions options) {
                               options.seed += options.elide ? 0 : 1;
                               return Answer(scenario, options);
                             },
                         .version = ""};
  EXPECT_EQ(ReplayCommand(replay, unlike), ToInt(ExitCode::kRunsDiffer));
}

TEST_F(RunCommandTest, DiffOfTwoResultsIgnoresWhatTheMachineDid) {
  arguments_.seed = 2;
  ASSERT_EQ(RunCommand(arguments_, simulator_), 0);
  const std::string first = arguments_.out + "/result.json";
  arguments_.out = (directory_ / "again").string();
  ASSERT_EQ(RunCommand(arguments_, simulator_), 0);
  DiffArguments diff{.left = first, .right = arguments_.out + "/result.json"};
  EXPECT_EQ(DiffCommand(diff, simulator_), 0);
  arguments_.seed = 4;
  ASSERT_EQ(RunCommand(arguments_, simulator_), 0);
  EXPECT_EQ(DiffCommand(diff, simulator_), ToInt(ExitCode::kRunsDiffer));
}

}  // namespace
}  // namespace tfyarn::cli::run_command_test
