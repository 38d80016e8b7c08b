// The usual life of an application on a usual cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/text.h"
#include "fakes/yarn-rm/schedulers.h"
#include "tests/unit/fakes/yarn-rm/fake_cluster.h"

namespace tfyarn::fakes::basic_path_test {
namespace {

using yarn::FinalApplicationStatus;
using yarn::YarnApplicationState;

class BasicPathTest : public ::testing::TestWithParam<const SchedulerKind*> {
 protected:
  BasicPathTest() : cluster_({.rm = {.scheduler = std::string(GetParam()->name)}}) {
    for (int i = 1; i <= 4; ++i) cluster_.AddNode("n" + std::to_string(i), Amount(64, 16, 8));
    cluster_.RunFor(2s);
  }
  FakeCluster cluster_;
};

TEST_P(BasicPathTest, AJobIsSubmittedGetsItsContainersRunsAndFinishes) {
  const ApplicationId id = cluster_.Submit();
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kAccepted);
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 10s));
  EXPECT_EQ(cluster_.Report(id).state, YarnApplicationState::kRunning);

  ScriptedAm& am = cluster_.Am(id);
  am.next.ask.push_back(Ask(6, Amount(4, 2, 1)));
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.granted.size() == 6; }, 20s));
  cluster_.RunFor(2s);
  for (const yarn::Container& container : am.granted) {
    EXPECT_TRUE(cluster_.Runs(container.id));
    EXPECT_EQ(container.resource, Amount(4, 2, 1));
    cluster_.Exit(container.id, 3);
  }
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.completed.size() == 6; }, 5s));
  EXPECT_EQ(am.completed.front().exit_status, 3);

  cluster_.FinishAm(id, FinalApplicationStatus::kSucceeded);
  cluster_.RunFor(5s);
  const auto report = cluster_.Report(id);
  EXPECT_EQ(report.state, YarnApplicationState::kFinished);
  EXPECT_EQ(report.final_status, FinalApplicationStatus::kSucceeded);
  EXPECT_TRUE(cluster_.rm().books().applications.empty());
  for (const BookedNode* node : cluster_.rm().books().nodes)
    EXPECT_TRUE(IsZero(node->used)) << node->id.host;
  for (int i = 1; i <= 4; ++i)
    EXPECT_TRUE(cluster_.nm({"n" + std::to_string(i), 45454}).containers().empty());
}

TEST_P(BasicPathTest, ALostNodeEndsItsContainersAndIsReported) {
  const ApplicationId id = cluster_.Submit();
  ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.HasAm(id); }, 10s));
  ScriptedAm& am = cluster_.Am(id);
  am.next.ask.push_back(Ask(32, Amount(1, 1, 1)));
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.granted.size() == 32; }, 60s));
  cluster_.RunFor(3s);
  const auto victim = std::find_if(am.granted.begin(), am.granted.end(),
                                   [&](const yarn::Container& c) { return c.node != am.node; });
  ASSERT_NE(victim, am.granted.end());
  cluster_.CrashNode(victim->node);
  ASSERT_TRUE(cluster_.RunUntil([&] { return am.completed.size() == 8; }, 605s));
  EXPECT_EQ(am.completed.front().exit_status, -100);
  EXPECT_EQ(am.completed.front().diagnostics, "Container released on a *lost* node");
  ASSERT_FALSE(am.updated_nodes.empty());
  EXPECT_EQ(am.updated_nodes.back().state, yarn::NodeState::kLost);
}

INSTANTIATE_TEST_SUITE_P(Schedulers, BasicPathTest, ::testing::ValuesIn(AllSchedulers()),
                         [](const auto& kind) { return std::string(kind.param->name); });

}  // namespace
}  // namespace tfyarn::fakes::basic_path_test
