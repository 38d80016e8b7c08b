#include "wire/yarnweb/cluster_answers.h"

#include <gtest/gtest.h>

namespace tfyarn::wire::cluster_answers_test {
namespace {

// Shortened answers of Hadoop 3.4.2.
const std::string kScheduler =
    R"({"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queues":)"
    R"({"queue":[{"type":"capacitySchedulerLeafQueueInfo","queuePath":"root.default",)"
    R"("absoluteCapacity":70.0,"absoluteMaxCapacity":100.0,"absoluteUsedCapacity":3.125,)"
    R"("queueName":"default","state":"RUNNING","AMResourceLimit":{"memory":24576,"vCores":96}},)"
    R"({"queuePath":"root.a","queueName":"a","state":"RUNNING","queues":{"queue":)"
    R"({"queuePath":"root.a.b","state":"STOPPED"}}}]},)"
    R"("maximumAllocation":{"memory":8192,"vCores":32}}}})";

TEST(ClusterAnswersTest, QueuesThatTakeApplicationsAreFoundAtEveryDepth) {
  const auto scheduler = ParseScheduler(kScheduler);
  ASSERT_TRUE(scheduler);
  EXPECT_EQ(scheduler->type, "capacityScheduler");
  EXPECT_EQ(scheduler->most_memory_mb, 8192);
  EXPECT_EQ(scheduler->most_vcores, 32);
  ASSERT_EQ(scheduler->queues.size(), 2U);
  const SchedulerQueue& first = scheduler->queues[0];
  EXPECT_EQ(first.path, "root.default");
  EXPECT_EQ(first.state, "RUNNING");
  EXPECT_EQ(first.capacity, 700);
  EXPECT_EQ(first.maximum, 1000);
  EXPECT_EQ(first.used, 31);
  EXPECT_EQ(first.am_memory_mb, 24576);
  EXPECT_EQ(first.am_vcores, 96);
  EXPECT_EQ(scheduler->queues[1].path, "root.a.b");
  EXPECT_EQ(scheduler->queues[1].state, "STOPPED");
  EXPECT_EQ(scheduler->queues[1].capacity, -1);
}

// As Hadoop 3.3.6 and 2.10.2 answer, shortened.
TEST(ClusterAnswersTest, APathIsPutTogetherWhereOnlyNamesAreSaid) {
  const auto scheduler = ParseScheduler(
      R"({"scheduler":{"schedulerInfo":{"type":"capacityScheduler","queueName":"root","queues":)"
      R"({"queue":[{"type":"capacitySchedulerLeafQueueInfo","queueName":"default"},)"
      R"({"queueName":"a","queues":{"queue":[{"queueName":"b"},{"queueName":"a"}]}}]}}}})");
  ASSERT_TRUE(scheduler);
  ASSERT_EQ(scheduler->queues.size(), 3U);
  EXPECT_EQ(scheduler->queues[0].path, "root.default");
  EXPECT_EQ(scheduler->queues[1].path, "root.a.b");
  EXPECT_EQ(scheduler->queues[2].path, "root.a.a");
}

TEST(ClusterAnswersTest, TheFairSchedulersQueuesHaveTheirPolicy) {
  const auto scheduler = ParseScheduler(
      R"({"scheduler":{"schedulerInfo":{"type":"fairScheduler","rootQueue":{"queueName":"root",)"
      R"("schedulingPolicy":"fair","childQueues":{"queue":[{"queueName":"root.x",)"
      R"("schedulingPolicy":"DRF"}]}}}}})");
  ASSERT_TRUE(scheduler);
  ASSERT_EQ(scheduler->queues.size(), 1U);
  EXPECT_EQ(scheduler->queues[0].path, "root.x");
  EXPECT_EQ(scheduler->queues[0].policy, "DRF");
}

TEST(ClusterAnswersTest, WhatIsNoAnswerIsNone) {
  std::string deep = R"({"scheduler":{"schedulerInfo":{"type":"x","rootQueue":)";
  for (int i = 0; i < 100; ++i) deep += R"({"queues":{"queue":)";
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), deep,
        std::string(R"({"scheduler":{"schedulerInfo":{"type":1}}})"), std::string(100'000, '[')}) {
    EXPECT_FALSE(ParseScheduler(body));
    EXPECT_FALSE(ParseClusterInfo(body));
    EXPECT_FALSE(ParseConfigurationValue(body));
  }
}

TEST(ClusterAnswersTest, AResourceManagerSaysWhetherItIsActive) {
  const auto info = ParseClusterInfo(
      R"({"clusterInfo":{"state":"STARTED","haState":"ACTIVE","hadoopVersion":"3.4.2"}})");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->ha_state, "ACTIVE");
  EXPECT_EQ(info->version, "3.4.2");
}

TEST(ClusterAnswersTest, AValueOfADaemonsConfigurationIsRead) {
  EXPECT_EQ(ConfigurationTarget("yarn.nodemanager.pmem-check-enabled"),
            "/conf?name=yarn.nodemanager.pmem-check-enabled");
  EXPECT_EQ(ParseConfigurationValue(
                R"({"property":{"key":"yarn.acl.enable","value":"true","isFinal":false}})"),
            "true");
}

TEST(ClusterAnswersTest, AServersClockIsReadToTheSecond) {
  const auto date = ParseHttpDate("Sun, 22 Nov 2026 04:31:24 GMT");
  ASSERT_TRUE(date);
  EXPECT_EQ(date->time_since_epoch(), std::chrono::seconds(1795321884));
  for (const char* text : {"", "Sun, 22 Nov 2026 04:31:24 CET", "Sun, 32 Nov 2026 04:31:24 GMT",
                           "Sun, 22 Abc 2026 04:31:24 GMT", "Sun, -2 Nov 2026 04:31:24 GMT",
                           "Sun, 22 Nov 2026 24:31:24 GMT", "Sun, 22 Nov 2026  4:31:24 GMT"})
    EXPECT_FALSE(ParseHttpDate(text)) << text;
}

}  // namespace
}  // namespace tfyarn::wire::cluster_answers_test
