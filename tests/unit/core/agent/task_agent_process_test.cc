// The TaskAgent's process: orders, reports, the port it uses, the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_rig.h"

namespace tfyarn::agent::task_agent_process_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ProcessExited Exited(std::uint32_t attempt, std::int32_t code) {
  ProcessExited exited;
  exited.attempt = TaskAttempt(attempt);
  exited.exit.code = code;
  return exited;
}

ReportSeen Seen(ReportKind kind, std::uint32_t attempt) {
  return {.fence = {}, .kind = kind, .attempt = TaskAttempt(attempt)};
}

StopProcess Stop(std::uint32_t attempt, Duration grace) {
  return {.fence = {}, .attempt = TaskAttempt(attempt), .grace = grace};
}

TEST(TaskAgentProcessTest, AnOrderStartsItAndItsRunIsReportedUntilSeen) {
  AgentRig rig;
  rig.Connect();
  const StartProcess order = AgentRig::Start(0);
  EXPECT_THAT(
      rig.Say(0s, order),
      ElementsAre(StartsWith("SpawnProcess{task=worker:0 process=ProcessRef{attempt=0 epoch=1}")));
  EXPECT_THAT(rig.Tell(500ms, ProcessSpawned{.attempt = TaskAttempt(0)}),
              ElementsAre("AM1 <- ProcessRunning{process=ProcessRef{attempt=0 epoch=1}}"));
  EXPECT_EQ(rig.decision(), 2500ms);
  EXPECT_THAT(rig.RunQuietlyTo(2500ms), ElementsAre(HasSubstr("2.5s AM1 <- ProcessRunning")));
  EXPECT_THAT(rig.Say(3s, Seen(ReportKind::kProcessRunning, 0)), IsEmpty());
  EXPECT_THAT(rig.RunQuietlyTo(6s), IsEmpty());
  EXPECT_EQ(rig.state().unseen_reports, 0U);
}

TEST(TaskAgentProcessTest, ARepeatedOrderStartsNothingAndAnswersAgainOnceTheReportWasSeen) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(0)), IsEmpty());  // Spawning: the report will come.
  (void)rig.Tell(1s, ProcessSpawned{.attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(0)), IsEmpty());  // The report is on its way.
  (void)rig.Say(1s, Seen(ReportKind::kProcessRunning, 0));
  EXPECT_THAT(rig.Say(2s, AgentRig::Start(0)), ElementsAre(HasSubstr("ProcessRunning")));
}

TEST(TaskAgentProcessTest, AnEndIsReportedUntilSeenAndAgainWhenTheAmRepeatsTheOrder) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  ProcessExited exited = Exited(0, 1);
  exited.stderr_tail = "Traceback";
  EXPECT_THAT(
      rig.Tell(1s, exited),
      ElementsAre(
          "AM1 <- ProcessEnded{process=ProcessRef{attempt=0 epoch=1} exit=ProcessExit{code=1 "
          "out_of_memory=no stopped_by_agent=no} port_conflict=no agent_leaves=no "
          "stderr_tail=\"Traceback\"}"));
  (void)rig.Say(1s, Seen(ReportKind::kProcessEnded, 0));
  EXPECT_THAT(rig.Say(2s, AgentRig::Start(0)), ElementsAre(HasSubstr("ProcessEnded")));
  (void)rig.Say(2s, Seen(ReportKind::kProcessEnded, 0));
  EXPECT_THAT(rig.Say(3s, Stop(0, 1s)), ElementsAre(HasSubstr("ProcessEnded")));
}

TEST(TaskAgentProcessTest, AnUnseenRunIsNotReportedAfterTheEnd) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  (void)rig.Tell(0s, ProcessSpawned{.attempt = TaskAttempt(0)});
  (void)rig.Tell(1s, Exited(0, 0));
  EXPECT_THAT(rig.RunQuietlyTo(3s), ElementsAre(HasSubstr("ProcessEnded")));
}

TEST(TaskAgentProcessTest, AnOrderForAnOlderAttemptIsIgnoredWithANote) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 3);
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(2)),
              ElementsAre("Note{text=\"attempt 2 is older than attempt 3: not started\"}"));
  EXPECT_THAT(rig.Say(1s, Stop(2, 1s)), ElementsAre("Note{text=\"attempt 2 has long ended\"}"));
  EXPECT_EQ(rig.state().process_state, ProcessState::kRunning);
}

TEST(TaskAgentProcessTest, ANewerOrderEndsTheOldProcessFirst) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(1)), ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(2s, AgentRig::Start(1)), IsEmpty());  // Repeated meanwhile.
  EXPECT_THAT(rig.RunQuietlyTo(16s), Contains("16s SignalProcess{attempt=0 signal=kill}"));
  ProcessExited exited = Exited(0, 0);
  exited.exit.code.reset();
  exited.exit.signal = 9;
  EXPECT_THAT(rig.Tell(16s, exited),
              Contains(StartsWith("SpawnProcess{task=worker:0 process=ProcessRef{attempt=1")));
  (void)rig.Say(16s, HeartbeatSeen{});
  // Both are told, the end first.
  EXPECT_THAT(rig.Tell(17s, ProcessSpawned{.attempt = TaskAttempt(1)}),
              Contains(HasSubstr("ProcessRunning")));
  EXPECT_EQ(rig.state().unseen_reports, 2U);
}

TEST(TaskAgentProcessTest, AnOrderReplacedBeforeItStartedIsNoted) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Say(1s, AgentRig::Start(1));
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(2)),
              ElementsAre(HasSubstr("attempt 1 was replaced by attempt 2")));
  EXPECT_THAT(rig.Tell(2s, Exited(0, 143)),
              Contains(StartsWith("SpawnProcess{task=worker:0 process=ProcessRef{attempt=2")));
}

TEST(TaskAgentProcessTest, AStopIsTermThenKillAndTheExitSaysWho) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Say(1s, Stop(0, 2s)), ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(2s, Stop(0, 2s)), IsEmpty());  // Repeated: the first order's time stands.
  EXPECT_THAT(rig.RunQuietlyTo(3s), ElementsAre("3s SignalProcess{attempt=0 signal=kill}"));
  EXPECT_THAT(rig.Tell(3s, Exited(0, 137)), ElementsAre(HasSubstr("stopped_by_agent=yes")));
  EXPECT_EQ(rig.state().life, LifeState::kServing);  // The agent stays.
}

TEST(TaskAgentProcessTest, AStopWhileItIsBeingSpawnedFollowsTheSpawn) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  EXPECT_THAT(rig.Say(0s, Stop(0, 2s)), IsEmpty());
  EXPECT_THAT(rig.Tell(1s, ProcessSpawned{.attempt = TaskAttempt(0)}),
              ElementsAre(HasSubstr("ProcessRunning"), "SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Tell(1s, Exited(0, 143)), ElementsAre(HasSubstr("stopped_by_agent=yes")));
}

TEST(TaskAgentProcessTest, AStopThatOvertookItsStartIsAnsweredAndTheStartStaysUnstarted) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Say(0s, Stop(5, 1s)),
              ElementsAre(HasSubstr("launch_error=\"stopped before it ran\"")));
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(5)), IsEmpty());  // Its end is being reported.
  EXPECT_EQ(rig.state().process_state, ProcessState::kNone);
}

TEST(TaskAgentProcessTest, AStopOfAnOrderThatStillWaitsDropsIt) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Say(1s, AgentRig::Start(1));
  EXPECT_THAT(rig.Say(1s, Stop(1, 1s)), ElementsAre(HasSubstr("stopped before it ran")));
  EXPECT_THAT(rig.Tell(2s, Exited(0, 143)),
              ElementsAre(HasSubstr("ProcessEnded{process=ProcessRef{attempt=0")));
  // The AM asks about attempt 1 again: the answer is that of attempt 1.
  (void)rig.Say(2s, Seen(ReportKind::kProcessEnded, 1));
  EXPECT_THAT(rig.Say(2s, Stop(1, 1s)),
              ElementsAre(HasSubstr("ProcessEnded{process=ProcessRef{attempt=1")));
}

TEST(TaskAgentProcessTest, AWarningIsOneTermAndNoStop) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  const WarnProcess warning{.fence = {}, .attempt = TaskAttempt(0)};
  EXPECT_THAT(rig.Say(1s, warning), ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(1s, warning), ElementsAre(HasSubstr("Note")));
  EXPECT_EQ(rig.state().process_state, ProcessState::kRunning);
  EXPECT_THAT(rig.RunQuietlyTo(3s), IsEmpty());
  EXPECT_THAT(rig.Tell(3s, Exited(0, 75)), ElementsAre(HasSubstr("stopped_by_agent=no")));
}

TEST(TaskAgentProcessTest, AWarningThatComesLaterIsAnother) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  const WarnProcess warning{.fence = {}, .attempt = TaskAttempt(0)};
  EXPECT_THAT(rig.Say(1s, warning), ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(5999ms, warning), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Say(6s, warning), ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(7s, warning), ElementsAre(HasSubstr("Note")));
}

TEST(TaskAgentProcessTest, StacksAreShownOfARunningProcessOnly) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Say(1s, ShowStacks{.fence = {}, .attempt = TaskAttempt(0)}),
              ElementsAre("DumpStacks{attempt=0}"));
  EXPECT_THAT(rig.Say(1s, ShowStacks{.fence = {}, .attempt = TaskAttempt(1)}),
              ElementsAre(HasSubstr("no stacks")));
  (void)rig.Say(2s, Stop(0, 1s));
  EXPECT_THAT(rig.Say(2s, ShowStacks{.fence = {}, .attempt = TaskAttempt(0)}),
              ElementsAre(HasSubstr("no stacks")));
}

TEST(TaskAgentProcessTest, AFailedSpawnIsALaunchError) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  EXPECT_THAT(rig.Tell(0s, SpawnFailed{.attempt = TaskAttempt(0), .reason = "no such file"}),
              ElementsAre(HasSubstr("launch_error=\"no such file\"")));
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(1)), ElementsAre(StartsWith("SpawnProcess")));
}

TEST(TaskAgentProcessTest, OnlyWhatIsBeingSpawnedMayFailToBe) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  EXPECT_THAT(rig.Tell(0s, SpawnFailed{.attempt = TaskAttempt(1)}), ElementsAre(HasSubstr("Note")));
  (void)rig.Tell(0s, ProcessSpawned{.attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.Tell(0s, SpawnFailed{.attempt = TaskAttempt(0)}), ElementsAre(HasSubstr("Note")));
}

TEST(TaskAgentProcessTest, LateWordsAboutAProcessAreNoted) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Tell(0s, Exited(0, 0)), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Tell(0s, ProcessSpawned{}), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Tell(0s, SpawnFailed{}), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Tell(0s, ProgressSeen{}), ElementsAre(HasSubstr("Note")));
  EXPECT_THAT(rig.Tell(0s, PortLeased{.port = 5}), ElementsAre(HasSubstr("Note")));
}

TEST(TaskAgentProcessTest, ReportsWaitWhileTheAmIsSilentAndFollowItsFirstWord) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.RunTo(4s);
  EXPECT_THAT(rig.Tell(4s, Exited(0, 0)), IsEmpty());
  EXPECT_THAT(rig.Say(60s, HeartbeatSeen{}), ElementsAre(HasSubstr("ProcessEnded")));
}

// ---------------------------------------------------------------- ports

// Source of the case: TonY #365 #366 #456.
TEST(TaskAgentProcessTest, ATakenPortIsReportedAndAnotherOneLeased) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  ProcessExited exited = Exited(0, 1);
  exited.port_conflict = true;
  EXPECT_THAT(rig.Tell(1s, exited), ElementsAre(HasSubstr("port_conflict=yes"), "LeasePort{}"));
  EXPECT_THAT(
      rig.Tell(2s, PortLeased{.port = 3333}),
      ElementsAre("AM1 <- AddressChanged{address=HostPort{host=\"n1\" port=3333} number=1}"));
  (void)rig.Say(2s, Seen(ReportKind::kProcessEnded, 0));
  EXPECT_THAT(rig.RunQuietlyTo(4s), Contains(HasSubstr("4s AM1 <- AddressChanged")));
  (void)rig.Say(4s, NewsSeen{.number = 1});
  EXPECT_EQ(rig.state().unseen_reports, 0U);
  EXPECT_THAT(rig.Say(5s, AgentRig::Start(1, 3333, 2)), ElementsAre(StartsWith("SpawnProcess")));
}

TEST(TaskAgentProcessTest, AnOrderThatComesWhileAPortIsLeasedWaitsForIt) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  ProcessExited exited = Exited(0, 1);
  exited.port_conflict = true;
  (void)rig.Tell(1s, exited);
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(1, 0)), IsEmpty());
  EXPECT_THAT(rig.Tell(2s, PortLeased{.port = 3333}),
              ElementsAre(HasSubstr("AddressChanged"), StartsWith("SpawnProcess")));
}

// The AM ordered before it heard of the new port: the process would listen where no peer looks, or
// not at all.
TEST(TaskAgentProcessTest, ASpecWithAnotherPortThanTheLeasedOneIsAPortConflict) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Say(0s, AgentRig::Start(0, 1111)),
              ElementsAre(HasSubstr("port_conflict=yes"), HasSubstr("AddressChanged")));
  EXPECT_EQ(rig.state().process_state, ProcessState::kNone);
  EXPECT_THAT(rig.Say(1s, AgentRig::Start(1, 2222)), ElementsAre(StartsWith("SpawnProcess")));
}

TEST(TaskAgentProcessTest, ALeaseLostBeforeAnyProcessIsRenewed) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Tell(1s, PortLeaseFailed{.reason = "taken"}),
              ElementsAre(HasSubstr("Note"), "LeasePort{}"));
  EXPECT_THAT(rig.Tell(1s, PortLeased{.port = 4444}), ElementsAre(HasSubstr("AddressChanged")));
  rig.RunProcess(2s, 0);
}

// ---------------------------------------------------------------- signs

ProcessSignsSeen Shows(Standstill standstill, bool catches_term = false) {
  return {.attempt = TaskAttempt(0), .standstill = standstill, .catches_term = catches_term};
}

std::string SignsSaid(const std::string& standstill, const std::string& catches_term = "no",
                      int number = 1) {
  return "ProcessSigns{process=ProcessRef{attempt=0 epoch=1} standstill=" + standstill +
         " catches_term=" + catches_term + " number=" + std::to_string(number) + "}";
}

JobSpec GenericJob() {
  JobSpec job;
  job.framework = Framework::kGeneric;
  return job;
}

/// A process runs, and the AM counts as heard all the time.
void RunVouchedFor(AgentRig& rig) {
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  rig.RunProcess(0s, 0);
}

TEST(TaskAgentProcessTest, AStandstillIsReportedWhenItHasLastedAndWhenItIsOver) {
  AgentRig rig;
  RunVouchedFor(rig);
  EXPECT_THAT(rig.Tell(10s, Shows(Standstill::kUninterruptible)), IsEmpty());
  EXPECT_THAT(rig.Tell(12s, Shows(Standstill::kNone)), IsEmpty());
  EXPECT_THAT(rig.Tell(20s, Shows(Standstill::kStopped)), IsEmpty());
  EXPECT_EQ(rig.decision(), 23s);
  EXPECT_THAT(rig.RunQuietlyTo(23s), ElementsAre("23s AM1 <- " + SignsSaid("stopped")));
  (void)rig.Say(23s, NewsSeen{.number = 1});
  EXPECT_THAT(rig.Tell(60s, Shows(Standstill::kNone)),
              ElementsAre("AM1 <- " + SignsSaid("none", "no", 2)));
}

// The channel may answer late: that the AM has seen the first signs does not say that it has seen
// what came after them.
TEST(TaskAgentProcessTest, AnAnswerToOlderSignsLeavesTheNewerOnesToBeSaidAgain) {
  AgentRig rig(GenericJob());
  RunVouchedFor(rig);
  (void)rig.Tell(1s, Shows(Standstill::kNone, true));
  EXPECT_THAT(rig.Tell(2s, Shows(Standstill::kNone, false)),
              ElementsAre("AM1 <- " + SignsSaid("none", "no", 2)));
  (void)rig.Say(2s, NewsSeen{.number = 1});
  (void)rig.Say(2s, Seen(ReportKind::kProcessSigns, 0));
  EXPECT_EQ(rig.state().unseen_reports, 1U);
  EXPECT_THAT(rig.RunQuietlyTo(4s), ElementsAre("4s AM1 <- " + SignsSaid("none", "no", 2)));
  (void)rig.Say(4s, NewsSeen{.number = 2});
  EXPECT_THAT(rig.RunQuietlyTo(1min), IsEmpty());
}

// Its peers may have given it up while it stood still: the AM must hear that it did.
TEST(TaskAgentProcessTest, AStandstillOfWhichTheAmHasNotHeardIsToldAlsoOnceItIsOver) {
  AgentRig rig(GenericJob());
  RunVouchedFor(rig);
  (void)rig.Say(0s, Seen(ReportKind::kProcessRunning, 0));
  (void)rig.Tell(1s, Shows(Standstill::kStopped, false));
  const auto stopped = rig.RunQuietlyTo(4s);
  EXPECT_THAT(stopped, ElementsAre("4s AM1 <- " + SignsSaid("stopped", "no", 1)));
  EXPECT_THAT(rig.Tell(5s, Shows(Standstill::kNone, false)),
              ElementsAre("AM1 <- " + SignsSaid("none", "no", 2)));
  EXPECT_THAT(rig.RunQuietlyTo(6s), ElementsAre("6s AM1 <- " + SignsSaid("stopped", "no", 1)));
  EXPECT_THAT(rig.RunQuietlyTo(7s), ElementsAre("7s AM1 <- " + SignsSaid("none", "no", 2)));
  // A later standstill says as much, and takes its place.
  (void)rig.Tell(7s, Shows(Standstill::kStopped, false));
  EXPECT_EQ(rig.state().unseen_reports, 2U);
  (void)rig.RunQuietlyTo(10s);
  EXPECT_EQ(rig.state().unseen_reports, 1U);
}

TEST(TaskAgentProcessTest, AStoppedProcessIsWokenForItsSigtermAndDoesNotHaveTheWholeGrace) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Tell(10s, Shows(Standstill::kStopped));
  // The AM, which waits for a cause, hears why this one does not end.
  EXPECT_THAT(rig.Say(11s, Stop(0, 15s)),
              ElementsAre("SignalProcess{attempt=0 signal=term}", "AM1 <- " + SignsSaid("stopped"),
                          "SignalProcess{attempt=0 signal=continue}"));
  EXPECT_THAT(rig.RunQuietlyTo(12s),
              Contains(HasSubstr("12s SignalProcess{attempt=0 signal=kill}")));
}

TEST(TaskAgentProcessTest, AProcessFoundStoppedWhileItShouldEndIsWokenToo) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Say(10s, Stop(0, 15s));
  EXPECT_THAT(
      rig.Tell(11s, Shows(Standstill::kStopped)),
      ElementsAre("SignalProcess{attempt=0 signal=continue}", "AM1 <- " + SignsSaid("stopped")));
  EXPECT_THAT(rig.RunQuietlyTo(12s), Contains(HasSubstr("signal=kill")));
}

TEST(TaskAgentProcessTest, WhoHearsNoSignalAtAllHasTheWholeGrace) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Tell(10s, Shows(Standstill::kUninterruptible));
  EXPECT_THAT(rig.Say(11s, Stop(0, 15s)), ElementsAre("SignalProcess{attempt=0 signal=term}",
                                                      "AM1 <- " + SignsSaid("uninterruptible")));
  EXPECT_THAT(rig.RunQuietlyTo(26s - 1ns), testing::Not(Contains(HasSubstr("signal=kill"))));
}

TEST(TaskAgentProcessTest, AHandlerForSigtermIsReportedUnlessItIsTensorFlows) {
  JobSpec job;
  job.framework = Framework::kGeneric;
  AgentRig generic(job);
  generic.Connect();
  generic.RunProcess(0s, 0);
  EXPECT_THAT(generic.Tell(1s, Shows(Standstill::kNone, true)),
              ElementsAre("AM1 <- " + SignsSaid("none", "yes")));
  job.framework = Framework::kTensorflow;
  AgentRig tensorflow(job);
  tensorflow.Connect();
  tensorflow.RunProcess(0s, 0);
  EXPECT_THAT(tensorflow.Tell(1s, Shows(Standstill::kNone, true)), IsEmpty());
}

TEST(TaskAgentProcessTest, ANewAmHearsOfAStandstillThatTheOneBeforeKnew) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Tell(10s, Shows(Standstill::kStopped));
  (void)rig.RunQuietlyTo(13s);
  (void)rig.Say(13s, NewsSeen{.number = 1});
  (void)rig.Tell(30s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 2}});
  EXPECT_THAT(
      rig.Tell(31s, AmSaid{.message = AgentAccepted{.fence = rig.fence()}, .am_attempt = 2}),
      Contains("AM2 <- " + SignsSaid("stopped", "no", 2)));
}

/// What the agent says of a past standstill when it registers with another AM. Its process stands
/// still from 10 s to 20 s, and ends with 143 at `ends`.
std::string StandstillToldTo(Duration registers, std::optional<Duration> wakes,
                             std::optional<Duration> ends) {
  AgentRig rig;
  RunVouchedFor(rig);
  (void)rig.Tell(10s, Shows(Standstill::kStopped));
  (void)rig.RunQuietlyTo(13s);
  (void)rig.Say(13s, NewsSeen{.number = 1});
  if (wakes) (void)rig.Tell(*wakes, Shows(Standstill::kNone));
  if (wakes) (void)rig.Say(*wakes, NewsSeen{.number = 2});
  if (ends) {
    (void)rig.Tell(*ends, ProcessExited{.attempt = TaskAttempt(0),
                                        .exit = {.code = 143},
                                        .port_conflict = false,
                                        .stderr_tail = ""});
  }
  const auto said =
      rig.Tell(registers, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 2}});
  if (said.size() != 1) return "not one message";
  const auto stood = said[0].find("stood=");
  return stood == std::string::npos ? "" : said[0].substr(stood);
}

TEST(TaskAgentProcessTest, ANewAmHearsAsLongAsPeersMayFailOfItThatAProcessStoodStill) {
  const std::string past =
      "stood=PastStandstill{process=ProcessRef{attempt=0 epoch=1} "
      "standstill=stopped";
  EXPECT_EQ(StandstillToldTo(25s, 20s, std::nullopt), past + " ago=5s}}");
  EXPECT_EQ(StandstillToldTo(25s, 20s, 22s), past + " ago=5s}}");
  EXPECT_EQ(StandstillToldTo(40s, 20s, std::nullopt), "");  // deadlines.blame is over.
  EXPECT_EQ(StandstillToldTo(25s, std::nullopt, std::nullopt), past + "}}");
  EXPECT_EQ(StandstillToldTo(25s, std::nullopt, 22s), past + "}}");
}

TEST(TaskAgentProcessTest, AStandstillOfAnEndThatTheAmHasIsNotTold) {
  AgentRig rig;
  RunVouchedFor(rig);
  (void)rig.Tell(10s, Shows(Standstill::kStopped));
  (void)rig.RunQuietlyTo(13s);
  (void)rig.Tell(14s, ProcessExited{.attempt = TaskAttempt(0),
                                    .exit = {.code = 1},
                                    .port_conflict = false,
                                    .stderr_tail = ""});
  (void)rig.Say(14s, ReportSeen{.kind = ReportKind::kProcessEnded, .attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.Tell(15s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 2}}),
              ElementsAre("AM2 <- RegisterAgent{address=HostPort{host=\"n1\" port=2222}}"));
}

// ---------------------------------------------------------------- does it listen

PortUseSeen PortOf(PortListener listener, std::vector<std::int32_t> elsewhere = {}) {
  return {.attempt = TaskAttempt(0), .use = {.listener = listener, .elsewhere = elsewhere}};
}

std::string PortSaid(const std::string& use, const std::string& after, int number) {
  return "AM1 <- PortReport{process=ProcessRef{attempt=0 epoch=1} use=PortUse{" + use +
         "} after=" + after + " number=" + std::to_string(number) + "}";
}

JobSpec JobOf(Framework framework) {
  JobSpec job;
  job.framework = framework;
  return job;
}

/// Connects worker:0 of two and orders its process.
std::vector<std::string> StartOneOfTwo(AgentRig& rig) {
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  StartProcess order = AgentRig::Start(0);
  ClusterSpec spec = *order.spec.get();
  spec.tasks.at("worker").push_back({.host = "n2", .port = 2222});
  order.spec = Share(std::move(spec));
  return rig.Say(0s, order);
}

TEST(TaskAgentProcessTest, TheOrderToSpawnSaysWhetherTheProcessShouldListen) {
  AgentRig tensorflow(JobOf(Framework::kTensorflow));
  EXPECT_THAT(StartOneOfTwo(tensorflow),
              ElementsAre(AllOf(StartsWith("SpawnProcess"), HasSubstr("should_listen=yes"))));
  AgentRig generic(JobOf(Framework::kGeneric));
  EXPECT_THAT(StartOneOfTwo(generic),
              ElementsAre(AllOf(StartsWith("SpawnProcess"), HasSubstr("should_listen=no"))));
}

/// worker:0 of two, connected and running.
AgentRig OneOfTwo(Framework framework = Framework::kTensorflow) {
  AgentRig rig(JobOf(framework));
  (void)StartOneOfTwo(rig);
  (void)rig.Tell(0s, ProcessSpawned{.attempt = TaskAttempt(0)});
  (void)rig.Say(0s, Seen(ReportKind::kProcessRunning, 0));
  return rig;
}

TEST(TaskAgentProcessTest, AProcessThatListensIsReportedOnce) {
  AgentRig rig = OneOfTwo();
  EXPECT_THAT(rig.Tell(6s, PortOf(PortListener::kOurs)),
              ElementsAre(PortSaid("listener=ours", "6s", 1)));
  (void)rig.Say(6s, NewsSeen{.number = 1});
  EXPECT_THAT(rig.Tell(7s, PortOf(PortListener::kOurs)), IsEmpty());
}

TEST(TaskAgentProcessTest, AProcessThatDoesNotListenInItsTimeIsReportedAndItsLateStartToo) {
  AgentRig rig = OneOfTwo();
  EXPECT_THAT(rig.Tell(4min, PortOf(PortListener::kNobody)), IsEmpty());
  EXPECT_THAT(rig.Tell(5min, PortOf(PortListener::kNobody, {5001})),
              ElementsAre(PortSaid("listener=nobody elsewhere=[5001]", "5m", 1)));
  (void)rig.Say(5min, NewsSeen{.number = 1});
  // Where else it listens is told once.
  EXPECT_THAT(rig.Tell(6min, PortOf(PortListener::kNobody, {5001, 5002})), IsEmpty());
  EXPECT_THAT(rig.Tell(7min, PortOf(PortListener::kOurs)),
              ElementsAre(PortSaid("listener=ours", "7m", 2)));
}

TEST(TaskAgentProcessTest, AStrangerOnItsPortIsReportedAtOnce) {
  AgentRig rig = OneOfTwo();
  EXPECT_THAT(rig.Tell(2s, PortOf(PortListener::kStranger)),
              ElementsAre(PortSaid("listener=stranger", "2s", 1)));
}

TEST(TaskAgentProcessTest, WhoNeedNotListenIsNotReported) {
  AgentRig generic = OneOfTwo(Framework::kGeneric);
  EXPECT_THAT(generic.Tell(5min, PortOf(PortListener::kNobody)), ElementsAre(HasSubstr("Note")));
  AgentRig alone;
  alone.Connect();
  alone.RunProcess(0s, 0);
  EXPECT_THAT(alone.Tell(5min, PortOf(PortListener::kNobody)), ElementsAre(HasSubstr("Note")));
}

TEST(TaskAgentProcessTest, ANewAmHearsOfAPortOnWhichNobodyListens) {
  AgentRig rig = OneOfTwo();
  (void)rig.Tell(5min, PortOf(PortListener::kNobody));
  (void)rig.Say(5min, NewsSeen{.number = 1});
  (void)rig.Tell(6min, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 2}});
  EXPECT_THAT(
      rig.Tell(6min, AmSaid{.message = AgentAccepted{.fence = rig.fence()}, .am_attempt = 2}),
      Contains(HasSubstr("AM2 <- PortReport")));
}

// ---------------------------------------------------------------- watch

JobSpec Watched() {
  JobSpec job;
  job.watch = WatchSpec{};
  job.watch->stalled = 1min;
  return job;
}

TEST(TaskAgentProcessTest, AStallIsReportedOncePerStall) {
  AgentRig rig(Watched());
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  rig.RunProcess(0s, 0);
  (void)rig.Tell(30s, ProgressSeen{.attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.RunQuietlyTo(90s - 1ns), IsEmpty());
  EXPECT_THAT(rig.RunQuietlyTo(90s),
              ElementsAre("1m30s AM1 <- ProgressStalled{process=ProcessRef{attempt=0 epoch=1} "
                          "silent=1m number=1}"));
  (void)rig.Say(90s, NewsSeen{.number = 1});
  EXPECT_THAT(rig.RunQuietlyTo(1h), IsEmpty());
  (void)rig.Tell(1h, ProgressSeen{.attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.RunQuietlyTo(1h + 1min), ElementsAre(HasSubstr("ProgressStalled")));
}

/// When worker:0 of that job is found to stall if it never says a word; nullopt: not within an
/// hour.
std::optional<Duration> StallOfSilent(JobSpec job) {
  AgentRig rig(std::move(job));
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  rig.RunProcess(0s, 0);
  for (const Duration at : {59s, 60s, 3600s}) {
    if (!rig.RunQuietlyTo(at).empty()) return at;
  }
  // Once it has made progress it may not cease.
  (void)rig.Tell(1h, ProgressSeen{.attempt = TaskAttempt(0)});
  EXPECT_THAT(rig.RunQuietlyTo(1h + 1min), ElementsAre(HasSubstr("ProgressStalled")));
  return std::nullopt;
}

TEST(TaskAgentProcessTest, WhoOnlyServesStallsOnlyAfterItsFirstProgress) {
  for (const TaskClass task_class :
       {TaskClass::kService, TaskClass::kDrained, TaskClass::kSidecar}) {
    JobSpec job = Watched();
    job.tasks.push_back({.name = "worker", .task_class = task_class});
    EXPECT_EQ(StallOfSilent(job), std::nullopt);
  }
}

TEST(TaskAgentProcessTest, AWorkerWhoseChiefHandsOutTheStepsOnlyServes) {
  JobSpec job = Watched();
  job.strategy = Strategy::kParameterServer;
  job.tasks = {{.name = "worker"}, {.name = "ps"}};
  EXPECT_EQ(StallOfSilent(job), 60s) << "it trains by itself";
  job.tasks.push_back({.name = "chief"});
  EXPECT_EQ(StallOfSilent(job), std::nullopt);
  job.strategy = Strategy::kMultiWorker;
  EXPECT_EQ(StallOfSilent(job), 60s) << "it trains like the chief";
}

TEST(TaskAgentProcessTest, ProgressTakesAnUnseenStallBack) {
  AgentRig rig(Watched());
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  rig.RunProcess(0s, 0);
  (void)rig.RunTo(60s);
  (void)rig.Tell(61s, ProgressSeen{.attempt = TaskAttempt(0)});
  EXPECT_EQ(rig.state().unseen_reports, 0U);
}

TEST(TaskAgentProcessTest, AProcessThatIsBeingStoppedDoesNotStall) {
  AgentRig rig(Watched());
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  rig.RunProcess(0s, 0);
  (void)rig.Say(50s, Stop(0, 1h));
  EXPECT_THAT(rig.RunQuietlyTo(30min), IsEmpty());
}

// ---------------------------------------------------------------- the end

TEST(TaskAgentProcessTest, EndedByTheAmItStopsReportsAndExitsWhenTheReportIsSeen) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Say(0s, EndAgent{.fence = {}, .grace = 5s}),
              ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Say(0s, AgentRig::Start(1)), ElementsAre(HasSubstr("Note{text=\"leaving")));
  EXPECT_THAT(rig.Tell(500ms, Exited(0, 143)), ElementsAre(HasSubstr("ProcessEnded")));
  EXPECT_THAT(rig.Say(600ms, Seen(ReportKind::kProcessEnded, 0)),
              ElementsAre("ExitAgent{code=0 reason=\"ended by the AM\"}"));
}

TEST(TaskAgentProcessTest, AFarewellThatNobodySeesTakesASecond) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Say(0s, EndAgent{.fence = {}, .grace = 5s});
  (void)rig.Tell(500ms, Exited(0, 143));
  EXPECT_THAT(rig.RunQuietlyTo(1500ms), ElementsAre(HasSubstr("1.5s ExitAgent{code=0")));
}

TEST(TaskAgentProcessTest, EndedWithoutAProcessItExitsAtOnce) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Say(0s, EndAgent{}), ElementsAre(HasSubstr("ExitAgent{code=0")));
  EXPECT_EQ(rig.deadline(), std::nullopt);
  EXPECT_EQ(rig.decision(), std::nullopt);
}

TEST(TaskAgentProcessTest, TerminatedItPassesTheSignalOnAndExitsAfterItsProcess) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Tell(1s, TerminationRequested{}),
              Contains("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.Tell(1s + 100ms, Exited(0, 143)),
              ElementsAre(AllOf(HasSubstr("stopped_by_agent=no"), HasSubstr("agent_leaves=yes"))));
  EXPECT_THAT(rig.Say(1s + 101ms, Seen(ReportKind::kProcessEnded, 0)),
              ElementsAre("ExitAgent{code=143 reason=\"SIGTERM\"}"));
}

TEST(TaskAgentProcessTest, TerminatedWhileItSpawnsItStopsTheProcessOnceThatRuns) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Say(0s, AgentRig::Start(0));
  EXPECT_THAT(rig.Tell(0s, TerminationRequested{}), IsEmpty());
  EXPECT_THAT(rig.Tell(1s, ProcessSpawned{.attempt = TaskAttempt(0)}),
              ElementsAre(HasSubstr("ProcessRunning"), "SignalProcess{attempt=0 signal=term}"));
}

TEST(TaskAgentProcessTest, TerminatedBeforeItHasAPortItExits) {
  AgentRig rig;
  (void)rig.Tell(0s, StartedEvent());
  EXPECT_THAT(rig.Tell(0s, TerminationRequested{}), ElementsAre(HasSubstr("ExitAgent{code=143")));
}

TEST(TaskAgentProcessTest, AShorterGraceShortensAStopThatIsUnderWay) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.Say(0s, Stop(0, 1min));
  (void)rig.Say(1s, EndAgent{.fence = {}, .grace = 1s});
  EXPECT_THAT(rig.RunQuietlyTo(2s), ElementsAre("2s SignalProcess{attempt=0 signal=kill}"));
}

}  // namespace
}  // namespace tfyarn::agent::task_agent_process_test
