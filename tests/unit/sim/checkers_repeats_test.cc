// said-again: what agents and AMs say, are not answered and do not say again.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_repeats_test {
namespace {

/// The job of CheckerScript with one agent that has registered, and been accepted.
class TalkScript : public CheckerScript {
 public:
  TalkScript() : CheckerScript(Job(), {}, {"said-again"}) {
    Grant(1, "n1", 0, true);
    StartAm();
    Grant(2);
  }

  static AgentFence Fence() { return {.container = Container(2), .task = kWorker0}; }
  void AgentSays(AgentToAm message) {
    Say(trace::AgentOrdered{.job = kJob,
                            .container = Container(2),
                            .action = SendToAm{.am_attempt = 1, .message = std::move(message)}});
  }
  void AgentHears(AmToAgent message) {
    Say(trace::AgentTold{.job = kJob,
                         .container = Container(2),
                         .event = AmSaid{.message = std::move(message), .am_attempt = 1}});
  }
  void AmSays(AmToAgent message) {
    Order(SendToAgent{.container = Container(2), .message = std::move(message)});
  }
  void ProcessEnds(std::uint32_t attempt) {
    AgentSays(ProcessEnded{.fence = Fence(), .process = {.attempt = TaskAttempt(attempt)}});
  }
  void Asks(std::uint64_t call, std::int32_t response_id = 0) {
    yarn::AllocateRequest request{.response_id = response_id};
    request.release.push_back(Container(7));
    Order(CallRm{.call = CallId(call), .request = std::move(request)});
  }
  void Refused(std::uint64_t call, std::int32_t attempt = 1) {
    Tell(RmReplied{.call = CallId(call),
                   .response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable}},
         attempt);
  }

  /// Whether said-again is broken once this much time has passed.
  bool BrokenAfter(Duration time) {
    now += time;
    Say(trace::ClientOrdered{.job = kJob, .action = ExitClient{}});
    const Names names = Broken();
    return std::find(names.begin(), names.end(), "said-again") != names.end();
  }
};

TEST(CheckersRepeatsTest, AnEndThatTheAgentTellsOnceBreaksIt) {
  TalkScript script;
  script.ProcessEnds(0);
  EXPECT_FALSE(script.BrokenAfter(59s));
  EXPECT_TRUE(script.BrokenAfter(2s));
}

TEST(CheckersRepeatsTest, ItSaysWhatWasSaidOnce) {
  const AgentFence fence = TalkScript::Fence();
  const auto sentence = [&](auto say) {
    TalkScript script;
    say(script);
    script.now += 61s;
    script.Say(trace::ClientOrdered{.job = TalkScript::kJob, .action = ExitClient{}});
    std::string text;
    for (const Violation& violation : script.checkers.TakeNew()) {
      if (violation.invariant == "said-again") text = violation.detail;
    }
    return text.substr(0, text.find(", was not answered, and has not said so again within "));
  };
  const std::string agent = "job a: the agent in container_0_0001_01_000002 has ";
  const std::string to_agent = " to container_0_0001_01_000002";
  EXPECT_EQ(sentence([](TalkScript& it) { it.ProcessEnds(3); }),
            agent + "told that attempt 3 has ended");
  EXPECT_EQ(sentence([&](TalkScript& it) {
              it.AgentSays(ProcessRunning{.fence = fence, .process = {.attempt = TaskAttempt(3)}});
            }),
            agent + "told that attempt 3 runs");
  EXPECT_EQ(sentence([&](TalkScript& it) { it.AgentSays(RegisterAgent{.fence = fence}); }),
            agent + "registered");
  EXPECT_EQ(sentence([&](TalkScript& it) {
              it.AmSays(StartProcess{.fence = fence, .process = {.attempt = TaskAttempt(3)}});
            }),
            "job a: the AM has said `start attempt 3`" + to_agent);
  EXPECT_EQ(sentence([&](TalkScript& it) { it.AmSays(EndAgent{.fence = fence}); }),
            "job a: the AM has said `end`" + to_agent);
}

TEST(CheckersRepeatsTest, AnEndThatIsToldAgainOrSeenBreaksNothing) {
  TalkScript script;
  script.ProcessEnds(0);
  EXPECT_FALSE(script.BrokenAfter(50s));
  script.ProcessEnds(0);
  EXPECT_FALSE(script.BrokenAfter(50s));
  script.AgentHears(ReportSeen{.fence = TalkScript::Fence(), .kind = ReportKind::kProcessEnded});
  EXPECT_FALSE(script.BrokenAfter(5min));
}

// It ends its process, and says no more.
TEST(CheckersRepeatsTest, AnAgentThatIsToEndNeedNotRegisterAgain) {
  for (const bool ends : {true, false}) {
    TalkScript script;
    script.AgentSays(RegisterAgent{.fence = TalkScript::Fence()});
    if (ends) script.AgentHears(EndAgent{.fence = TalkScript::Fence()});
    EXPECT_EQ(script.BrokenAfter(16s), !ends);
  }
}

TEST(CheckersRepeatsTest, WhatWasSeenOfAnotherAttemptIsNoAnswer) {
  TalkScript script;
  script.ProcessEnds(1);
  script.AgentHears(ReportSeen{.fence = TalkScript::Fence(), .kind = ReportKind::kProcessEnded});
  EXPECT_TRUE(script.BrokenAfter(61s));
}

TEST(CheckersRepeatsTest, AnAgentThatIsGoneOwesNothing) {
  TalkScript script;
  script.ProcessEnds(0);
  script.Gone(2);
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, WhatTheAnswerJustHeardIsToNeedNotBeSaidAgain) {
  for (const Duration later : {0s, 1s}) {
    TalkScript script;
    script.AgentHears(ReportSeen{.fence = TalkScript::Fence(),
                                 .kind = ReportKind::kProcessEnded,
                                 .attempt = TaskAttempt(0)});
    script.now += later;
    script.ProcessEnds(0);
    EXPECT_EQ(script.BrokenAfter(61s), later > 0s);
  }
}

TEST(CheckersRepeatsTest, AStopOfWhatTheAgentSaysDoesNotRunIsNotSaidAgain) {
  for (const bool started : {false, true}) {
    TalkScript script;
    script.Tell(AgentSaid{.message = RegisterAgent{.fence = TalkScript::Fence()}});
    if (started) script.AmSays(StartProcess{.fence = TalkScript::Fence()});
    script.AmSays(StopProcess{.fence = TalkScript::Fence()});
    EXPECT_EQ(script.BrokenAfter(61s), started);
  }
}

TEST(CheckersRepeatsTest, AStartThatTheAmOrdersOnceBreaksIt) {
  TalkScript script;
  script.AmSays(StartProcess{.fence = TalkScript::Fence()});
  EXPECT_TRUE(script.BrokenAfter(16s));
}

TEST(CheckersRepeatsTest, AnAgentRegistersAgainAlsoWhileItLooksForItsAm) {
  for (const bool again : {false, true}) {
    TalkScript script;
    script.AgentSays(RegisterAgent{.fence = TalkScript::Fence()});
    for (int i = 0; i < 4; ++i) {
      EXPECT_FALSE(script.BrokenAfter(3s));
      script.Say(trace::AgentOrdered{.job = TalkScript::kJob,
                                     .container = TalkScript::Container(2),
                                     .action = ReadAmAddress{}});
    }
    if (again) script.AgentSays(RegisterAgent{.fence = TalkScript::Fence()});
    EXPECT_EQ(script.BrokenAfter(4s), !again);
  }
}

TEST(CheckersRepeatsTest, AnAgentThatHasLookedForAnAmInVainAndLeavesOwesNothing) {
  for (const bool looks : {false, true}) {
    TalkScript script;
    script.ProcessEnds(0);
    const auto orders = [&](AgentAction action) {
      script.Say(trace::AgentOrdered{.job = TalkScript::kJob,
                                     .container = TalkScript::Container(2),
                                     .action = std::move(action)});
    };
    if (looks) orders(ReadAmAddress{});
    orders(SignalProcess{});
    EXPECT_EQ(script.BrokenAfter(61s), !looks);
  }
}

// The next AM knows the address from the registration. A second answer to that tells nothing more.
TEST(CheckersRepeatsTest, APortThatARegistrationTellsNeedNotBeToldAgain) {
  for (const bool registers : {true, false}) {
    TalkScript script;
    script.AgentSays(AddressChanged{.fence = TalkScript::Fence(), .number = 1});
    if (registers) script.AgentSays(RegisterAgent{.fence = TalkScript::Fence()});
    script.AgentHears(AgentAccepted{});
    EXPECT_EQ(script.BrokenAfter(61s), !registers);
  }
}

TEST(CheckersRepeatsTest, AnOrderIsSaidAgainWithinSeconds) {
  for (const bool stop : {false, true}) {
    TalkScript script;
    if (stop) {
      script.AmSays(StopProcess{.fence = TalkScript::Fence(), .attempt = TaskAttempt(0)});
    } else {
      script.AmSays(EndAgent{.fence = TalkScript::Fence()});
    }
    EXPECT_FALSE(script.BrokenAfter(14s));
    EXPECT_TRUE(script.BrokenAfter(2s));
  }
}

TEST(CheckersRepeatsTest, AnAgentThatIsGoneNeedNotBeToldToEndAgain) {
  for (const bool before : {false, true}) {
    TalkScript script;
    if (before) script.Say(trace::ContainerGone{.container = TalkScript::Fence().container});
    script.AmSays(EndAgent{.fence = TalkScript::Fence()});
    if (!before) script.Say(trace::ContainerGone{.container = TalkScript::Fence().container});
    EXPECT_FALSE(script.BrokenAfter(5min));
  }
}

TEST(CheckersRepeatsTest, AStartIsNotSaidAgainWhileTheAmStoresADecision) {
  TalkScript script;
  script.AmSays(StartProcess{.fence = TalkScript::Fence()});
  script.Order(AppendJournal{.seq = JournalSeq(4)});
  EXPECT_FALSE(script.BrokenAfter(150s));
  script.Tell(JournalAppended{.seq = JournalSeq(4)}, 1);
  EXPECT_TRUE(script.BrokenAfter(2min));
}

TEST(CheckersRepeatsTest, AnAmThatHasLostItsJournalReadsItBeforeItAppendsAgain) {
  TalkScript script;
  script.Order(AppendJournal{.seq = JournalSeq(4)});
  script.Tell(JournalFailed{.seq = JournalSeq(4),
                            .error = {.code = hdfs::HdfsErrorCode::kLeaseLost, .message = {}}},
              1);
  EXPECT_FALSE(script.BrokenAfter(40s));
  script.Order(ReadJournal{});
  EXPECT_FALSE(script.BrokenAfter(40s));
  EXPECT_TRUE(script.BrokenAfter(40s));
}

TEST(CheckersRepeatsTest, WhatAnotherJobReadsGivesNoTimeToAnAppend) {
  for (const bool own : {true, false}) {
    TalkScript script;
    const ApplicationAttemptId other{.application = {.id = 2}, .attempt = 1};
    script.Say(trace::AmTold{
        .job = trace::JobIndex{1}, .am_attempt = 1, .event = AmStarted{.attempt = other}});
    script.Order(AppendJournal{.seq = JournalSeq(4)});
    script.Tell(JournalFailed{.seq = JournalSeq(4),
                              .error = {.code = hdfs::HdfsErrorCode::kLeaseLost, .message = {}}},
                1);
    EXPECT_FALSE(script.BrokenAfter(40s));
    script.Say(trace::AmOrdered{.job = own ? TalkScript::kJob : trace::JobIndex{1},
                                .am_attempt = 1,
                                .action = ReadJournal{}});
    EXPECT_EQ(script.BrokenAfter(40s), !own);
  }
}

TEST(CheckersRepeatsTest, AStopIsSaidAgainWhileTheAmStoresADecision) {
  TalkScript script;
  script.AmSays(StopProcess{.fence = TalkScript::Fence()});
  script.Order(AppendJournal{.seq = JournalSeq(4)});
  EXPECT_TRUE(script.BrokenAfter(61s));
}

/// The AM orders a stop with a grace of 10 s so often, every 2 s, and then no more, while its
/// journal has yet to answer.
bool StopIsMissed(int times) {
  TalkScript script;
  script.Order(AppendJournal{.seq = JournalSeq(4)});
  for (int i = 0; i < times; ++i) {
    script.AmSays(StopProcess{.fence = TalkScript::Fence(), .attempt = {}, .grace = 10s});
    EXPECT_FALSE(script.BrokenAfter(2s));
  }
  return script.BrokenAfter(50s);
}

TEST(CheckersRepeatsTest, AnAgentThatDidNotObeyInTimeIsGivenUpAlsoWhileTheAmStoresADecision) {
  EXPECT_TRUE(StopIsMissed(3));
  EXPECT_FALSE(StopIsMissed(8));
}

TEST(CheckersRepeatsTest, AnEndThatTheAmOrdersOnceBreaksIt) {
  TalkScript script;
  script.AmSays(EndAgent{.fence = TalkScript::Fence()});
  EXPECT_TRUE(script.BrokenAfter(61s));
}

TEST(CheckersRepeatsTest, AnAgentThatIsAloneEndsWithItsApplication) {
  TalkScript script;
  const auto finishes = [&](std::uint64_t call) {
    script.Order(CallRm{.call = CallId(call), .request = yarn::FinishApplicationMasterRequest{}});
  };
  script.AmSays(EndAgent{.fence = TalkScript::Fence()});
  finishes(1);
  script.AmSays(EndAgent{.fence = TalkScript::Fence()});
  EXPECT_FALSE(script.BrokenAfter(50s));
  finishes(2);
  EXPECT_FALSE(script.BrokenAfter(50s));
  EXPECT_TRUE(script.BrokenAfter(11s));  // The final status itself is said again until answered.
}

TEST(CheckersRepeatsTest, NothingIsToStartAfterTheVerdict) {
  TalkScript script;
  script.AmSays(StartProcess{.fence = TalkScript::Fence()});
  script.Order(VerdictReached{.status = JobStatus::kKilled, .rule = "killed"});
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, AStopThatTheAmOrdersOnceBreaksIt) {
  TalkScript script;
  script.AmSays(StopProcess{.fence = TalkScript::Fence()});
  EXPECT_TRUE(script.BrokenAfter(61s));
}

TEST(CheckersRepeatsTest, AStopAfterWhichTheProcessEndsBreaksNothing) {
  TalkScript script;
  script.AmSays(StopProcess{.fence = TalkScript::Fence()});
  script.Tell(AgentSaid{.message = ProcessEnded{.fence = TalkScript::Fence()}});
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, AStopThatComesAfterTheEndNeedsNoAnswer) {
  TalkScript script;
  script.Order(TaskAttemptEnded{.task = kWorker0, .container = TalkScript::Container(2)});
  script.AmSays(StopProcess{.fence = TalkScript::Fence()});
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, AnAgentThatRegistersWithoutAProcessHasNothingToStop) {
  TalkScript script;
  script.AmSays(StopProcess{.fence = TalkScript::Fence(), .attempt = TaskAttempt(0)});
  script.Tell(AgentSaid{.message = RegisterAgent{.fence = TalkScript::Fence()}});
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, AnAmThatStandsStillSaysItWhenItGoesOn) {
  TalkScript script;
  script.AmSays(StopProcess{.fence = TalkScript::Fence()});
  script.Say(trace::FaultBegan{.kind = "am_pause"});
  EXPECT_FALSE(script.BrokenAfter(3min));
  script.Say(trace::FaultEnded{});
  EXPECT_FALSE(script.BrokenAfter(14s));
  EXPECT_TRUE(script.BrokenAfter(2s));
}

TEST(CheckersRepeatsTest, AnAmWhoseNodeManagerIsAwayMayBeGone) {
  TalkScript script;
  script.AmSays(EndAgent{.fence = TalkScript::Fence()});
  script.Say(trace::FaultBegan{.fault = 0, .kind = "nm_restart"});
  EXPECT_FALSE(script.BrokenAfter(5min));
  script.Say(trace::FaultEnded{.fault = 0});
  EXPECT_FALSE(script.BrokenAfter(14s));
  EXPECT_TRUE(script.BrokenAfter(2s));
}

// Of a request that was told twice the first call may have been answered without news.
TEST(CheckersRepeatsTest, AnAskIsUnheardWhenAllItsCallsHaveFailed) {
  for (const bool both : {false, true}) {
    TalkScript script;
    script.Asks(5);
    script.Asks(6);
    if (both) script.Refused(5);
    script.Refused(6);
    EXPECT_EQ(script.BrokenAfter(2min), both);
  }
}

TEST(CheckersRepeatsTest, WhatTheRmDidNotHearIsAskedAgain) {
  TalkScript script;
  script.Asks(5);
  EXPECT_FALSE(script.BrokenAfter(5min));  // An answer without news is not told.
  script.Asks(6, 1);
  script.Refused(6);
  EXPECT_TRUE(script.BrokenAfter(61s));
}

TEST(CheckersRepeatsTest, CallsOfAnotherAmHaveNumbersOfTheirOwn) {
  TalkScript script;
  script.Asks(5);
  script.StartAm(2);
  script.Refused(5, 2);
  EXPECT_FALSE(script.BrokenAfter(5min));
}

TEST(CheckersRepeatsTest, WhatIsLeftOfAJobWhenItIsTakenAwayOwesNothing) {
  TalkScript script;
  script.AmSays(EndAgent{});
  FixedWorld nothing;
  script.checkers.JobSettled(script.now, CheckerScript::kJob, nothing);
  EXPECT_FALSE(script.BrokenAfter(5min));
}

}  // namespace
}  // namespace tfyarn::sim::checkers_repeats_test
