// TFJob's rules. Source: kubeflow/training-operator release-1.9
// pkg/controller.v1/common/{pod,job}.go, pkg/controller.v1/tensorflow/tfjob_controller.go
// (UpdateJobStatus), status_test.go, pkg/util/train/train_util.go.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/core/policy/court.h"

namespace tfyarn::policy::policy_tfjob_test {
namespace {

using enum ExitClass;
using Types = std::vector<std::pair<std::string, int>>;

JobSpec TfJob(const Types& types, std::map<std::string, std::string> options = {}) {
  return MakeJob("tfjob", types, std::move(options));
}

const End kNodeGone = {.task = "worker:1", .exit_class = kNodeLost, .exit = -100};
const End kEvicted = {.task = "worker:1", .exit_class = kPreempted, .exit = -102};
const End kSilent = {.task = "worker:1", .exit_class = kHeartbeatLost};

std::string Result(const std::string& restart_policy, const End& end) {
  Court court(TfJob({{"chief", 1}, {"worker", 2}}, {{"restart_policy", restart_policy}}));
  const Decision decision = court.Hear(end);
  return KebabName(decision.action) + " " + court.status();
}

TEST(PolicyTfJobTest, ReplicaLevelRulesHoldForEachRestartPolicy) {
  struct Row {
    std::string policy, on_zero, on_one, on_137, on_pod_failed;
  };
  const std::vector<Row> rows = {
      {"Never", "tally unfinished", "tally failed", "tally failed", "tally failed"},
      {"OnFailure", "tally unfinished", "restart-task unfinished", "restart-task unfinished",
       "restart-task unfinished"},
      {"Always", "restart-task unfinished", "restart-task unfinished", "restart-task unfinished",
       "restart-task unfinished"},
      {"ExitCode", "tally unfinished", "fail failed", "restart-task unfinished",
       "restart-task unfinished"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Result(row.policy, Exits("worker:1", 0)), row.on_zero) << row.policy;
    EXPECT_EQ(Result(row.policy, Exits("worker:1", 1)), row.on_one) << row.policy;
    EXPECT_EQ(Result(row.policy, Exits("worker:1", 137)), row.on_137) << row.policy;
    for (const End& gone : {kNodeGone, kEvicted, kSilent}) {
      EXPECT_EQ(Result(row.policy, gone), row.on_pod_failed)
          << row.policy << KebabName(gone.exit_class);
    }
  }
}

struct RowCase {
  std::string row;  ///< That decides.
  std::string policy;
  std::vector<ExitClass> classes;
  std::optional<std::int32_t> exit;
  std::string action;
  std::optional<int> restarts;  ///< That a backoff_limit of 3 allows.
  std::string task = "worker:1";
};

/// What becomes of a pod, not of its container alone.
const std::vector<ExitClass> kPodFailed = {kPreempted,     kNodeLost, kNodeBad, kLaunchError,
                                           kHeartbeatLost, kTimeout,  kAmLost};
/// Ends of a container whose pod lives on.
const std::vector<ExitClass> kContainerFailed = {
    kUserPermanent, kUserRetryable, kOom, kSignalCrash, kKilledExternal, kPortConflict, kUnknown};

std::vector<RowCase> RowCases() {
  std::vector<RowCase> cases = {
      {"always-recreated", "Always", kPodFailed, {}, "restart-task", 3},
      {"always", "Always", kContainerFailed, 200, "restart-task", 2},
      {"always", "Always", {kOk}, 0, "restart-task", 2},
      {"on-failure-recreated", "OnFailure", kPodFailed, {}, "restart-task", 3},
      {"on-failure", "OnFailure", kContainerFailed, 200, "restart-task", 2},
      {"exit-code-permanent", "ExitCode", kContainerFailed, 1, "fail", {}},
      {"exit-code-permanent", "ExitCode", kContainerFailed, 127, "fail", {}},
      {"exit-code-retryable", "ExitCode", kContainerFailed, 128, "restart-task", 3},
      {"exit-code-retryable", "ExitCode", kContainerFailed, 255, "restart-task", 3},
      {"exit-code-retryable", "ExitCode", kPodFailed, {}, "restart-task", 3},
      {"replica-failed", "Never", kContainerFailed, 1, "tally", {}},
      {"replica-failed", "Never", kPodFailed, {}, "tally", {}},
  };
  for (const std::string policy : {"Never", "OnFailure", "Always", "ExitCode"}) {
    if (policy != "Always") cases.push_back({"ended-ok", policy, {kOk}, 0, "tally", {}});
    cases.push_back({"stopped-by-us", policy, {kKilledByUs}, -105, "tally", {}});
    cases.push_back({"no-gang", policy, {kGangTimeout, kInfeasible}, {}, "fail", {}});
    for (const auto* classes : {&kContainerFailed, &kPodFailed}) {
      cases.push_back({"sidecar", policy, *classes, 1, "ignore", {}, "tensorboard:0"});
    }
    cases.push_back({"sidecar", policy, {kOk}, 0, "ignore", {}, "tensorboard:0"});
  }
  return cases;
}

TEST(PolicyTfJobTest, EveryRowDecidesItsOwnEndsAndCountsOnTheOneBackoffLimit) {
  for (const RowCase& c : RowCases()) {
    for (const ExitClass exit_class : c.classes) {
      Court court(TfJob({{"worker", 2}, {"tensorboard", 1}},
                        {{"restart_policy", c.policy}, {"backoff_limit", "3"}}));
      const Decision decision =
          court.Hear({.task = c.task, .exit_class = exit_class, .exit = c.exit});
      const std::string what = c.policy + " " + KebabName(exit_class);
      EXPECT_EQ(decision.rule, "tfjob/" + c.row) << what;
      EXPECT_EQ(KebabName(decision.action), c.action) << what;
      if (!c.restarts) continue;
      EXPECT_EQ(decision.allowance.restarts, c.restarts) << what;
      EXPECT_EQ(KebabName(decision.pays), "user") << what << ": one count of all restarts";
      EXPECT_EQ(decision.spent_rule, "tfjob/backoff-limit") << what;
      EXPECT_EQ(decision.allowance.counted, Counted::kPaid) << what;
      EXPECT_FALSE(decision.allowance.window) << what;
    }
  }
}

TEST(PolicyTfJobTest, ExitCodesFrom128AreRetryableAndBelowPermanent) {
  for (std::int32_t code = 1; code < 256; ++code) {
    EXPECT_EQ(Result("ExitCode", Exits("worker:1", code)),
              code < 128 ? "fail failed" : "restart-task unfinished")
        << code;
  }
}

TEST(PolicyTfJobTest, APermanentExitCodeFailsTheJobForAnyReplicaType) {
  for (const std::string task : {"chief:0", "worker:1", "ps:0", "evaluator:0"}) {
    Court court(TfJob({{"chief", 1}, {"worker", 2}, {"ps", 1}, {"evaluator", 1}},
                      {{"restart_policy", "ExitCode"}}));
    court.Hear(Exits(task, 2));
    EXPECT_EQ(court.rule(), "tfjob/exit-code-permanent") << task;
  }
}

TEST(PolicyTfJobTest, RestartPoliciesAreGivenPerType) {
  Court court(TfJob({{"chief", 1}, {"worker", 2}, {"ps", 1}},
                    {{"restart_policy", "OnFailure"}, {"restart_policy.ps", "Never"}}));
  EXPECT_EQ(court.Hear(Exits("worker:0", 1)).action, ExitAction::kRestartTask);
  EXPECT_EQ(court.Hear(Exits("ps:0", 1)).action, ExitAction::kTally);
  EXPECT_EQ(court.status(), "failed");
}

struct StatusCase {
  int number = 0;
  Types types;
  std::map<std::string, std::string> options;
  std::vector<End> ends;  ///< Of one pass.
  std::string status;
  std::string rule;  ///< That decided; of an unfinished job, the one that decides after `then`.
  std::vector<End> then;  ///< What an unfinished job still waits for.
};

std::vector<End> Workers(std::int32_t code, int first = 0, int last = 3) {
  std::vector<End> ends;
  for (int i = first; i <= last; ++i) ends.push_back(Exits("worker:" + std::to_string(i), code));
  return ends;
}

std::vector<End> WithChief(std::vector<End> ends, std::int32_t code) {
  ends.push_back(Exits("chief:0", code));
  return ends;
}

/// The 19 cases of status_test.go; "Running" and "Restarting" are an unfinished job. Of two
/// conditions that may both be present there, the one that decides here: 14 Failed, 18 Succeeded.
std::vector<StatusCase> StatusCases() {
  const Types chief = {{"chief", 1}};
  const Types one = {{"worker", 1}};
  const Types four = {{"worker", 4}};
  const Types both = {{"chief", 1}, {"worker", 4}};
  const Types with_ps = {{"chief", 1}, {"ps", 2}};
  const std::map<std::string, std::string> all = {{"success_policy", "AllWorkers"}};
  const std::map<std::string, std::string> by_code = {{"restart_policy", "ExitCode"}};
  const std::string chief_ok = "tfjob/chief-succeeded";
  const std::string worker0_ok = "tfjob/worker0-succeeded";
  const std::string workers_ok = "tfjob/workers-succeeded";
  const std::string broken = "tfjob/replica-failed";
  const std::vector<End> chief_ends = {Exits("chief:0", 0)};
  const std::vector<End> two_and_two = {Exits("worker:1", 0), Exits("worker:2", 0),
                                        Exits("worker:0", 1), Exits("worker:3", 1)};
  const std::vector<End> one_of_each = {Exits("worker:0", 0), Exits("worker:3", 1)};
  return {
      {1, chief, {}, chief_ends, "succeeded", chief_ok, {}},
      {2, chief, {}, {}, "unfinished", chief_ok, chief_ends},
      {3, chief, {}, {Exits("chief:0", 1)}, "failed", broken, {}},
      {4, one, {}, {Exits("worker:0", 1)}, "failed", broken, {}},
      {5, one, {}, {Exits("worker:0", 0)}, "succeeded", workers_ok, {}},
      {6, one, {}, {}, "unfinished", workers_ok, {Exits("worker:0", 0)}},
      {7, four, {}, Workers(0, 2, 3), "unfinished", worker0_ok, {Exits("worker:0", 0)}},
      {8, four, {}, Workers(1, 2, 3), "failed", broken, {}},
      {9, four, {}, two_and_two, "failed", broken, {}},
      {10, four, {}, {Exits("worker:0", 0)}, "succeeded", worker0_ok, {}},
      {11, four, all, {Exits("worker:0", 0)}, "unfinished", workers_ok, Workers(0, 1, 3)},
      {12, four, all, Workers(0), "succeeded", workers_ok, {}},
      {13, four, all, one_of_each, "failed", broken, {}},
      {14, both, {}, Workers(1), "failed", broken, {}},
      {15, both, {}, Workers(0), "unfinished", chief_ok, chief_ends},
      {16, with_ps, {}, {Exits("ps:0", 1), Exits("ps:1", 1)}, "failed", broken, {}},
      {17, both, {}, WithChief(Workers(0), 1), "failed", broken, {}},
      {18, both, {}, WithChief(Workers(1), 0), "succeeded", chief_ok, {}},
      {19, chief, by_code, {Exits("chief:0", 130)}, "unfinished", chief_ok, chief_ends},
  };
}

TEST(PolicyTfJobTest, TheNineteenStatusCasesHold) {
  for (const StatusCase& c : StatusCases()) {
    Court court(TfJob(c.types, c.options));
    court.Hear(c.ends);
    EXPECT_EQ(court.status(), c.status) << "case " << c.number;
    EXPECT_EQ(court.task_restarts(), c.number == 19 ? 1 : 0) << "case " << c.number;
    if (c.status == "unfinished") {
      court.Hear(c.then);
      EXPECT_EQ(court.status(), "succeeded") << "case " << c.number << ", then";
    }
    EXPECT_EQ(court.rule(), c.rule) << "case " << c.number;
  }
}

TEST(PolicyTfJobTest, AWorkerThatFailedInAnEarlierPassThanTheChiefsSuccessFailsTheJob) {
  Court court(TfJob({{"chief", 1}, {"worker", 1}}));
  court.Hear(Exits("worker:0", 1));
  court.Hear(Exits("chief:0", 0));
  EXPECT_EQ(court.status(), "failed");
  EXPECT_EQ(court.rule(), "tfjob/replica-failed");
}

TEST(PolicyTfJobTest, AWorkerThatFailsAfterTheChiefsSuccessChangesNothing) {
  Court court(TfJob({{"chief", 1}, {"worker", 1}}));
  court.Hear(Exits("chief:0", 0));
  court.Hear(Exits("worker:0", 1));
  EXPECT_EQ(court.status(), "succeeded");
  EXPECT_EQ(court.rule(), "tfjob/chief-succeeded");
}

TEST(PolicyTfJobTest, JobLevelSuccessRulesNameTheirRow) {
  Court s2(TfJob({{"master", 1}, {"worker", 2}}));
  s2.Hear(Exits("master:0", 0));
  EXPECT_EQ(s2.rule(), "tfjob/chief-succeeded");
  Court s3(TfJob({{"worker", 2}, {"ps", 1}}));
  s3.Hear(Exits("worker:0", 0));
  EXPECT_EQ(s3.rule(), "tfjob/worker0-succeeded");
  Court s3_all(TfJob({{"worker", 2}, {"ps", 1}}, {{"success_policy", "AllWorkers"}}));
  s3_all.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(s3_all.rule(), "tfjob/workers-succeeded");
}

// An end that a row ignores neither helps nor harms success.
TEST(PolicyTfJobTest, WhatIsIgnoredIsNoPartOfAllWorkersOrOfTheChief) {
  for (const char* type : {"worker", "master"}) {
    for (const int good : {0, 1}) {
      JobSpec job = TfJob({{type, 3}}, {{"success_policy", "AllWorkers"}});
      job.on_exit = {{.classes = {ExitClass::kUserPermanent}, .action = ExitAction::kIgnore}};
      Court court(job);
      const std::string name = type;
      court.Hear({Exits(name + ":0", 1), Exits(name + ":1", 1)});
      EXPECT_EQ(court.status(), "unfinished");
      court.Hear(Exits(name + ":2", 1 - good));
      EXPECT_EQ(court.status(), good == 1 ? "succeeded" : "failed") << name;
    }
  }
}

TEST(PolicyTfJobTest, WorkerZeroDoesNotDecideWhereThereIsAChief) {
  Court court(TfJob({{"chief", 1}, {"worker", 2}}));
  court.Hear({Exits("worker:0", 0), Exits("worker:1", 0)});
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyTfJobTest, RuleF1AReplicaThatIsRestartedHasNotFailed) {
  Court court(TfJob({{"worker", 2}}, {{"restart_policy", "OnFailure"}}));
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("worker:0", 0));
  EXPECT_EQ(court.status(), "succeeded");
}

TEST(PolicyTfJobTest, RuleF2DynamicWorkersMayFail) {
  const std::map<std::string, std::string> dynamic = {{"enable_dynamic_worker", "true"}};
  Court court(TfJob({{"chief", 1}, {"worker", 2}, {"ps", 1}}, dynamic));
  court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("ps:0", 1));
  EXPECT_EQ(court.status(), "failed") << "F2 is for workers only";
  Court all(TfJob({{"worker", 2}}, dynamic));
  all.Hear({Exits("worker:0", 1), Exits("worker:1", 1)});
  EXPECT_EQ(all.rule(), "tfjob/nothing-left");
}

TEST(PolicyTfJobTest, RuleF3AnyReplicaTypesFailureFailsTheJob) {
  for (const std::string task : {"chief:0", "worker:1", "ps:0", "evaluator:0"}) {
    Court court(TfJob({{"chief", 1}, {"worker", 2}, {"ps", 1}, {"evaluator", 1}}));
    court.Hear(Exits(task, 1));
    EXPECT_EQ(court.status(), "failed") << task;
  }
}

TEST(PolicyTfJobTest, RuleL1RestartsInPlaceStopWhenTheirNumberReachesTheLimit) {
  for (const auto& [limit, allowed] :
       std::vector<std::pair<std::string, int>>{{"0", 0}, {"1", 0}, {"2", 1}, {"4", 3}}) {
    Court court(
        TfJob({{"worker", 2}}, {{"restart_policy", "OnFailure"}, {"backoff_limit", limit}}));
    for (int i = 0; i < 10 && court.status() == "unfinished"; ++i) court.Hear(Exits("worker:1", 1));
    EXPECT_EQ(court.task_restarts(), allowed) << limit;
    EXPECT_EQ(court.rule(), "tfjob/backoff-limit") << limit;
  }
}

TEST(PolicyTfJobTest, RuleL2RecreatedPodsStopBeyondTheLimit) {
  for (const auto& [limit, allowed] :
       std::vector<std::pair<std::string, int>>{{"0", 0}, {"1", 1}, {"3", 3}}) {
    Court court(TfJob({{"worker", 2}}, {{"restart_policy", "ExitCode"}, {"backoff_limit", limit}}));
    for (int i = 0; i < 10 && court.status() == "unfinished"; ++i) court.Hear(kNodeGone);
    EXPECT_EQ(court.task_restarts(), allowed) << limit;
    EXPECT_EQ(court.rule(), "tfjob/backoff-limit") << limit;
  }
}

TEST(PolicyTfJobTest, WithoutALimitRestartsAreNotLimitedButTheJobsRetriesLimitThem) {
  Court court(TfJob({{"worker", 2}}, {{"restart_policy", "OnFailure"}}));
  for (int i = 0; i < 1000; ++i) court.Hear(Exits("worker:1", 1));
  EXPECT_EQ(court.task_restarts(), 1000);
  JobSpec job = TfJob({{"worker", 2}}, {{"restart_policy", "OnFailure"}});
  job.retries.user = 3;
  Court limited(job);
  for (int i = 0; i < 10; ++i) limited.Hear(Exits("worker:1", 1));
  EXPECT_EQ(limited.task_restarts(), 2);
}

TEST(PolicyTfJobTest, TensorboardIsNoReplica) {
  Court court(TfJob({{"worker", 2}, {"tensorboard", 1}}));
  court.Hear(Exits("tensorboard:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyTfJobTest, WithoutWorkersEveryTrackedTaskDecides) {
  Court court(TfJob({{"trainer", 2}}));
  court.Hear(Exits("trainer:0", 0));
  EXPECT_EQ(court.status(), "unfinished");
  court.Hear(Exits("trainer:1", 0));
  EXPECT_EQ(court.rule(), "tfjob/workers-succeeded");
}

TEST(PolicyTfJobTest, ATypeThatTheJobMakesAServiceIsNoReplicaEither) {
  JobSpec job = TfJob({{"worker", 1}, {"cache", 1}});
  job.tasks[1].task_class = TaskClass::kService;
  Court court(job);
  court.Hear(Exits("cache:0", 1));
  EXPECT_EQ(court.status(), "unfinished");
}

TEST(PolicyTfJobTest, EveryReplicaTypeIsTracked) {
  const auto engine =
      Engine::Make(TfJob({{"chief", 1}, {"worker", 1}, {"ps", 1}, {"evaluator", 1}}));
  for (const std::string type : {"chief", "worker", "ps", "evaluator"}) {
    EXPECT_EQ(engine->ClassOf(type), TaskClass::kTracked) << type;
  }
}

}  // namespace
}  // namespace tfyarn::policy::policy_tfjob_test
