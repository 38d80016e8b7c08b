#include "wire/yarnweb/node_logs.h"

#include <gtest/gtest.h>

namespace tfyarn::wire::node_logs_test {
namespace {

const ContainerId kContainer = *ParseContainerId("container_1700000000000_0007_01_000002");

// As a NodeManager of Hadoop 3.4.2 answered.
const std::string kHeader =
    "Container: container_1700000000000_0007_01_000002 on 127.0.0.12:25009\n"
    "LogAggregationType: LOCAL\n"
    "=====================================================================\n"
    "LogType:worker-0.attempt-0.stdout\n"
    "LogLastModifiedTime:Sun Nov 22 04:32:01 +0000 2026\n"
    "LogLength:1376\n"
    "LogContents:\n";
const std::string kTrailer =
    "End of LogType:worker-0.attempt-0.stdout.This log file belongs to a running container "
    "(container_1700000000000_0007_01_000002) and so may not be complete.\n****\n\n\n";

TEST(NodeLogsTest, FilesAreListedWithTheirSizes) {
  const auto files = ParseContainerLogs(
      R"({"containerLogsInfo":{"containerLogInfo":[{"fileName":"stderr","fileSize":"0",)"
      R"("lastModifiedTime":"x"},{"fileName":"worker-0.attempt-0.stdout","fileSize":"1376",)"
      R"("lastModifiedTime":"x"}],"logAggregationType":"LOCAL","containerId":"c","nodeId":"n"}})");
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<LogFile>{{.name = "stderr", .size = 0},
                                          {.name = "worker-0.attempt-0.stdout", .size = 1376}}));
}

TEST(NodeLogsTest, AContainerWithoutFilesHasNone) {
  const auto files = ParseContainerLogs(R"({"containerLogsInfo":{"logAggregationType":"LOCAL"}})");
  ASSERT_TRUE(files);
  EXPECT_TRUE(files->empty());
}

TEST(NodeLogsTest, OnlyWhatIsOnTheNodeCountsAndOneElementIsAList) {
  const auto files = ParseContainerLogs(
      R"({"containerLogsInfo":[{"logAggregationType":"LOCAL","containerLogInfo":)"
      R"({"fileName":"a","fileSize":"3"}},{"logAggregationType":"AGGREGATED",)"
      R"("containerLogInfo":[{"fileName":"b","fileSize":"1"}]}]})");
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<LogFile>{{.name = "a", .size = 3}}));
}

TEST(NodeLogsTest, WhatIsNoListIsNone) {
  for (const std::string body :
       {"", "null", "[]", "{}", R"({"containerLogsInfo":1})",
        R"({"containerLogsInfo":{"logAggregationType":"LOCAL","containerLogInfo":[1]}})",
        R"({"containerLogsInfo":{"containerLogInfo":[{"fileName":"a","fileSize":"-1"}]}})",
        R"({"containerLogsInfo":{"containerLogInfo":[{"fileName":"a","fileSize":3}]}})"})
    EXPECT_FALSE(ParseContainerLogs(body)) << body;
}

TEST(NodeLogsTest, TheLastBytesHaveTheirPlaceInTheFileWhereverTheAnswerIsCut) {
  const std::string answer = kHeader + "line 106 of 0\n" + kTrailer;
  for (std::size_t piece = 1; piece < answer.size(); ++piece) {
    std::string text;
    std::uint64_t first = 0;
    LogTailReader reader(14, [&](std::uint64_t offset, std::string_view bytes) {
      if (text.empty()) first = offset;
      EXPECT_EQ(offset, first + text.size());
      text += bytes;
    });
    for (std::size_t at = 0; at < answer.size(); at += piece)
      ASSERT_TRUE(reader.Take(std::string_view(answer).substr(at, piece)));
    EXPECT_EQ(text, "line 106 of 0\n");
    EXPECT_EQ(first, 1376U - 14U);
    EXPECT_EQ(reader.length(), 1376U);
    EXPECT_TRUE(reader.complete());
  }
}

TEST(NodeLogsTest, AFileShorterThanWhatIsAskedForComesWhole) {
  std::string text;
  LogTailReader reader(1 << 20, [&](std::uint64_t offset, std::string_view bytes) {
    EXPECT_EQ(offset, text.size());
    text += bytes;
  });
  ASSERT_TRUE(reader.Take("LogType:a\nLogLength:3\nLogContents:\nabcEnd of LogType:a"));
  EXPECT_EQ(text, "abc");
}

TEST(NodeLogsTest, WhatIsNoLogIsRefused) {
  const auto takes = [](const std::string& answer) {
    LogTailReader reader(5, [](std::uint64_t, std::string_view) {});
    return reader.Take(answer);
  };
  EXPECT_FALSE(takes("x\nLogContents:\nabc"));
  EXPECT_FALSE(takes("x\nLogLength:many\nLogContents:\nabc"));
  EXPECT_FALSE(takes("x\nLogLength:-3\nLogContents:\nabc"));
  EXPECT_FALSE(takes(std::string(100'000, 'x')));
}

TEST(NodeLogsTest, NamesAreWrittenSoThatTheyStayNames) {
  EXPECT_EQ(LogTailTarget(kContainer, "../a b", 10, "me&you"),
            "/ws/v1/node/containers/container_1700000000000_0007_01_000002/logs/"
            "..%2Fa%20b?size=-10&user.name=me%26you");
}

}  // namespace
}  // namespace tfyarn::wire::node_logs_test
