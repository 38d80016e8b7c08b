// TFJob's rules. Source: kubeflow/training-operator release-1.9
// pkg/controller.v1/common/{pod,job}.go, pkg/controller.v1/tensorflow/tfjob_controller.go
// (UpdateJobStatus), status_test.go, pkg/util/train/train_util.go.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/core/am/policy_court.h"

namespace tfyarn::am {
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
};

/// The 19 cases of status_test.go; "Running" and "Restarting" are an unfinished job. Of two
/// conditions that may both be present there, the one that decides here: 14 Failed, 18 Succeeded.
std::vector<StatusCase> StatusCases() {
  const Types chief = {{"chief", 1}};
  const Types one = {{"worker", 1}};
  const Types four = {{"worker", 4}};
  const Types both = {{"chief", 1}, {"worker", 4}};
  const Types with_ps = {{"chief", 1}, {"ps", 2}};
  const std::map<std::string, std::string> all = {{"success_policy", "AllWorkers"}};
  const auto workers = [](std::int32_t code) {
    return std::vector<End>{Exits("worker:0", code), Exits("worker:1", code),
                            Exits("worker:2", code), Exits("worker:3", code)};
  };
  const auto with_chief = [](std::vector<End> ends, std::int32_t code) {
    ends.push_back(Exits("chief:0", code));
    return ends;
  };
  return {
      {1, chief, {}, {Exits("chief:0", 0)}, "succeeded"},
      {2, chief, {}, {}, "unfinished"},
      {3, chief, {}, {Exits("chief:0", 1)}, "failed"},
      {4, one, {}, {Exits("worker:0", 1)}, "failed"},
      {5, one, {}, {Exits("worker:0", 0)}, "succeeded"},
      {6, one, {}, {}, "unfinished"},
      {7, four, {}, {Exits("worker:2", 0), Exits("worker:3", 0)}, "unfinished"},
      {8, four, {}, {Exits("worker:2", 1), Exits("worker:3", 1)}, "failed"},
      {9,
       four,
       {},
       {Exits("worker:1", 0), Exits("worker:2", 0), Exits("worker:0", 1), Exits("worker:3", 1)},
       "failed"},
      {10, four, {}, {Exits("worker:0", 0)}, "succeeded"},
      {11, four, all, {Exits("worker:0", 0)}, "unfinished"},
      {12, four, all, workers(0), "succeeded"},
      {13, four, all, {Exits("worker:0", 0), Exits("worker:3", 1)}, "failed"},
      {14, both, {}, workers(1), "failed"},
      {15, both, {}, workers(0), "unfinished"},
      {16, with_ps, {}, {Exits("ps:0", 1), Exits("ps:1", 1)}, "failed"},
      {17, both, {}, with_chief(workers(0), 1), "failed"},
      {18, both, {}, with_chief(workers(1), 0), "succeeded"},
      {19, chief, {{"restart_policy", "ExitCode"}}, {Exits("chief:0", 130)}, "unfinished"},
  };
}

TEST(PolicyTfJobTest, TheNineteenStatusCasesHold) {
  for (const StatusCase& c : StatusCases()) {
    Court court(TfJob(c.types, c.options));
    court.Hear(c.ends);
    EXPECT_EQ(court.status(), c.status) << "case " << c.number;
    EXPECT_EQ(court.task_restarts(), c.number == 19 ? 1 : 0) << "case " << c.number;
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

TEST(PolicyTfJobTest, EveryReplicaTypeIsTracked) {
  const auto engine =
      PolicyEngine::Make(TfJob({{"chief", 1}, {"worker", 1}, {"ps", 1}, {"evaluator", 1}}));
  for (const std::string type : {"chief", "worker", "ps", "evaluator"}) {
    EXPECT_EQ(engine->ClassOf(type), TaskClass::kTracked) << type;
  }
}

}  // namespace
}  // namespace tfyarn::am
