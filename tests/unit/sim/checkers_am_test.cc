// Each checker fires on a stream that breaks its property: the conduct of ApplicationMaster and
// client.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_am_test {
namespace {

yarn::ResourceRequest Ask(std::string where, std::int32_t count) {
  return {.priority = 1,
          .resource_name = std::move(where),
          .capability = {.memory_mb = 1024, .vcores = 1, .gpus = 1, .others = {}},
          .num_containers = count};
}

// ---------------------------------------------------------------- one-attempt

TEST(CheckersAmTest, OneAttemptBreaksWhenASupersededAttemptGoesOnActing) {
  CheckerScript script;
  script.Run();
  script.At(100s);
  script.StartAm(2);
  script.At(110s);
  script.Order(CallRm{.call = CallId(9), .request = yarn::AllocateRequest{}}, 1);
  script.Tell(RmReplied{.call = CallId(9),
                        .response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidToken}},
              1);
  script.Order(AppendJournal{.seq = JournalSeq(6)}, 1);
  EXPECT_EQ(script.Broken(), Names{});
  script.At(125s);
  script.Order(AppendJournal{.seq = JournalSeq(7)}, 1);
  EXPECT_EQ(script.Broken(), Names{"one-attempt"});
}

/// What is broken when an AM makes call 9, is replaced, hears this answer, and stores an entry.
Names BrokenAfterAnswer(const RmReplied& answer) {
  CheckerScript script;
  script.Run();
  script.Order(CallRm{.call = CallId(9), .request = yarn::AllocateRequest{}}, 1);
  script.At(100s);
  script.StartAm(2);
  script.At(110s);
  script.Tell(answer, 1);
  script.At(125s);
  script.Order(AppendJournal{.seq = JournalSeq(7)}, 1);
  return script.Broken();
}

// The RM may have answered before it registered the later attempt.
TEST(CheckersAmTest, OneAttemptDoesNotMindAnAnswerThatWasOnItsWay) {
  EXPECT_EQ(BrokenAfterAnswer({.call = CallId(9), .response = yarn::AllocateResponse{}}), Names{});
}

// A call without news is in no trace: when it was made is not known.
TEST(CheckersAmTest, OneAttemptDoesNotMindTheAnswerToACallThatIsInNoTrace) {
  EXPECT_EQ(BrokenAfterAnswer({.call = CallId(10), .response = yarn::AllocateResponse{}}), Names{});
  const yarn::RpcError refused{.code = yarn::RpcErrorCode::kApplicationAttemptNotFound};
  EXPECT_EQ(BrokenAfterAnswer({.call = CallId(10), .response = refused}), Names{"one-attempt"});
}

// Fails when any event counts as an answer: its timers and its journal go on while it is cut off.
TEST(CheckersAmTest, OneAttemptDoesNotAccuseWhoIsCutOffFromTheRm) {
  CheckerScript script;
  script.Run();
  script.At(100s);
  script.StartAm(2);
  script.At(110s);
  script.Tell(DeadlineReached{}, 1);
  script.Tell(JournalAppended{.seq = JournalSeq(5)}, 1);
  script.Tell(RmReplied{.response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable}}, 1);
  script.At(125s);
  script.Order(AppendJournal{.seq = JournalSeq(7)}, 1);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, OneAttemptDoesNotMindTheNewAttempt) {
  CheckerScript script;
  script.Run();
  script.StartAm(2);
  script.At(125s);
  script.Order(AppendJournal{.seq = JournalSeq(7)}, 2);
  EXPECT_EQ(script.Broken(), Names{});
}

// ---------------------------------------------------------------- good-citizen

TEST(CheckersAmTest, AnIncompleteGangThatTheAmGivesBackIsNotKept) {
  for (const bool given_back : {false, true}) {
    CheckerScript script;
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.Grant(2);
    script.At(1min);
    if (given_back) script.Allocate({.release = {CheckerScript::Container(2)}});
    script.At(7min);  // The RM has not heard it.
    script.Allocate({});
    EXPECT_EQ(script.Broken(), given_back ? Names{} : Names{"good-citizen"});
  }
}

TEST(CheckersAmTest, WhatTrainsOnWithoutItsPsIsNoIncompleteGang) {
  for (const Strategy strategy : {Strategy::kMultiWorker, Strategy::kParameterServer}) {
    JobSpec spec = CheckerScript::Job();
    spec.strategy = strategy;
    spec.tasks.front().instances = 3;
    CheckerScript script(spec);
    script.Run();
    yarn::StartContainersRequest launch;
    launch.containers = {{.container = CheckerScript::Container(2)}};
    script.Order(
        CallNm{.call = CallId(3), .node = CheckerScript::Node("n1"), .request = std::move(launch)});
    script.Grant(4, "n2");
    script.Free(3);
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker1, .exit_class = ExitClass::kNodeLost},
                                .tasks = {kWorker1}});
    script.Free(4);
    script.At(8min);
    script.Allocate({});
    const Names broken = script.Broken();
    EXPECT_EQ(std::count(broken.begin(), broken.end(), "good-citizen"),
              strategy == Strategy::kMultiWorker ? 1 : 0);
  }
}

// ---------------------------------------------------------------- final-once, after-final

TEST(CheckersAmTest, FinalOnceBreaksWhenTheVerdictChanges) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Order(VerdictReached{.status = JobStatus::kSucceeded}, 2);
  EXPECT_EQ(script.Broken(), Names{});
  script.Order(VerdictReached{.status = JobStatus::kFailed});
  EXPECT_EQ(script.Broken(), Names{"final-once"});
}

TEST(CheckersAmTest, FinalOnceBreaksWhenTheRmIsToldSomethingElse) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Order(CallRm{.request = yarn::FinishApplicationMasterRequest{
                          .final_status = yarn::FinalApplicationStatus::kFailed}});
  EXPECT_EQ(script.Broken(), Names{"final-once"});
}

TEST(CheckersAmTest, AnAmMayRepeatItsFinalStatusWhenItsJobIsAlreadySubmittedAgain) {
  JobSpec spec = CheckerScript::Job();
  spec.retries.resubmit = 1;
  CheckerScript script(spec);
  script.Run();
  script.Exit(2, 1);
  script.Exit(3, 1);
  script.Ended(kWorker0, 1, ExitClass::kUserPermanent);
  script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
  script.Order(VerdictReached{.status = JobStatus::kFailed});
  const CallRm finish{.request = yarn::FinishApplicationMasterRequest{
                          .final_status = yarn::FinalApplicationStatus::kFailed}};
  script.Order(finish);
  const ApplicationId next{.id = 2};
  script.Say(
      trace::ClientOrdered{.job = CheckerScript::kJob,
                           .action = ApplicationSubmitted{.application = next, .resubmission = 1}});
  script.Order(finish);
  script.Tell(RmReplied{.response = yarn::FinishApplicationMasterResponse{true}});
  script.resubmission = 1;
  script.Tell(AmStarted{.attempt = {.application = next, .attempt = 1}});
  script.Allocate({});
  // The answer was lost: it says it once more, beside the next application's AM.
  script.resubmission.reset();
  script.Order(finish);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, WhatTheRmAnswersAnEarlierApplicationsAmIsNotHeldAgainstTheNextOnes) {
  JobSpec spec = CheckerScript::Job();
  spec.retries.resubmit = 1;
  CheckerScript script(spec);
  script.Run();
  script.Order(VerdictReached{.status = JobStatus::kFailed});
  script.Order(CallRm{.request = yarn::FinishApplicationMasterRequest{
                          .final_status = yarn::FinalApplicationStatus::kFailed}});
  (void)script.Broken();
  script.resubmission = 1;
  script.Tell(AmStarted{.attempt = {.application = {.id = 2}, .attempt = 1}});
  script.Order(VerdictReached{.status = JobStatus::kFailed});
  (void)script.Broken();
  script.resubmission.reset();
  script.Tell(RmReplied{.response = yarn::FinishApplicationMasterResponse{true}});
  script.resubmission = 1;
  script.Allocate({});
  EXPECT_EQ(script.Broken(), Names{});
  script.Tell(RmReplied{.response = yarn::FinishApplicationMasterResponse{true}});
  script.Allocate({});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, FinalOnceBreaksWhenTheApplicationEndsTwiceDifferently) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Say(trace::ApplicationEnded{.job = CheckerScript::kJob,
                                     .application = CheckerScript::App(),
                                     .final_status = yarn::FinalApplicationStatus::kKilled});
  EXPECT_EQ(script.Broken(), Names{"final-once"});
}

TEST(CheckersAmTest, FinalOnceBreaksWhenTheClientEndsTheJobTwiceOrOtherwise) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Say(trace::ClientOrdered{.job = CheckerScript::kJob,
                                  .action = JobEnded{.status = JobStatus::kSucceeded}});
  EXPECT_EQ(script.Broken(), Names{"final-once"});

  CheckerScript other;
  other.Run();
  other.Exit(2);
  other.Exit(3);
  other.Ended(kWorker0, 0, ExitClass::kOk);
  other.Ended(kWorker1, 0, ExitClass::kOk);
  other.Order(VerdictReached{.status = JobStatus::kSucceeded});
  other.Say(trace::ClientOrdered{.job = CheckerScript::kJob,
                                 .action = JobEnded{.status = JobStatus::kFailed}});
  EXPECT_EQ(other.Broken(), Names{"final-once"});
}

TEST(CheckersAmTest, FinalOnceBreaksWhenAJobThatItsUserKilledIsReportedOtherwise) {
  for (const JobStatus status : {JobStatus::kKilled, JobStatus::kFailed}) {
    CheckerScript script;
    script.Run();
    script.Say(trace::ClientTold{.job = CheckerScript::kJob, .event = KillRequested{}});
    script.Say(trace::ApplicationEnded{.job = CheckerScript::kJob,
                                       .application = CheckerScript::App(),
                                       .final_status = yarn::FinalApplicationStatus::kKilled});
    script.Say(
        trace::ClientOrdered{.job = CheckerScript::kJob, .action = JobEnded{.status = status}});
    EXPECT_EQ(script.Broken(), status == JobStatus::kKilled ? Names{} : Names{"final-once"});
  }
}

TEST(CheckersAmTest, FinalOnceKnowsAmsThatDiedBeforeTheyCouldTellTheRm) {
  for (const bool told : {false, true}) {
    CheckerScript script;
    script.Run();
    script.Exit(2);
    script.Exit(3);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.Ended(kWorker1, 0, ExitClass::kOk);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"});
    if (told) {
      script.Order(CallRm{.call = CallId(9),
                          .request = yarn::FinishApplicationMasterRequest{
                              .final_status = yarn::FinalApplicationStatus::kSucceeded}});
      script.Tell(
          RmReplied{.call = CallId(9), .response = yarn::FinishApplicationMasterResponse{}});
    }
    script.Say(trace::ApplicationEnded{.job = CheckerScript::kJob,
                                       .application = CheckerScript::App(),
                                       .final_status = yarn::FinalApplicationStatus::kFailed});
    script.Say(trace::ClientOrdered{.job = CheckerScript::kJob,
                                    .action = JobEnded{.status = JobStatus::kFailed}});
    EXPECT_EQ(script.Broken(), told ? Names{"final-once"} : Names{});
  }
}

TEST(CheckersAmTest, AfterFinalDoesNotAccuseAnAttemptThatHasNotHeardOfItsSuccessor) {
  CheckerScript script;
  script.Run();
  script.StartAm(2);
  script.Order(VerdictReached{.status = JobStatus::kFailed}, 2);
  const CallNm start{.request = yarn::StartContainersRequest{
                         .containers = {{.container = CheckerScript::Container(3)}}}};
  script.Order(start, 1);
  EXPECT_EQ(script.Broken(), Names{});
  script.Order(start, 2);
  EXPECT_EQ(script.Broken(), Names{"after-final"});
}

TEST(CheckersAmTest, AfterFinalBreaksWhenTheAmStartsSomethingAfterItsVerdict) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Order(SendToAgent{.container = CheckerScript::Container(2), .message = StopProcess{}});
  EXPECT_EQ(script.Broken(), Names{});
  script.Order(SendToAgent{.container = CheckerScript::Container(2), .message = StartProcess{}});
  EXPECT_EQ(script.Broken(), Names{"after-final"});
}

// ---------------------------------------------------------------- verdict

TEST(CheckersAmTest, VerdictBreaksWhenSuccessIsClaimedWithoutTheExits) {
  CheckerScript script;
  script.Run();
  script.Ended(kWorker0, 0, ExitClass::kOk);
  script.Order(VerdictReached{.status = JobStatus::kSucceeded});
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

TEST(CheckersAmTest, VerdictBreaksWhenFailureIsClaimedWithoutAnExitThatFails) {
  CheckerScript script;
  script.Run();
  script.Ended(kWorker0, 0, ExitClass::kOk);
  script.Order(VerdictReached{
      .status = JobStatus::kFailed,
      .cause = Cause{.task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent}});
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

// The checkers have no specification of the job that says what a good verdict would be.
TEST(CheckersAmTest, VerdictIsNotJudgedWhereTheJobIsUnknown) {
  constexpr trace::JobIndex kUnknown{1};
  CheckerScript script;
  const auto order = [&](AmAction action) {
    script.Say(trace::AmOrdered{.job = kUnknown, .am_attempt = 1, .action = std::move(action)});
  };
  script.Say(trace::JobCreated{.job = kUnknown, .name = "b", .tasks = 2});
  script.Say(
      trace::AmTold{.job = kUnknown,
                    .am_attempt = 1,
                    .event = AmStarted{.attempt = {.application = {.id = 2}, .attempt = 1}}});
  order(VerdictReached{.status = JobStatus::kFailed, .rule = "default/exit"});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictHoldsForAFailureThatWasRecorded) {
  CheckerScript script;
  script.Run();
  script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
  script.Order(VerdictReached{
      .status = JobStatus::kFailed,
      .cause = Cause{.task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictKnowsTheProcessThatRanLast) {
  CheckerScript script;
  script.Run();
  script.Say(
      trace::AgentTold{.job = CheckerScript::kJob,
                       .container = CheckerScript::Container(3),
                       .event = ProcessExited{.attempt = TaskAttempt(1), .exit = {.code = 0}}});
  // Its container was given up, and holds it for longer.
  script.Exit(3, 137);
  script.Ended(kWorker1, 0, ExitClass::kOk, 1);
  EXPECT_EQ(script.Broken(), Names{});
}

// The AM before could write nothing down: of the attempt that it had in mind the next one does not
// know.
TEST(CheckersAmTest, VerdictRestsOnWhatTheActingAmRecords) {
  CheckerScript script;
  script.Run();
  script.Exit(3, 1);
  script.Ended(kWorker1, std::nullopt, ExitClass::kHeartbeatLost, 1);
  script.StartAm(2);
  script.Order(TaskAttemptEnded{.task = kWorker1,
                                .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
                                .exit = 1,
                                .exit_class = ExitClass::kUserPermanent},
               2);
  static_cast<void>(script.Broken());
  script.Order(
      VerdictReached{
          .status = JobStatus::kFailed,
          .cause = Cause{.task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent}},
      2);
  EXPECT_EQ(script.Broken(), Names{});
}

/// The RM tells an AM that a container has ended.
void TellOfEnd(CheckerScript& script, std::int64_t container, std::int32_t exit,
               std::int32_t am_attempt) {
  script.Tell(RmReplied{.call = CallId(7),
                        .response =
                            yarn::AllocateResponse{
                                .completed_containers = {{.id = CheckerScript::Container(container),
                                                          .exit_status = exit}}}},
              am_attempt);
}

/// What an AM makes of it.
void RecordsAsFailed(CheckerScript& script, std::int32_t exit, std::int32_t am_attempt) {
  script.Order(TaskAttemptEnded{.task = kWorker1,
                                .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
                                .container = CheckerScript::Container(3),
                                .exit = exit,
                                .exit_class = ExitClass::kUserPermanent},
               am_attempt);
}

// The one before acts on beside it: its restart for that end is none of the next one's.
TEST(CheckersAmTest, VerdictTakesAnEndThatAnotherAmRecordsForNoAmendment) {
  for (const std::int32_t before : {1, 2}) {
    CheckerScript script;
    script.Run();
    script.Exit(3, 1);
    script.StartAm(2);
    RecordsAsFailed(script, 1, before);
    script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker1}}, before);
    script.At(5s);
    RecordsAsFailed(script, 1, 2);
    EXPECT_EQ(script.Broken(), Names{});
    script.Order(VerdictReached{.status = JobStatus::kFailed,
                                .cause = Cause{.task = kWorker1,
                                               .exit = 1,
                                               .exit_class = ExitClass::kUserPermanent,
                                               .at = script.now}},
                 2);
    EXPECT_EQ(script.Broken(), before == 1 ? Names{} : Names{"verdict"});
  }
}

TEST(CheckersAmTest, WhatAnAmThatIsCutOffTellsCountsForNothing) {
  for (const std::int32_t by : {1, 2}) {
    CheckerScript script;
    script.Run();
    script.StartAm(2);
    for (const TaskId& task : {kWorker0, kWorker1}) {
      const ContainerId container = CheckerScript::Container(task == kWorker0 ? 2 : 3);
      script.Exit(container.id, 0);
      script.Order(TaskAttemptEnded{.task = task,
                                    .process = {.epoch = Epoch(1)},
                                    .container = container,
                                    .exit = 0,
                                    .exit_class = ExitClass::kOk},
                   2);
    }
    RecordsAsFailed(script, 1, by);
    (void)script.Broken();  // Which end was its last is another matter.
    script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"}, 2);
    EXPECT_EQ(script.Broken(), by == 1 ? Names{} : Names{"verdict"});
  }
}

TEST(CheckersAmTest, VerdictHoldsForAStatusThatYarnGaveTheContainer) {
  for (const bool told : {false, true}) {
    CheckerScript script;
    script.Run();
    script.Exit(3, 0);
    if (told) TellOfEnd(script, 3, 1, 1);
    RecordsAsFailed(script, 1, 1);
    EXPECT_EQ(script.Broken(), told ? Names{} : Names{"verdict"});
  }
}

// The process has ended well, and an AM that died was told; its container ends otherwise.
TEST(CheckersAmTest, VerdictLetsAnAmGoByTheContainerWhereNoAgentHasToldIt) {
  CheckerScript script;
  script.Run();
  script.Exit(3, 0);
  script.Tell(AgentSaid{
      ProcessEnded{.fence = {.container = CheckerScript::Container(3), .task = kWorker1}}});
  script.StartAm(2);
  TellOfEnd(script, 3, 1, 2);
  RecordsAsFailed(script, 1, 2);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictBreaksWhenAnAmPutsTheContainerBeforeItsAgent) {
  CheckerScript script;
  script.Run();
  script.Exit(3, 0);
  script.Tell(AgentSaid{
      ProcessEnded{.fence = {.container = CheckerScript::Container(3), .task = kWorker1}}});
  TellOfEnd(script, 3, 1, 1);
  RecordsAsFailed(script, 1, 1);
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

TEST(CheckersAmTest, VerdictBreaksWhenAnAmTakesAnotherExitThanItsContainers) {
  CheckerScript script;
  script.Run();
  script.Exit(3, 0);
  TellOfEnd(script, 3, 0, 1);
  RecordsAsFailed(script, 1, 1);
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

// A success that the AM hears of at the same instant, but later, is not what its verdict rests on.
TEST(CheckersAmTest, VerdictKnowsTheOrderOfEndsOfOneInstant) {
  JobSpec spec = CheckerScript::Job();
  spec.policy.name = "tfjob";
  CheckerScript script(spec);
  script.Run();
  script.Exit(3, 143);
  script.Exit(2, 0);
  script.Ended(kWorker1, 143, ExitClass::kKilledExternal);
  script.Ended(kWorker0, 0, ExitClass::kOk);
  script.Order(VerdictReached{.status = JobStatus::kFailed,
                              .cause = Cause{.task = kWorker1,
                                             .exit = 143,
                                             .exit_class = ExitClass::kKilledExternal,
                                             .at = script.now}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictTellsTwoContainersThatWereLostBeforeAProcessRanApart) {
  JobSpec spec = CheckerScript::Job();
  spec.retries.infrastructure = 1;
  CheckerScript script(spec);
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  const auto lost = [&](std::int64_t container) {
    script.Order(TaskAttemptEnded{.task = kWorker1,
                                  .container = CheckerScript::Container(container),
                                  .exit = -1000,
                                  .exit_class = ExitClass::kLaunchError});
  };
  lost(3);
  script.Order(
      RestartDecided{.paid = Budget::kInfrastructure, .epoch = Epoch(1), .tasks = {kWorker1}});
  lost(4);
  script.Order(VerdictReached{
      .status = JobStatus::kFailed,
      .cause = Cause{.task = kWorker1, .exit = -1000, .exit_class = ExitClass::kLaunchError}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictBreaksWhenAJobFailsAlthoughARestartWasLeft) {
  JobSpec spec = CheckerScript::Job();
  spec.retries.user = 1;
  CheckerScript script(spec);
  script.Run();
  script.Ended(kWorker1, 75, ExitClass::kUserRetryable);
  script.Order(VerdictReached{
      .status = JobStatus::kFailed,
      .cause = Cause{.task = kWorker1, .exit = 75, .exit_class = ExitClass::kUserRetryable}});
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

// The window of the budget has forgotten by then what a task had used up when it was given up.
TEST(CheckersAmTest, VerdictKnowsWhatHadBeenPaidWhenATaskWasGivenUp) {
  for (const bool paid : {true, false}) {
    JobSpec spec = CheckerScript::Job();
    spec.strategy = Strategy::kIndependent;
    spec.retries.infrastructure = 1;
    spec.retries.window = 1min;
    spec.success = SuccessExpr{.op = SuccessOp::kDone, .task_type = "worker"};
    CheckerScript script(spec);
    script.Run();
    if (paid) {
      script.Order(RestartDecided{
          .paid = Budget::kInfrastructure,
          .epoch = Epoch(1),
          .cause = Cause{.task = kWorker1, .exit = -100, .exit_class = ExitClass::kNodeLost},
          .tasks = {kWorker1}});
    }
    script.Ended(kWorker0, -100, ExitClass::kNodeLost);
    script.At(10min);
    script.Exit(3, 0);
    script.Ended(kWorker1, 0, ExitClass::kOk);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"});
    EXPECT_EQ(script.Broken(), paid ? Names{} : Names{"verdict"});
  }
}

TEST(CheckersAmTest, VerdictHoldsWhenThereIsNoMoreMemoryToRaise) {
  JobSpec spec = CheckerScript::Job();
  spec.on_exit.push_back({.classes = {ExitClass::kOom}, .action = ExitAction::kRaiseMemory});
  CheckerScript script(spec);
  script.Run();
  script.Ended(kWorker1, 137, ExitClass::kOom);
  script.Order(
      VerdictReached{.status = JobStatus::kFailed,
                     .cause = Cause{.task = kWorker1, .exit = 137, .exit_class = ExitClass::kOom}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, VerdictBreaksWhenAnExitIsRecordedThatDidNotHappenSo) {
  CheckerScript script;
  script.Run();
  script.Exit(2, 1);
  script.Ended(kWorker0, 1, ExitClass::kUserPermanent);
  EXPECT_EQ(script.Broken(), Names{});
  script.Ended(kWorker0, 0, ExitClass::kOk);
  EXPECT_EQ(script.Broken(), Names{"verdict"});
  script.Exit(3);
  script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

// Its AM lives on beside a successor, whose process of the task has ended meanwhile.
TEST(CheckersAmTest, AnEndIsHeardLateByAnAmThatWasReplaced) {
  CheckerScript script;
  script.Run();
  script.Exit(2, 0);
  script.Exit(3, 0);
  script.Spawn(3, kWorker0, 2);
  script.Exit(3, 0);
  script.Ended(kWorker0, 0, ExitClass::kOk, 0);
  EXPECT_EQ(script.Broken(), Names{});
  script.Ended(kWorker0, 0, ExitClass::kOk, 5);
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

TEST(CheckersAmTest, BudgetsBreakWhenAProcessStartsAgainWithoutADecision) {
  CheckerScript script;
  script.Run();
  script.Exit(2, 1);
  script.Spawn(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
  script.Exit(2, 1);
  script.SpawnUnannounced(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{"budgets"});
}

TEST(CheckersAmTest, VerdictForgetsEndsThatWereRestarted) {
  CheckerScript script;
  script.Run();
  script.Ended(kWorker0, 0, ExitClass::kOk);
  script.Ended(kWorker1, 0, ExitClass::kOk);
  script.Order(RestartDecided{.unit = RestartUnit::kTask, .epoch = Epoch(1), .tasks = {kWorker1}});
  script.Started(kWorker1, 1);
  script.Order(VerdictReached{.status = JobStatus::kSucceeded});
  EXPECT_EQ(script.Broken(), Names{"verdict"});
}

// The chief goes on until it is told to stop for the restart that a ps has caused.
TEST(CheckersAmTest, VerdictForgetsWhatEndedOnTheOrderOfARestart) {
  JobSpec spec = CheckerScript::Job();
  spec.policy = {.name = "framework-launcher",
                 .options = {{"max_retry_count", "unlimited"}, {"min_succeeded_task_count", "1"}}};
  for (const bool decided : {true, false}) {
    CheckerScript script(spec);
    script.Run();
    if (decided) {
      script.Order(
          RestartDecided{.unit = RestartUnit::kTask, .epoch = Epoch(1), .tasks = {kWorker1}});
    }
    script.Exit(3, 143);
    script.Ended(kWorker1, 143, ExitClass::kKilledByUs);
    script.Exit(2);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded});
    EXPECT_EQ(script.Broken(), decided ? Names{} : Names{"verdict"});
  }
}

// The process that the restart would have stopped was faster.
TEST(CheckersAmTest, VerdictHoldsForASuccessThatCameWhileARestartWasDecided) {
  JobSpec spec = CheckerScript::Job();
  spec.success = SuccessExpr{.op = SuccessOp::kOk, .task_type = "worker", .index = 0};
  const auto end = [&](Duration ended_at) {
    CheckerScript script(spec);
    script.Run();
    script.At(ended_at);
    script.Exit(2);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.At(6s);
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker1, .at = Instant{} + 5s},
                                .tasks = {kWorker0, kWorker1}});
    script.Order(VerdictReached{.status = JobStatus::kSucceeded});
    return script.Broken();
  };
  EXPECT_EQ(end(5s), Names{});
  EXPECT_EQ(end(4s), Names{"verdict"});
}

TEST(CheckersAmTest, VerdictCountsAnEndAsAnotherAmHeardOfIt) {
  JobSpec spec = CheckerScript::Job();
  spec.success = SuccessExpr{.op = SuccessOp::kOk, .task_type = "worker", .index = 0};
  const auto hear = [&](std::int32_t am_attempt) {
    CheckerScript script(spec);
    script.Run();
    script.At(4s);
    script.Ended(kWorker0, std::nullopt, ExitClass::kHeartbeatLost);
    if (am_attempt > 1) script.StartAm(am_attempt);
    script.At(6s);
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker1, .at = Instant{} + 5s},
                                .tasks = {kWorker0, kWorker1}});
    script.At(7s);
    script.Exit(2);
    script.Ended(kWorker0, 0, ExitClass::kOk, 0, am_attempt);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded});
    return script.Broken();
  };
  EXPECT_EQ(hear(2), Names{});
  EXPECT_EQ(hear(1), Names{"verdict"});
}

TEST(CheckersAmTest, VerdictKnowsWhatAnEndWasTakenForWhenItDecided) {
  for (const bool corrected : {true, false}) {
    CheckerScript script;
    script.Run();
    script.Exit(3, 1);
    if (!corrected) script.Ended(kWorker1, -100, ExitClass::kNodeLost);
    if (corrected) script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
    const Cause cause{
        .task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent, .at = script.now};
    script.At(6s);
    if (corrected) script.Ended(kWorker1, -100, ExitClass::kNodeLost);
    script.Order(VerdictReached{.status = JobStatus::kFailed, .cause = cause});
    EXPECT_EQ(script.Broken(), corrected ? Names{} : Names{"verdict"});
  }
}

// A chief has failed for good when its container is lost, too: a later end fails the job by that.
TEST(CheckersAmTest, VerdictKnowsThatAnEndIsSettledByItsFirstAccount) {
  JobSpec spec = CheckerScript::Job();
  spec.strategy = Strategy::kIndependent;
  for (const bool first : {true, false}) {
    CheckerScript script(spec);
    script.Run();
    script.Exit(3, 1);
    if (first) script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
    const Cause cause{
        .task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent, .at = script.now};
    script.At(6s);
    script.Ended(kWorker1, -100, ExitClass::kNodeLost);
    script.At(7s);
    script.Exit(2, 0);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.Order(VerdictReached{
        .status = JobStatus::kFailed, .cause = cause, .rule = "default/tracked-ended"});
    EXPECT_EQ(script.Broken(), first ? Names{} : Names{"verdict"});
  }
}

// By then it had not counted for some time: it ended too late, in the same moment.
TEST(CheckersAmTest, VerdictKnowsWhatNoLongerCountedWhenTheLastOfTheOthersEnded) {
  for (const DependencyAction action : {DependencyAction::kIgnore, DependencyAction::kFail}) {
    JobSpec spec = CheckerScript::Job();
    spec.policy.name = "tfjob";
    spec.tasks.push_back({.name = "evaluator", .instances = 1});
    spec.success = SuccessExpr{.op = SuccessOp::kDone, .task_type = "evaluator"};
    spec.depends = {{.task = "evaluator",
                     .after = "worker",
                     .state = DependencyState::kRunning,
                     .within = 8s,
                     .action = action}};
    CheckerScript script(spec);
    script.Run();
    script.Started({"evaluator", 0}, 0);
    script.Exit(3, 1);
    script.Ended(kWorker1, 1, ExitClass::kUserPermanent);
    const Cause cause{
        .task = kWorker1, .exit = 1, .exit_class = ExitClass::kUserPermanent, .at = script.now};
    script.At(20s);
    script.Exit(2, 0);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.Ended({"evaluator", 0}, 0, ExitClass::kOk);
    static_cast<void>(script.Broken());
    script.Order(VerdictReached{
        .status = JobStatus::kFailed, .cause = cause, .rule = "tfjob/tracked-ended"});
    EXPECT_EQ(script.Broken(), action == DependencyAction::kIgnore ? Names{} : Names{"verdict"});
  }
}

// It woke when the one after it had died, and what it had heard counts.
TEST(CheckersAmTest, VerdictLeavesAnAmThatTookTheJournalBackAlone) {
  for (const bool back : {true, false}) {
    CheckerScript script;
    script.Run();
    script.Exit(2, 0);
    script.Exit(3, 1);
    script.StartAm(2);
    script.Tell(RmReplied{.response = yarn::RegisterApplicationMasterResponse{}}, 2);
    RecordsAsFailed(script, 1, 2);
    if (back) script.Tell(JournalAppended{.seq = JournalSeq(4)}, 1);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"}, 2);
    EXPECT_EQ(script.Broken(), back ? Names{} : Names{"verdict"});
  }
}

TEST(CheckersAmTest, VerdictKnowsEndsThatARowIgnores) {
  JobSpec spec = CheckerScript::Job();
  spec.on_exit = {{.exits = {0}, .action = ExitAction::kIgnore}};
  for (const bool ignored : {true, false}) {
    CheckerScript script(spec);
    script.Run();
    script.Exit(2);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    if (ignored) script.Exit(3);
    if (ignored) script.Ended(kWorker1, 0, ExitClass::kOk);
    script.Order(
        VerdictReached{.status = JobStatus::kFailed,
                       .cause = Cause{.task = kWorker0, .exit = 0, .exit_class = ExitClass::kOk}});
    EXPECT_EQ(script.Broken(), ignored ? Names{} : Names{"verdict"});
  }
}

TEST(CheckersAmTest, VerdictKnowsWhoCouldNotReachAPeer) {
  JobSpec spec = CheckerScript::Job();
  spec.retries = {.user = 1, .infrastructure = 0};
  for (const bool reached : {false, true}) {
    CheckerScript script(spec);
    script.Run();
    script.Exit(3, 134);
    script.Order(
        TaskAttemptEnded{.task = kWorker1,
                         .process = {.epoch = Epoch(1)},
                         .container = CheckerScript::Container(3),
                         .exit = 134,
                         .exit_class = ExitClass::kSignalCrash,
                         .diagnostics = reached ? "abort" : "failed to connect to all addresses"});
    script.Order(VerdictReached{
        .status = JobStatus::kFailed,
        .cause = Cause{.task = kWorker1, .exit = 134, .exit_class = ExitClass::kSignalCrash}});
    EXPECT_EQ(script.Broken(), reached ? Names{"verdict"} : Names{});
  }
}

/// The agent of worker:1, and what the AM says to that.
void Registers(CheckerScript& script, bool accepted) {
  const AgentFence fence{.task = kWorker1};
  script.Tell(AgentSaid{.message = RegisterAgent{.fence = fence}});
  AmToAgent answer = AgentAccepted{.fence = fence};
  if (!accepted) answer = AgentRefused{.fence = fence};
  script.Order(SendToAgent{.message = std::move(answer)});
}

TEST(CheckersAmTest, VerdictKnowsWhoNeverRegistered) {
  JobSpec spec = CheckerScript::Job();
  spec.policy.name = "tony";
  const auto fail = [&](bool registers, bool accepted) {
    CheckerScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    if (registers) Registers(script, accepted);
    script.Ended(kWorker1, -1000, ExitClass::kLaunchError);
    script.Order(VerdictReached{
        .status = JobStatus::kFailed,
        .cause = Cause{.task = kWorker1, .exit = -1000, .exit_class = ExitClass::kLaunchError}});
    return script.Broken();
  };
  EXPECT_EQ(fail(false, false), Names{});
  EXPECT_EQ(fail(true, true), Names{"verdict"});
  // The agent of a container that was lost before is refused, and it is another that comes up.
  EXPECT_EQ(fail(true, false), Names{});
}

TEST(CheckersAmTest, VerdictTakesARegistrationForForgottenUnlessAProcessRan) {
  JobSpec spec = CheckerScript::Job();
  spec.policy.name = "tony";
  for (const bool ran : {false, true}) {
    CheckerScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.Grant(2);
    script.Grant(3, "n2");
    Registers(script, true);
    if (ran) script.Spawn(3, kWorker1);
    script.StartAm(2);
    script.Ended(kWorker1, -1000, ExitClass::kLaunchError, 0, 2);
    script.Order(VerdictReached{
        .status = JobStatus::kFailed,
        .cause = Cause{.task = kWorker1, .exit = -1000, .exit_class = ExitClass::kLaunchError}});
    EXPECT_EQ(script.Broken(), ran ? Names{"verdict"} : Names{});
  }
}

TEST(CheckersAmTest, VerdictBreaksWhenAJobIsKilledThatNobodyWantedKilled) {
  CheckerScript script;
  script.Run();
  script.Order(VerdictReached{.status = JobStatus::kKilled});
  EXPECT_EQ(script.Broken(), Names{"verdict"});

  CheckerScript wanted;
  wanted.Run();
  wanted.Say(trace::ClientTold{.job = CheckerScript::kJob, .event = KillRequested{}});
  wanted.Order(VerdictReached{.status = JobStatus::kKilled});
  EXPECT_EQ(wanted.Broken(), Names{});
}

// ---------------------------------------------------------------- budgets

RestartDecided Paid(Budget budget) {
  return {.unit = RestartUnit::kGang, .paid = budget, .epoch = Epoch(2)};
}

TEST(CheckersAmTest, BudgetsBreakWhenMoreIsPaidThanAllowedWithinTheWindow) {
  JobSpec spec = CheckerScript::Job();
  spec.retries = {.user = 1, .infrastructure = 2, .window = 1h, .resubmit = 0};
  config::Scenario scenario;
  scenario.invariants_off = {{.name = "progress", .because = "nothing is trained"}};
  CheckerScript script(spec, scenario);
  script.Run();
  script.Order(Paid(Budget::kUser));
  script.Order(Paid(Budget::kInfrastructure));
  script.Order(Paid(Budget::kInfrastructure));
  script.Order(Paid(Budget::kNone));
  EXPECT_EQ(script.Broken(), Names{});
  script.At(2h);
  script.Order(Paid(Budget::kUser));
  EXPECT_EQ(script.Broken(), Names{});
  script.At(2h + 10min);
  script.Order(Paid(Budget::kUser));
  EXPECT_EQ(script.Broken(), Names{"budgets"});
}

// What was decided while HDFS did not answer is told long after.
TEST(CheckersAmTest, BudgetsCountFromTheDecision) {
  JobSpec spec = CheckerScript::Job();
  spec.retries = {.user = 1, .infrastructure = 2, .window = 1h, .resubmit = 0};
  config::Scenario scenario;
  scenario.invariants_off = {{.name = "progress", .because = "nothing is trained"}};
  for (const bool waited : {true, false}) {
    CheckerScript script(spec, scenario);
    script.Run();
    script.Order(AppendJournal{.seq = JournalSeq(1)});
    script.At(2h);
    script.Tell(JournalAppended{.seq = JournalSeq(1)});
    if (!waited) script.At(2h + 1s);
    script.Order(AppendJournal{.seq = JournalSeq(2)});
    script.At(2h + 2s);
    script.Tell(JournalAppended{.seq = JournalSeq(2)});
    script.Order(Paid(Budget::kUser));
    script.At(2h + 10min);
    script.Order(AppendJournal{.seq = JournalSeq(3)});
    script.Tell(JournalAppended{.seq = JournalSeq(3)});
    script.Order(Paid(Budget::kUser));
    EXPECT_EQ(script.Broken(), waited ? Names{} : Names{"budgets"});
  }
}

// An AM that dies before it can tell what it paid leaves that to the next one.
TEST(CheckersAmTest, BudgetsCountNothingThatAnAmTellsWhichIsCutOff) {
  JobSpec spec = CheckerScript::Job();
  spec.retries.user = 1;
  for (const std::int32_t by : {1, 2}) {
    CheckerScript script(spec);
    script.Run();
    script.Order(Paid(Budget::kUser));
    script.StartAm(2);
    script.Order(Paid(Budget::kUser), by);
    EXPECT_EQ(script.Broken(), by == 1 ? Names{} : Names{"budgets"});
  }
}

TEST(CheckersAmTest, BudgetsCountWhatIsTakenOverFromWhenItMayHaveBeenDecided) {
  JobSpec spec = CheckerScript::Job();
  spec.retries = {.user = 1, .infrastructure = 2, .window = 1h, .resubmit = 0};
  config::Scenario scenario;
  scenario.invariants_off = {{.name = "progress", .because = "nothing is trained"}};
  const auto append = [](CheckerScript& script, std::uint64_t seq, std::int32_t am_attempt) {
    script.Order(AppendJournal{.seq = JournalSeq(seq)}, am_attempt);
    script.Tell(JournalAppended{.seq = JournalSeq(seq)}, am_attempt);
  };
  for (const bool long_ago : {true, false}) {
    CheckerScript script(spec, scenario);
    script.Run();
    script.At(long_ago ? 10min : 110min);
    append(script, 1, 1);
    script.At(2h);
    script.StartAm(2);
    append(script, 2, 2);
    script.Order(RestartTakenOver{.number = 1, .decided = Paid(Budget::kUser)}, 2);
    script.At(2h + 10min);
    script.Order(Paid(Budget::kUser), 2);
    EXPECT_EQ(script.Broken(), long_ago ? Names{} : Names{"budgets"});
  }
}

TEST(CheckersAmTest, BudgetsBreakOnAResubmissionTooMany) {
  CheckerScript script;
  script.Say(trace::ClientOrdered{
      .job = CheckerScript::kJob,
      .action = ApplicationSubmitted{.application = CheckerScript::App(), .resubmission = 1}});
  EXPECT_EQ(script.Broken(), Names{"budgets"});
}

// ---------------------------------------------------------------- excluded-nodes, good-citizen

TEST(CheckersAmTest, ExcludedNodesBreakWhenAnAskNamesOne) {
  CheckerScript script;
  script.Run();
  script.Allocate({.ask = {Ask("n1", 1)}, .blacklist_additions = {"n1"}});
  EXPECT_EQ(script.Broken(), Names{});
  script.Allocate({.ask = {Ask("n1", 0)}});
  EXPECT_EQ(script.Broken(), Names{});
  script.Allocate({.ask = {Ask("n1", 1)}});
  EXPECT_EQ(script.Broken(), Names{"excluded-nodes"});
  script.Allocate({.ask = {Ask("n1", 1)}, .blacklist_removals = {"n1"}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, GoodCitizenBreaksWhenMoreIsAskedForThanThereAreTasks) {
  CheckerScript script;
  script.Run();
  script.Allocate({.ask = {Ask("*", 2)}});
  EXPECT_EQ(script.Broken(), Names{});
  yarn::ResourceRequest more = Ask("*", 1);
  more.allocation_request_id = 7;
  script.Allocate({.ask = {more}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, GoodCitizenMayAskAgainForWhatItWasGivenAndLost) {
  CheckerScript script;
  script.Run();
  yarn::ResourceRequest first = Ask("*", 2);
  first.allocation_request_id = 1;
  script.Allocate({.ask = {first}});
  const yarn::Container granted{
      .id = CheckerScript::Container(2), .priority = 1, .allocation_request_id = 1};
  script.Tell(
      RmReplied{.response = yarn::AllocateResponse{.allocated_containers = {granted, granted}}});
  yarn::ResourceRequest second = Ask("*", 1);
  second.allocation_request_id = 2;
  script.Allocate({.ask = {second}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, GoodCitizenMayAskAgainWhereTheRmKnowsNothingOfIt) {
  CheckerScript script;
  script.Run();
  for (const std::int64_t number : {1, 2}) {
    yarn::ResourceRequest row = Ask("*", 2);
    row.allocation_request_id = number;
    script.Allocate({.ask = {row}});
    script.Tell(RmReplied{
        .response = yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationMasterNotRegistered}});
  }
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, GoodCitizenBreaksOnAMalformedAsk) {
  CheckerScript script;
  script.Run();
  yarn::ResourceRequest row = Ask("*", 1);
  row.priority.reset();
  script.Allocate({.ask = {row}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, GoodCitizenBreaksWhenAForeignContainerIsReleased) {
  CheckerScript script;
  script.Run();
  script.Allocate({.release = {CheckerScript::Container(99)}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, GoodCitizenBreaksOnABusyLoop) {
  CheckerScript script;
  script.Run();
  for (int i = 0; i < 25; ++i) {
    script.At(1s + 10ms * i);
    script.Allocate({.ask = {Ask("*", 1)}});
  }
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, GoodCitizenBreaksWhenTheRmRefusesWhatNoCorrectCallerSends) {
  CheckerScript script;
  script.Run();
  script.Tell(RmReplied{.response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable}});
  EXPECT_EQ(script.Broken(), Names{});
  script.Tell(
      RmReplied{.response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidResourceRequest}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

// How large a container may be is in the answer to its registration.
TEST(CheckersAmTest, GoodCitizenAllowsALargeRequestOfAnAmThatNeverHeardThatItIsRegistered) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.Tell(AmStarted{.attempt = {.application = CheckerScript::App(), .attempt = 1}});
  script.Tell(
      RmReplied{.response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidResourceRequest}});
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersAmTest, GoodCitizenBreaksWhenAnIncompleteGangKeepsItsContainers) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  script.Grant(2);
  script.At(4min);
  script.Allocate({.ask = {Ask("*", 1)}});
  EXPECT_EQ(script.Broken(), Names{});
  script.At(10min);
  script.Allocate({.ask = {Ask("*", 1)}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

TEST(CheckersAmTest, GoodCitizenBreaksOnAnAllocateAfterTheEnd) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Tell(
      RmReplied{.response = yarn::FinishApplicationMasterResponse{.is_unregistered = true}});
  script.Allocate({.ask = {Ask("*", 1)}});
  EXPECT_EQ(script.Broken(), Names{"good-citizen"});
}

}  // namespace
}  // namespace tfyarn::sim::checkers_am_test
