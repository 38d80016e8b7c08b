#include "apps/yarn/cluster_fit.h"

#include <gtest/gtest.h>

namespace tfyarn::apps::cluster_fit_test {
namespace {

yarn::NodeReport Node(const std::string& host, std::int64_t gpus, std::int64_t used) {
  return {.node = {.host = host, .port = 1},
          .rack = "/r",
          .state = yarn::NodeState::kRunning,
          .capability = {.memory_mb = 8192, .vcores = 8, .gpus = gpus},
          .used = {.memory_mb = 1024 * used, .vcores = used, .gpus = used}};
}

AskFacts Cluster(std::vector<yarn::NodeReport> nodes) {
  AskFacts facts{.types = {"memory-mb", "vcores", "yarn.io/gpu"}};
  facts.cluster.nodes = SharedList<yarn::NodeReport>(std::move(nodes));
  facts.cluster.maximum_container = {.memory_mb = 8192, .vcores = 8, .gpus = 8};
  return facts;
}

JobSpec Workers(std::int32_t instances, std::int64_t gpus) {
  JobSpec job{.name = "j"};
  TaskTypeSpec worker;
  worker.name = "worker";
  worker.instances = instances;
  worker.resource = {.memory_mb = 1024, .vcores = 1, .gpus = gpus};
  job.tasks.push_back(worker);
  return job;
}

std::string Text(const FitResult& result) {
  return result.checks.empty() ? "" : result.checks.back().text;
}

TEST(ClusterFitTest, WhatFitsIntoFreeNodesFitsNow) {
  const FitResult result = JudgeFit(Workers(2, 4), Cluster({Node("a", 4, 0), Node("b", 4, 0)}));
  EXPECT_EQ(result.fit, Fit::kNow) << Text(result);
}

TEST(ClusterFitTest, WhatFitsIntoAnEmptyClusterFitsLater) {
  const FitResult result = JudgeFit(Workers(2, 4), Cluster({Node("a", 4, 1), Node("b", 4, 0)}));
  EXPECT_EQ(result.fit, Fit::kLater) << Text(result);
}

TEST(ClusterFitTest, WithoutANodeNothingIsKnown) {
  AskFacts facts = Cluster({});
  EXPECT_EQ(JudgeFit(Workers(2, 4), facts).fit, Fit::kUnknown);
  facts.cluster.maximum_container = {.memory_mb = 512, .vcores = 8, .gpus = 8};
  EXPECT_EQ(JudgeFit(Workers(2, 4), facts).fit, Fit::kNever) << "it is larger than any container";
}

TEST(ClusterFitTest, ATaskLargerThanEveryNodeNeverFits) {
  const FitResult result = JudgeFit(Workers(3, 5), Cluster({Node("a", 4, 0), Node("b", 4, 0)}));
  EXPECT_EQ(result.fit, Fit::kNever);
  EXPECT_NE(Text(result).find("5 GPUs"), std::string::npos) << Text(result);
  EXPECT_NE(Text(result).find("largest node has 4"), std::string::npos) << Text(result);
}

TEST(ClusterFitTest, AGangWithoutRoomForAllAtOnceNeverFits) {
  // Each type has room alone, and GPUs there are enough.
  JobSpec job = Workers(2, 3);
  job.tasks.push_back(job.tasks[0]);
  job.tasks[1].name = "ps";
  job.tasks[1].instances = 1;
  const FitResult result = JudgeFit(job, Cluster({Node("a", 5, 0), Node("b", 5, 0)}));
  EXPECT_EQ(result.fit, Fit::kNever) << Text(result);
  EXPECT_NE(Text(result).find("does not fit together"), std::string::npos) << Text(result);
}

TEST(ClusterFitTest, TheAmNeedsRoomToo) {
  AskFacts facts = Cluster({Node("a", 0, 0)});
  JobSpec job = Workers(8, 0);
  const FitResult result = JudgeFit(job, facts);
  EXPECT_EQ(result.fit, Fit::kNever);
  EXPECT_NE(Text(result).find("AM's own container"), std::string::npos) << Text(result);
  job.tasks[0].instances = 7;
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kNow);
}

TEST(ClusterFitTest, AResourceThatTheResourceManagerDoesNotKnowIsNeverGranted) {
  AskFacts facts = Cluster({Node("a", 4, 0)});
  facts.types = {"memory-mb", "vcores"};
  const FitResult result = JudgeFit(Workers(1, 1), facts);
  EXPECT_EQ(result.fit, Fit::kNever);
  EXPECT_NE(Text(result).find("yarn.io/gpu"), std::string::npos);
}

TEST(ClusterFitTest, APartitionThatTheJobCannotUseIsNotCounted) {
  yarn::NodeReport labelled = Node("g", 4, 0);
  labelled.partition = "gpu";
  AskFacts facts = Cluster({Node("a", 0, 2), labelled});
  facts.cluster.queue_maximum = {{"", {.memory_mb = 8192, .vcores = 8}},
                                 {"gpu", {.memory_mb = 4096, .vcores = 4, .gpus = 2}}};
  JobSpec job = Workers(1, 0);
  job.queue = "ml";
  const FitResult without = JudgeFit(job, facts);
  ASSERT_EQ(without.checks.size(), 2U);
  EXPECT_EQ(without.checks[0].text,
            "largest container 8 GiB, 8 vcores; queue 'ml' at most 8 GiB, 8 vcores");
  EXPECT_NE(Text(without).find("of 6 GiB, 6 vcores that are free"), std::string::npos)
      << Text(without);
  job.tasks[0].node_label = "gpu";
  const FitResult with = JudgeFit(job, facts);
  ASSERT_EQ(with.checks.size(), 2U);
  EXPECT_EQ(with.checks[0].text,
            "largest container 8 GiB, 8 vcores, 4 GPUs; queue 'ml' at most 8 GiB, 8 vcores, 4 GiB, "
            "4 vcores, 2 GPUs of partition gpu");
  EXPECT_NE(Text(with).find("of 14 GiB, 14 vcores, 4 GPUs that are free"), std::string::npos)
      << Text(with);
  // The queue has room for them in the other partition only.
  job.tasks[0].instances = 5;
  const FitResult never = JudgeFit(job, facts);
  EXPECT_EQ(never.fit, Fit::kNever);
  EXPECT_NE(Text(never).find("in partition gpu"), std::string::npos) << Text(never);
}

TEST(ClusterFitTest, WhatTheResourceManagerDoesNotSayIsNotShown) {
  const FitResult result = JudgeFit(Workers(1, 0), Cluster({Node("a", 0, 0)}));
  EXPECT_EQ(result.checks[0].text, "largest container 8 GiB, 8 vcores");
}

TEST(ClusterFitTest, TooManyAttemptsOfTheAmAreToldOf) {
  AskFacts facts = Cluster({Node("a", 4, 0)});
  facts.am_attempts = 1;
  const FitResult result = JudgeFit(Workers(1, 1), facts);
  EXPECT_EQ(result.fit, Fit::kNow);
  EXPECT_EQ(result.checks.front().state, CheckState::kWarning);
}

TEST(ClusterFitTest, AQueueThatTakesNothingRefusesWhatWouldFit) {
  AskFacts facts = Cluster({Node("a", 4, 0), Node("b", 4, 0)});
  JobSpec job = Workers(2, 4);
  job.queue = "root.batch";
  facts.queue_state = hadoop::QueueRunState::kRunning;
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kNow);
  facts.queue_state = hadoop::QueueRunState::kStopped;
  const FitResult stopped = JudgeFit(job, facts);
  EXPECT_EQ(stopped.fit, Fit::kRefused);
  EXPECT_NE(Text(stopped).find("STOPPED"), std::string::npos) << Text(stopped);
  facts.queue_state = hadoop::QueueRunState::kDraining;
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kRefused);
}

TEST(ClusterFitTest, AUserWithoutRightsAtTheQueueIsRefused) {
  AskFacts facts = Cluster({Node("a", 4, 0), Node("b", 4, 0)});
  JobSpec job = Workers(2, 4);
  job.queue = "batch";
  facts.queue_rights = {{.queue = "root.default", .submit = true}};
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kNow) << "nothing is known of this queue";
  facts.queue_rights = {{.queue = "root.default", .submit = true}, {.queue = "root.batch"}};
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kRefused);
  facts.queue_rights[1].submit = true;
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kNow);
  // Two queues of that last name: which one is meant, the RM decides.
  facts.queue_rights.push_back({.queue = "root.other.batch"});
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kNow);
  job.queue = "root.other.batch";
  EXPECT_EQ(JudgeFit(job, facts).fit, Fit::kRefused);
}

}  // namespace
}  // namespace tfyarn::apps::cluster_fit_test
