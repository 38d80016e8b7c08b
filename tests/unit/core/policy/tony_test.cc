// TonY's rules. Source: tony-framework/TonY TonySession.java (onTaskCompleted,
// updateSessionStatus), ApplicationMaster.java (monitor), MLGenericRuntime.java
// (validateExitedTask, group dependencies).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_tony_test {
namespace {

using enum ExitClass;

const std::vector<std::pair<std::string, int>> kAll = {
    {"chief", 1}, {"worker", 2}, {"evaluator", 1}, {"ps", 1}, {"tensorboard", 1}, {"mine", 1}};

/// Every way of ending that is neither 0 nor -105.
const std::vector<End>& Failures() {
  static const std::vector<End> ends = {
      {.task = "", .exit_class = kUserPermanent, .exit = 1},
      {.task = "", .exit_class = kNodeLost, .exit = -100},
      {.task = "", .exit_class = kPreempted, .exit = -102},
      {.task = "", .exit_class = kOom, .exit = -103},
      {.task = "", .exit_class = kOom, .exit = -104},
      {.task = "", .exit_class = kHeartbeatLost},
      {.task = "", .exit_class = kLaunchError, .exit = -1000},
      {.task = "", .exit_class = kSignalCrash, .exit = 139},
      {.task = "", .exit_class = kKilledExternal, .exit = 137},
      {.task = "", .exit_class = kTimeout},
      {.task = "", .exit_class = kUserRetryable, .exit = 75},
      {.task = "", .exit_class = kUnknown, .exit = 255},
      {.task = "", .exit_class = kNodeBad, .exit = -101},
      {.task = "", .exit_class = kPortConflict, .exit = 1},
  };
  return ends;
}

End At(std::string task, End end, bool registered = true) {
  end.task = std::move(task);
  end.ever_registered = registered;
  return end;
}

struct Cell {
  std::string task;
  std::string on_ok;
  std::string on_killed;
  std::string on_failure;  ///< "tally", "ignore" or "fail: ROW".
};

std::string Text(const Decision& decision) {
  if (decision.action != ExitAction::kFail) return KebabName(decision.action);
  return "fail: " + decision.rule;
}

void ExpectCells(const JobSpec& job, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    EXPECT_EQ(Text(Court(job).Hear(Exits(cell.task, 0))), cell.on_ok) << cell.task;
    EXPECT_EQ(Text(Court(job).Hear({.task = cell.task, .exit_class = kKilledByUs, .exit = -105})),
              cell.on_killed)
        << cell.task;
    for (const End& failure : Failures()) {
      EXPECT_EQ(Text(Court(job).Hear(At(cell.task, failure))), cell.on_failure)
          << cell.task << " " << KebabName(failure.exit_class);
    }
  }
}

TEST(PolicyTonyTest, TheTableOfCompletionsHoldsCellByCell) {
  ExpectCells(MakeJob("tony", kAll), {{"chief:0", "tally", "tally", "fail: tony/chief-failed"},
                                      {"worker:0", "tally", "tally", "tally"},
                                      {"worker:1", "tally", "tally", "tally"},
                                      {"evaluator:0", "tally", "tally", "tally"},
                                      {"mine:0", "tally", "tally", "tally"},
                                      {"ps:0", "tally", "ignore", "fail: tony/stop-on-failure"},
                                      {"tensorboard:0", "tally", "ignore", "ignore"}});
}

TEST(PolicyTonyTest, WithoutAChiefWorkerZeroIsTheChief) {
  ExpectCells(MakeJob("tony", {{"worker", 2}}),
              {{"worker:0", "tally", "tally", "fail: tony/chief-failed"},
               {"worker:1", "tally", "tally", "tally"}});
}

TEST(PolicyTonyTest, FailOnWorkerFailureMeansEveryTypeSidecarsIncluded) {
  const JobSpec job = MakeJob("tony", kAll, {{"fail_on_worker_failure", "true"}});
  ExpectCells(job, {{"worker:1", "tally", "tally", "fail: tony/fail-on-worker-failure"},
                    {"tensorboard:0", "tally", "ignore", "fail: tony/fail-on-worker-failure"},
                    {"evaluator:0", "tally", "tally", "fail: tony/fail-on-worker-failure"}});
}

TEST(PolicyTonyTest, AnUntrackedFailureEndsTheSessionUnlessTrackedTasksAreComplete) {
  const JobSpec job = MakeJob("tony", kAll, {{"stop_on_failure", ""}});
  for (const End& failure : Failures()) {
    Court court(job);
    court.Hear(At("ps:0", failure));
    EXPECT_EQ(court.status(), "failed");
    EXPECT_EQ(court.rule(), "tony/untracked-failed");
  }
  Court together(MakeJob("tony", {{"worker", 1}, {"ps", 1}}, {{"stop_on_failure", ""}}));
  together.Hear({Exits("ps:0", 1), Exits("worker:0", 0)});
  EXPECT_EQ(together.status(), "succeeded")
      << "in one tick the verdict function sees the completed worker";
}

TEST(PolicyTonyTest, ATaskThatNeverRegisteredFailsTheJob) {
  for (const std::string task : {"worker:1", "evaluator:0", "tensorboard:0", "mine:0"}) {
    for (const End& failure : Failures()) {
      Court court(MakeJob("tony", kAll));
      court.Hear(At(task, failure, false));
      EXPECT_EQ(court.status(), "failed") << task;
      EXPECT_EQ(court.rule(), "tony/starting-failed") << task;
    }
    Court court(MakeJob("tony", kAll));
    court.Hear({.task = task, .exit_class = kOk, .exit = 0, .ever_registered = false});
    EXPECT_EQ(court.status(), "unfinished") << task << " exit 0 is counted";
  }
}

TEST(PolicyTonyTest, ChecksHaveTheOrderOfTonysTick) {
  Court chief(MakeJob("tony", kAll));
  chief.Hear(At("chief:0", Failures()[0], false));
  EXPECT_EQ(chief.rule(), "tony/chief-failed") << "check 3 before check 10";
  Court untracked(MakeJob("tony", kAll, {{"stop_on_failure", ""}}));
  untracked.Hear(At("ps:0", Failures()[0], false));
  EXPECT_EQ(untracked.rule(), "tony/untracked-failed") << "check 6 before check 10";
  Court both(MakeJob("tony", kAll, {{"stop_on_failure", ""}}));
  both.Hear({Exits("ps:0", 1), Exits("chief:0", 1)});
  EXPECT_EQ(both.rule(), "tony/chief-failed") << "check 3 before check 6";
  Court last(MakeJob("tony", {{"worker", 2}}));
  last.Hear({Exits("worker:0", 0), At("worker:1", Failures()[0], false)});
  EXPECT_EQ(last.rule(), "tony/starting-failed") << "check 10 before check 11";
}

struct Outcome {
  std::string name;
  JobSpec job;
  std::vector<End> ends;
  std::string status;
  std::string rule;
};

const std::vector<std::pair<std::string, int>> kChief4Workers2Ps = {
    {"chief", 1}, {"worker", 4}, {"ps", 2}};

/// The worked outcomes that are a set of ends. Their verdict must not depend on the order.
std::vector<Outcome> Outcomes() {
  const JobSpec big = MakeJob("tony", kChief4Workers2Ps);
  const JobSpec four = MakeJob("tony", {{"worker", 4}});
  const JobSpec three = MakeJob("tony", {{"worker", 3}});
  const JobSpec small = MakeJob("tony", {{"chief", 1}, {"worker", 1}, {"ps", 1}});
  std::vector<End> a = {Exits("chief:0", 0), Exits("worker:0", 0), Exits("worker:1", 0),
                        Exits("worker:2", 0), Exits("worker:3", 1)};
  std::vector<End> b = {Exits("chief:0", 0), Exits("worker:0", 1), Exits("worker:1", 1),
                        Exits("worker:2", 1), Exits("worker:3", 1)};
  std::vector<End> d = {Exits("worker:0", 0), Exits("worker:1", 1), Exits("worker:2", 1),
                        Exits("worker:3", 1)};
  const End preempted = {.task = "worker:2", .exit_class = kPreempted, .exit = -102};
  const End node_lost = {.task = "ps:0", .exit_class = kNodeLost, .exit = -100};
  const End killed = {.task = "worker:1", .exit_class = kKilledByUs, .exit = -105};
  return {
      {"a", big, a, "succeeded", "tony/some-failed"},
      {"b", big, b, "succeeded", "tony/some-failed"},
      {"c", four, {Exits("worker:0", 1)}, "failed", "tony/chief-failed"},
      {"d", four, d, "succeeded", "tony/some-failed"},
      {"e",
       MakeJob("tony", {{"worker", 1}}),
       {Exits("worker:0", 1)},
       "failed",
       "tony/chief-failed"},
      {"f", small, {Exits("ps:0", 1)}, "failed", "tony/stop-on-failure"},
      {"g", small, {Exits("ps:0", 0)}, "unfinished", ""},
      {"h",
       MakeJob("tony", {{"chief", 1}, {"evaluator", 1}}),
       {Exits("chief:0", 0)},
       "unfinished",
       ""},
      {"j",
       three,
       {Exits("worker:0", 0), Exits("worker:1", 0), preempted},
       "succeeded",
       "tony/some-failed"},
      {"k", small, {node_lost}, "failed", "tony/stop-on-failure"},
      {"all ok",
       three,
       {Exits("worker:0", 0), Exits("worker:1", 0), Exits("worker:2", 0)},
       "succeeded",
       "tony/all-ok"},
      {"-105 counts",
       MakeJob("tony", {{"worker", 2}}),
       {Exits("worker:0", 0), killed},
       "succeeded",
       "tony/some-failed"},
      {"chief 0 is not the end", big, {Exits("chief:0", 0)}, "unfinished", ""},
  };
}

TEST(PolicyTonyTest, WorkedOutcomesHoldInEveryOrder) {
  for (Outcome& outcome : Outcomes()) {
    const auto by_task = [](const End& x, const End& y) { return x.task < y.task; };
    std::sort(outcome.ends.begin(), outcome.ends.end(), by_task);
    do {
      Court court(outcome.job);
      for (const End& end : outcome.ends) court.Hear(end);
      EXPECT_EQ(court.status(), outcome.status) << outcome.name;
      EXPECT_EQ(court.rule(), outcome.rule) << outcome.name;
    } while (std::next_permutation(outcome.ends.begin(), outcome.ends.end(), by_task));
  }
}

TEST(PolicyTonyTest, OutcomeHWithAnIgnoredGroupDependencySucceeds) {
  Court court(MakeJob("tony", {{"chief", 1}, {"evaluator", 1}}));
  court.Hear(Exits("chief:0", 0));
  court.Waive("evaluator");
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "tony/all-ok");
}

TEST(PolicyTonyTest, AWaivedTypeFailsLikeAnUntrackedOne) {
  // TonY: testTaskWithDependencyTimeAndIgnoredButFailedShouldPass and row 6 of the tick.
  Court court(MakeJob("tony", {{"chief", 1}, {"worker", 2}, {"mine", 1}}));
  court.Hear(Exits("chief:0", 0));
  court.Waive("worker");
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "tony/waived-failed");
}

TEST(PolicyTonyTest, AWaivedFailureInTheTickThatCompletesTheTrackedTasksIsIgnored) {
  Court court(MakeJob("tony", {{"chief", 1}, {"mine", 1}, {"tensorboard", 1}}));
  court.Waive("mine");
  const Decision last = court.Hear({Exits("chief:0", 0), Exits("mine:0", 1)});
  EXPECT_EQ(last.rule, "tony/waived-failed-late");
  EXPECT_EQ(last.action, ExitAction::kIgnore);
  EXPECT_EQ(court.rule(), "tony/all-ok");
  Court other(MakeJob("tony", {{"chief", 1}, {"mine", 1}, {"tensorboard", 1}}));
  other.Waive("mine");
  other.Hear({Exits("chief:0", 0), At("tensorboard:0", Failures()[0], false)});
  EXPECT_EQ(other.rule(), "tony/starting-failed") << "only what was waived is ignored";
}

TEST(PolicyTonyTest, OutcomeLALateExitZeroDoesNotRepairALostTask) {
  const JobSpec job = MakeJob("tony", {{"worker", 3}});
  EXPECT_TRUE(Engine::Make(job)->first_report_wins());
  Court court(job);
  court.Hear({.task = "worker:1", .exit_class = kHeartbeatLost});
  court.Hear(Exits("worker:0", 0));
  court.Hear(Exits("worker:2", 0));
  EXPECT_EQ(court.rule(), "tony/some-failed");
}

TEST(PolicyTonyTest, OutcomeMTheSessionIsRetriedOnceThenFails) {
  for (const bool by_option : {true, false}) {
    JobSpec job = MakeJob("tony", {{"worker", 4}});
    if (by_option) {
      job.policy.options["retry_count"] = "1";
    } else {
      job.retries.user = 1;
    }
    Court court(job);
    court.Hear(Exits("worker:0", 1));
    EXPECT_EQ(court.status(), "unfinished");
    EXPECT_EQ(court.gang_restarts(), 1);
    court.Hear(Exits("worker:0", 1));
    EXPECT_EQ(court.status(), "failed");
    EXPECT_EQ(court.rule(), "tony/chief-failed");
    EXPECT_EQ(court.gang_restarts(), 1);
  }
}

TEST(PolicyTonyTest, EveryReasonCountsOnTheOneSessionCounter) {
  Court court(MakeJob("tony", {{"chief", 1}, {"ps", 1}}, {{"retry_count", "2"}}));
  court.Hear({.task = "chief:0", .exit_class = kNodeLost, .exit = -100});
  court.Hear({.task = "ps:0", .exit_class = kPreempted, .exit = -102});
  EXPECT_EQ(court.gang_restarts(), 2);
  court.Hear({.task = "chief:0", .exit_class = kHeartbeatLost});
  EXPECT_EQ(court.status(), "failed");
}

TEST(PolicyTonyTest, AFailedVerdictFunctionIsRetriedToo) {
  JobSpec job = MakeJob("tony", {{"worker", 2}}, {{"retry_count", "1"}});
  job.on_exit = {{.task_type = "worker", .action = ExitAction::kTally}};
  Court court(job);
  for (int session = 0; session < 2; ++session) {
    EXPECT_EQ(court.status(), "unfinished");
    court.Hear({Exits("worker:0", 1), Exits("worker:1", 1)});
  }
  EXPECT_EQ(court.gang_restarts(), 1);
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "tony/all-failed");
}

TEST(PolicyTonyTest, WithoutOneExitZeroTheSessionHasFailedWhateverIsIgnored) {
  JobSpec job = MakeJob("tony", {{"worker", 3}});
  job.on_exit = {{.exits = {137}, .action = ExitAction::kIgnore}};
  for (const std::int32_t last : {0, 1, 137}) {
    Court court(job);
    court.Hear(Exits("worker:0", 137));
    court.Hear(Exits("worker:1", last == 137 ? 137 : 1));
    court.Hear(Exits("worker:2", last));
    EXPECT_EQ(court.rule(), last == 0 ? "tony/some-failed" : "tony/all-failed") << last;
  }
}

TEST(PolicyTonyTest, FailOnWorkerFailureMakesTheVerdictFunctionStrict) {
  const JobSpec job = MakeJob("tony", {{"worker", 2}}, {{"fail_on_worker_failure", "true"}});
  Court court(job);
  court.Hear({.task = "worker:1", .exit_class = kKilledByUs, .exit = -105});
  EXPECT_EQ(court.status(), "unfinished") << "-105 fails nothing at once";
  court.Hear(Exits("worker:0", 0));
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "tony/worker-failure");
}

TEST(PolicyTonyTest, NothingIsRetriedWhenTheGangCanNeverBeHad) {
  Court court(MakeJob("tony", {{"worker", 2}}, {{"retry_count", "3"}}));
  court.Hear({.task = "worker:0", .exit_class = kInfeasible});
  EXPECT_EQ(court.status(), "failed");
}

TEST(PolicyTonyTest, AfterSuccessNothingChanges) {
  Court court(MakeJob("tony", {{"worker", 1}, {"ps", 1}}));
  court.Hear(Exits("worker:0", 0));
  const Decision late = court.Hear(Exits("ps:0", 1));
  EXPECT_EQ(late.action, ExitAction::kTally);
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTonyTest, HorovodsUntrackedTypeIsTheDriver) {
  JobSpec job = MakeJob("tony", {{"driver", 1}, {"worker", 2}});
  job.framework = Framework::kHorovod;
  EXPECT_EQ(Engine::Make(job)->ClassOf("driver"), TaskClass::kService);
  job.policy.options["untracked"] = "ps";
  EXPECT_EQ(Engine::Make(job)->ClassOf("driver"), TaskClass::kTracked);
}

TEST(PolicyTonyTest, ListsOfTypesMayBeWrittenAsYamlOrWithCommas) {
  for (const std::string list :
       {"ps,reader", "[ps, reader]", " ps , reader ", "[\"ps\", 'reader']"}) {
    const auto engine = Engine::Make(
        MakeJob("tony", {{"worker", 1}, {"ps", 1}, {"reader", 1}}, {{"untracked", list}}));
    EXPECT_EQ(engine->ClassOf("ps"), TaskClass::kService) << list;
    EXPECT_EQ(engine->ClassOf("reader"), TaskClass::kService) << list;
    EXPECT_EQ(engine->ClassOf("worker"), TaskClass::kTracked) << list;
  }
}

}  // namespace
}  // namespace tfyarn::policy::policy_tony_test
