#include "wire/yarnweb/rm_answers.h"

#include <gtest/gtest.h>

namespace tfyarn::wire::rm_answers_test {
namespace {

TEST(RmAnswersTest, EachAttemptHasItsContainerAndItsNode) {
  // As a ResourceManager of Hadoop 3.4.2 answered.
  const auto places = ParseAttempts(
      R"({"appAttempts":{"appAttempt":[{"id":1,"startTime":1795321857053,"finishedTime":0,)"
      R"("containerId":"container_1795321802026_0001_01_000001","nodeHttpAddress":)"
      R"("127.0.0.12:25011","nodeId":"127.0.0.12:25009","logsLink":"http://x","exportPorts":)"
      R"("null","appAttemptState":"RUNNING"}]}})");
  ASSERT_TRUE(places);
  EXPECT_EQ(*places, (std::vector<AttemptPlace>{
                         {.container = *ParseContainerId("container_1795321802026_0001_01_000001"),
                          .web = "127.0.0.12:25011"}}));
}

TEST(RmAnswersTest, AnAttemptWithoutAContainerHasNoPlace) {
  const auto places = ParseAttempts(
      R"({"appAttempts":{"appAttempt":{"id":1,"containerId":"","nodeHttpAddress":""}}})");
  ASSERT_TRUE(places);
  EXPECT_TRUE(places->empty());
}

TEST(RmAnswersTest, WhatIsNoListOfAttemptsIsNone) {
  for (const std::string body :
       {"", "null", "{}", R"({"appAttempts":[]})", R"({"appAttempts":{"appAttempt":[1]}})"})
    EXPECT_FALSE(ParseAttempts(body)) << body;
}

}  // namespace
}  // namespace tfyarn::wire::rm_answers_test
