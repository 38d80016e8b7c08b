// FrameworkLauncher's rules. Source: microsoft/pai subprojects/frameworklauncher/yarn (user manual;
// RetryPolicyDescriptor, ExitDiagnostics, TaskRoleCompletionPolicy of its ApplicationMaster).
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_framework_launcher_test {
namespace {

using enum ExitClass;
using Types = std::vector<std::pair<std::string, int>>;
using Options = std::map<std::string, std::string>;
using Exit = std::optional<std::int32_t>;

JobSpec Launcher(const Types& types, Options options = {}) {
  return MakeJob("framework-launcher", types, std::move(options));
}

const Types kAll = {{"chief", 1},     {"worker", 3}, {"ps", 1},
                    {"evaluator", 1}, {"reader", 2}, {"tensorboard", 1}};

/// Every class but ok and the two of a gang that never was.
const std::vector<ExitClass> kFailures = {
    kUserPermanent, kUserRetryable, kOom,      kSignalCrash, kKilledExternal,
    kKilledByUs,    kPreempted,     kNodeLost, kNodeBad,     kPortConflict,
    kLaunchError,   kHeartbeatLost, kTimeout,  kAmLost,      kUnknown};
/// Lost to the platform, to a signal from outside, or by a stop in the launcher's name.
const std::vector<ExitClass> kTransient = {kPreempted,    kNodeLost,       kNodeBad,
                                           kLaunchError,  kHeartbeatLost,  kAmLost,
                                           kPortConflict, kKilledExternal, kKilledByUs};

struct RowCase {
  std::string row;    ///< That decides.
  std::string fancy;  ///< fancy_retry_policy.
  std::vector<ExitClass> classes;
  std::vector<Exit> exits;
  std::string action;
  std::string pays;
  std::string task = "worker:1";
};

std::vector<RowCase> RowCases() {
  const Exit none;
  std::vector<RowCase> cases = {
      {"retried",
       "false",
       kFailures,
       {none, -105, 1, 130, 132, 137, 154, 194},
       "restart-task",
       "user"},
      {"transient", "true", kTransient, {none, -100, -105, 137}, "restart-task", "none"},
      {"transient-code", "true", {kUserRetryable}, {154, 193}, "restart-task", "none"},
      {"non-transient", "true", {kOom}, {-103, -104, 137}, "tally", "none"},
      {"non-transient-code", "true", {kSignalCrash}, {132, 135, 136, 139}, "tally", "none"},
      {"non-transient-code", "true", {kUnknown}, {141, 194}, "tally", "none"},
      {"retried", "true", {kUserPermanent}, {1, 2, 127, -109}, "restart-task", "user"},
      {"retried", "true", {kUserRetryable}, {75, 138}, "restart-task", "user"},
      {"retried", "true", {kSignalCrash}, {134}, "restart-task", "user"},
      {"retried", "true", {kUnknown}, {128, 255}, "restart-task", "user"},
      {"retried", "true", {kTimeout}, {none}, "restart-task", "user"},
  };
  for (const std::string fancy : {"false", "true"}) {
    cases.push_back({"no-gang", fancy, {kGangTimeout, kInfeasible}, {none}, "fail", "none"});
    cases.push_back({"ended-ok", fancy, {kOk}, {0}, "tally", "none"});
    cases.push_back(
        {"sidecar", fancy, kFailures, {none, 1, 154}, "ignore", "none", "tensorboard:0"});
    cases.push_back({"sidecar", fancy, {kOk}, {0}, "ignore", "none", "tensorboard:0"});
    cases.push_back(
        {"sidecar", fancy, {kGangTimeout, kInfeasible}, {none}, "ignore", "none", "tensorboard:0"});
  }
  return cases;
}

void ExpectRow(const RowCase& c, ExitClass exit_class, const Exit& exit) {
  Court court(Launcher(kAll, {{"fancy_retry_policy", c.fancy}, {"max_retry_count", "3"}}));
  const Decision decision = court.Hear({.task = c.task, .exit_class = exit_class, .exit = exit});
  const std::string what =
      c.fancy + " " + KebabName(exit_class) + " " + std::to_string(exit.value_or(0));
  EXPECT_EQ(decision.rule, "framework-launcher/" + c.row) << what;
  EXPECT_EQ(KebabName(decision.action), c.action) << what;
  EXPECT_EQ(KebabName(decision.pays), c.pays) << what;
  if (c.action != "restart-task") return;
  EXPECT_FALSE(decision.allowance.window) << what;
  EXPECT_FALSE(decision.other_container) << what;
  if (c.pays == "none") {
    EXPECT_FALSE(decision.allowance.restarts) << what << ": always retried";
    return;
  }
  EXPECT_EQ(decision.allowance.restarts, 3) << what;
  EXPECT_EQ(decision.allowance.counted, Counted::kPaidForTask) << what;
  EXPECT_EQ(decision.when_spent, ExitAction::kTally) << what;
  EXPECT_EQ(decision.spent_rule, "framework-launcher/max-retry-count") << what;
}

TEST(PolicyFrameworkLauncherTest, EveryRowDecidesItsOwnEnds) {
  for (const RowCase& c : RowCases()) {
    for (const ExitClass exit_class : c.classes) {
      for (const Exit& exit : c.exits) ExpectRow(c, exit_class, exit);
    }
  }
}

TEST(PolicyFrameworkLauncherTest, WithAlwaysASuccessIsRetriedToo) {
  for (const std::string fancy : {"false", "true"}) {
    Court court(
        Launcher({{"worker", 2}}, {{"fancy_retry_policy", fancy}, {"max_retry_count", "always"}}));
    const Decision decision = court.Hear(Exits("worker:1", 0));
    EXPECT_EQ(decision.rule, "framework-launcher/retried-always") << fancy;
    EXPECT_EQ(decision.action, ExitAction::kRestartTask) << fancy;
    EXPECT_EQ(KebabName(decision.pays), "user") << fancy;
    EXPECT_FALSE(decision.allowance.restarts) << fancy;
    EXPECT_EQ(court.task_restarts(), 1) << fancy;
  }
}

constexpr int kMany = 40;

/// How often the launcher retries a task that always ends so; kMany stands for no limit.
int Retries(const std::string& fancy, const std::string& count, const End& end) {
  Court court(
      Launcher({{"worker", 2}}, {{"fancy_retry_policy", fancy}, {"max_retry_count", count}}));
  for (int i = 0; i < kMany; ++i) {
    court.Hear(end);
    if (court.task_restarts() == i) break;
  }
  return court.task_restarts();
}

TEST(PolicyFrameworkLauncherTest, RetriesFollowFancyRetryPolicyAndMaxRetryCount) {
  struct Cell {
    std::string fancy, count;
    int transient = 0, non_transient = 0, unknown = 0, succeeded = 0;
  };
  const std::vector<Cell> cells = {
      {"false", "0", 0, 0, 0, 0},
      {"false", "2", 2, 2, 2, 0},
      {"false", "unlimited", kMany, kMany, kMany, 0},
      {"false", "always", kMany, kMany, kMany, kMany},
      {"true", "0", kMany, 0, 0, 0},
      {"true", "2", kMany, 0, 2, 0},
      {"true", "unlimited", kMany, 0, kMany, 0},
      {"true", "always", kMany, 0, kMany, kMany},
  };
  const End lost = {.task = "worker:1", .exit_class = kNodeLost, .exit = -100};
  const End stopped = {.task = "worker:1", .exit_class = kKilledByUs, .exit = -105};
  const End memory = {.task = "worker:1", .exit_class = kOom, .exit = -104};
  for (const Cell& cell : cells) {
    const std::string what = cell.fancy + " " + cell.count;
    const auto retries = [&](const End& end) { return Retries(cell.fancy, cell.count, end); };
    EXPECT_EQ(retries(lost), cell.transient) << what;
    EXPECT_EQ(retries(stopped), cell.transient) << what;
    EXPECT_EQ(retries(Exits("worker:1", 143)), cell.transient) << what;
    EXPECT_EQ(retries(memory), cell.non_transient) << what;
    EXPECT_EQ(retries(Exits("worker:1", 139)), cell.non_transient) << what;
    EXPECT_EQ(retries(Exits("worker:1", 1)), cell.unknown) << what;
    EXPECT_EQ(retries(Exits("worker:1", 0)), cell.succeeded) << what;
  }
}

TEST(PolicyFrameworkLauncherTest, EveryExitCodeHasItsClass) {
  const std::set<std::int32_t> transient = {130, 137, 143, 154, 193};
  const std::set<std::int32_t> non_transient = {132, 135, 136, 139, 141, 194};
  for (std::int32_t code = 1; code < 256; ++code) {
    int fancy = 1;  // Unknown: as often as max_retry_count says.
    if (transient.contains(code)) fancy = kMany;
    if (non_transient.contains(code)) fancy = 0;
    EXPECT_EQ(Retries("true", "1", Exits("worker:1", code)), fancy) << code;
    EXPECT_EQ(Retries("false", "1", Exits("worker:1", code)), 1) << code;
  }
}

TEST(PolicyFrameworkLauncherTest, EachTaskHasItsOwnCount) {
  Court court(Launcher({{"worker", 3}}, {{"max_retry_count", "2"}}));
  for (int i = 0; i < 2; ++i) {
    for (const std::string task : {"worker:0", "worker:1", "worker:2"}) court.Hear(Exits(task, 1));
  }
  EXPECT_EQ(court.task_restarts(), 6);
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.rule(), "framework-launcher/too-many-failed");
}

TEST(PolicyFrameworkLauncherTest, TheCountHasNoWindow) {
  Court court(Launcher({{"worker", 2}}, {{"max_retry_count", "1"}}));
  court.Hear(Exits("worker:1", 1));
  court.Wait(1000h);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "failed");
}

TEST(PolicyFrameworkLauncherTest, ATransientFailureTakesNothingFromTheCount) {
  Court court(
      Launcher({{"worker", 2}}, {{"fancy_retry_policy", "true"}, {"max_retry_count", "1"}}));
  for (const std::int32_t code : {143, 154, 1, 193, 137}) court.Hear(Exits("worker:1", code));
  EXPECT_EQ(court.task_restarts(), 5);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "failed");
}

TEST(PolicyFrameworkLauncherTest, RetriesAreGivenPerType) {
  Court court(Launcher(kAll, {{"max_retry_count.worker", "1"},
                              {"fancy_retry_policy.reader", "true"},
                              {"min_failed_task_count", "none"}}));
  EXPECT_EQ(court.Hear(Exits("worker:1", 143)).rule, "framework-launcher/retried");
  EXPECT_EQ(court.Hear(Exits("reader:1", 143)).rule, "framework-launcher/transient");
  EXPECT_EQ(court.task_restarts(), 2);
  court.Hear(Exits("chief:0", 143));
  EXPECT_EQ(court.task_restarts(), 2) << "its count is 0";
}

TEST(PolicyFrameworkLauncherTest, TheJobsOwnRetriesAreAnotherCount) {
  JobSpec job = Launcher({{"worker", 2}});
  job.retries.user = 5;
  Court court(job);
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "failed");
}

struct CompletionCase {
  std::string name;
  Types types;
  Options options;
  std::vector<End> ends;  ///< Of one step.
  std::string status;
  std::string rule;
};

std::vector<CompletionCase> CompletionCases() {
  const Types workers = {{"worker", 3}};
  const Types with_reader = {{"worker", 3}, {"reader", 2}};
  const Types with_ps = {{"worker", 2}, {"ps", 1}};
  const Options two_failed = {{"min_failed_task_count", "2"}};
  const Options none_failed = {{"min_failed_task_count", "none"}};
  const Options two_good = {{"min_succeeded_task_count", "2"}};
  const Options recipe = {{"min_succeeded_task_count.worker", "2"}};
  const Options both = {{"min_succeeded_task_count.worker", "1"}};
  const Options any_worker_may = {{"min_failed_task_count.worker", "none"}};
  const End w0 = Exits("worker:0", 0), w1 = Exits("worker:1", 0), w2 = Exits("worker:2", 0);
  const End bad0 = Exits("worker:0", 1), bad1 = Exits("worker:1", 1), bad2 = Exits("worker:2", 1);
  const End reader = Exits("reader:0", 0), bad_reader = Exits("reader:0", 1);
  const std::string failed = "too-many-failed", good = "enough-succeeded";
  return {
      {"the first failure", workers, {}, {bad1}, "failed", failed},
      {"of a ps", with_ps, {}, {Exits("ps:0", 1)}, "failed", failed},
      {"of an evaluator", kAll, {}, {Exits("evaluator:0", 1)}, "failed", failed},
      {"of a chief", kAll, {}, {Exits("chief:0", 1)}, "failed", failed},
      {"the first of two", workers, two_failed, {bad1}, "unfinished", ""},
      {"the second of two", workers, two_failed, {bad1, bad2}, "failed", failed},
      {"two of two types", with_reader, two_failed, {bad1, bad_reader}, "unfinished", ""},
      {"below the number",
       workers,
       {{"min_failed_task_count", "3"}},
       {bad0, bad1, w2},
       "succeeded",
       "all-completed"},
      {"any may fail", workers, none_failed, {bad0, bad1, w2}, "succeeded", "all-completed"},
      {"all fail", workers, none_failed, {bad0, bad1, bad2}, "failed", "nothing-left"},
      {"a type that may", with_reader, any_worker_may, {bad0, bad1}, "unfinished", ""},
      {"and one that may not", with_reader, any_worker_may, {bad0, bad_reader}, "failed", failed},
      {"failure first", workers, both, {w0, bad1}, "failed", failed},
      {"one success", workers, {}, {w0}, "unfinished", ""},
      {"the chief's success", kAll, {}, {Exits("chief:0", 0)}, "unfinished", ""},
      {"too few succeed", workers, recipe, {w1}, "unfinished", ""},
      {"enough succeed", workers, recipe, {w1, w2}, "succeeded", good},
      {"of two types", with_reader, two_good, {w1, reader}, "unfinished", ""},
      {"of either type", with_reader, two_good, {reader, Exits("reader:1", 0)}, "succeeded", good},
      {"of another type", with_reader, recipe, {reader, Exits("reader:1", 0)}, "unfinished", ""},
      {"all complete", workers, {}, {w0, w1, w2}, "succeeded", "all-completed"},
      {"without the ps", with_ps, {}, {w0, w1}, "succeeded", "all-completed"},
      {"the ps alone", with_ps, {}, {Exits("ps:0", 0)}, "unfinished", ""},
      {"the recipe", with_ps, recipe, {w0, w1}, "succeeded", good},
      {"no task role", kAll, {}, {Exits("tensorboard:0", 1)}, "unfinished", ""},
  };
}

TEST(PolicyFrameworkLauncherTest, CountsOfFailedAndSucceededTasksDecideTheJob) {
  for (const CompletionCase& c : CompletionCases()) {
    Court court(Launcher(c.types, c.options));
    court.Hear(c.ends);
    EXPECT_EQ(court.status(), c.status) << c.name;
    EXPECT_EQ(court.rule(), c.rule.empty() ? "" : "framework-launcher/" + c.rule) << c.name;
  }
}

TEST(PolicyFrameworkLauncherTest, ASidecarIsNotCountedHoweverItEnds) {
  for (const bool tallied : {false, true}) {
    for (const End& end : {Exits("tensorboard:0", 0), Exits("tensorboard:0", 1),
                           End{.task = "tensorboard:0", .exit_class = kKilledByUs, .exit = -105}}) {
      JobSpec job = Launcher({{"worker", 2}, {"tensorboard", 1}},
                             {{"max_retry_count.tensorboard", "always"},
                              {"min_succeeded_task_count.tensorboard", "1"}});
      const ExitRule rule{.task_type = "tensorboard",
                          .classes = {kOk, kUserPermanent, kKilledByUs},
                          .action = ExitAction::kTally};
      if (tallied) job.on_exit = {rule};
      Court court(job);
      court.Hear(end);
      const std::string what = KebabName(end.exit_class) + (tallied ? ", tallied" : "");
      EXPECT_EQ(court.status(), "unfinished") << what;
      EXPECT_EQ(court.task_restarts(), 0) << what;
      court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
      EXPECT_EQ(court.rule(), "framework-launcher/all-completed") << what;
    }
  }
}

TEST(PolicyFrameworkLauncherTest, ATypeThatADependencyHasGivenUpIsNotCounted) {
  for (const std::int32_t code : {0, 1}) {
    Court court(
        Launcher({{"worker", 2}, {"evaluator", 1}}, {{"min_succeeded_task_count.evaluator", "1"}}));
    court.Waive("evaluator");
    court.Hear(Exits("evaluator:0", code));
    EXPECT_EQ(court.status(), "unfinished") << code;
    court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
    EXPECT_EQ(court.rule(), "framework-launcher/all-completed") << code;
  }
}

TEST(PolicyFrameworkLauncherTest, WhatFailedBeforeItsTypeWasGivenUpIsNotCountedAnyMore) {
  Court court(
      Launcher({{"worker", 2}, {"evaluator", 2}}, {{"min_failed_task_count.evaluator", "2"}}));
  court.Hear(Exits("evaluator:0", 1));
  court.Waive("evaluator");
  court.Hear(Exits("evaluator:1", 1));
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyFrameworkLauncherTest, OnlyATaskThatIsNotRetriedHasFailedOrSucceeded) {
  Court court(Launcher({{"worker", 2}}, {{"max_retry_count", "1"}}));
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(court.rule(), "framework-launcher/all-completed");
  Court always(Launcher({{"worker", 1}},
                        {{"max_retry_count", "always"}, {"min_succeeded_task_count", "1"}}));
  always.Hear(Exits("worker:0", 0));
  EXPECT_EQ(always.status(), "unfinished");
}

// An end that a row ignores neither helps nor harms success.
TEST(PolicyFrameworkLauncherTest, WhatIsIgnoredIsNeitherFailedNorSucceeded) {
  for (const bool good : {true, false}) {
    JobSpec job = Launcher({{"worker", 2}});
    job.on_exit = {{.exits = {3}, .action = ExitAction::kIgnore}};
    Court court(job);
    court.Hear(Exits("worker:1", 3));
    EXPECT_EQ(court.status(), "unfinished");
    court.Hear(Exits("worker:0", good ? 0 : 3));
    EXPECT_EQ(court.rule(),
              good ? "framework-launcher/all-completed" : "framework-launcher/nothing-left");
  }
}

TEST(PolicyFrameworkLauncherTest, WithoutRoomForTheGangTheJobFails) {
  for (const ExitClass exit_class : {kGangTimeout, kInfeasible}) {
    Court court(Launcher({{"worker", 2}}, {{"max_retry_count", "always"}}));
    court.Hear({.task = "worker:0", .exit_class = exit_class});
    EXPECT_EQ(court.rule(), "framework-launcher/no-gang");
  }
}

TEST(PolicyFrameworkLauncherTest, TypesHaveTheLaunchersRoles) {
  const auto engine = Engine::Make(Launcher(kAll));
  EXPECT_EQ(engine->ClassOf("ps"), TaskClass::kService);
  EXPECT_EQ(engine->ClassOf("tensorboard"), TaskClass::kSidecar);
  for (const std::string type : {"chief", "worker", "evaluator", "reader"}) {
    EXPECT_EQ(engine->ClassOf(type), TaskClass::kTracked) << type;
  }
  EXPECT_TRUE(engine->IsChief({.type = "chief", .index = 0}));
  EXPECT_FALSE(Engine::Make(Launcher({{"worker", 2}}))->IsChief({.type = "worker", .index = 0}));
}

TEST(PolicyFrameworkLauncherTest, OptionsTakeWordsInPlaceOfTheLaunchersNegativeNumbers) {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"max_retry_count", "-1"},
                                                        {"max_retry_count", "none"},
                                                        {"min_failed_task_count", "0"},
                                                        {"min_failed_task_count", "unlimited"},
                                                        {"min_succeeded_task_count", "0"},
                                                        {"fancy_retry_policy", "yes"}}) {
    EXPECT_FALSE(Engine::Make(Launcher({{"worker", 1}}, {{option, value}}))) << option << value;
  }
}

}  // namespace
}  // namespace tfyarn::policy::policy_framework_launcher_test
