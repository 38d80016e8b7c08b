// tf-yarn's rules on Skein. Source: criteo/tf-yarn tf_yarn/tensorflow/tasks/*.py, _task_commons.py;
// jcrist/skein ApplicationMaster.java (finishContainer, isFailed, maybeShutdown).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_tf_yarn_test {
namespace {

using enum ExitClass;

const std::vector<std::pair<std::string, int>> kTypes = {
    {"chief", 1}, {"worker", 2}, {"ps", 1}, {"evaluator", 1}, {"tensorboard", 1}};

JobSpec Late() {
  return MakeJob("tf-yarn", kTypes, {{"propagate", "late"}});
}

const std::vector<End>& ContainerFailures() {
  static const std::vector<End> ends = {
      {.task = "", .exit_class = kOom, .exit = -104},
      {.task = "", .exit_class = kKilledExternal, .exit = 137},
      {.task = "", .exit_class = kNodeLost, .exit = -100},
      {.task = "", .exit_class = kPreempted, .exit = -102},
      {.task = "", .exit_class = kLaunchError, .exit = -1000},
      {.task = "", .exit_class = kHeartbeatLost},
      {.task = "", .exit_class = kSignalCrash, .exit = 139},
      {.task = "", .exit_class = kUnknown, .exit = 255},
  };
  return ends;
}

TEST(PolicyTfYarnTest, WhereNoServiceIsWaitedForNoneIsLeft) {
  Court court(MakeJob("tf-yarn", {{"worker", 1}, {"ps", 1}}));
  court.Waive("worker");
  (void)court.Hear(Exits("ps:0", 0));
  EXPECT_EQ(court.status() + " " + court.rule(), "succeeded tf-yarn/services-ended");
}

TEST(PolicyTfYarnTest, AnyContainerFailureFailsTheApplicationNowWhateverItsRole) {
  for (const JobSpec& job : {MakeJob("tf-yarn", kTypes), Late()}) {
    for (const auto& [type, instances] : kTypes) {
      for (End end : ContainerFailures()) {
        Court court(job);
        end.task = type + ":0";
        court.Hear(end);
        EXPECT_EQ(court.status(), "failed") << end.task << " " << KebabName(end.exit_class);
        EXPECT_EQ(court.rule(), "tf-yarn/container-failed") << end.task;
      }
    }
  }
}

TEST(PolicyTfYarnTest, AnExceptionFailsTheApplicationAtOnceByDefault) {
  for (const std::string task : {"chief:0", "worker:1", "evaluator:0", "ps:0"}) {
    Court court(MakeJob("tf-yarn", kTypes));
    court.Hear(Exits(task, 1));
    EXPECT_EQ(court.status(), "failed") << task;
  }
}

TEST(PolicyTfYarnTest, LatePropagationWaitsForEveryClusterTask) {
  // Worked outcome: worker raises, chief healthy: verdict only after the chief also finishes.
  Court court(Late());
  court.Hear(Exits("worker:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:1", 0));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("chief:0", 0));
  EXPECT_EQ(court.status(), "failed") << "no task waits for evaluator, ps and tensorboard";
  EXPECT_EQ(court.rule(), "tf-yarn/raised");
}

TEST(PolicyTfYarnTest, AnEvaluatorThatRaisesAfterTrainingSucceededFailsTheApplication) {
  for (const JobSpec& job : {MakeJob("tf-yarn", kTypes), Late()}) {
    Court court(job);
    court.Hear({Exits("chief:0", 0), Exits("worker:0", 0), Exits("worker:1", 0)});
    EXPECT_EQ(court.status(), "unfinished")
        << "the evaluator counts, and never ending it keeps the application up";
    court.Hear(Exits("evaluator:0", 1));
    EXPECT_EQ(court.status(), "failed");
  }
}

TEST(PolicyTfYarnTest, SuccessIsEveryServicesExitZeroWithPsImplicit) {
  Court court(MakeJob("tf-yarn", kTypes));
  court.Hear(
      {Exits("chief:0", 0), Exits("worker:0", 0), Exits("worker:1", 0), Exits("evaluator:0", 0)});
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "tf-yarn/services-ended");
}

TEST(PolicyTfYarnTest, WhereEveryEndIsIgnoredThereIsNoSuccess) {
  const End killed{.task = "worker:0", .exit_class = kKilledByUs, .exit = -107};
  Court alone(MakeJob("tf-yarn", {{"worker", 1}}));
  EXPECT_EQ(alone.Hear(killed).rule, "tf-yarn/killed-by-api");
  EXPECT_EQ(alone.status(), "failed");
  EXPECT_EQ(alone.rule(), "tf-yarn/nothing-left");
  Court beside(MakeJob("tf-yarn", {{"worker", 2}}));
  beside.Hear(killed);
  beside.Hear(Exits("worker:1", 0));
  EXPECT_EQ(beside.rule(), "tf-yarn/services-ended");
}

TEST(PolicyTfYarnTest, TheChiefsExitZeroAloneIsNotSuccess) {
  Court court(MakeJob("tf-yarn", kTypes));
  EXPECT_EQ(court.Hear(Exits("chief:0", 0)).action, ExitAction::kTally);
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("ps:0", 0));
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyTfYarnTest, ATensorboardThatCannotStartLooksSucceeded) {
  for (const End& end : {Exits("tensorboard:0", 1), Exits("tensorboard:0", 75),
                         End{.task = "tensorboard:0", .exit_class = kPortConflict}}) {
    Court court(MakeJob("tf-yarn", kTypes));
    EXPECT_EQ(court.Hear(end).rule, "tf-yarn/tensorboard-error") << KebabName(end.exit_class);
    EXPECT_EQ(court.status(), "unfinished");
  }
}

TEST(PolicyTfYarnTest, EveryExceptionIsHeldBackWhenLate) {
  for (const std::int32_t code : {1, 2, 75, 127}) {
    Court court(Late());
    EXPECT_EQ(court.Hear(Exits("worker:0", code)).rule, "tf-yarn/raised-late") << code;
    EXPECT_EQ(court.status(), "unfinished") << code;
  }
  Court court(Late());
  court.Hear(Exits("ps:0", 1));
  EXPECT_EQ(court.rule(), "tf-yarn/container-failed") << "a ps waits for no task";
}

TEST(PolicyTfYarnTest, AContainerKilledThroughTheApiIsNoFailure) {
  Court court(MakeJob("tf-yarn", kTypes));
  court.Hear({.task = "worker:1", .exit_class = kKilledByUs, .exit = -105});
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear({Exits("chief:0", 0), Exits("worker:0", 0), Exits("evaluator:0", 0)});
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTfYarnTest, RetriesOfTheUserRestartTheGangInsteadOfResubmitting) {
  JobSpec job = MakeJob("tf-yarn", kTypes);
  job.retries.user = 1;
  Court court(job);
  court.Hear({.task = "worker:0", .exit_class = kNodeLost, .exit = -100});
  EXPECT_EQ(court.gang_restarts(), 1);
  court.Hear(Exits("worker:0", 1));
  EXPECT_EQ(court.status(), "failed");
}

}  // namespace
}  // namespace tfyarn::policy::policy_tf_yarn_test
