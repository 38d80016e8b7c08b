#include "core/policy/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/model/text.h"
#include "core/policy/exit_classifier.h"
#include "core/policy/restart_scope.h"
#include "core/policy/table.h"
#include "core/policy/text.h"
#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_test {
namespace {

using enum ExitClass;
using ::testing::HasSubstr;

std::string ErrorOf(const JobSpec& job) {
  const auto engine = Engine::Make(job);
  return engine ? "" : engine.error().message;
}

// ---------------------------------------------------------------- roles

TEST(PolicyTest, DefaultRolesAreThoseOfTheModel) {
  const auto engine = Engine::Make(DefaultJob(Strategy::kParameterServer));
  for (const auto& [type, instances] : kOneOfEachType)
    EXPECT_EQ(engine->ClassOf(type), DefaultClass(type)) << type;
}

TEST(PolicyTest, TheJobsWordOnATasksClassWins) {
  for (const std::string_view policy : Names()) {
    JobSpec job = MakeJob(std::string(policy), kOneOfEachType);
    job.tasks[3].task_class = TaskClass::kSidecar;
    EXPECT_EQ(Engine::Make(job)->ClassOf("evaluator"), TaskClass::kSidecar) << policy;
  }
}

TEST(PolicyTest, ChiefIsTheNamedTypeOrElseWorkerZero) {
  const auto named = Engine::Make(MakeJob("default", {{"master", 1}, {"worker", 2}}));
  EXPECT_TRUE(named->IsChief({"master", 0}));
  EXPECT_FALSE(named->IsChief({"worker", 0}));
  const auto unnamed = Engine::Make(MakeJob("default", {{"worker", 2}}));
  EXPECT_TRUE(unnamed->IsChief({"worker", 0}));
  EXPECT_FALSE(unnamed->IsChief({"worker", 1}));
}

// ---------------------------------------------------------------- default rows

struct Row {
  Strategy strategy = Strategy::kMultiWorker;
  std::string task;
  ExitClass exit_class = kOk;
  ExitAction action = ExitAction::kTally;
  Budget pays = Budget::kNone;
  ExitAction when_spent = ExitAction::kFail;
  std::string rule;
};

TEST(PolicyTest, DefaultDecidesByStrategyRoleAndClass) {
  const auto mw = Strategy::kMultiWorker;
  const auto ps = Strategy::kParameterServer;
  const auto one = Strategy::kIndependent;
  const auto gang = ExitAction::kRestartGang;
  const auto task = ExitAction::kRestartTask;
  const std::vector<Row> rows = {
      {mw, "worker:1", kOk, ExitAction::kTally, Budget::kNone, ExitAction::kFail,
       "default/ended-ok"},
      {mw, "worker:1", kUserPermanent, gang, Budget::kUser, ExitAction::kFail,
       "default/restart-gang"},
      {mw, "worker:1", kUserRetryable, gang, Budget::kUser, ExitAction::kFail,
       "default/restart-gang"},
      {mw, "worker:1", kSignalCrash, gang, Budget::kUser, ExitAction::kFail,
       "default/restart-gang"},
      {mw, "worker:1", kUnknown, gang, Budget::kUser, ExitAction::kFail, "default/restart-gang"},
      {mw, "chief:0", kNodeLost, gang, Budget::kInfrastructure, ExitAction::kFail,
       "default/restart-gang"},
      {mw, "worker:1", kTimeout, gang, Budget::kInfrastructure, ExitAction::kFail,
       "default/restart-gang"},
      {mw, "worker:1", kOom, ExitAction::kFail, Budget::kNone, ExitAction::kFail, "default/oom"},
      {mw, "worker:1", kInfeasible, ExitAction::kFail, Budget::kNone, ExitAction::kFail,
       "default/no-gang"},
      {mw, "worker:1", kKilledByUs, ExitAction::kTally, Budget::kNone, ExitAction::kFail,
       "default/stopped-by-us"},
      {ps, "worker:1", kSignalCrash, task, Budget::kUser, ExitAction::kFail,
       "default/restart-task"},
      {ps, "worker:1", kPreempted, task, Budget::kInfrastructure, ExitAction::kFail,
       "default/restart-task"},
      {ps, "ps:0", kKilledExternal, task, Budget::kInfrastructure, ExitAction::kFail,
       "default/restart-task"},
      {ps, "chief:0", kUserPermanent, task, Budget::kUser, ExitAction::kFail,
       "default/restart-task"},
      {ps, "ps:0", kOom, ExitAction::kFail, Budget::kNone, ExitAction::kFail, "default/oom"},
      {one, "worker:1", kUserPermanent, task, Budget::kUser, ExitAction::kTally,
       "default/restart-one"},
      {one, "worker:1", kNodeBad, task, Budget::kInfrastructure, ExitAction::kTally,
       "default/restart-one"},
      {mw, "evaluator:0", kUserPermanent, task, Budget::kUser, ExitAction::kTally,
       "default/drained"},
      {mw, "evaluator:0", kNodeLost, task, Budget::kInfrastructure, ExitAction::kTally,
       "default/drained"},
      {mw, "evaluator:0", kOom, ExitAction::kTally, Budget::kNone, ExitAction::kFail,
       "default/drained-oom"},
      {mw, "tensorboard:0", kOom, task, Budget::kNone, ExitAction::kIgnore, "default/sidecar"},
      {mw, "tensorboard:0", kUserPermanent, task, Budget::kNone, ExitAction::kIgnore,
       "default/sidecar"},
  };
  for (const Row& row : rows) {
    const Decision decision = Ask(DefaultJob(row.strategy), row.task, row.exit_class);
    EXPECT_EQ(KebabName(decision.action), KebabName(row.action))
        << row.task << KebabName(row.exit_class);
    EXPECT_EQ(decision.pays, row.pays) << row.task << KebabName(row.exit_class);
    EXPECT_EQ(decision.when_spent, row.when_spent) << row.task << KebabName(row.exit_class);
    EXPECT_EQ(decision.rule, row.rule) << row.task << KebabName(row.exit_class);
  }
}

TEST(PolicyTest, DefaultAllowancesAreTheJobsRetriesInTheirWindow) {
  JobSpec job = DefaultJob(Strategy::kMultiWorker, 2);
  job.retries.infrastructure = 7;
  job.retries.window = 30min;
  const Decision user = Ask(job, "worker:1", kUserPermanent);
  EXPECT_EQ(user.allowance.restarts, 2);
  EXPECT_EQ(user.allowance.window, Duration(30min));
  EXPECT_EQ(user.spent_rule, "default/user-permanent-exhausted");
  EXPECT_EQ(Ask(job, "worker:1", kNodeLost).allowance.restarts, 7);
  const Decision sidecar = Ask(job, "tensorboard:0", kUserPermanent);
  EXPECT_EQ(sidecar.allowance.counted, Counted::kOfTask);
  EXPECT_EQ(sidecar.allowance.restarts, 3);
}

TEST(PolicyTest, EveryTableDecidesEveryEnd) {
  for (const std::string_view policy : Names()) {
    const JobSpec job = MakeJob(std::string(policy), kOneOfEachType);
    const auto engine = Engine::Make(job);
    const TableView view(job, &*engine);
    for (const auto& [type, instances] : kOneOfEachType) {
      for (int c = 0; c <= static_cast<int>(kUnknown); ++c) {
        for (const bool registered : {false, true}) {
          const Decision decision = engine->OnExit({.task = {type, 0},
                                                    .exit_class = static_cast<ExitClass>(c),
                                                    .ever_registered = registered},
                                                   view);
          EXPECT_THAT(decision.rule, HasSubstr(std::string(policy) + "/"));
          EXPECT_FALSE(decision.why.empty()) << decision.rule;
        }
      }
    }
  }
}

// ---------------------------------------------------------------- the job's fate under default

TEST(PolicyTest, TheChiefsExitZeroIsTheJobsSuccess) {
  Court court(DefaultJob(Strategy::kParameterServer));
  court.Hear(Exits("chief:0", 0));
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "default/success");
}

TEST(PolicyTest, WithoutAChiefEveryWorkersExitZeroIsSuccess) {
  Court court(MakeJob("default", {{"worker", 2}, {"ps", 1}, {"evaluator", 1}}));
  court.Hear(Exits("worker:0", 0));
  court.Hear(Exits("evaluator:0", 0));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:1", 0));
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTest, ChiefAndMasterTogetherMustBothSucceed) {
  Court court(MakeJob("default", {{"chief", 1}, {"master", 1}}));
  court.Hear(Exits("chief:0", 0));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("master:0", 0));
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTest, ASpentBudgetFailsTheJobAndNamesClassAndBudget) {
  Court court(DefaultJob(Strategy::kMultiWorker, 2));
  for (int i = 0; i < 3; ++i) court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.gang_restarts(), 2);
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "default/user-permanent-exhausted");
}

TEST(PolicyTest, AnEvaluatorPastItsBudgetFailsNothing) {
  Court court(DefaultJob(Strategy::kMultiWorker));
  court.Hear(Exits("evaluator:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("chief:0", 0));
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTest, ATensorboardIsRestartedAFewTimesAtNobodysCost) {
  Court court(DefaultJob(Strategy::kMultiWorker));
  for (int i = 0; i < 10; ++i) court.Hear(Exits("tensorboard:0", 1));
  EXPECT_EQ(court.task_restarts(), 3);
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyTest, AnIndependentWorkerPastItsBudgetIsLeftToTheSuccessExpression) {
  JobSpec job = MakeJob("default", {{"worker", 4}});
  job.strategy = Strategy::kIndependent;
  Court strict(job);
  strict.Hear(Exits("worker:1", 1));
  EXPECT_EQ(strict.rule(), "default/success-impossible");
  job.success = ParseSuccess("count(worker) >= 3").value();
  Court quorum(job);
  quorum.Hear(Exits("worker:1", 1));
  EXPECT_EQ(quorum.status(), "unfinished");
  quorum.Hear(Exits("worker:2", 1));
  EXPECT_EQ(quorum.status(), "failed") << "a hopeless job is judged at once";
}

TEST(PolicyTest, EverythingTrackedEndedWithoutSuccessIsFailure) {
  JobSpec job = MakeJob("default", {{"worker", 2}, {"evaluator", 1}});
  job.success = ParseSuccess("ok(evaluator)").value();
  Court court(job);
  court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "default/tracked-ended");
}

/// The worker's ends are heard one after another.
std::string WhyOf(const std::string& success, const std::vector<std::int32_t>& worker_codes) {
  JobSpec job = MakeJob("default", {{"worker", 2}, {"evaluator", 1}});
  job.strategy = Strategy::kIndependent;
  job.success = ParseSuccess(success).value();
  Court court(job);
  for (std::size_t i = 0; i < worker_codes.size(); ++i)
    court.Hear(Exits(fmt::format("worker:{}", i), worker_codes[i]));
  return court.why();
}

TEST(PolicyTest, AVerdictSaysWhatBecameOfTheSuccessExpression) {
  EXPECT_EQ(WhyOf("ok(worker)", {0, 0}), "ok(worker) holds");
  EXPECT_EQ(WhyOf("failed(evaluator) < 1", {0, 0}), "failed(evaluator) < 1 holds");
  EXPECT_EQ(WhyOf("ok(worker)", {1}), "ok(worker) can no longer hold");
  EXPECT_EQ(WhyOf("ok(evaluator)", {0, 0}),
            "every tracked task has ended, and ok(evaluator) does not hold");
  EXPECT_EQ(WhyOf("ok(worker)", {0}), "") << "nothing is decided yet";
}

TEST(PolicyTest, AnOwnSuccessExpressionReplacesEveryPolicysVerdictFunction) {
  for (const std::string_view policy : Names()) {
    JobSpec job = MakeJob(std::string(policy), {{"chief", 1}, {"worker", 2}});
    job.success = ParseSuccess("any(worker)").value();
    Court court(job);
    court.Hear(Exits("chief:0", 0));
    EXPECT_EQ(court.status(), "unfinished") << policy;
    court.Hear(Exits("worker:1", 0));
    EXPECT_EQ(court.status(), "succeeded") << policy;
    EXPECT_EQ(court.rule(), std::string(policy) + "/success");
  }
}

// ---------------------------------------------------------------- errors of Make

TEST(PolicyTest, AnUnknownPolicyIsToldWhatThereIs) {
  EXPECT_EQ(ErrorOf(MakeJob("tonny", kOneOfEachType)),
            "there is no policy 'tonny'; there are default, framework-launcher, hbox, slider-tf, "
            "tf-yarn, tfjob, tony");
}

TEST(PolicyTest, OptionsAreChecked) {
  EXPECT_EQ(ErrorOf(MakeJob("default", kOneOfEachType, {{"x", "1"}})),
            "policy 'default' has no option 'x'; it has none");
  EXPECT_THAT(ErrorOf(MakeJob("tony", kOneOfEachType, {{"sidecars", "x"}})),
              HasSubstr("fail_on_worker_failure, untracked"));
  EXPECT_EQ(ErrorOf(MakeJob("tony", kOneOfEachType, {{"fail_on_worker_failure", "yes"}})),
            "policy 'tony': fail_on_worker_failure cannot be 'yes'; allowed: true, false");
  EXPECT_EQ(ErrorOf(MakeJob("tony", kOneOfEachType, {{"retry_count", "-1"}})),
            "policy 'tony': retry_count cannot be '-1'; allowed: a number from 0");
  EXPECT_THAT(ErrorOf(MakeJob("tfjob", kOneOfEachType, {{"restart_policy", "Sometimes"}})),
              HasSubstr("Never, OnFailure, Always, ExitCode"));
  EXPECT_EQ(ErrorOf(MakeJob("tfjob", kOneOfEachType,
                            {{"restart_policy.worker", "Always"}, {"success_policy", ""}})),
            "");
  EXPECT_THAT(ErrorOf(MakeJob("tfjob", kOneOfEachType, {{"restart_policy.reader", "Always"}})),
              HasSubstr("has no option 'restart_policy.reader'; it has restart_policy "
                        "(restart_policy.TYPE), "));
  EXPECT_THAT(ErrorOf(MakeJob("tfjob", kOneOfEachType, {{"backoff_limit.worker", "1"}})),
              HasSubstr("has no option"));
}

TEST(PolicyTest, SuccessAndOnExitMustNameTasksOfTheJob) {
  JobSpec job = MakeJob("default", {{"worker", 2}});
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"ok(chief)", "no task type 'chief'"},
           {"ok(worker) or done(ps)", "no task type 'ps'"},
           {"ok(worker:2)", "worker:2 does not exist"},
           {"count(worker) >= 3", "can never be true"},
           {"ok(tracked:0)", "names no task"}}) {
    job.success = ParseSuccess(text).value();
    EXPECT_THAT(ErrorOf(job), HasSubstr(error)) << text;
  }
  job.success.reset();
  job.on_exit = {{.task_type = "ps", .action = ExitAction::kFail}};
  EXPECT_THAT(ErrorOf(job), HasSubstr("on_exit: the job has no task type 'ps'"));
}

TEST(PolicyTest, AJobInWhichNothingIsTrackedNeedsItsOwnSuccess) {
  JobSpec job = MakeJob("default", {{"evaluator", 1}});
  EXPECT_THAT(ErrorOf(job), HasSubstr("nothing decides success"));
  job.success = ParseSuccess("ok(evaluator)").value();
  EXPECT_EQ(ErrorOf(job), "");
}

// ---------------------------------------------------------------- restart units

struct UnitCase {
  Strategy strategy = Strategy::kMultiWorker;
  ExitAction action = ExitAction::kRestartTask;
  std::string type;
  bool alive = true;
  std::string expected;  ///< of "type", "chief", "gang", "epoch".
};

std::string ScopeText(const RestartScope& scope) {
  std::string text = "self";
  if (scope.same_type) text += " type";
  if (scope.chief) text += " chief";
  if (scope.gang) text += " gang";
  if (scope.epoch_rises) text += " epoch";
  return text;
}

TEST(PolicyTest, RestartUnitsAreThoseOfTheJobPage) {
  const auto ps = Strategy::kParameterServer;
  const auto mw = Strategy::kMultiWorker;
  const auto one = Strategy::kIndependent;
  const auto task = ExitAction::kRestartTask;
  const auto type = ExitAction::kRestartType;
  const auto gang = ExitAction::kRestartGang;
  const auto raise = ExitAction::kRaiseMemory;
  for (const UnitCase& c : std::vector<UnitCase>{{ps, task, "worker", true, "self"},
                                                 {ps, task, "worker", false, "self chief epoch"},
                                                 {ps, task, "chief", true, "self"},
                                                 {ps, task, "chief", false, "self epoch"},
                                                 {ps, task, "master", false, "self epoch"},
                                                 {ps, task, "ps", true, "self chief"},
                                                 {ps, task, "ps", false, "self chief epoch"},
                                                 {ps, gang, "worker", true, "self gang epoch"},
                                                 {ps, type, "worker", true, "self type"},
                                                 {ps, type, "ps", true, "self type chief"},
                                                 {ps, raise, "worker", false, "self chief epoch"},
                                                 {mw, gang, "worker", true, "self gang epoch"},
                                                 {mw, gang, "worker", false, "self gang epoch"},
                                                 {mw, type, "worker", true, "self type gang epoch"},
                                                 {mw, task, "worker", true, "self"},
                                                 {mw, task, "worker", false, "self gang epoch"},
                                                 {mw, raise, "worker", false, "self gang epoch"},
                                                 {one, task, "worker", true, "self"},
                                                 {one, task, "worker", false, "self epoch"},
                                                 {mw, task, "evaluator", true, "self"},
                                                 {mw, gang, "evaluator", false, "self epoch"},
                                                 {ps, task, "tensorboard", false, "self epoch"},
                                                 {one, type, "tensorboard", true, "self"}}) {
    const RestartScope scope =
        RestartSet(c.strategy, c.action, c.type, DefaultClass(c.type), c.alive);
    EXPECT_EQ(ScopeText(scope), c.expected)
        << KebabName(c.strategy) << " " << KebabName(c.action) << " " << c.type << " " << c.alive;
  }
}

// TonY and TFJob count an evaluator; yet no process that trains knows its address.
TEST(PolicyTest, WhatDoesNotTrainTakesNoneAlongThatTrains) {
  const auto scope = [](Strategy strategy, ExitAction action, const char* type, bool alive) {
    return ScopeText(RestartSet(strategy, action, type, TaskClass::kTracked, alive));
  };
  for (const Strategy strategy : {Strategy::kMultiWorker, Strategy::kParameterServer}) {
    EXPECT_EQ(scope(strategy, ExitAction::kRestartTask, "evaluator", false), "self epoch");
    EXPECT_EQ(scope(strategy, ExitAction::kRaiseMemory, "tensorboard", false), "self epoch");
    EXPECT_EQ(scope(strategy, ExitAction::kRestartType, "evaluator", true), "self type");
    EXPECT_EQ(scope(strategy, ExitAction::kRestartGang, "evaluator", true), "self gang epoch");
  }
}

// ---------------------------------------------------------------- text

TEST(PolicyTest, DescriptionsNameEveryRowOfTheTable) {
  for (const std::string_view name : Names()) {
    const auto text = Describe(name, {});
    ASSERT_TRUE(text.has_value());
    const Table* table = FindTable(name);
    ASSERT_EQ(text->rows.size(), table->rows.size()) << name;
    std::set<std::string> names;
    for (const RowText& row : text->rows) {
      EXPECT_TRUE(names.insert(row.name).second) << name << "/" << row.name << " is there twice";
      EXPECT_FALSE(row.when.empty());
      EXPECT_FALSE(row.why.empty());
    }
    EXPECT_EQ(text->verdicts.size(), table->verdicts.size());
  }
}

TEST(PolicyTest, DescriptionsLeaveOutRowsThatOptionsSwitchOff) {
  const auto never = Describe("tfjob", {{"restart_policy", "Never"}});
  for (const RowText& row : never->rows)
    EXPECT_THAT(row.when, ::testing::Not(HasSubstr("restart_policy")));
  const auto mixed =
      Describe("tfjob", {{"restart_policy", "Never"}, {"restart_policy.ps", "Always"}});
  EXPECT_GT(mixed->rows.size(), never->rows.size());
  EXPECT_FALSE(Describe("tonny", {}).has_value());
  EXPECT_FALSE(Describe("tony", {{"nonsense", ""}}).has_value());
}

TEST(PolicyTest, AJobOfOneTaskHasNoCollectiveThatBreaks) {
  for (const bool alone : {true, false}) {
    JobSpec job = MakeJob("default", {{"worker", alone ? 1 : 2}, {"evaluator", 1}});
    job.strategy = Strategy::kMultiWorker;
    Court court(job);
    const Decision decision = court.Hear(Exits("worker:0", 1));
    EXPECT_EQ(decision.rule, "default/restart-gang");
    EXPECT_EQ(decision.why.find("collective") == std::string::npos, alone) << decision.why;
  }
}

TEST(PolicyTest, RowsSayConditionActionAndPayer) {
  const auto text = Describe("default", {});
  const RowText& gang = text->rows[7];
  EXPECT_EQ(gang.name, "restart-gang");
  EXPECT_EQ(gang.when, "any failure; strategy = multi-worker");
  EXPECT_EQ(gang.action, "restart-gang, then fail");
  EXPECT_EQ(gang.pays, "by class");
}

}  // namespace
}  // namespace tfyarn::policy::policy_test
