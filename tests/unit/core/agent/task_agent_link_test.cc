// The TaskAgent's port and its link to the AM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/text.h"
#include "tests/unit/core/agent/agent_rig.h"

namespace tfyarn::agent::task_agent_link_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const char* kRegister = "AM1 <- RegisterAgent{address=HostPort{host=\"n1\" port=2222}}";
const char* kHeartbeat = "AM1 <- AgentHeartbeat{}";

TEST(TaskAgentTest, LeasesAPortFirstAndRegistersWithIt) {
  AgentRig rig;
  EXPECT_THAT(rig.Tell(0s, StartedEvent()), ElementsAre("LeasePort{}"));
  EXPECT_THAT(rig.Tell(1s, PortLeased{.port = 2222}), ElementsAre(kRegister));
  EXPECT_EQ(rig.state().link, LinkState::kRegistering);
}

TEST(TaskAgentTest, AFailedLeaseIsTriedAgainWithGrowingWaits) {
  AgentRig rig;
  (void)rig.Tell(0s, StartedEvent());
  EXPECT_THAT(rig.Tell(0s, PortLeaseFailed{.reason = "none left"}), IsEmpty());
  EXPECT_EQ(rig.deadline(), 1s);
  EXPECT_THAT(rig.Tell(1s, DeadlineReached{}), ElementsAre("LeasePort{}"));
  (void)rig.Tell(1s, PortLeaseFailed{.reason = "none left"});
  EXPECT_EQ(rig.deadline(), 3s);
}

TEST(TaskAgentTest, WithoutAnyPortForTwoMinutesItGivesUp) {
  AgentRig rig;
  (void)rig.Tell(0s, StartedEvent());
  EXPECT_THAT(rig.RunTo(2min - 1ns), IsEmpty());  // The host never answers.
  EXPECT_THAT(rig.RunTo(1h),
              ElementsAre("2m ExitAgent{code=120 reason=\"no port could be leased for 120s\"}"));
  EXPECT_EQ(rig.state().life, LifeState::kExited);
  EXPECT_EQ(rig.state().exit_code, agent_exit::kNoPort);
}

TEST(TaskAgentTest, RegistrationIsRepeatedWithGrowingWaitsUpToFiveSeconds) {
  JobSpec job;
  job.heartbeat.every = 100s;  // Silence stays out of this test.
  AgentRig rig(job);
  (void)rig.Tell(0s, StartedEvent());
  (void)rig.Tell(0s, PortLeased{.port = 2222});
  std::vector<std::string> at;
  for (const std::string& text : rig.RunTo(17s)) at.push_back(text.substr(0, text.find(' ')));
  EXPECT_THAT(at, ElementsAre("1s", "3s", "7s", "12s", "17s"));
}

TEST(TaskAgentTest, RegistrationIsRepeatedWithinHalfTheSilenceThatIsAllowed) {
  JobSpec job;
  job.heartbeat.every = 500ms;
  job.heartbeat.missed = 3;
  AgentRig rig(job);
  (void)rig.Tell(0s, StartedEvent());
  (void)rig.Tell(0s, PortLeased{.port = 2222});
  std::vector<std::string> at;
  for (const std::string& text : rig.RunTo(1600ms)) at.push_back(text.substr(0, text.find(' ')));
  EXPECT_THAT(at, ElementsAre("750ms", "1.5s"));
}

TEST(TaskAgentTest, AcceptedItBeatsOnAGridThatAnswersDoNotMove) {
  AgentRig rig;
  rig.Connect();
  EXPECT_EQ(rig.state().link, LinkState::kConnected);
  EXPECT_THAT(rig.RunTo(1s), ElementsAre(std::string("1s ") + kHeartbeat));
  (void)rig.Say(1s + 700ms, HeartbeatSeen{});
  EXPECT_EQ(rig.deadline(), 2s);
}

TEST(TaskAgentTest, AnIdleHeartbeatIsADeadlineButNoDecision) {
  AgentRig rig;
  rig.Connect();
  EXPECT_EQ(rig.deadline(), 1s);
  EXPECT_EQ(rig.decision(), 3500ms);  // The AM's silence.
}

TEST(TaskAgentTest, ARepeatedAcceptanceChangesNothing) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Say(500ms, AgentAccepted{}), IsEmpty());
  EXPECT_EQ(rig.deadline(), 1s);
}

TEST(TaskAgentTest, AnAcceptanceByAnotherAmAttemptIsNotTaken) {
  AgentRig rig;
  (void)rig.Tell(0s, StartedEvent());
  (void)rig.Tell(0s, PortLeased{.port = 2222});
  EXPECT_THAT(rig.Tell(0s, AmSaid{.message = AgentAccepted{.fence = rig.fence()}, .am_attempt = 2}),
              ElementsAre(HasSubstr("Note"), "ReadAmAddress{}"));
  EXPECT_EQ(rig.state().link, LinkState::kRegistering);
}

// An agent that obeys one AM and reports to another misleads both. The newer one repeats itself.
TEST(TaskAgentTest, AnotherAmIsNotObeyedButANewerOneIsLookedFor) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  const auto from = [&](std::int32_t attempt) {
    return AmSaid{
        .message = StopProcess{.fence = rig.fence(), .attempt = TaskAttempt(0), .grace = 1s},
        .am_attempt = attempt};
  };
  EXPECT_THAT(rig.Tell(100ms, from(2)),
              ElementsAre(HasSubstr("from AM attempt 2, but this agent is attempt 1's"),
                          "ReadAmAddress{}"));
  EXPECT_THAT(rig.Tell(200ms, from(2)), ElementsAre(HasSubstr("Note"))) << "looked for already";
  (void)rig.Tell(300ms, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}});
  EXPECT_THAT(rig.Tell(400ms, from(1)), ElementsAre(HasSubstr("from AM attempt 1")))
      << "an older one";
  EXPECT_THAT(rig.Tell(500ms, from(2)), Contains("SignalProcess{attempt=0 signal=term}"));
}

// A stale executor's orders (TonY #451 #436 #449) must not reach the one that replaced it.
TEST(TaskAgentTest, AMessageForAnotherIncarnationIsIgnoredWithANote) {
  AgentRig rig;
  rig.Connect();
  EndAgent message;
  message.fence = rig.fence();
  message.fence.incarnation = Incarnation(3);
  EXPECT_THAT(rig.Tell(1s, AmSaid{.message = message, .am_attempt = 1}),
              ElementsAre(HasSubstr("Note{text=\"not for this agent: EndAgent")));
  message.fence = rig.fence();
  message.fence.nonce = Nonce(1);
  EXPECT_THAT(rig.Tell(1s, AmSaid{.message = message, .am_attempt = 1}),
              ElementsAre(HasSubstr("Note")));
  EXPECT_EQ(rig.state().life, LifeState::kServing);
}

// ---------------------------------------------------------------- silence, a new AM, orphans

TEST(TaskAgentTest, AfterThreeMissingAnswersItLooksForTheAmAndStillAsksTheOldOne) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.RunQuietlyTo(3500ms - 1ns), IsEmpty());
  EXPECT_THAT(rig.RunTo(4s), ElementsAre("3.5s ReadAmAddress{}", std::string("4s ") + kHeartbeat));
  EXPECT_EQ(rig.state().link, LinkState::kSearching);
  EXPECT_EQ(rig.decision(), 5s);  // The heartbeat is a question now, not idle.
}

TEST(TaskAgentTest, TheSearchSlowsDownToHalfAMinute) {
  AgentRig rig;
  rig.Connect();
  std::vector<Duration> waits;
  Duration last = 3500ms;
  for (Duration now = 3500ms; waits.size() < 6; now = rig.deadline().value()) {
    for (const std::string& text : rig.RunTo(now)) {
      if (text.find("ReadAmAddress") == std::string::npos) continue;
      if (now != 3500ms) waits.push_back(now - last);
      last = now;
    }
  }
  EXPECT_THAT(waits[0], testing::AllOf(testing::Ge(5s), testing::Le(6s)));
  EXPECT_THAT(waits[1], testing::AllOf(testing::Ge(10s), testing::Le(12s)));
  EXPECT_THAT(waits[5], testing::AllOf(testing::Ge(25s), testing::Le(30s)));
}

TEST(TaskAgentTest, AnyWordOfTheAmEndsTheSearch) {
  AgentRig rig;
  rig.Connect();
  (void)rig.RunTo(4s);
  EXPECT_THAT(rig.Say(4s, HeartbeatSeen{}), IsEmpty());
  EXPECT_EQ(rig.state().link, LinkState::kConnected);
  EXPECT_THAT(rig.RunQuietlyTo(7s), IsEmpty());
}

TEST(TaskAgentTest, AnAddressThatIsNotNewerChangesNothing) {
  AgentRig rig;
  rig.Connect();
  (void)rig.RunTo(4s);
  EXPECT_THAT(rig.Tell(4s, AmAddressRead{.am_attempt = 1, .address = {.host = "am", .port = 1}}),
              IsEmpty());
  EXPECT_THAT(rig.Tell(4s, AmAddressRead{}), IsEmpty());
  EXPECT_EQ(rig.state().link, LinkState::kSearching);
}

TEST(TaskAgentTest, ANewerAmIsToldWhatRuns) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 4);
  (void)rig.RunTo(4s);
  EXPECT_THAT(rig.Tell(4s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}}),
              ElementsAre("AM2 <- RegisterAgent{address=HostPort{host=\"n1\" port=2222} "
                          "running=ProcessRef{attempt=4 epoch=1}}"));
  EXPECT_EQ(rig.state().am_address.host, "am2");
  EXPECT_FALSE(rig.state().accepted);
  (void)rig.Say(4s + 1ms, AgentAccepted{});
  EXPECT_EQ(rig.deadline(), 5s + 1ms);
}

TEST(TaskAgentTest, ANewerAmIsToldHowTheLastProcessEnded) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  ProcessExited exited{
      .attempt = TaskAttempt(0), .exit = {}, .port_conflict = false, .stderr_tail = "boom"};
  exited.exit.code = 3;
  (void)rig.Tell(1s, exited);  // Its report is lost: the AM is gone.
  (void)rig.RunTo(5s);
  EXPECT_THAT(
      rig.Tell(5s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}}),
      ElementsAre(HasSubstr("ended=ProcessRef{attempt=0 epoch=1} exit=ProcessExit{code=3")));
  EXPECT_THAT(rig.Say(5s, AgentAccepted{}),
              ElementsAre(HasSubstr("AM2 <- ProcessEnded{process=ProcessRef{attempt=0 epoch=1}")));
}

/// Its process has found its port taken, and the AM has died since.
void LosePortAndAm(AgentRig& rig) {
  rig.Connect();
  rig.RunProcess(0s, 0);
  ProcessExited exited{
      .attempt = TaskAttempt(0), .exit = {}, .port_conflict = true, .stderr_tail = ""};
  exited.exit.code = 1;
  (void)rig.Tell(1s, exited);
}

// Told once more it would be taken for the port that follows the next one that is taken.
TEST(TaskAgentTest, APortThatItsRegistrationHasToldIsNotToldAgain) {
  for (const bool leased_after : {false, true}) {
    AgentRig rig;
    LosePortAndAm(rig);
    if (!leased_after) (void)rig.Tell(2s, PortLeased{.port = 3333});
    (void)rig.RunTo(5s);
    (void)rig.Tell(5s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}});
    if (leased_after) (void)rig.Tell(6s, PortLeased{.port = 3333});
    const auto said = rig.Say(7s, AgentAccepted{});
    EXPECT_THAT(said, Contains(HasSubstr("ProcessEnded")));
    EXPECT_THAT(said, Contains(HasSubstr("AddressChanged{address=HostPort{host=\"n1\" port=3333"))
                          .Times(leased_after ? 1 : 0));
  }
}

// A registration of before may be the one that was accepted.
TEST(TaskAgentTest, APortThatOnlyItsLastRegistrationHasToldIsToldAgain) {
  AgentRig rig;
  LosePortAndAm(rig);
  (void)rig.RunTo(5s);
  (void)rig.Tell(5s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}});
  (void)rig.Tell(5s + 1ms, PortLeased{.port = 3333});
  EXPECT_THAT(rig.RunTo(9s), Contains(HasSubstr("RegisterAgent")));
  EXPECT_THAT(rig.Say(9s, AgentAccepted{}), Contains(HasSubstr("AddressChanged")));
}

// The answer that ends a search answers one report: the others are told again, that one is not.
TEST(TaskAgentTest, WhatTheAnswerThatEndsASearchAnswersIsNotToldAgain) {
  AgentRig rig;
  LosePortAndAm(rig);
  (void)rig.Tell(2s, PortLeased{.port = 3333});
  (void)rig.RunTo(8s);
  ASSERT_EQ(rig.state().link, LinkState::kSearching);
  const auto said = rig.Say(
      8s, ReportSeen{.fence = {}, .kind = ReportKind::kProcessEnded, .attempt = TaskAttempt(0)});
  EXPECT_THAT(said, Contains(HasSubstr("AddressChanged")));
  EXPECT_THAT(said, Not(Contains(HasSubstr("ProcessEnded"))));
}

TEST(TaskAgentTest, AnAddressReadLateStillWins) {
  AgentRig rig;
  rig.Connect();
  (void)rig.RunTo(4s);
  (void)rig.Say(4s, HeartbeatSeen{});  // From the old AM, which is not dead yet.
  EXPECT_THAT(rig.Tell(4s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}}),
              ElementsAre(HasSubstr("AM2 <- RegisterAgent")));
}

// Source of the case: TonY #637 #638, executors and their GPU processes that survive a lost AM.
TEST(TaskAgentTest, HearingOfNoAmForTheOrphanTimeItEndsItsProcessAndItself) {
  JobSpec job;
  job.deadlines.orphan = 1min;
  AgentRig rig(job);
  rig.Connect();
  rig.RunProcess(0s, 0);
  (void)rig.RunTo(1min - 1ns);
  EXPECT_THAT(rig.Tell(1min, DeadlineReached{}),
              testing::Contains("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.RunQuietlyTo(75s), ElementsAre("1m15s SignalProcess{attempt=0 signal=kill}"));
  ProcessExited exited{
      .attempt = TaskAttempt(0), .exit = {}, .port_conflict = false, .stderr_tail = ""};
  exited.exit.signal = 9;
  EXPECT_THAT(rig.Tell(76s, exited),
              ElementsAre("ExitAgent{code=122 reason=\"heard of no AM for 60s\"}"));
  EXPECT_EQ(rig.deadline(), std::nullopt);
}

TEST(TaskAgentTest, FindingANewerAmRestartsTheOrphanTime) {
  JobSpec job;
  job.deadlines.orphan = 1min;
  AgentRig rig(job);
  rig.Connect();
  (void)rig.RunTo(50s);
  (void)rig.Tell(50s, AmAddressRead{.am_attempt = 2, .address = {.host = "am2", .port = 7}});
  (void)rig.RunTo(110s - 1ns);
  EXPECT_EQ(rig.state().life, LifeState::kServing);
  (void)rig.RunTo(110s);
  EXPECT_EQ(rig.state().exit_code, agent_exit::kAmLost);
}

TEST(TaskAgentTest, AnAmThatNeverAnswersTheFirstRegistrationIsAnOrphansToo) {
  JobSpec job;
  job.deadlines.orphan = 1min;
  AgentRig rig(job);
  (void)rig.Tell(0s, StartedEvent());
  (void)rig.Tell(10s, PortLeased{.port = 2222});
  (void)rig.RunTo(70s);
  EXPECT_EQ(rig.state().life, LifeState::kExited);
  EXPECT_EQ(rig.state().exit_code, agent_exit::kAmLost);
}

TEST(TaskAgentTest, RefusedItStopsItsProcessAndEnds) {
  AgentRig rig;
  rig.Connect();
  rig.RunProcess(0s, 0);
  EXPECT_THAT(rig.Say(1s, AgentRefused{.fence = {}, .reason = "replaced"}),
              ElementsAre("SignalProcess{attempt=0 signal=term}"));
  EXPECT_THAT(rig.RunTo(15s), IsEmpty());  // No heartbeat either.
  ProcessExited exited{
      .attempt = TaskAttempt(0), .exit = {}, .port_conflict = false, .stderr_tail = ""};
  exited.exit.signal = 15;
  EXPECT_THAT(rig.Tell(15s, exited),
              ElementsAre("ExitAgent{code=121 reason=\"refused by the AM: replaced\"}"));
}

TEST(TaskAgentTest, RefusedWithoutAProcessItEndsAtOnce) {
  AgentRig rig;
  (void)rig.Tell(0s, StartedEvent());
  (void)rig.Tell(0s, PortLeased{.port = 2222});
  EXPECT_THAT(rig.Say(0s, AgentRefused{.fence = {}, .reason = "unknown"}),
              ElementsAre(HasSubstr("ExitAgent{code=121")));
  EXPECT_THAT(rig.Say(1s, EndAgent{}), IsEmpty());
}

// ---------------------------------------------------------------- elision

TEST(TaskAgentTest, ElidedHeartbeatsMoveTheGridAndYieldNothing) {
  AgentRig rig;
  rig.Connect();
  EXPECT_THAT(rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}}),
              IsEmpty());
  EXPECT_EQ(rig.decision(), std::nullopt);
  EXPECT_THAT(rig.Tell(100s, HeartbeatsElided{.count = 100, .last = kStart + 100s}), IsEmpty());
  EXPECT_EQ(rig.deadline(), 101s);
}

TEST(TaskAgentTest, AVouchedAmIsNeverSilentAndCountsFromTheLastWordOnceItIsNot) {
  AgentRig rig;
  rig.Connect();
  (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
  EXPECT_THAT(rig.RunQuietlyTo(1h), IsEmpty());
  EXPECT_THAT(
      rig.Tell(
          1h,
          PeerVouched{.task = {}, .incarnation = {}, .vouched = false, .last = kStart + 1h - 1s}),
      IsEmpty());
  EXPECT_EQ(rig.decision(), 1h + 2500ms);
}

TEST(TaskAgentTest, VouchingEndsASearch) {
  AgentRig rig;
  rig.Connect();
  (void)rig.RunTo(4s);
  EXPECT_THAT(rig.Tell(4s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}}),
              IsEmpty());
  EXPECT_EQ(rig.state().link, LinkState::kConnected);
  EXPECT_EQ(rig.decision(), std::nullopt);
}

/// Two hours with a process that ends once; every beat delivered and answered, or none. All but the
/// heartbeats must be the same, at the same instants.
TEST(TaskAgentTest, WithAndWithoutElisionItActsTheSame) {
  const auto run = [](bool elide) {
    AgentRig rig;
    rig.Connect();
    std::vector<std::string> log;
    const auto keep = [&log](Duration at, std::vector<std::string> texts) {
      for (std::string& text : texts) {
        if (text.find("AgentHeartbeat") == std::string::npos)
          log.push_back(ToString(at) + " " + text);
      }
    };
    if (elide)
      (void)rig.Tell(0s, PeerVouched{.task = {}, .incarnation = {}, .vouched = true, .last = {}});
    const auto advance = [&](Duration from, Duration to) {
      if (elide) {
        const auto beats = (to - from - 1ns) / 1s;
        const Duration last = from + beats * 1s;
        (void)rig.Tell(last, HeartbeatsElided{.count = static_cast<std::uint64_t>(beats),
                                              .last = kStart + last});
        return;
      }
      while (rig.deadline().value() < to) {
        const Duration at = rig.deadline().value();
        keep(at, rig.Tell(at, DeadlineReached{}));
        keep(at, rig.Say(at, HeartbeatSeen{}));
      }
    };
    advance(0s, 3600s + 500ms);
    keep(3600s + 500ms, rig.Say(3600s + 500ms, AgentRig::Start(0)));
    keep(3600s + 500ms, rig.Tell(3600s + 500ms, ProcessSpawned{.attempt = TaskAttempt(0)}));
    keep(3600s + 600ms,
         rig.Say(3600s + 600ms,
                 ReportSeen{.fence = {}, .kind = ReportKind::kProcessRunning, .attempt = {}}));
    advance(3600s, 7200s);
    if (elide) {
      // The AM falls silent.
      (void)rig.Tell(
          7200s,
          PeerVouched{.task = {}, .incarnation = {}, .vouched = false, .last = kStart + 7199s});
    }
    keep(7210s, rig.RunTo(7210s));
    return log;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(TaskAgentTest, EveryStateOfTheTableCanBeLeftUnlessItIsTerminal) {
  for (const Transition& row : TaskAgentTransitions()) {
    EXPECT_FALSE(row.region.empty());
    EXPECT_FALSE(row.to.empty());
    if (row.to == "Exited") continue;
    bool left = false;
    for (const Transition& other : TaskAgentTransitions())
      left |= other.region == row.region && other.from == row.to;
    // The port's and the link's last states end with the agent's life, not by a transition of their
    // own.
    EXPECT_TRUE(left || row.to == "Closed") << row.region << " " << row.to;
  }
}

}  // namespace
}  // namespace tfyarn::agent::task_agent_link_test
