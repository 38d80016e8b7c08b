// `tfsim why` as a whole, with a simulator behind it whose futures are known.
#include "apps/cli/why_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cli/exit_codes.h"
#include "tests/unit/files.h"

namespace tfyarn::cli::why_command_test {
namespace {

constexpr trace::JobIndex kJob{0};

void Say(const sim::RunOptions& options, Duration at, const std::string& text) {
  if (!options.sink) return;
  options.sink({.at = Instant{} + at,
                .fact = trace::AmOrdered{.job = kJob, .am_attempt = 1, .action = Note{text}}});
}

/// The coin falls at 3 s, wrongly under seed 1, and every second second of the futures before. At
/// 5 s it is told.
sim::RunOutcome Coin(const config::Scenario&, const sim::RunOptions& options) {
  bool lost = options.seed == 1;
  if (options.future && options.future->from < Instant{} + 3s) lost = options.future->seed % 2 == 0;
  if (options.sink) {
    options.sink({.at = Instant{},
                  .fact = trace::JobCreated{.job = kJob, .name = "a", .queue = "", .tasks = 1}});
  }
  Say(options, 1s, "the coin is thrown");
  Say(options, 3s, lost ? "it is tails" : "it is heads");
  Say(options, 5s, "<b>told</b>");
  sim::RunOutcome outcome;
  outcome.result.jobs.push_back({});
  outcome.result.jobs.back().name = "a";
  outcome.result.jobs.back().status = lost ? JobStatus::kFailed : JobStatus::kSucceeded;
  outcome.result.jobs.back().diagnostics = "tails";
  return outcome;
}

class WhyCommandTest : public testing::Test {
 protected:
  WhyCommandTest() {
    arguments_.input.file = (directory_ / "coin.yaml").string();
    arguments_.html = (directory_ / "why.html").string();
    arguments_.quiet = true;
    arguments_.at_once = 2;
    std::ofstream(arguments_.input.file) << R"(schema: tfsim/v1
name: coin
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 8}}]}
jobs: [{name: a, tasks: {worker: {memory: 1GiB}}}]
)";
  }

  /// What it prints.
  std::string Why(ExitCode expected = ExitCode::kOk) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(WhyCommand(arguments_, {.run = Coin, .version = "test"}), ToInt(expected));
    return testing::internal::GetCapturedStdout();
  }

  const TemporaryFolder folder_;
  const std::filesystem::path directory_ = folder_.path();
  WhyArguments arguments_;
};

TEST_F(WhyCommandTest, TellsTheLastChanceAndWhatTookIt) {
  const std::string text = Why();
  EXPECT_NE(text.find("coin, seed 1: job a is failed: tails"), std::string::npos) << text;
  EXPECT_NE(text.find("       1 s    50 %  a: the coin is thrown"), std::string::npos) << text;
  EXPECT_NE(text.find("       3 s   100 %  a: it is tails"), std::string::npos) << text;
  EXPECT_NE(text.find("It could still go well after 1 s (10 of 20 futures do): a: the coin is "
                      "thrown. It was lost at 3 s: a: it is tails."),
            std::string::npos)
      << text;
}

TEST_F(WhyCommandTest, TheDocumentHasEveryMoment) {
  arguments_.json = true;
  arguments_.futures = 4;
  const auto document = nlohmann::json::parse(Why());
  EXPECT_EQ(document.at("could_go_well_after_seconds"), 1.0);
  EXPECT_EQ(document.at("lost_at_seconds"), 3.0);
  ASSERT_EQ(document.at("moments").size(), 4U);
  EXPECT_EQ(document.at("moments")[0].at("failed"), 2);
  EXPECT_EQ(document.at("moments")[2].at("failed"), 4);
}

TEST_F(WhyCommandTest, ThePageShowsNamesAsText) {
  (void)Why();
  const std::string page = ReadFile(arguments_.html);
  EXPECT_NE(page.find("\\u003cb>told"), std::string::npos);
  EXPECT_EQ(page.find("<b>told"), std::string::npos);
}

TEST_F(WhyCommandTest, ARunThatPassesLostNothing) {
  arguments_.seed = 2;
  EXPECT_NE(Why().find("it passes, nothing was lost"), std::string::npos);
}

/// What `tfsim run coin.yaml --seed 1 --out DIR` leaves there.
void LeaveRun(const std::filesystem::path& directory, const std::filesystem::path& scenario) {
  std::filesystem::copy_file(scenario, directory / "scenario.yaml");
  std::ofstream(directory / "result.json")
      << R"({"schema": "tfsim.result/v1", "scenario_digest": "1", "seed": 1, "digest": ""})";
}

TEST_F(WhyCommandTest, ARunThatWasKeptIsDrawnAgainUnderItsSeed) {
  const std::string scenario = ReadFile(arguments_.input.file);
  std::ofstream(arguments_.input.file) << scenario << "seed: 2\n";
  LeaveRun(directory_, arguments_.input.file);
  for (const std::string& run : {directory_.string(), (directory_ / "result.json").string()}) {
    arguments_.input.file = run;
    EXPECT_NE(Why().find("coin, seed 1: job a is failed: tails"), std::string::npos) << run;
  }
}

TEST_F(WhyCommandTest, ARunWithoutItsScenarioIsInvalidInput) {
  LeaveRun(directory_, arguments_.input.file);
  std::filesystem::remove(directory_ / "scenario.yaml");
  arguments_.input.file = directory_.string();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Why(ExitCode::kInvalidInput), "");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no scenario.yaml beside it"),
            std::string::npos);
}

TEST_F(WhyCommandTest, ARunOnMachinesHasOneFuture) {
  std::filesystem::create_directories(directory_ / "recordings");
  std::ofstream(directory_ / "recordings" / "am.record") << "x";
  arguments_.input.file = directory_.string();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Why(ExitCode::kInvalidInput), "");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--policy NAME"), std::string::npos);
}

TEST_F(WhyCommandTest, AScenarioMayBeWrittenInJson) {
  const std::string path = (directory_ / "coin.json").string();
  std::ofstream(path) << R"({"schema": "tfsim/v1", "name": "coin",
"cluster": {"nodes": [{"name": "n", "resources": {"memory": "8GiB", "vcores": 8}}]},
"jobs": [{"name": "a", "tasks": {"worker": {"memory": "1GiB"}}}]})";
  arguments_.input.file = path;
  EXPECT_NE(Why().find("coin, seed 1"), std::string::npos);
}

TEST_F(WhyCommandTest, AMissingFileIsInvalidInput) {
  arguments_.input.file += ".not";
  EXPECT_EQ(Why(ExitCode::kInvalidInput), "");
}

}  // namespace
}  // namespace tfyarn::cli::why_command_test
