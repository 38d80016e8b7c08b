// Slider's rules for TensorFlow. Source: apache/incubator-slider app-packages/tensorflow
// (tensorflow.py: five restarts of an instance), AppState.java (checkFailureThreshold).
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_slider_tf_test {
namespace {

using enum ExitClass;
using Types = std::vector<std::pair<std::string, int>>;
using Options = std::map<std::string, std::string>;

JobSpec Slider(const Types& types, Options options = {}) {
  return MakeJob("slider-tf", types, std::move(options));
}

const Types kAll = {{"chief", 1},     {"worker", 2},      {"ps", 1},
                    {"evaluator", 1}, {"tensorboard", 1}, {"mine", 1}};
/// One instance of each component.
const std::vector<std::string> kOfEach = {"chief:0",     "worker:1",      "ps:0",
                                          "evaluator:0", "tensorboard:0", "mine:0"};

/// The container or its agent is gone.
const std::vector<ExitClass> kLost = {kPreempted,   kNodeLost,      kNodeBad,
                                      kLaunchError, kHeartbeatLost, kAmLost};
/// The process has ended or hangs, and its container is there.
const std::vector<ExitClass> kProcessFailed = {kUserPermanent, kUserRetryable,  kOom,
                                               kSignalCrash,   kKilledExternal, kPortConflict,
                                               kTimeout,       kUnknown};

/// Not the numbers that the policy has when none are given.
const Options kThreeAndTwo = {{"restarts_in_container", "3"}, {"container_failure_threshold", "2"}};
const Allowance kThreeInPlace = {
    .restarts = 3, .window = std::nullopt, .counted = Counted::kInContainer};
const Allowance kTwoContainers = {.restarts = 2, .window = 6h, .counted = Counted::kPaidForType};

End Lost(std::string task) {
  return {.task = std::move(task), .exit_class = kNodeLost, .exit = -100};
}

End Hangs(std::string task) {
  return {.task = std::move(task), .exit_class = kTimeout};
}

void Repeat(Court& court, const End& end, int times) {
  for (int i = 0; i < times; ++i) court.Hear(end);
}

struct RowCase {
  std::string row;  ///< That decides.
  std::vector<ExitClass> classes;
  std::optional<std::int32_t> exit;
  std::string action;
  std::string pays;
  std::optional<Allowance> allowance;  ///< With kThreeAndTwo.
  bool elsewhere = false;              ///< In another container.
};

std::vector<RowCase> RowCases() {
  return {
      {"finished", {kOk}, 0, "tally", "none", {}},
      {"stopped-by-us", {kKilledByUs}, -105, "tally", "none", {}},
      {"no-gang", {kGangTimeout, kInfeasible}, {}, "fail", "none", {}},
      {"container-lost", kLost, {}, "restart-task", "user", kTwoContainers, true},
      {"restarted-in-place", kProcessFailed, 200, "restart-task", "none", kThreeInPlace},
  };
}

TEST(PolicySliderTfTest, EveryRowDecidesItsOwnEndsForEachComponent) {
  for (const RowCase& c : RowCases()) {
    for (const ExitClass exit_class : c.classes) {
      for (const std::string& task : kOfEach) {
        Court court(Slider(kAll, kThreeAndTwo));
        const Decision decision =
            court.Hear({.task = task, .exit_class = exit_class, .exit = c.exit});
        const std::string what = task + " " + KebabName(exit_class);
        EXPECT_EQ(decision.rule, "slider-tf/" + c.row) << what;
        EXPECT_EQ(KebabName(decision.action), c.action) << what;
        EXPECT_EQ(KebabName(decision.pays), c.pays) << what;
        EXPECT_EQ(decision.other_container, c.elsewhere) << what;
        if (!c.allowance) continue;
        EXPECT_EQ(decision.allowance, *c.allowance) << what;
      }
    }
  }
}

TEST(PolicySliderTfTest, BehindTheRestartInPlaceTheInstanceIsReplaced) {
  for (const ExitClass exit_class : kProcessFailed) {
    for (const std::string& task : kOfEach) {
      Court court(Slider(kAll, kThreeAndTwo));
      const Decision first = court.Hear({.task = task, .exit_class = exit_class, .exit = 200});
      const std::string what = task + " " + KebabName(exit_class);
      ASSERT_EQ(first.next.size(), 1U) << what;
      const Decision& next = first.next.front();
      EXPECT_EQ(next.rule, "slider-tf/instance-replaced") << what;
      EXPECT_EQ(next.action, ExitAction::kRestartTask) << what;
      EXPECT_TRUE(next.other_container) << what;
      EXPECT_EQ(KebabName(next.pays), "user") << what;
      EXPECT_EQ(next.allowance, kTwoContainers) << what;
      EXPECT_EQ(next.when_spent, ExitAction::kFail) << what;
      EXPECT_EQ(next.spent_rule, "slider-tf/component-failed") << what;
      EXPECT_TRUE(next.next.empty()) << what;
    }
  }
}

TEST(PolicySliderTfTest, WithoutAThresholdContainersHaveNoLimit) {
  Court court(Slider({{"worker", 2}}));
  const Decision lost = court.Hear(Lost("worker:1"));
  EXPECT_FALSE(lost.allowance.restarts);
  EXPECT_EQ(lost.spent_rule, "slider-tf/component-failed");
  Repeat(court, Lost("worker:1"), 999);
  EXPECT_EQ(court.status(), "unfinished");
  EXPECT_EQ(court.task_restarts(), 1000);
  EXPECT_EQ(court.moves(), 1000);
}

TEST(PolicySliderTfTest, FiveFailuresStartTheProcessAgainInPlaceAndTheSixthElsewhere) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Exits("worker:1", 1), 5);
  EXPECT_EQ(court.task_restarts(), 5);
  EXPECT_EQ(court.moves(), 0);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.task_restarts(), 6);
  EXPECT_EQ(court.moves(), 1);
  std::vector<std::string> rules(5, "slider-tf/restarted-in-place");
  rules.emplace_back("slider-tf/instance-replaced");
  EXPECT_EQ(court.restart_rules(), rules);
}

TEST(PolicySliderTfTest, EveryWayInWhichAProcessFailsIsOneOfTheFive) {
  Court court(Slider({{"worker", 2}}));
  for (const std::int32_t code : {1, 75, 139, 143, 255}) court.Hear(Exits("worker:1", code));
  EXPECT_EQ(court.moves(), 0);
  court.Hear({.task = "worker:1", .exit_class = kOom, .exit = 137});
  EXPECT_EQ(court.moves(), 1);
}

TEST(PolicySliderTfTest, AHangIsAFailureOfTheProcessAndNotOfItsContainer) {
  Court court(Slider({{"worker", 2}}, {{"container_failure_threshold", "0"}}));
  Repeat(court, Hangs("worker:1"), 5);
  EXPECT_EQ(court.status(), "unfinished");
  EXPECT_EQ(court.task_restarts(), 5);
  EXPECT_EQ(court.moves(), 0);
  court.Hear(Hangs("worker:1"));
  EXPECT_EQ(court.rule(), "slider-tf/component-failed") << "the next one would leave it";
}

TEST(PolicySliderTfTest, HangsAndEndsAreCountedTogether) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Hangs("worker:1"), 3);
  Repeat(court, Exits("worker:1", 1), 2);
  EXPECT_EQ(court.moves(), 0);
  court.Hear(Hangs("worker:1"));
  EXPECT_EQ(court.moves(), 1);
}

TEST(PolicySliderTfTest, TheNextContainerHasFiveAgain) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Exits("worker:1", 1), 11);
  EXPECT_EQ(court.moves(), 1);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.moves(), 2);
  EXPECT_EQ(court.task_restarts(), 12);
}

TEST(PolicySliderTfTest, AfterALossTheNextContainerHasFiveToo) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Exits("worker:1", 1), 4);
  court.Hear(Lost("worker:1"));
  EXPECT_EQ(court.moves(), 1);
  Repeat(court, Exits("worker:1", 1), 5);
  EXPECT_EQ(court.moves(), 1);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.moves(), 2);
}

TEST(PolicySliderTfTest, EachInstanceHasItsOwnFive) {
  Court court(Slider(kAll));
  for (const std::string& task : kOfEach) Repeat(court, Exits(task, 1), 5);
  Repeat(court, Exits("worker:0", 1), 5);
  EXPECT_EQ(court.task_restarts(), 35);
  EXPECT_EQ(court.moves(), 0);
}

TEST(PolicySliderTfTest, AScriptThatIsBrokenIsReplacedForEver) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Exits("worker:1", 1), 600);
  EXPECT_EQ(court.status(), "unfinished");
  EXPECT_EQ(court.moves(), 100);
}

TEST(PolicySliderTfTest, RestartsInAContainerAreGivenPerType) {
  Court court(Slider({{"worker", 1}, {"ps", 1}},
                     {{"restarts_in_container", "2"}, {"restarts_in_container.ps", "0"}}));
  court.Hear(Exits("ps:0", 1));
  EXPECT_EQ(court.moves(), 1);
  Repeat(court, Exits("worker:0", 1), 2);
  EXPECT_EQ(court.moves(), 1);
  court.Hear(Exits("worker:0", 1));
  EXPECT_EQ(court.moves(), 2);
}

TEST(PolicySliderTfTest, OneContainerMoreThanTheThresholdFailsTheJob) {
  for (const int threshold : {0, 1, 3}) {
    Court court(
        Slider({{"worker", 2}}, {{"container_failure_threshold", std::to_string(threshold)}}));
    for (int i = 0; i < 100 && court.status() == "unfinished"; ++i)
      court.Hear(Exits("worker:1", 1));
    EXPECT_EQ(court.rule(), "slider-tf/component-failed") << threshold;
    EXPECT_EQ(court.status(), "failed") << threshold;
    EXPECT_EQ(court.moves(), threshold);
    EXPECT_EQ(court.task_restarts(), 6 * threshold + 5) << "five in each container";
  }
}

TEST(PolicySliderTfTest, ContainersThatAreLostAndThatAreLeftCountTogether) {
  Court court(Slider({{"worker", 2}}, {{"container_failure_threshold", "2"}}));
  court.Hear(Lost("worker:0"));
  EXPECT_EQ(court.moves(), 1);
  Repeat(court, Exits("worker:1", 1), 6);
  EXPECT_EQ(court.moves(), 2);
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Lost("worker:0"));
  EXPECT_EQ(court.rule(), "slider-tf/component-failed");
}

TEST(PolicySliderTfTest, RestartsInPlaceAreNoneOfTheContainers) {
  Court court(Slider({{"worker", 2}}, {{"container_failure_threshold", "1"}}));
  Repeat(court, Exits("worker:1", 1), 5);
  court.Hear(Lost("worker:0"));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.rule(), "slider-tf/component-failed");
}

TEST(PolicySliderTfTest, TheContainersOfEachTypeAreCountedApart) {
  Court court(Slider(kAll, {{"container_failure_threshold", "1"}}));
  for (const std::string& task : kOfEach) court.Hear(Lost(task));
  EXPECT_EQ(court.status(), "unfinished");
  EXPECT_EQ(court.task_restarts(), 6);
  court.Hear(Lost("worker:0"));
  EXPECT_EQ(court.rule(), "slider-tf/component-failed") << "worker:1 has lost one";
}

TEST(PolicySliderTfTest, TheThresholdIsGivenPerType) {
  Court court(Slider({{"worker", 2}, {"ps", 1}}, {{"container_failure_threshold.ps", "0"}}));
  Repeat(court, Lost("worker:1"), 10);
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Lost("ps:0"));
  EXPECT_EQ(court.rule(), "slider-tf/component-failed");
}

TEST(PolicySliderTfTest, AfterSixHoursAContainerCountsNoMore) {
  for (const bool passed : {false, true}) {
    Court court(Slider({{"worker", 2}}, {{"container_failure_threshold", "1"}}));
    court.Hear(Lost("worker:1"));
    court.Wait(passed ? Duration(6h) : Duration(6h - 1s));
    court.Hear(Lost("worker:1"));
    EXPECT_EQ(court.status(), passed ? "unfinished" : "failed");
  }
}

TEST(PolicySliderTfTest, TimeDoesNotGiveAContainerItsFiveBack) {
  Court court(Slider({{"worker", 2}}));
  for (int i = 0; i < 6; ++i) {
    court.Hear(Exits("worker:1", 1));
    court.Wait(24h);
  }
  EXPECT_EQ(court.moves(), 1);
}

TEST(PolicySliderTfTest, TheJobSucceedsWhenAllThatIsTrackedHasFinished) {
  Court court(Slider(kAll));
  for (const std::string task : {"chief:0", "worker:0", "worker:1", "evaluator:0"}) {
    court.Hear(Exits(task, 0));
    EXPECT_EQ(court.status(), "unfinished") << task;
  }
  court.Hear(Exits("mine:0", 0));
  EXPECT_EQ(court.status(), "succeeded") << "ps and tensorboard are not waited for";
  EXPECT_EQ(court.rule(), "slider-tf/workers-finished");
}

TEST(PolicySliderTfTest, APsOrTensorboardThatFinishesDecidesNothing) {
  Court court(Slider({{"worker", 1}, {"ps", 1}, {"tensorboard", 1}}));
  court.Hear({Exits("ps:0", 0), Exits("tensorboard:0", 0)});
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:0", 0));
  EXPECT_EQ(court.rule(), "slider-tf/workers-finished");
}

TEST(PolicySliderTfTest, AnInstanceThatIsStartedAgainHasNotFailed) {
  Court court(Slider({{"worker", 2}}));
  Repeat(court, Exits("worker:1", 1), 6);
  court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(court.rule(), "slider-tf/workers-finished");
}

TEST(PolicySliderTfTest, WhatIsNotFinishedInTheEndFailsTheJob) {
  JobSpec job = Slider({{"worker", 2}});
  job.on_exit = {{.exits = {3}, .action = ExitAction::kTally}};
  for (const End& end :
       {Exits("worker:1", 3), End{.task = "worker:1", .exit_class = kKilledByUs}}) {
    Court court(job);
    court.Hear(end);
    EXPECT_EQ(court.status(), "unfinished") << "worker:0 may run on";
    court.Hear(Exits("worker:0", 0));
    EXPECT_EQ(court.rule(), "slider-tf/nothing-left");
    EXPECT_EQ(court.status(), "failed");
  }
}

// An end that a row ignores neither helps nor harms success.
TEST(PolicySliderTfTest, WhatIsIgnoredIsNotWaitedFor) {
  for (const bool good : {true, false}) {
    JobSpec job = Slider({{"worker", 2}});
    job.on_exit = {{.exits = {3}, .action = ExitAction::kIgnore}};
    Court court(job);
    court.Hear(Exits("worker:1", 3));
    EXPECT_EQ(court.status(), "unfinished");
    court.Hear(Exits("worker:0", good ? 0 : 3));
    EXPECT_EQ(court.rule(), good ? "slider-tf/workers-finished" : "slider-tf/nothing-left");
  }
}

TEST(PolicySliderTfTest, WithoutRoomForTheGangTheJobFails) {
  for (const ExitClass exit_class : {kGangTimeout, kInfeasible}) {
    Court court(Slider({{"worker", 2}}));
    court.Hear({.task = "worker:0", .exit_class = exit_class});
    EXPECT_EQ(court.rule(), "slider-tf/no-gang");
    EXPECT_EQ(court.status(), "failed");
  }
}

TEST(PolicySliderTfTest, TypesHaveSlidersRoles) {
  const auto engine = Engine::Make(Slider(kAll));
  EXPECT_EQ(engine->ClassOf("ps"), TaskClass::kService);
  EXPECT_EQ(engine->ClassOf("tensorboard"), TaskClass::kSidecar);
  for (const std::string type : {"chief", "worker", "evaluator", "mine"}) {
    EXPECT_EQ(engine->ClassOf(type), TaskClass::kTracked) << type;
  }
  EXPECT_TRUE(engine->IsChief({.type = "chief", .index = 0}));
  EXPECT_FALSE(Engine::Make(Slider({{"worker", 2}}))->IsChief({.type = "worker", .index = 0}));
}

TEST(PolicySliderTfTest, OptionsTakeWhatSliderTakes) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"restarts_in_container", "unlimited"},
                                                        {"restarts_in_container", "-1"},
                                                        {"container_failure_threshold", "-1"},
                                                        {"container_failure_threshold", "none"}}) {
    EXPECT_FALSE(Engine::Make(Slider({{"worker", 1}}, {{option, value}}))) << option << value;
  }
  EXPECT_TRUE(
      Engine::Make(Slider({{"worker", 1}}, {{"container_failure_threshold", "unlimited"}})));
}

}  // namespace
}  // namespace tfyarn::policy::policy_slider_tf_test
