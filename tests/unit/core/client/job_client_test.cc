// How the JobClient brings a job to the cluster: staging, submission, watching, and what stands in
// their way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/client/client_rig.h"

namespace tfyarn::client::job_client_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::StartsWith;
using yarn::FinalApplicationStatus;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

// ---------------------------------------------------------------- the straight way

TEST(JobClientTest, StagesThenSubmitsThenWatches) {
  ClientOptions options = ClientRig::Options();
  options.job_file = "schema: tfyarn.job/v1\n";
  options.job_file_size = 100;
  ClientRig rig(Mnist(), options);
  EXPECT_THAT(rig.Submit(), ElementsAre("GetNewApplicationRequest{}"));
  EXPECT_THAT(rig.Obtained(0s), ElementsAre("GetClusterNodesRequest{}"));
  EXPECT_THAT(rig.Rm(0s, yarn::GetClusterNodesResponse{}),
              ElementsAre("GetQueueInfoRequest{queue=\"ml\"}"));
  EXPECT_THAT(rig.Rm(0s,
                     yarn::GetQueueInfoResponse{
                         .path = "root.ml", .is_leaf = true, .exists = true, .limits = {}}),
              ElementsAre(StartsWith("ClusterFacts{"),
                          "MkdirsRequest{path=\"/user/ann/.tfyarn/application_0_0007\"}"));
  EXPECT_THAT(
      rig.Hdfs(0s, hdfs::Done{}),
      ElementsAre(
          AllOf(StartsWith("CreateRequest{path=\"/user/ann/.tfyarn/application_0_0007/job.yaml\""),
                HasSubstr("size=100 overwrite=yes"))));
  const auto submit = rig.Hdfs(
      0s, hdfs::FileStatus{.path = "/p", .directory = false, .size = 100, .modification_time = 77});
  ASSERT_EQ(submit.size(), 1U);
  EXPECT_THAT(submit[0], HasSubstr("name=\"mnist\" queue=\"ml\""));
  EXPECT_THAT(submit[0], HasSubstr("user=\"ann\""));
  EXPECT_THAT(submit[0], HasSubstr("\"job.yaml\":LocalResource{path=\"/p\" size=100 timestamp=77"));
  EXPECT_THAT(submit[0], HasSubstr("\"TFYARN_ROLE\":\"am\""));
  EXPECT_THAT(submit[0],
              HasSubstr("\"TFYARN_STAGING_DIRECTORY\":\"/user/ann/.tfyarn/application_0_0007\""));
  EXPECT_THAT(submit[0],
              HasSubstr("max_app_attempts=3 keep_containers_across_application_attempts=yes"));
  EXPECT_THAT(rig.Rm(0s, yarn::SubmitApplicationResponse{}),
              ElementsAre("ApplicationSubmitted{application=application_0_0007 resubmission=0}"));
  EXPECT_EQ(rig.state().state, ClientState::kWatching);
  EXPECT_THAT(rig.RunTo(2s),
              ElementsAre("1s GetApplicationReportRequest{application=application_0_0007}",
                          "2s GetApplicationReportRequest{application=application_0_0007}"));
}

struct EndCase {
  YarnApplicationState state;
  FinalApplicationStatus final_status;
  JobStatus status;
  std::int32_t code;
};

class JobClientEndTest : public testing::TestWithParam<EndCase> {};

// FINISHED says only that the AM has unregistered: an RM shows it while the attempt still finishes.
TEST_P(JobClientEndTest, StateAndFinalStatusTogetherAreTheVerdict) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  const auto ended = rig.Report(1s, GetParam().state, GetParam().final_status, "because");
  EXPECT_THAT(
      ended,
      ElementsAre(StartsWith("JobEnded{status=" + KebabName(GetParam().status)),
                  "DeleteRequest{path=\"/user/ann/.tfyarn/application_0_0007\" recursive=yes}"));
  EXPECT_THAT(rig.Hdfs(1s, hdfs::Done{}),
              ElementsAre("ExitClient{code=" + std::to_string(GetParam().code) + "}"));
  EXPECT_EQ(rig.deadline(), std::nullopt);
  EXPECT_THAT(rig.Tell(2s, KillRequested{}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, JobClientEndTest,
    testing::Values(EndCase{YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded,
                            JobStatus::kSucceeded, 0},
                    EndCase{YarnApplicationState::kFinished, FinalApplicationStatus::kFailed,
                            JobStatus::kFailed, 10},
                    EndCase{YarnApplicationState::kFinished, FinalApplicationStatus::kKilled,
                            JobStatus::kKilled, 11},
                    EndCase{YarnApplicationState::kFinished, FinalApplicationStatus::kUndefined,
                            JobStatus::kFailed, 10},
                    EndCase{YarnApplicationState::kFinished, FinalApplicationStatus::kEnded,
                            JobStatus::kFailed, 10},
                    EndCase{YarnApplicationState::kFailed, FinalApplicationStatus::kFailed,
                            JobStatus::kFailed, 10},
                    EndCase{YarnApplicationState::kFailed, FinalApplicationStatus::kSucceeded,
                            JobStatus::kFailed, 10},
                    EndCase{YarnApplicationState::kKilled, FinalApplicationStatus::kKilled,
                            JobStatus::kKilled, 11}));

TEST(JobClientTest, PollsStayOnTheirGridWhateverTheAnswersDo) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s + 900ms, YarnApplicationState::kAccepted);
  EXPECT_EQ(rig.deadline(), 2s);
  (void)rig.RunTo(2s);
  (void)rig.RmFails(2s + 1ms, RpcErrorCode::kUnavailable);
  EXPECT_EQ(rig.deadline(), 3s);
}

TEST(JobClientTest, AnOlderReportThatComesLateIsNotBelieved) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(2s);
  (void)rig.Report(2s, YarnApplicationState::kRunning);
  const CallRm first_poll = rig.rm_calls()[rig.rm_calls().size() - 2];
  yarn::GetApplicationReportResponse old;
  old.report.application = kFirst;
  old.report.state = YarnApplicationState::kAccepted;
  EXPECT_THAT(rig.Tell(2s, RmReplied{.call = first_poll.call, .response = old}), IsEmpty());
  EXPECT_EQ(rig.state().report->state, YarnApplicationState::kRunning);
}

// ---------------------------------------------------------------- refusals before the submission

// A real RM takes such a submission, and the application then fails (seen on Hadoop 3.4.2).
TEST(JobClientTest, AnUnknownQueueIsSaidBeforeAnythingIsStaged) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Obtained(0s);
  (void)rig.Rm(0s, yarn::GetClusterNodesResponse{});
  EXPECT_THAT(rig.Rm(0s,
                     yarn::GetQueueInfoResponse{
                         .path = "", .is_leaf = true, .exists = false, .limits = {}}),
              ElementsAre(AllOf(StartsWith("JobEnded{status=failed"),
                                HasSubstr("queue 'ml' does not exist")),
                          "ExitClient{code=3}"));
}

TEST(JobClientTest, AQueueThatHasQueuesBelowIsRefused) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Obtained(0s);
  (void)rig.Rm(0s, yarn::GetClusterNodesResponse{});
  EXPECT_THAT(rig.Rm(0s,
                     yarn::GetQueueInfoResponse{
                         .path = "root.ml", .is_leaf = false, .exists = true, .limits = {}}),
              Contains(HasSubstr("has queues below it")));
}

TEST(JobClientTest, AnAmLargerThanTheLargestContainerIsRefusedNamingTheResource) {
  JobSpec job = Mnist();
  job.am.resource.memory_mb = 16384;
  ClientRig rig(job);
  (void)rig.Submit();
  EXPECT_THAT(rig.Obtained(0s), ElementsAre(AllOf(HasSubstr("asks for memory-mb"),
                                                  HasSubstr("16 GiB"), HasSubstr("8 GiB")),
                                            "ExitClient{code=3}"));
}

TEST(JobClientTest, AnAmLargerThanItsQueueMayEverUseIsRefused) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Obtained(0s);
  (void)rig.Rm(0s, yarn::GetClusterNodesResponse{});
  EXPECT_THAT(rig.Rm(0s,
                     yarn::GetQueueInfoResponse{
                         .path = "root.ml",
                         .is_leaf = true,
                         .exists = true,
                         .limits = {{"", {.maximum = {.memory_mb = 256, .vcores = 1}}},
                                    {"gpu", {.maximum = {.memory_mb = 65536, .vcores = 64}}}}}),
              Contains(HasSubstr("queue 'ml' may never use more than")));
}

// Before 3.1 Hadoop says no amounts.
TEST(JobClientTest, AShareIsOneOfThePartitionsNodesThatAreUp) {
  const auto node = [](const char* host, yarn::NodeState state, const char* partition) {
    return yarn::NodeReport{.node = {.host = host, .port = 1},
                            .state = state,
                            .capability = {.memory_mb = 1000, .vcores = 10},
                            .partition = partition};
  };
  const auto facts_after = [&](const std::map<std::string, yarn::QueueLimit>& limits) {
    ClientRig rig;
    (void)rig.Submit();
    (void)rig.Obtained(0s);
    (void)rig.Rm(0s, yarn::GetClusterNodesResponse{
                         .nodes = std::vector{node("a", yarn::NodeState::kRunning, ""),
                                              node("b", yarn::NodeState::kRunning, ""),
                                              node("c", yarn::NodeState::kLost, ""),
                                              node("d", yarn::NodeState::kRunning, "gpu")}});
    return rig.Rm(0s, yarn::GetQueueInfoResponse{.path = "root.ml", .limits = limits});
  };
  EXPECT_THAT(
      facts_after({{"", {.share_ppm = 700'000}}, {"gpu", {.share_ppm = 1'000'000}}}),
      Contains(HasSubstr(R"(queue_maximum=["":1400 MiB, 14 vcores, "gpu":1000 MiB, 10 vcores])")));
  EXPECT_THAT(facts_after({{"", {.maximum = {.memory_mb = 1024, .vcores = 6}, .share_ppm = 1}}}),
              Contains(HasSubstr(R"(queue_maximum=["":1 GiB, 6 vcores])")));
  EXPECT_THAT(facts_after({{"", {.share_ppm = 100'000}}}),
              Contains(HasSubstr("queue 'ml' may never use more than")));
}

TEST(JobClientTest, ASubmissionThatTheRmRefusesIsTheEnd) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Stage(0s);
  EXPECT_THAT(rig.RmFails(0s, RpcErrorCode::kInvalidLabelResourceRequest),
              ElementsAre(HasSubstr("the ResourceManager refused the job: why"),
                          StartsWith("DeleteRequest")));
  EXPECT_THAT(rig.Hdfs(0s, hdfs::Done{}), ElementsAre("ExitClient{code=3}"));
}

TEST(JobClientTest, FactsThatCannotBeHadAreNoReasonToStop) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Obtained(0s);
  EXPECT_THAT(rig.RmFails(0s, RpcErrorCode::kYarn),
              ElementsAre(StartsWith("Note"), StartsWith("GetQueueInfo")));
  EXPECT_THAT(rig.RmFails(0s, RpcErrorCode::kYarn),
              ElementsAre(StartsWith("Note"), StartsWith("ClusterFacts"), StartsWith("Mkdirs")));
}

// ---------------------------------------------------------------- services that do not answer

TEST(JobClientTest, AnRmThatDoesNotAnswerIsAskedAgainWithGrowingWaitsAndThenGivenUp) {
  ClientRig rig;
  (void)rig.Submit();
  std::vector<Duration> waits;
  std::vector<std::string> last;
  Duration now = 0s;
  while (rig.state().state == ClientState::kObtaining) {
    last = rig.RmFails(now, RpcErrorCode::kUnavailable);
    if (!rig.deadline()) break;
    waits.push_back(*rig.deadline() - now);
    now = *rig.deadline();
    EXPECT_THAT(rig.Tell(now, DeadlineReached{}), ElementsAre("GetNewApplicationRequest{}"));
  }
  EXPECT_EQ(now, 10min);
  EXPECT_THAT(waits[0], AllOf(Ge(500ms), Le(1s)));
  EXPECT_THAT(waits[3], AllOf(Ge(4s), Le(8s)));
  EXPECT_THAT(waits[8], AllOf(Ge(15s), Le(30s)));
  EXPECT_THAT(
      last, ElementsAre(HasSubstr("the ResourceManager did not serve the submission for 600s: why"),
                        "ExitClient{code=5}"));
}

TEST(JobClientTest, HdfsInSafeModeIsWaitedFor) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Survey(0s);
  EXPECT_THAT(rig.HdfsFails(0s, hdfs::HdfsErrorCode::kSafeMode), IsEmpty());
  EXPECT_THAT(rig.RunTo(1s), ElementsAre(HasSubstr("MkdirsRequest")));
  EXPECT_THAT(rig.Hdfs(1s, hdfs::Done{}), ElementsAre(StartsWith("CreateRequest")));
}

TEST(JobClientTest, StagingHasTenMinutesForBothItsCalls) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Survey(0s);
  (void)rig.Hdfs(9min, hdfs::Done{});  // Mkdirs took nine of them.
  std::vector<std::string> last;
  for (Duration now = 9min; rig.state().state == ClientState::kStaging; now = *rig.deadline()) {
    if (now > 9min) (void)rig.Tell(now, DeadlineReached{});
    last = rig.HdfsFails(now, hdfs::HdfsErrorCode::kUnavailable);
    EXPECT_LE(now, 10min);
  }
  EXPECT_THAT(last, ElementsAre(HasSubstr("HDFS did not serve the submission for 600s"),
                                StartsWith("DeleteRequest")));
}

TEST(JobClientTest, AFullQuotaIsTheEndAtOnce) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Survey(0s);
  (void)rig.Hdfs(0s, hdfs::Done{});
  EXPECT_THAT(rig.HdfsFails(0s, hdfs::HdfsErrorCode::kQuotaExceeded),
              Contains(HasSubstr("HDFS refused to stage the job (quota-exceeded): why")));
  // Not 3: nothing is wrong with the job.
  EXPECT_THAT(rig.Hdfs(0s, hdfs::Done{}), ElementsAre("ExitClient{code=5}"));
}

TEST(JobClientTest, WhatTheSubmissionNeedsIsMissingOrRefusedByHdfs) {
  const auto exits_with = [](hdfs::HdfsErrorCode code) {
    ClientRig rig;
    (void)rig.Submit();
    (void)rig.Stage(0s);
    EXPECT_EQ(rig.state().state, ClientState::kSubmitting);
    EXPECT_THAT(rig.SubmissionFailsInHdfs(0s, code),
                Contains(HasSubstr("what the job needs cannot be staged: why")));
    return rig.Hdfs(0s, hdfs::Done{});
  };
  EXPECT_THAT(exits_with(hdfs::HdfsErrorCode::kQuotaExceeded), ElementsAre("ExitClient{code=5}"));
  EXPECT_THAT(exits_with(hdfs::HdfsErrorCode::kNotFound), ElementsAre("ExitClient{code=3}"));
}

TEST(JobClientTest, WhatTheSubmissionNeedsIsTriedAgain) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Stage(0s);
  (void)rig.SubmissionFailsInHdfs(0s, hdfs::HdfsErrorCode::kUnavailable);
  EXPECT_EQ(rig.state().state, ClientState::kSubmitting);
  ASSERT_TRUE(rig.deadline());
  EXPECT_THAT(rig.Tell(*rig.deadline(), DeadlineReached{}),
              Contains(HasSubstr("SubmitApplicationRequest")));
}

TEST(JobClientTest, CleaningUpIsTriedForAMinute) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded);
  std::vector<std::string> last;
  Duration now = 1s;
  while (rig.state().state == ClientState::kCleaning) {
    last = rig.HdfsFails(now, hdfs::HdfsErrorCode::kUnavailable);
    if (!rig.deadline()) break;
    now = *rig.deadline();
    (void)rig.Tell(now, DeadlineReached{});
  }
  EXPECT_EQ(now, 61s);
  EXPECT_THAT(last, ElementsAre(HasSubstr("is not deleted: why"), "ExitClient{code=0}"));
}

TEST(JobClientTest, ADirectoryThatIsGoneIsClean) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded);
  EXPECT_THAT(rig.HdfsFails(1s, hdfs::HdfsErrorCode::kNotFound), ElementsAre("ExitClient{code=0}"));
}

// The first submission may have arrived: only the same id may be sent again, and it is
// (ClientRMService takes it once).
TEST(JobClientTest, AnUnansweredSubmissionIsRepeatedUnderTheSameId) {
  ClientRig rig;
  (void)rig.Submit();
  const auto first = rig.Stage(0s);
  (void)rig.RmFails(0s, RpcErrorCode::kUnavailable);
  const auto second = rig.RunTo(1s);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_THAT(second[0], HasSubstr(first[0]));
}

}  // namespace
}  // namespace tfyarn::client::job_client_test
