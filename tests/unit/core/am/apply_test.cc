#include <gtest/gtest.h>

#include "core/am/ledger.h"
#include "core/am/task_table.h"

namespace tfyarn::am::apply_test {
namespace {

const TaskId kPs{.type = "ps", .index = 0};
const TaskId kWorker{.type = "worker", .index = 0};
constexpr TaskIndex kPsIndex(0);

class ApplyTest : public testing::Test {
 protected:
  ApplyTest()
      : job_(Job()),
        tasks_(
            job_, [](const std::string& type) { return DefaultClass(type); }, snapshot_) {
    ledger_.Size(tasks_.size());
  }

  static JobSpec Job() {
    JobSpec job;
    job.tasks = {{.name = "ps", .instances = 1}, {.name = "worker", .instances = 1}};
    job.strategy = Strategy::kParameterServer;
    return job;
  }
  void Take(const journal::JournalEntry& entry) { Apply(entry, job_, tasks_, ledger_); }
  void Order(std::uint32_t attempt) {
    Take(journal::ProcessesOrdered{
        .epoch = Epoch(1),
        .processes = {{.task = kPs, .attempt = TaskAttempt(attempt)},
                      {.task = kWorker, .attempt = TaskAttempt(attempt)}}});
  }

  JobSpec job_;
  AmSnapshot snapshot_;
  TaskTable tasks_;
  Ledger ledger_;
};

// The worker could not reach the ps, which had just started again; in a session both start again,
// and the ps's own process ends with that, too.
TEST_F(ApplyTest, WhoseEndExcusesAVictimHasAnotherEndWhereItStartsAgainWithThat) {
  for (const bool together : {true, false}) {
    ledger_ = {};
    ledger_.Size(tasks_.size());
    const journal::JournaledCause cause{.task = kPs, .exit = 129, .at = StoredTime(1s)};
    Order(0);
    Take(journal::RestartPaid{.budget = Budget::kUser, .tasks = {kPs}, .cause = cause});
    ASSERT_EQ(ledger_.past_ends.at(kPsIndex).attempt, TaskAttempt(0));
    Order(1);
    std::vector<TaskId> tasks = {kWorker};
    if (together) tasks.push_back(kPs);
    Take(journal::RestartPaid{
        .tasks = tasks, .cause = cause, .excused_by = {{.task = kPs, .attempt = TaskAttempt(1)}}});
    EXPECT_EQ(ledger_.past_ends.at(kPsIndex).attempt, TaskAttempt(together ? 1 : 0));
    EXPECT_EQ(ledger_.past_ends.at(kPsIndex).cause, cause);
    EXPECT_EQ(ledger_.of(kPsIndex).excused.has_value(), together);
  }
}

}  // namespace
}  // namespace tfyarn::am::apply_test
