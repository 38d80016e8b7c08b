#include "apps/yarn/task_logs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/yarn/started_containers.h"

namespace tfyarn::apps::task_logs_test {
namespace {

const ContainerId kAm = *ParseContainerId("container_e02_1700000000000_0007_02_000001");
const ContainerId kWorker = *ParseContainerId("container_1700000000000_0007_01_000002");

std::vector<wire::LogFile> Files(const std::vector<std::string>& names) {
  std::vector<wire::LogFile> files;
  for (const std::string& name : names) files.push_back({.name = name, .size = 1});
  return files;
}

std::vector<std::string> Texts(std::vector<TaskLog> logs) {
  std::sort(logs.begin(), logs.end());
  std::vector<std::string> texts;
  for (const TaskLog& log : logs)
    texts.push_back(log.task + "/" + std::to_string(log.attempt) + "/" + NameOf(log.stream));
  return texts;
}

TEST(TaskLogsTest, FilesAreNamedByTaskAttemptAndStream) {
  const auto logs = NameLogs(
      kWorker, Files({"launch_container.sh", "worker-1.attempt-2.stderr", "prelaunch.out",
                      "worker-1.attempt-2.stdout", "my-ps-10.attempt-0.stdout", "stderr",
                      "worker-1.attempt-2.txt", "worker.attempt-2.stdout", "a-b.attempt-0.stdout",
                      "worker-1.attempt-x.stdout", "directory.info", "stdout"}));
  EXPECT_EQ(Texts(logs), (std::vector<std::string>{"my-ps:10/0/stdout", "worker:1/2/stdout",
                                                   "worker:1/2/stderr", "worker:1/2/agent"}));
}

TEST(TaskLogsTest, TasksAreInTheOrderOfTheirNumbers) {
  const auto logs =
      NameLogs(kWorker, Files({"worker-10.attempt-0.stdout", "worker-2.attempt-0.stdout",
                               "chief-0.attempt-0.stdout"}));
  EXPECT_EQ(Texts(logs), (std::vector<std::string>{"chief:0/0/stdout", "worker:2/0/stdout",
                                                   "worker:10/0/stdout"}));
}

TEST(TaskLogsTest, TheFirstContainerOfAnAttemptIsItsAms) {
  EXPECT_EQ(Texts(NameLogs(kAm, Files({"stderr", "stdout", "prelaunch.err"}))),
            (std::vector<std::string>{"am/2/am"}));
}

TEST(TaskLogsTest, AnAgentThatNeverHadATaskIsKnownByItsContainer) {
  EXPECT_EQ(Texts(NameLogs(kWorker, Files({"stderr"}))),
            (std::vector<std::string>{"container_1700000000000_0007_01_000002/0/agent"}));
}

TEST(TaskLogsTest, ASelectionTakesOneTaskOrAllOfAType) {
  const auto logs = NameLogs(
      kWorker, Files({"worker-1.attempt-0.stdout", "worker-11.attempt-1.stderr", "stderr"}));
  const auto taken = [&](const LogSelection& selection) {
    std::vector<TaskLog> some;
    for (const TaskLog& log : logs) {
      if (selection.Has(log)) some.push_back(log);
    }
    return Texts(some);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(taken({}), (Texts{"worker:1/0/stdout", "worker:11/1/stderr"}));
  EXPECT_EQ(taken({.task = "worker:1"}), (Texts{"worker:1/0/stdout"}));
  EXPECT_EQ(taken({.task = "worker"}), (Texts{"worker:1/0/stdout", "worker:11/1/stderr"}));
  EXPECT_EQ(taken({.task = "work"}), Texts{});
  EXPECT_EQ(taken({.attempt = 1}), (Texts{"worker:11/1/stderr"}));
  EXPECT_EQ(taken({.streams = {LogStream::kAgent}}), (Texts{"worker:11/1/agent"}));
}

TEST(StartedContainersTest, ALineIsReadAsItIsWritten) {
  const StartedContainer started{.container = kWorker, .node = {.host = "n7", .port = 45454}};
  EXPECT_EQ(StartedLine(started), "started container_1700000000000_0007_01_000002 on n7:45454");
  EXPECT_EQ(ParseStartedLine(StartedLine(started)), started);
  const StartedContainer v6{.container = kAm, .node = {.host = "::1", .port = 1}};
  EXPECT_EQ(ParseStartedLine(StartedLine(v6)), v6);
}

TEST(StartedContainersTest, AnyOtherLineIsNone) {
  for (const std::string line : {"", "started", "started ", "started x on n:1",
                                 "started container_1700000000000_0007_01_000002",
                                 "started container_1700000000000_0007_01_000002 on ",
                                 "started container_1700000000000_0007_01_000002 on :1",
                                 "started container_1700000000000_0007_01_000002 on n:x",
                                 "started container_1700000000000_0007_01_000002 on n:99999999999"})
    EXPECT_FALSE(ParseStartedLine(line)) << line;
}

}  // namespace
}  // namespace tfyarn::apps::task_logs_test
