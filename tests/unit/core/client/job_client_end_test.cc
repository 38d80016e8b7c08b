// How a job ends otherwise than by itself: no AM, a kill, an RM that forgot, resubmission; and
// elision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/core/client/client_rig.h"

namespace tfyarn::client::job_client_end_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using yarn::FinalApplicationStatus;
using yarn::RpcErrorCode;
using yarn::YarnApplicationState;

// ---------------------------------------------------------------- an AM that never comes

// Source of the case: TonY #630, a client that waits for ever for an AM that cannot start.
TEST(JobClientTest, AnAmThatNeverStartsIsKilledWithTheReasonOfTheReport) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kAccepted, FinalApplicationStatus::kUndefined,
                   "Queue's AM resource limit exceeded");
  EXPECT_EQ(rig.decision(), 15min);
  (void)rig.RunTo(15min - 1ns);
  EXPECT_THAT(rig.Tell(15min, DeadlineReached{}),
              ElementsAre(StartsWith("GetApplicationReportRequest")));
  EXPECT_THAT(rig.Report(15min, YarnApplicationState::kAccepted, FinalApplicationStatus::kUndefined,
                         "Queue's AM resource limit exceeded"),
              Contains(AllOf(StartsWith("KillApplicationRequest"),
                             HasSubstr("no ApplicationMaster started within 900s"),
                             HasSubstr("AM resource limit"))));
  EXPECT_EQ(rig.state().state, ClientState::kKilling);
}

TEST(JobClientTest, AnAmThatNeverStartedMakesAFailedJob) {
  ClientOptions options = ClientRig::Options();
  options.am_start = 10s + 500ms;
  ClientRig rig(Mnist(), options);
  rig.Watch();
  (void)rig.RunTo(10s + 500ms);
  EXPECT_THAT(rig.Report(10s + 500ms, YarnApplicationState::kAccepted),
              Contains(StartsWith("KillApplicationRequest")));
  (void)rig.Rm(10s + 500ms, yarn::KillApplicationResponse{.is_kill_completed = true});
  (void)rig.RunTo(11s + 500ms);
  EXPECT_THAT(rig.Report(11s + 500ms, YarnApplicationState::kKilled,
                         FinalApplicationStatus::kKilled, "killed"),
              Contains(AllOf(StartsWith("JobEnded{status=failed"),
                             HasSubstr("no ApplicationMaster started"))));
}

TEST(JobClientTest, TheJobSaysHowLongItsAmMayTakeToStart) {
  JobSpec job = Mnist();
  job.deadlines.am_start = 2h;
  ClientRig rig(job);
  rig.Watch();
  EXPECT_EQ(rig.decision(), 2h);
  ClientOptions forever = ClientRig::Options();
  forever.am_start.reset();
  ClientRig bounded(job, forever);
  bounded.Watch();
  EXPECT_EQ(bounded.decision(), 2h);
}

TEST(JobClientTest, OnceSeenRunningTheAmHasAllTheTimeThereIs) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kRunning);
  EXPECT_EQ(rig.decision(), std::nullopt);
}

// A node is gone for good, and no other has room for a second AM.
TEST(JobClientTest, TheNextAmHasAsLongAsTheFirst) {
  ClientRig rig;
  rig.Watch();
  for (const Duration at : {1s, 100s, 200s}) {
    (void)rig.RunTo(at);
    (void)rig.Report(at,
                     at == 100s ? YarnApplicationState::kRunning : YarnApplicationState::kAccepted);
    EXPECT_EQ(rig.decision(), at == 1s     ? std::optional<Duration>(15min)
                              : at == 100s ? std::nullopt
                                           : std::optional<Duration>(200s + 15min));
  }
  (void)rig.RunTo(300s);
  (void)rig.Report(300s, YarnApplicationState::kAccepted, FinalApplicationStatus::kUndefined,
                   "no node has room");
  (void)rig.RunTo(200s + 15min - 1ns);
  EXPECT_THAT(rig.Tell(200s + 15min, DeadlineReached{}),
              ElementsAre(StartsWith("GetApplicationReportRequest")));
  EXPECT_THAT(rig.Report(200s + 15min, YarnApplicationState::kAccepted,
                         FinalApplicationStatus::kUndefined, "no node has room"),
              Contains(AllOf(StartsWith("KillApplicationRequest"),
                             HasSubstr("no other ApplicationMaster started within 900s of the end "
                                       "of one: no node has room"))));
}

// An AM may run that the RM cannot tell of: its job goes on.
TEST(JobClientTest, AnRmThatDoesNotAnswerEndsNoJob) {
  ClientOptions options = ClientRig::Options();
  options.am_start = 10s;
  for (const YarnApplicationState state :
       {YarnApplicationState::kAccepted, YarnApplicationState::kRunning}) {
    ClientRig rig(Mnist(), options);
    rig.Watch();
    (void)rig.RunTo(9s);
    (void)rig.Report(9s, YarnApplicationState::kAccepted);
    EXPECT_THAT(rig.RunTo(60s), Not(Contains(HasSubstr("KillApplicationRequest"))));
    (void)rig.Report(60s, state);
    const bool ended = state == YarnApplicationState::kAccepted;
    EXPECT_EQ(rig.state().state, ended ? ClientState::kKilling : ClientState::kWatching);
    if (!ended) {
      EXPECT_EQ(rig.decision(), std::nullopt);
    }
  }
}

// It had no RM to register with: its call may be under way, or its next one 10 s from now.
TEST(JobClientTest, AnAmHasTimeToFindAnRmThatIsBack) {
  ClientOptions options = ClientRig::Options();
  options.am_start = 10s;
  ClientRig rig(Mnist(), options);
  rig.Watch();
  (void)rig.RunTo(40s);
  (void)rig.RmFails(40s, yarn::RpcErrorCode::kUnavailable);
  (void)rig.RunTo(41s);
  (void)rig.Report(41s, YarnApplicationState::kAccepted);
  EXPECT_EQ(rig.state().state, ClientState::kWatching);
  EXPECT_EQ(rig.decision(), 71s);
  (void)rig.RunTo(71s - 1ns);
  EXPECT_EQ(rig.state().state, ClientState::kWatching);
  (void)rig.RunTo(71s);
  (void)rig.Report(71s, YarnApplicationState::kAccepted);
  EXPECT_EQ(rig.state().state, ClientState::kKilling);
}

TEST(JobClientTest, WithoutALimitItWaitsForEver) {
  ClientOptions options = ClientRig::Options();
  options.am_start.reset();
  ClientRig rig(Mnist(), options);
  rig.Watch();
  EXPECT_EQ(rig.decision(), std::nullopt);
}

// ---------------------------------------------------------------- kill

TEST(JobClientTest, AKillIsRepeatedUntilItIsDoneAndTheReportHasTheLastWord) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kRunning);
  EXPECT_THAT(
      rig.Tell(1500ms, KillRequested{.reason = "enough"}),
      ElementsAre("KillApplicationRequest{application=application_0_0007 diagnostics=\"enough\"}"));
  EXPECT_THAT(rig.Tell(1500ms, KillRequested{.reason = "again"}), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Rm(1600ms, yarn::KillApplicationResponse{}), IsEmpty());
  EXPECT_THAT(rig.RunTo(2600ms),
              ElementsAre(HasSubstr("2s GetApplicationReport"), HasSubstr("2.6s KillApplication")));
  (void)rig.Rm(2700ms, yarn::KillApplicationResponse{.is_kill_completed = true});
  EXPECT_THAT(rig.RunTo(3s), ElementsAre(HasSubstr("3s GetApplicationReport")));
  EXPECT_THAT(rig.Report(3s, YarnApplicationState::kKilled, FinalApplicationStatus::kKilled),
              Contains(StartsWith("JobEnded{status=killed")));
}

TEST(JobClientTest, AnEndWithoutAReasonSaysWhatIsKnown) {
  const auto why = [](YarnApplicationState state, std::int32_t attempt,
                      FinalApplicationStatus final_status = FinalApplicationStatus::kUndefined,
                      std::string diagnostics = "") {
    return WhyEnded({.state = state,
                     .final_status = final_status,
                     .current_attempt = attempt,
                     .diagnostics = std::move(diagnostics)});
  };
  using enum YarnApplicationState;
  EXPECT_EQ(why(kFailed, 2),
            "YARN gives no reason: the application's state is failed, after 2 attempts of its "
            "ApplicationMaster");
  EXPECT_EQ(why(kKilled, 1),
            "YARN gives no reason: the application's state is killed, after one attempt of its "
            "ApplicationMaster");
  EXPECT_EQ(why(kKilled, -1), "YARN gives no reason: the application's state is killed");
  EXPECT_EQ(
      why(kFinished, 0),
      "YARN gives no reason: the application's state is finished, its final status undefined");
  EXPECT_EQ(why(kFailed, 2, FinalApplicationStatus::kFailed, "the queue is gone"),
            "the queue is gone");
  EXPECT_EQ(why(kFinished, 1, FinalApplicationStatus::kSucceeded), "");
}

TEST(JobClientTest, AKilledApplicationWithoutAReasonSaysSo) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  EXPECT_THAT(
      rig.Report(1s, YarnApplicationState::kKilled, FinalApplicationStatus::kKilled),
      Contains(AllOf(StartsWith("JobEnded{status=killed"), HasSubstr("YARN gives no reason"))));
}

TEST(JobClientTest, AKillThatCameTooLateDoesNotChangeASuccess) {
  ClientRig rig;
  rig.Watch();
  (void)rig.Tell(500ms, KillRequested{});
  (void)rig.Rm(500ms, yarn::KillApplicationResponse{.is_kill_completed = true});
  (void)rig.RunTo(1s);
  EXPECT_THAT(rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded),
              Contains(StartsWith("JobEnded{status=succeeded")));
}

TEST(JobClientTest, AKillThatTheRmDoesNotAnswerIsTriedAgain) {
  ClientRig rig;
  rig.Watch();
  (void)rig.Tell(100ms, KillRequested{});
  (void)rig.RmFails(200ms, RpcErrorCode::kUnavailable);
  EXPECT_THAT(rig.RunTo(1200ms), Contains(HasSubstr("KillApplicationRequest")));
}

TEST(JobClientTest, KilledBeforeItsSubmissionItJustEnds) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.RmFails(0s, RpcErrorCode::kUnavailable);
  EXPECT_THAT(rig.Tell(100ms, KillRequested{.reason = "typo"}),
              ElementsAre(HasSubstr("killed by its user: typo, before its submission"),
                          "ExitClient{code=11}"));
}

// Otherwise the call under way could make a file after the directory was deleted, or an application
// after the kill.
TEST(JobClientTest, AKillWaitsForTheCallUnderWay) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Obtained(0s);
  (void)rig.Rm(0s, yarn::GetClusterNodesResponse{});
  (void)rig.Rm(0s, yarn::GetQueueInfoResponse{});
  EXPECT_THAT(rig.Tell(1s, KillRequested{}), IsEmpty());
  EXPECT_THAT(rig.Hdfs(2s, hdfs::Done{}),
              ElementsAre(StartsWith("JobEnded{status=killed"), StartsWith("DeleteRequest")));
}

TEST(JobClientTest, AKillWhileTheSubmissionIsUnderWayKillsWhatWasSubmitted) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Stage(0s);
  EXPECT_THAT(rig.Tell(1s, KillRequested{}), IsEmpty());
  EXPECT_THAT(
      rig.Rm(2s, yarn::SubmitApplicationResponse{}),
      ElementsAre(StartsWith("ApplicationSubmitted"), StartsWith("KillApplicationRequest")));
}

TEST(JobClientTest, AKillOfASubmissionThatNeverArrivedEndsAsKilled) {
  ClientRig rig;
  (void)rig.Submit();
  (void)rig.Stage(0s);
  (void)rig.RmFails(0s, RpcErrorCode::kUnavailable);
  EXPECT_THAT(rig.Tell(100ms, KillRequested{}), ElementsAre(StartsWith("KillApplicationRequest")));
  EXPECT_THAT(rig.RmFails(200ms, RpcErrorCode::kApplicationNotFound),
              Contains(StartsWith("JobEnded{status=killed")));
}

// ---------------------------------------------------------------- an RM that forgot

// Source: YarnClientImpl.submitApplication: ApplicationNotFoundException makes it submit again.
TEST(JobClientTest, AnApplicationForgottenBeforeItsAmRanIsSubmittedAgainUnderItsId) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  EXPECT_THAT(rig.RmFails(1s, RpcErrorCode::kApplicationNotFound),
              ElementsAre(StartsWith("Note"), AllOf(StartsWith("SubmitApplicationRequest"),
                                                    HasSubstr("application_0_0007"))));
  EXPECT_THAT(rig.Rm(1s, yarn::SubmitApplicationResponse{}), IsEmpty());  // Told once.
  EXPECT_EQ(rig.deadline(), 2s);
  EXPECT_EQ(rig.decision(), 15min);  // Counted from the first time.
}

TEST(JobClientTest, AnApplicationForgottenAfterItRanHasFailed) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kRunning);
  (void)rig.RunTo(2s);
  EXPECT_THAT(
      rig.RmFails(2s, RpcErrorCode::kApplicationNotFound),
      Contains(HasSubstr("JobEnded{status=failed diagnostics=\"application_0_0007 is unknown")));
}

// ---------------------------------------------------------------- resubmission

JobSpec Resubmitted(std::int32_t times) {
  JobSpec job = Mnist();
  job.retries.resubmit = times;
  return job;
}

TEST(JobClientTest, AFailedApplicationIsSubmittedAgainAsANewOneWhileTheBudgetLasts) {
  ClientRig rig(Resubmitted(1));
  rig.Watch();
  (void)rig.RunTo(1s);
  EXPECT_THAT(rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kFailed,
                         "worker:0 exit 1"),
              ElementsAre(HasSubstr("submitted again (1 of 1)"), StartsWith("DeleteRequest")));
  EXPECT_THAT(rig.Hdfs(1s, hdfs::Done{}), ElementsAre("GetNewApplicationRequest{}"));
  const ApplicationId second{.cluster_timestamp = 0, .id = 8};
  EXPECT_THAT(rig.Stage(1s, second), ElementsAre(HasSubstr("application_0_0008")));
  EXPECT_THAT(rig.Rm(1s, yarn::SubmitApplicationResponse{}),
              ElementsAre("ApplicationSubmitted{application=application_0_0008 resubmission=1}"));
  (void)rig.RunTo(2s);
  EXPECT_THAT(rig.Report(2s, YarnApplicationState::kFinished, FinalApplicationStatus::kFailed,
                         "again", second),
              Contains(StartsWith("JobEnded{status=failed diagnostics=\"again\"")));
}

TEST(JobClientTest, AnAnswerAboutTheOldApplicationDoesNotConcernTheNewOne) {
  ClientRig rig(Resubmitted(1));
  rig.Watch();
  (void)rig.RunTo(1s);
  const CallRm old_poll = rig.rm_calls().back();
  (void)rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kFailed);
  (void)rig.Hdfs(1s, hdfs::Done{});
  (void)rig.Stage(1s, {.cluster_timestamp = 0, .id = 8});
  (void)rig.Rm(1s, yarn::SubmitApplicationResponse{});
  yarn::GetApplicationReportResponse old;
  old.report.application = kFirst;
  old.report.state = YarnApplicationState::kFailed;
  EXPECT_THAT(rig.Tell(2s, RmReplied{.call = old_poll.call, .response = old}), IsEmpty());
  EXPECT_EQ(rig.state().state, ClientState::kWatching);
}

TEST(JobClientTest, KilledOrInfeasibleJobsAreNotSubmittedAgain) {
  ClientRig killed(Resubmitted(5));
  killed.Watch();
  (void)killed.RunTo(1s);
  EXPECT_THAT(killed.Report(1s, YarnApplicationState::kKilled),
              Contains(StartsWith("JobEnded{status=killed")));
  ClientRig infeasible(Resubmitted(5));
  infeasible.Watch();
  (void)infeasible.RunTo(1s);
  EXPECT_THAT(
      infeasible.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kFailed,
                        "Cause: the job (infeasible). Why: no node has 16 GPUs."),
      Contains(StartsWith("JobEnded{status=failed")));
}

TEST(JobClientTest, OnlyTheAmsOwnWordMakesAJobInfeasible) {
  EXPECT_TRUE(NamesInfeasible("Cause: the job (infeasible). Why: ..."));
  EXPECT_TRUE(NamesInfeasible("Attempt recovered after RM restartCause: worker:0 (infeasible)."));
  EXPECT_FALSE(
      NamesInfeasible("Cause: worker:0 ended with 1 (user-permanent). Details: (infeasible)"));
  EXPECT_FALSE(NamesInfeasible("Cause: worker:0 (infeasible-ish)"));
  EXPECT_FALSE(NamesInfeasible("infeasible"));
  EXPECT_FALSE(NamesInfeasible("("));
  EXPECT_FALSE(NamesInfeasible(""));
}

TEST(JobClientTest, AKillWhileItCleansUpForAResubmissionEndsTheJob) {
  ClientRig rig(Resubmitted(1));
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kFailed);
  EXPECT_THAT(rig.Tell(1s, KillRequested{}), ElementsAre(StartsWith("JobEnded{status=killed")));
  EXPECT_THAT(rig.Hdfs(1s, hdfs::Done{}), ElementsAre("ExitClient{code=11}"));
}

TEST(JobClientTest, AKillAfterTheEndIsNoted) {
  ClientRig rig;
  rig.Watch();
  (void)rig.RunTo(1s);
  (void)rig.Report(1s, YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded);
  EXPECT_THAT(rig.Tell(1s, KillRequested{}), ElementsAre(HasSubstr("too late")));
  EXPECT_THAT(rig.Hdfs(1s, hdfs::Done{}), ElementsAre("ExitClient{code=0}"));
}

// ---------------------------------------------------------------- elision

TEST(JobClientTest, ElidedPollsAdvanceTheCallIdsAndTheGrid) {
  ClientRig full;
  ClientRig elided;
  full.Watch();
  elided.Watch();
  for (int i = 1; i <= 1000; ++i) {
    (void)full.RunTo(i * 1s);
    (void)full.Report(i * 1s,
                      i < 10 ? YarnApplicationState::kAccepted : YarnApplicationState::kRunning);
    if (i == 10) {  // The one that had news was delivered.
      EXPECT_THAT(elided.Tell(9s, HeartbeatsElided{.count = 9, .last = kStart + 9s}), IsEmpty());
      (void)elided.RunTo(10s);
      (void)elided.Report(10s, YarnApplicationState::kRunning);
    }
  }
  (void)elided.Tell(1000s, HeartbeatsElided{.count = 990, .last = kStart + 1000s});
  (void)full.RunTo(1001s);
  (void)elided.RunTo(1001s);
  EXPECT_EQ(full.rm_calls().back().call, elided.rm_calls().back().call);
  EXPECT_EQ(full.deadline(), elided.deadline());
  const auto end = [](ClientRig& rig) {
    return rig.Report(1001s, YarnApplicationState::kFinished, FinalApplicationStatus::kSucceeded);
  };
  EXPECT_EQ(end(full), end(elided));
}

TEST(JobClientTest, ALateAnswerToTheLatestElidedPollIsTaken) {
  ClientRig rig;
  rig.Watch();
  const std::uint64_t before = rig.rm_calls().back().call.value;
  (void)rig.Tell(5s, HeartbeatsElided{.count = 5, .last = kStart + 5s});
  yarn::GetApplicationReportResponse news;
  news.report.application = kFirst;
  news.report.state = YarnApplicationState::kFinished;
  news.report.final_status = FinalApplicationStatus::kSucceeded;
  EXPECT_THAT(rig.Tell(5s, RmReplied{.call = CallId(before + 5), .response = news}),
              Contains(StartsWith("JobEnded{status=succeeded")));
}

TEST(JobClientTest, EveryRowOfTheTableLeadsOnOrToTheEnd) {
  for (const Transition& row : JobClientTransitions()) {
    bool left = row.to == "Exited";
    for (const Transition& other : JobClientTransitions()) left |= other.from == row.to;
    EXPECT_TRUE(left) << row.from << " " << row.event << " " << row.to;
    EXPECT_THAT(std::string(row.from), Not(std::string("Exited")));
  }
}

}  // namespace
}  // namespace tfyarn::client::job_client_end_test
