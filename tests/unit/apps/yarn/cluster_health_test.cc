#include "apps/yarn/cluster_health.h"

#include <gtest/gtest.h>

namespace tfyarn::apps::cluster_health_test {
namespace {

using enum CheckState;
using State = ManagerFacts::State;

std::vector<CheckState> States(const std::vector<Check>& checks) {
  std::vector<CheckState> states;
  for (const Check& check : checks) states.push_back(check.state);
  return states;
}

std::vector<Check> Managers(const std::vector<State>& states) {
  std::vector<ManagerFacts> managers;
  for (const State state : states) managers.push_back({.name = "m", .state = state});
  return JudgeManagers(managers);
}

TEST(ClusterHealthTest, OneActiveResourceManagerIsEnoughToRunJobs) {
  EXPECT_EQ(States(Managers({State::kActive})), (std::vector{kOk}));
  EXPECT_EQ(States(Managers({State::kActive, State::kStandby})), (std::vector{kOk, kOk}));
  EXPECT_EQ(States(Managers({State::kSilent, State::kActive})), (std::vector{kWarning, kOk}));
  EXPECT_EQ(States(Managers({State::kSilent})), (std::vector{kProblem}));
  EXPECT_EQ(States(Managers({State::kStandby, State::kStandby})),
            (std::vector{kProblem, kProblem, kProblem}));
}

yarn::NodeReport Node(yarn::NodeState state, std::int64_t gpus) {
  return {.node = {.host = "n", .port = 1},
          .state = state,
          .capability = {.memory_mb = 8192, .vcores = 8, .gpus = gpus}};
}

NodeFacts Nodes(std::vector<yarn::NodeReport> nodes, std::vector<std::string> types) {
  return {.nodes = SharedList<yarn::NodeReport>(std::move(nodes)), .types = std::move(types)};
}

TEST(ClusterHealthTest, NodesWithoutGpusAreNoDefectButToldOf) {
  const std::vector<std::string> types{"memory-mb", "vcores", "yarn.io/gpu"};
  using enum yarn::NodeState;
  EXPECT_EQ(States(JudgeNodes(Nodes({Node(kRunning, 4)}, types))), (std::vector{kOk, kOk, kOk}));
  EXPECT_EQ(States(JudgeNodes(Nodes({Node(kRunning, 0)}, types))),
            (std::vector{kOk, kWarning, kOk}));
  EXPECT_EQ(States(JudgeNodes(Nodes({Node(kRunning, 0), Node(kLost, 0)}, {"memory-mb"}))),
            (std::vector{kWarning, kWarning, kOk}));
  EXPECT_EQ(States(JudgeNodes(Nodes({Node(kLost, 4)}, types))),
            (std::vector{kProblem, kWarning, kOk}));
}

SchedulerFacts Scheduler(std::int64_t am_vcores) {
  return {.scheduler = {.type = "capacityScheduler",
                        .queues = {{.path = "root.a",
                                    .state = "RUNNING",
                                    .capacity = 1000,
                                    .maximum = 1000,
                                    .used = 0,
                                    .am_memory_mb = 2458,
                                    .am_vcores = am_vcores}}},
          .cluster = {.memory_mb = 24576, .vcores = 96},
          .user = "me"};
}

TEST(ClusterHealthTest, ACalculatorThatCountsMemoryOnlyIsRecognised) {
  EXPECT_EQ(JudgeCalculator(Scheduler(9)).state, kOk);
  const Check ignoring = JudgeCalculator(Scheduler(1));
  EXPECT_EQ(ignoring.state, kWarning);
  EXPECT_NE(ignoring.advice.find("DominantResourceCalculator"), std::string::npos);
  SchedulerFacts gpus = Scheduler(1);
  gpus.gpus = true;
  EXPECT_EQ(JudgeCalculator(gpus).state, kProblem);
}

TEST(ClusterHealthTest, WhatAClusterIsTooSmallToShowIsNotClaimed) {
  SchedulerFacts small = Scheduler(1);
  small.cluster.vcores = 8;
  EXPECT_EQ(JudgeCalculator(small).state, kNotChecked);
  small.scheduler.type = "fifoScheduler";
  EXPECT_EQ(JudgeCalculator(small).state, kNotChecked);
}

TEST(ClusterHealthTest, TheFairSchedulersMemoryPolicyIsToldOf) {
  SchedulerFacts fair{
      .scheduler = {.type = "fairScheduler", .queues = {{.path = "root.a", .policy = "fair"}}}};
  EXPECT_EQ(JudgeCalculator(fair).state, kWarning);
  fair.scheduler.queues[0].policy = "DRF";
  EXPECT_EQ(JudgeCalculator(fair).state, kOk);
}

TEST(ClusterHealthTest, AQueueThatTakesNothingIsToldOfAndNoneAtAllIsAProblem) {
  SchedulerFacts facts = Scheduler(9);
  EXPECT_EQ(States(JudgeQueues(facts)), (std::vector{kOk}));
  facts.rights = {{{.queue = "a", .submit = true}}};
  EXPECT_EQ(States(JudgeQueues(facts)), (std::vector{kOk}));
  facts.rights = {{{.queue = "a", .submit = false}}};
  EXPECT_EQ(States(JudgeQueues(facts)), (std::vector{kWarning, kProblem}));
  facts.rights.reset();
  facts.scheduler.queues[0].state = "STOPPED";
  EXPECT_EQ(States(JudgeQueues(facts)), (std::vector{kWarning, kProblem}));
}

TEST(ClusterHealthTest, WhatDaemonsDoNotSayIsNotChecked) {
  for (const Check& check : JudgeDaemons({})) EXPECT_EQ(check.state, kNotChecked) << check.subject;
  EXPECT_EQ(States(JudgeDaemons({.least_memory_mb = "1024",
                                 .am_attempts = "2",
                                 .node = "n:8042",
                                 .pmem_check = "true",
                                 .vmem_check = "false",
                                 .collects_logs = "true",
                                 .collects_here = true})),
            (std::vector{kOk, kOk, kOk, kOk}));
  EXPECT_EQ(States(JudgeDaemons({.least_memory_mb = "1024",
                                 .am_attempts = "1",
                                 .node = "n:8042",
                                 .pmem_check = "true",
                                 .vmem_check = "true",
                                 .collects_logs = "false"})),
            (std::vector{kOk, kWarning, kWarning, kWarning}));
}

TEST(ClusterHealthTest, EachWayInWhichHdfsRefusesHasItsAdvice) {
  const auto advice = [](hdfs::HdfsErrorCode code) {
    return JudgeHdfs({.directory = "/user/me/.tfyarn",
                      .user = "me",
                      .step = "making a file",
                      .error = hdfs::HdfsError{.code = code, .message = "m"}})
        .advice;
  };
  EXPECT_NE(advice(hdfs::HdfsErrorCode::kAccessDenied).find("-chown me"), std::string::npos);
  EXPECT_NE(advice(hdfs::HdfsErrorCode::kSafeMode).find("-safemode"), std::string::npos);
  EXPECT_NE(advice(hdfs::HdfsErrorCode::kQuotaExceeded).find("quota"), std::string::npos);
  EXPECT_NE(advice(hdfs::HdfsErrorCode::kUnavailable).find("NameNode"), std::string::npos);
  EXPECT_EQ(JudgeHdfs({.directory = "/d", .user = "me"}).state, kOk);
}

TEST(ClusterHealthTest, TheWorstClockCounts) {
  EXPECT_EQ(JudgeClocks({}).state, kNotChecked);
  EXPECT_EQ(JudgeClocks({{.name = "a", .ahead = 1s}, {.name = "b", .ahead = -2s}}).state, kOk);
  const Check late = JudgeClocks({{.name = "a", .ahead = 1s}, {.name = "b", .ahead = -60s}});
  EXPECT_EQ(late.state, kWarning);
  EXPECT_EQ(late.text, "that of b is 60 s behind");
  EXPECT_EQ(JudgeClocks({{.name = "a", .ahead = 600s}}).state, kProblem);
}

TEST(ChecksTest, WhatWasNotCheckedIsNoDefect) {
  EXPECT_EQ(WorstOf({}), kOk);
  EXPECT_EQ(WorstOf({{.state = kNotChecked}}), kOk);
  EXPECT_EQ(WorstOf({{.state = kWarning}, {.state = kNotChecked}}), kWarning);
  EXPECT_EQ(WorstOf({{.state = kProblem}, {.state = kWarning}}), kProblem);
}

TEST(ChecksTest, AdviceStandsBelowItsLine) {
  EXPECT_EQ(RenderText({{.subject = "a", .text = "t"},
                        {.subject = "bb", .state = kProblem, .text = "u", .advice = "do"}}),
            "ok           a   t\n"
            "problem      bb  u\n"
            "                 -> do\n");
}

}  // namespace
}  // namespace tfyarn::apps::cluster_health_test
