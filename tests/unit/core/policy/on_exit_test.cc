// The job's own on_exit rows, in front of every policy.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_on_exit_test {
namespace {

using enum ExitClass;

JobSpec WithRule(ExitRule rule, int user = 1) {
  JobSpec job = DefaultJob(Strategy::kMultiWorker, user);
  job.on_exit = {std::move(rule)};
  return job;
}

TEST(PolicyOnExitTest, OwnRowsComeFirstAndTheFirstMatchWins) {
  JobSpec job = DefaultJob(Strategy::kMultiWorker);
  job.on_exit = {{.task_type = "worker", .exits = {75}, .action = ExitAction::kSucceed},
                 {.task_type = "worker", .action = ExitAction::kFail},
                 {.action = ExitAction::kIgnore}};
  EXPECT_EQ(Ask(job, "worker:1", kUserRetryable, 75).rule, "on_exit/0");
  EXPECT_EQ(Ask(job, "worker:1", kUserPermanent, 1).rule, "on_exit/1");
  EXPECT_EQ(Ask(job, "chief:0", kNodeLost).rule, "on_exit/2");
}

TEST(PolicyOnExitTest, AnOwnRowWithoutClassAndExitMeansFailures) {
  const JobSpec job = WithRule({.task_type = "worker", .action = ExitAction::kFail});
  EXPECT_EQ(Ask(job, "worker:1", kOk, 0).rule, "default/ended-ok");
  EXPECT_EQ(Ask(job, "worker:1", kKilledByUs).rule, "default/stopped-by-us");
  EXPECT_EQ(Ask(job, "worker:1", kHeartbeatLost).rule, "on_exit/0");
  EXPECT_EQ(
      Ask(WithRule({.classes = {kOk}, .action = ExitAction::kSucceed}), "worker:1", kOk, 0).rule,
      "on_exit/0");
}

TEST(PolicyOnExitTest, AllConditionsOfAnOwnRowMustHold) {
  const JobSpec job = WithRule(
      {.task_type = "worker", .classes = {kOom}, .exits = {137}, .action = ExitAction::kIgnore});
  EXPECT_EQ(Ask(job, "worker:1", kOom, 137).rule, "on_exit/0");
  EXPECT_NE(Ask(job, "worker:1", kOom, -104).rule, "on_exit/0");
  EXPECT_NE(Ask(job, "worker:1", kKilledExternal, 137).rule, "on_exit/0");
  EXPECT_NE(Ask(job, "chief:0", kOom, 137).rule, "on_exit/0");
  EXPECT_NE(Ask(job, "worker:1", kOom).rule, "on_exit/0") << "no exit is known";
}

TEST(PolicyOnExitTest, OwnRowsPayByClassUnlessTheySay) {
  EXPECT_EQ(Ask(WithRule({.action = ExitAction::kRestartTask}), "worker:1", kNodeLost).pays,
            Budget::kInfrastructure);
  EXPECT_EQ(Ask(WithRule({.action = ExitAction::kRestartTask}), "worker:1", kSignalCrash).pays,
            Budget::kUser);
  EXPECT_EQ(Ask(WithRule({.action = ExitAction::kRestartTask, .pays = Budget::kNone}), "worker:1",
                kSignalCrash)
                .pays,
            Budget::kNone);
  EXPECT_EQ(
      Ask(WithRule({.classes = {kOk}, .action = ExitAction::kRestartTask}), "worker:1", kOk, 0)
          .pays,
      Budget::kUser)
      << "a restart after exit 0 must end some time";
  JobSpec tony = MakeJob("tony", {{"worker", 2}});
  tony.on_exit = {{.action = ExitAction::kRestartGang}};
  EXPECT_EQ(Ask(tony, "worker:1", kNodeLost).pays, Budget::kUser) << "tony has one counter";
}

TEST(PolicyOnExitTest, RaisingMemoryCarriesFactorAndMaximumAndIsPaidByInfrastructure) {
  const Decision decision = Ask(WithRule({.classes = {kOom},
                                          .action = ExitAction::kRaiseMemory,
                                          .raise_factor_percent = 200,
                                          .raise_max_memory_mb = 32768}),
                                "worker:1", kOom, -104);
  EXPECT_EQ(decision.action, ExitAction::kRaiseMemory);
  EXPECT_EQ(decision.pays, Budget::kInfrastructure);
  EXPECT_EQ(decision.raise_factor_percent, 200);
  EXPECT_EQ(decision.raise_max_memory_mb, 32768);
  EXPECT_EQ(decision.spent_rule, "default/oom-exhausted");
}

TEST(PolicyOnExitTest, ASpentOwnRowFailsTrackedTasksOnly) {
  const JobSpec job = WithRule({.action = ExitAction::kRestartTask});
  EXPECT_EQ(Ask(job, "worker:1", kUnknown).when_spent, ExitAction::kFail);
  EXPECT_EQ(Ask(job, "ps:0", kUnknown).when_spent, ExitAction::kFail);
  EXPECT_EQ(Ask(job, "evaluator:0", kUnknown).when_spent, ExitAction::kTally);
  EXPECT_EQ(Ask(job, "tensorboard:0", kUnknown).when_spent, ExitAction::kIgnore);
}

TEST(PolicyOnExitTest, AnIgnoredFailureNeitherHelpsNorHarmsSuccess) {
  JobSpec job = MakeJob("default", {{"worker", 2}});
  job.on_exit = {{.exits = {3}, .action = ExitAction::kIgnore}};
  Court court(job);
  court.Hear(Exits("worker:1", 3));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:0", 0));
  EXPECT_EQ(court.status(), "succeeded");
  Court none(job);
  none.Hear({Exits("worker:0", 3), Exits("worker:1", 3)});
  EXPECT_EQ(none.status(), "failed") << "without a task that succeeded there is no success";
}

TEST(PolicyOnExitTest, AnOwnSucceedEndsTheJob) {
  Court court(WithRule({.exits = {42}, .action = ExitAction::kSucceed}));
  court.Hear(Exits("worker:1", 42));
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "on_exit/0");
}

TEST(PolicyOnExitTest, AStalledTaskIsTheWatchsBusinessAfterOwnRows) {
  JobSpec job = DefaultJob(Strategy::kParameterServer);
  job.watch = WatchSpec{.progress = "step", .action = ExitAction::kRestartGang};
  const auto engine = Engine::Make(job);
  const TableView view(job, &*engine);
  const ExitView stalled = {.task = {"worker", 1}, .exit_class = kTimeout, .stalled = true};
  EXPECT_EQ(engine->OnExit(stalled, view).action, ExitAction::kRestartGang);
  EXPECT_EQ(engine->OnExit(stalled, view).pays, Budget::kInfrastructure);
  EXPECT_EQ(engine->OnExit(stalled, view).rule, "watch");
  job.on_exit = {{.classes = {kTimeout}, .action = ExitAction::kFail}};
  EXPECT_EQ(Engine::Make(job)->OnExit(stalled, view).rule, "on_exit/0");
}

}  // namespace
}  // namespace tfyarn::policy::policy_on_exit_test
