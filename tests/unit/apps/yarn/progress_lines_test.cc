#include "apps/yarn/progress_lines.h"

#include <gtest/gtest.h>

namespace tfyarn::apps::progress_lines_test {
namespace {

using yarn::YarnApplicationState;

TEST(ProgressLines, SaysAStateAtOnceAndExplainsItWhenItLasts) {
  ProgressLines lines;
  const ProgressLines::Clock::time_point start;
  yarn::ApplicationReport report{.state = YarnApplicationState::kAccepted,
                                 .diagnostics = "no room"};
  EXPECT_EQ(lines.Next(report, "", start), "accepted");
  EXPECT_EQ(lines.Next(report, "", start + ProgressLines::kPatience / 2), std::nullopt);
  EXPECT_EQ(lines.Next(report, "", start + ProgressLines::kPatience), "accepted: no room");
  EXPECT_EQ(lines.Next(report, "", start + 2 * ProgressLines::kPatience), std::nullopt);
  report.diagnostics = "still no room";
  EXPECT_EQ(lines.Next(report, "", start + 2 * ProgressLines::kPatience),
            "accepted: still no room");
  report.diagnostics = "hardly any room";
  EXPECT_EQ(lines.Next(report, "", start + 2 * ProgressLines::kPatience), std::nullopt)
      << "one after the other";
  report.state = YarnApplicationState::kRunning;
  EXPECT_EQ(lines.Next(report, "", start + 2 * ProgressLines::kPatience), "running");
}

TEST(ProgressLines, HasNothingToSayOfAStateWithoutExplanation) {
  ProgressLines lines;
  const ProgressLines::Clock::time_point start;
  const yarn::ApplicationReport report{.state = YarnApplicationState::kRunning};
  EXPECT_EQ(lines.Next(report, "", start), "running");
  EXPECT_EQ(lines.Next(report, "", start + ProgressLines::kPatience), std::nullopt);
}

TEST(ProgressLines, SaysThatAJobWaitsForNodesAndThatItDoesNoMore) {
  ProgressLines lines;
  const ProgressLines::Clock::time_point start;
  const yarn::ApplicationReport report{.state = YarnApplicationState::kRunning};
  EXPECT_EQ(lines.Next(report, "", start), "running");
  const std::string limit = "worker needs 5 GPUs, the largest node has 4";
  EXPECT_EQ(lines.Next(report, limit, start),
            "running: waits for nodes that may still come: " + limit);
  EXPECT_EQ(lines.Next(report, limit, start + ProgressLines::kPatience), std::nullopt);
  EXPECT_EQ(lines.Next(report, "", start + ProgressLines::kPatience),
            "running: no longer waits for nodes");
}

}  // namespace
}  // namespace tfyarn::apps::progress_lines_test
