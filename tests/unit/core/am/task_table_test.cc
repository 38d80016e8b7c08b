#include "core/am/task_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace tfyarn::am::task_table_test {
namespace {

JobSpec Job() {
  JobSpec job;
  job.tasks = {
      {.name = "chief", .instances = 1}, {.name = "worker", .instances = 2}, {.name = "evaluator"}};
  return job;
}

class TaskTableTest : public testing::Test {
 protected:
  TaskTableTest()
      : table_(
            job_, [](const std::string& type) { return DefaultClass(type); }, snapshot_) {}

  void Launch(TaskIndex task) {
    const ContainerId container{.application_attempt = {}, .id = ++containers_};
    table_.GiveContainer(task, {.id = container, .node = {.host = "n1"}}, Nonce(7));
    table_.SetAgent(task, AgentPhase::kLaunching);
    table_.SetAgent(task, AgentPhase::kUp);
  }

  JobSpec job_ = Job();
  AmSnapshot snapshot_;
  TaskTable table_;
  std::int64_t containers_ = 0;
};

constexpr TaskIndex kChief(0);
constexpr TaskIndex kWorker0(1);
constexpr TaskIndex kEvaluator(3);

TEST_F(TaskTableTest, TasksLieInTheOrderOfTheJobAndAreFoundByName) {
  EXPECT_EQ(table_.Find({.type = "worker", .index = 1}), TaskIndex(2));
  EXPECT_EQ(table_.Find({.type = "worker", .index = 2}), std::nullopt);
  EXPECT_EQ(table_.Find({.type = "ps", .index = 0}), std::nullopt);
  EXPECT_EQ(FindTask(snapshot_, {.type = "evaluator", .index = 0}), &snapshot_.tasks[3]);
  EXPECT_EQ(FindTask(snapshot_, {.type = "worker", .index = -1}), nullptr);
}

TEST_F(TaskTableTest, TheEvaluatorIsBesideTraining) {
  EXPECT_EQ(table_.training_tasks(), 3);
  EXPECT_FALSE(table_.record(kEvaluator).training);
}

TEST_F(TaskTableTest, ATaskThatStartsWithTheEpochIsReadyWhenItsAgentWaitsWithAKnownAddress) {
  table_.SetStart(kWorker0, StartMode::kWithEpoch);
  EXPECT_EQ(table_.starters(), 1);
  EXPECT_EQ(table_.starters_ready(), 0);
  Launch(kWorker0);
  EXPECT_EQ(table_.starters_ready(), 1);

  EXPECT_EQ(table_.BeginProcess(Instant{}, kWorker0, Epoch(1)),
            (ProcessRef{TaskAttempt(0), Epoch(1)}));
  EXPECT_EQ(table_.starters(), 0);
  EXPECT_EQ(table_.starters_ready(), 0);
  EXPECT_EQ(table_.training_alive(), 1);
}

TEST_F(TaskTableTest, AProcessWhosePortWasTakenWaitsForAnotherAddressUnlessItIsThere) {
  const HostPort first{.host = "n1", .port = 1};
  const HostPort second{.host = "n1", .port = 2};
  Launch(kWorker0);
  table_.SetAddress(kWorker0, first);
  (void)table_.BeginProcess(Instant{}, kWorker0, Epoch(1));
  table_.SetProcess(kWorker0, ProcessPhase::kEnded);
  table_.PortWasTaken(kWorker0);
  table_.SetStart(kWorker0, StartMode::kWithEpoch);
  EXPECT_EQ(table_.starters_ready(), 0);
  table_.SetAddress(kWorker0, second);
  EXPECT_EQ(table_.starters_ready(), 1);

  // Also where its restart was decided before it ended.
  (void)table_.BeginProcess(Instant{}, kWorker0, Epoch(2));
  table_.SetStart(kWorker0, StartMode::kWithEpoch);
  table_.SetProcess(kWorker0, ProcessPhase::kEnded);
  table_.PortWasTaken(kWorker0);
  EXPECT_EQ(table_.starters_ready(), 0);

  // The other way round: the address overtakes the end.
  (void)table_.BeginProcess(Instant{}, kWorker0, Epoch(3));
  table_.SetAddress(kWorker0, first);
  table_.SetProcess(kWorker0, ProcessPhase::kEnded);
  table_.PortWasTaken(kWorker0);
  table_.SetStart(kWorker0, StartMode::kWithEpoch);
  EXPECT_EQ(table_.starters_ready(), 1);

  // And the one that it had: the spec did not have it.
  (void)table_.BeginProcess(Instant{}, kWorker0, Epoch(4));
  table_.mutable_record(kWorker0)
      .latest_news[static_cast<std::size_t>(ReportKind::kAddressChanged)] = 1;
  table_.SetAddress(kWorker0, first);
  table_.SetProcess(kWorker0, ProcessPhase::kEnded);
  table_.PortWasTaken(kWorker0);
  table_.SetStart(kWorker0, StartMode::kWithEpoch);
  EXPECT_EQ(table_.starters_ready(), 1);
}

TEST_F(TaskTableTest, AttemptsCountProcessesAndIncarnationsCountContainers) {
  Launch(kChief);
  (void)table_.BeginProcess(Instant{}, kChief, Epoch(1));
  table_.SetProcess(kChief, ProcessPhase::kEnded);
  EXPECT_EQ(table_.BeginProcess(Instant{}, kChief, Epoch(1)).attempt, TaskAttempt(1));
  table_.SetProcess(kChief, ProcessPhase::kEnded);
  table_.DropContainer(kChief);
  EXPECT_EQ(table_.shown(kChief).state, TaskState::kWaiting);
  Launch(kChief);
  EXPECT_EQ(table_.shown(kChief).incarnation, Incarnation(1));
  EXPECT_EQ(table_.BeginProcess(Instant{}, kChief, Epoch(2)).attempt, TaskAttempt(2));
}

TEST_F(TaskTableTest, ThePolicysCountsFollowTheTasks) {
  Launch(kWorker0);
  (void)table_.BeginProcess(Instant{}, kWorker0, Epoch(1));
  EXPECT_EQ(table_.types()[1].running, 0);
  table_.SetProcess(kWorker0, ProcessPhase::kRunning);
  EXPECT_EQ(table_.types()[1].running, 1);
  EXPECT_TRUE(table_.FactsOf(1, 0).running);
  table_.SetProcess(kWorker0, ProcessPhase::kStopping);
  EXPECT_EQ(table_.types()[1].running, 0);
  EXPECT_FALSE(table_.FactsOf(1, 0).running);
  table_.SetProcess(kWorker0, ProcessPhase::kEnded);
  table_.SetOutcome(kWorker0, policy::Outcome::kOk);
  EXPECT_EQ(table_.types()[1].running, 0);
  EXPECT_EQ(table_.types()[1].ok, 1);
  EXPECT_EQ(table_.training_ended(), 1);
  // A gang restart opens what had ended.
  table_.SetOutcome(kWorker0, policy::Outcome::kOpen);
  EXPECT_EQ(table_.types()[1].ok, 0);
  EXPECT_EQ(table_.training_ended(), 0);
}

}  // namespace
}  // namespace tfyarn::am::task_table_test
