// as-asked, notice-passed-on, gives-not-up, no-idle-containers, depends-kept, and what ConductWatch
// says under good-citizen, one-owner, one-attempt, one-spec, limits-kept and verdict: each is
// broken by what it is about and by nothing that looks like it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/journal/journal.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_conduct_test {
namespace {

JobSpec With(void (*change)(JobSpec&)) {
  JobSpec spec = CheckerScript::Job();
  change(spec);
  return spec;
}

/// The application's AM runs in container 1, which is the RM's word, too.
class ConductScript : public CheckerScript {
 public:
  ConductScript() {
    Grant(1, "n1", 0, true);
    Tell(AmStarted{.attempt = {.application = App(), .attempt = 1}, .container = Container(1)});
    Tell(RmReplied{.call = CallId(1), .response = yarn::RegisterApplicationMasterResponse{}});
  }
};

void Refuse(CheckerScript& script, std::uint64_t call, yarn::RpcErrorCode code) {
  script.Tell(RmReplied{.call = CallId(call), .response = yarn::RpcError{.code = code}});
}

yarn::AllocateRequest AskFor(std::int32_t number, std::int32_t response_id) {
  yarn::AllocateRequest request{.response_id = response_id};
  if (number > 0) {
    request.ask = {{.priority = 1,
                    .resource_name = "*",
                    .capability = {.memory_mb = 1024, .vcores = 1, .gpus = 1, .others = {}},
                    .num_containers = number}};
  }
  return request;
}

AppendJournal Appends(const journal::JournalEntry& entry) {
  return {.seq = JournalSeq(2),
          .bytes = journal::EncodeJournalFrame({.am_attempt = 1, .heard = JournalSeq(1)},
                                               JournalSeq(2), entry, false)};
}

// ---------------------------------------------------------------- as-asked

TEST(CheckersConductTest, AProcessRunsInThePartitionOfItsType) {
  CheckerScript script(With([](JobSpec& spec) { spec.tasks[0].node_label = "gpu"; }));
  script.Run();
  EXPECT_EQ(script.Broken(), Names({"as-asked"}));
}

TEST(CheckersConductTest, ItsContainerHasWhatItsTypeAsksFor) {
  CheckerScript script(With([](JobSpec& spec) { spec.tasks[0].resource.memory_mb = 2048; }));
  script.Run();
  EXPECT_EQ(script.Broken(), Names({"as-asked"}));
}

TEST(CheckersConductTest, MemoryThatWasRaisedIsAskedFor) {
  CheckerScript script(With([](JobSpec& spec) { spec.strategy = Strategy::kIndependent; }));
  script.Run();
  script.Exit(2, 137);
  script.Order(Appends(journal::MemoryRaised{.task = kWorker0, .memory_mb = 1536}));
  script.Tell(JournalAppended{.seq = JournalSeq(2)});
  EXPECT_EQ(script.Broken(), Names());
  script.Spawn(2, kWorker0, 2);
  EXPECT_EQ(script.Broken(), Names({"as-asked"}));
}

TEST(CheckersConductTest, TwoOfATypeThatIsSpreadShareNoNode) {
  for (const bool spread : {false, true}) {
    JobSpec spec = CheckerScript::Job();
    if (spread) spec.tasks[0].placement.spread = PlacementScope::kNode;
    CheckerScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.Grant(2, "n1");
    script.Grant(3, "n1");
    script.Spawn(2, kWorker0);
    script.Spawn(3, kWorker1);
    EXPECT_EQ(script.Broken(), spread ? Names({"as-asked"}) : Names());
  }
}

// ---------------------------------------------------------------- notice-passed-on

RmReplied Notice(bool strict) {
  yarn::AllocateResponse response;
  (strict ? response.preempt_strict : response.preempt_contract) = {CheckerScript::Container(2)};
  return {.call = CallId(2), .response = std::move(response)};
}

TEST(CheckersConductTest, ANoticeOfPreemptionIsPassedOn) {
  for (const bool strict : {false, true}) {
    CheckerScript script;
    script.Run();
    script.At(1min);
    script.Tell(Notice(strict));
    script.At(2min);
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), Names({"notice-passed-on"}));
  }
}

TEST(CheckersConductTest, WhatIsWarnedOrGivenBackHasHadItsNotice) {
  const AgentFence fence{.container = CheckerScript::Container(2), .task = kWorker0};
  for (const AmAction& action :
       {AmAction(SendToAgent{.container = fence.container, .message = WarnProcess{.fence = fence}}),
        AmAction(SendToAgent{.container = fence.container, .message = StopProcess{.fence = fence}}),
        AmAction(CallRm{.call = CallId(3),
        .request = yarn::AllocateRequest{.release = {fence.container}}})}) {
    CheckerScript script;
    script.Run();
    script.At(1min);
    script.Tell(Notice(true));
    script.Order(action);
    script.At(2min);
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), Names());
  }
}

TEST(CheckersConductTest, AProcessHearsOfANoticeOnceAndOfTheNextOne) {
  const AgentFence fence{.container = CheckerScript::Container(2), .task = kWorker0};
  for (const bool repeated : {true, false}) {
    CheckerScript script;
    script.Run();
    script.At(1min);
    script.Tell(Notice(true));
    script.Order(SendToAgent{.container = fence.container, .message = WarnProcess{.fence = fence}});
    script.At(repeated ? 69s : 70s);
    script.Tell(Notice(true));
    script.At(2min);
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), repeated ? Names() : Names({"notice-passed-on"}));
  }
}

TEST(CheckersConductTest, OfASettledJobNoContainerIsKnownAnyMore) {
  for (const bool settled : {false, true}) {
    CheckerScript script;
    script.Run();
    script.At(1min);
    if (settled) script.checkers.JobSettled(script.now, CheckerScript::kJob, FixedWorld{});
    script.StartAm();
    script.Tell(Notice(true));
    script.At(2min);
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), settled ? Names() : Names({"notice-passed-on"}));
  }
}

TEST(CheckersConductTest, ANoticeIsPassedOnOnceTheAgentHasFoundTheNextAm) {
  for (const Duration found : {50s, 69s, 100s}) {
    CheckerScript script;
    script.Run();
    script.At(30s);
    script.StartAm(2);
    const auto pass = [&](Duration time) {
      script.At(time);
      script.Allocate(AskFor(0, 1), 2);
      return script.Broken();
    };
    const auto hear = [&] {
      script.At(found);
      script.Tell(AgentSaid{RegisterAgent{
                      .fence = {.container = CheckerScript::Container(2), .task = kWorker0}}},
                  2);
    };
    if (found < 1min) hear();
    script.At(1min);
    script.Tell(Notice(true), 2);
    if (found > 1min) hear();
    const Duration from = std::max(found, Duration(1min));
    EXPECT_EQ(pass(from + 10s), Names());
    EXPECT_EQ(pass(from + 11s), Names({"notice-passed-on"}));
  }
}

TEST(CheckersConductTest, ANoticeWaitsForWhatTheJournalHasYetToStore) {
  for (const bool stored : {true, false}) {
    CheckerScript script;
    script.Run();
    script.At(50s);
    script.Order(AppendJournal{.seq = JournalSeq(9)});
    if (stored) script.Tell(JournalAppended{.seq = JournalSeq(9)});
    script.At(1min);
    script.Tell(Notice(true));
    script.At(80s);
    if (!stored) script.Tell(JournalAppended{.seq = JournalSeq(9)});
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), stored ? Names({"notice-passed-on"}) : Names());
    script.At(91s);
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), stored ? Names() : Names({"notice-passed-on"}));
  }
}

// Each alone: the notice was told to an AM that has died since, or something may have come between.
TEST(CheckersConductTest, ANoticeIsExcusedByWhateverCameBetween) {
  enum Between { kNothing, kNewAm, kLossyNetwork, kFault, kFaultThatIsOver };
  for (const Between between : {kNothing, kNewAm, kLossyNetwork, kFault, kFaultThatIsOver}) {
    config::Scenario scenario{.faults = {{.kind = "partition"}}};
    if (between == kLossyNetwork) scenario.cluster.network.loss = 0.01;
    CheckerScript script(CheckerScript::Job(), scenario);
    script.Run();
    const bool fault = between == kFault || between == kFaultThatIsOver;
    if (fault) script.Say(trace::FaultBegan{.fault = 0, .kind = "partition"});
    script.At(1min);
    script.Tell(Notice(true));
    script.At(61s);
    if (between == kFaultThatIsOver) script.Say(trace::FaultEnded{.fault = 0});
    if (between == kNewAm) {
      script.StartAm(2);
      script.Tell(AgentSaid{RegisterAgent{
                      .fence = {.container = CheckerScript::Container(2), .task = kWorker0}}},
                  2);
    }
    script.At(2min);
    script.Allocate(AskFor(0, 1), between == kNewAm ? 2 : 1);
    EXPECT_EQ(script.Broken(), between == kNothing ? Names({"notice-passed-on"}) : Names())
        << between;
  }
}

TEST(CheckersConductTest, AFaultThatIsOverOnceItHasStruckExcusesNothingAfterwards) {
  for (const char* kind : {"container_exit", "partition"}) {
    CheckerScript script(CheckerScript::Job(), {.faults = {{.kind = kind}}});
    script.Run();
    script.At(1s);
    script.Say(trace::FaultBegan{.fault = 0, .kind = kind});
    script.At(1min);
    script.Tell(Notice(true));
    script.At(2min);
    script.Allocate(AskFor(0, 1));
    const bool lasts = std::string_view(kind) == "partition";
    EXPECT_EQ(script.Broken(), lasts ? Names() : Names({"notice-passed-on"})) << kind;
  }
}

// ---------------------------------------------------------------- gives-not-up, one-attempt

TEST(CheckersConductTest, AnAmThatTheRmCountsAsTheJobsGoesOn) {
  ConductScript script;
  Refuse(script, 2, yarn::RpcErrorCode::kApplicationMasterNotRegistered);
  script.Order(ExitAm{.code = 1});
  EXPECT_EQ(script.Broken(), Names({"gives-not-up"}));
}

TEST(CheckersConductTest, AnAmMayEndThatTheRmHasTakenOrTurnedAway) {
  {
    ConductScript script;
    Refuse(script, 2, yarn::RpcErrorCode::kApplicationAttemptNotFound);
    script.Order(ExitAm{.code = 1});
    EXPECT_EQ(script.Broken(), Names());
  }
  for (const char* words : {"Application doesn't exist in cache appattempt_1_0001_000001",
                            "Application Master is already registered"}) {
    ConductScript script;
    script.Tell(RmReplied{
        .call = CallId(2),
        .response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                                   .message = words}});
    script.Order(ExitAm{.code = 1});
    EXPECT_EQ(script.Broken().empty(), std::string(words).ends_with("000001"));
  }
  ConductScript script;
  script.Free(1);
  script.Order(ExitAm{.code = 1});
  EXPECT_EQ(script.Broken(), Names());
}

TEST(CheckersConductTest, AnAmMayEndWhereAnotherHasDecidedWhatItDoesNotKnow) {
  for (const bool lost : {false, true}) {
    for (const bool appends : {false, true}) {
      ConductScript script;
      if (lost)
        script.Tell(JournalFailed{.seq = JournalSeq(2),
                                  .error = {.code = hdfs::HdfsErrorCode::kLeaseLost}});
      if (appends) script.Order(AppendJournal{.seq = JournalSeq(2)}, 2);
      script.Order(ExitAm{.code = 1});
      EXPECT_EQ(script.Broken(), lost && appends ? Names() : Names({"gives-not-up"}));
    }
  }
}

/// AMs of attempts 1 and 2, of which the first has asked the RM something in call 2.
class ReplacedScript : public ConductScript {
 public:
  ReplacedScript() {
    Allocate(AskFor(0, 1));
    Grant(2, "n2", 0, true);
    Tell(AmStarted{.attempt = {.application = App(), .attempt = 2}, .container = Container(2)}, 2);
  }
  void Hears(std::uint64_t call, Duration later = 0s) {
    now += later;
    Tell(RmReplied{
        .call = CallId(call),
        .response = yarn::RpcError{.code = yarn::RpcErrorCode::kApplicationAttemptNotFound}});
    now += 1s;
  }
};

TEST(CheckersConductTest, AnAmThatWasReplacedDoesNothingMore) {
  for (const AmAction& action :
       {AmAction(CallRm{.call = CallId(3), .request = AskFor(0, 1)}),
        AmAction(Appends(journal::MemoryRaised{.task = kWorker0, .memory_mb = 1536})),
        AmAction(CallNm{.call = CallId(1), .request = yarn::StopContainersRequest{}})}) {
    ReplacedScript script;
    script.Order(action);
    EXPECT_EQ(script.Broken(), Names());
    script.Order(CallRm{.call = CallId(3), .request = AskFor(0, 1)});
    script.Hears(3);
    script.Order(ExitAm{.code = 1});
    EXPECT_EQ(script.Broken(), Names());
    script.Order(action);
    EXPECT_EQ(script.Broken(), Names({"one-attempt"}));
  }
}

TEST(CheckersConductTest, ThatItWasReplacedHoldsHoweverLateAnAmHearsIt) {
  for (const bool finishes : {false, true}) {
    ReplacedScript script;
    script.Order(CallRm{.call = CallId(3), .request = AskFor(0, 1)});
    if (finishes)
      script.Order(CallRm{.call = CallId(4), .request = yarn::FinishApplicationMasterRequest{}});
    script.Hears(2);
    script.Order(CallRm{.call = CallId(5), .request = yarn::FinishApplicationMasterRequest{}});
    // Its final status may have been taken meanwhile.
    const Names broken = script.Broken();
    EXPECT_EQ(std::count(broken.begin(), broken.end(), "one-attempt"), finishes ? 0 : 1);
  }
}

// ---------------------------------------------------------------- depends-kept

void Launches(CheckerScript& script, std::int64_t container, const TaskId& task) {
  yarn::StartContainerRequest start{.container = CheckerScript::Container(container)};
  start.context.environment["TFYARN_TASK"] = ToString(task);
  script.Order(CallNm{.request = yarn::StartContainersRequest{.containers = {start}}});
}

// One whose container ends before its agent comes up may be given up, and has ended.
TEST(CheckersConductTest, WhatIsNeverLaunchedIsNoLongerWaitedFor) {
  const TaskId prepare{.type = "prepare", .index = 0};
  enum How { kWaits, kFreed, kNeverRegisters };
  for (const How how : {kWaits, kFreed, kNeverRegisters}) {
    JobSpec spec = CheckerScript::Job();
    spec.strategy = Strategy::kIndependent;
    spec.tasks.push_back({.name = "prepare", .resource = spec.tasks[0].resource});
    spec.depends = {{.task = "worker", .after = "prepare"}};
    CheckerScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    for (const std::int64_t id : {2, 3, 4}) script.Grant(id);
    Launches(script, 4, prepare);
    if (how == kFreed) script.Free(4);
    if (how == kNeverRegisters) {
      script.At(5min);
      script.Ended(prepare, {}, ExitClass::kTimeout);
    }
    script.OrderProcess(2, kWorker0);
    EXPECT_EQ(script.Broken(), how == kWaits ? Names({"depends-kept"}) : Names());
  }
}

TEST(CheckersConductTest, WhatWaitsForAnotherTypeStartsWhenThatHasComeSoFar) {
  const TaskId prepare{.type = "prepare", .index = 0};
  enum Far { kNothing, kRuns, kFailed, kWell };
  const std::map<DependencyState, Far> needs = {{DependencyState::kRunning, kRuns},
                                                {DependencyState::kEnded, kFailed},
                                                {DependencyState::kSucceeded, kWell}};
  for (const auto& [state, least] : needs) {
    for (const bool within : {false, true}) {
      for (const Far far : {kNothing, kRuns, kFailed, kWell}) {
        JobSpec spec = CheckerScript::Job();
        spec.strategy = Strategy::kIndependent;
        spec.tasks.push_back({.name = "prepare", .resource = spec.tasks[0].resource});
        spec.depends = {{.task = "worker", .after = "prepare", .state = state}};
        if (within) spec.depends[0].within = 1min;
        CheckerScript script(spec);
        script.Grant(1, "n1", 0, true);
        script.StartAm();
        for (const std::int64_t id : {2, 3, 4}) script.Grant(id);
        Launches(script, 4, prepare);
        if (far >= kRuns) script.Spawn(4, prepare);
        if (far >= kFailed) script.Exit(4, far == kWell ? 0 : 1);
        script.OrderProcess(2, kWorker0);
        EXPECT_EQ(script.Broken(), within || far >= least ? Names() : Names({"depends-kept"}))
            << static_cast<int>(state) << " " << far;
      }
    }
  }
}

// ---------------------------------------------------------------- one-spec

/// The second epoch of CheckerScript's job begins, while worker:0 of the first runs in container 2.
class NextEpochScript : public ConductScript {
 public:
  NextEpochScript() {
    Grant(2);
    Grant(3, "n2");
    Grant(4, "n2");
    Spawn(2, kWorker0);
    Spawn(3, kWorker1);
    // Of what is on its way, or cut off, nothing is an excuse.
    Say(trace::FaultBegan{.kind = "partition"});
    Order(RestartDecided{.epoch = Epoch(2), .tasks = {kWorker0, kWorker1}});
    Exit(3);
  }
  Names Begins() {
    OrderProcess(4, kWorker0, 2);
    OrderProcess(3, kWorker1, 2);
    return Broken();
  }
  void StopsOnItsNode() {
    Order(CallNm{.call = CallId(1),
                 .request = yarn::StopContainersRequest{.containers = {Container(2)}}});
  }
};

TEST(CheckersConductTest, ACollectivesNextEpochWaitsForTheOneBefore) {
  {
    NextEpochScript script;
    EXPECT_EQ(script.Begins(), Names({"one-spec"}));
  }
  {
    NextEpochScript script;
    script.Exit(2);
    EXPECT_EQ(script.Begins(), Names());
  }
  {
    NextEpochScript script;
    script.Say(trace::AgentTold{.job = CheckerScript::kJob,
                                .container = CheckerScript::Container(2),
                                .event = SpawnFailed{.attempt = TaskAttempt(0)}});
    EXPECT_EQ(script.Begins(), Names());
  }
  for (const bool late : {false, true}) {
    NextEpochScript script;
    script.StopsOnItsNode();
    script.now += late ? 5s : 1s;
    EXPECT_EQ(script.Begins(), late ? Names() : Names({"one-spec"}));
  }
}

TEST(CheckersConductTest, WhatTheRmSeesToTheNextEpochDoesNotWaitFor) {
  {
    NextEpochScript script;
    script.Allocate({.release = {CheckerScript::Container(2)}});
    EXPECT_EQ(script.Begins(), Names());
  }
  {
    // A ResourceManager that has restarted since counts it again.
    NextEpochScript script;
    yarn::AllocateResponse response;
    response.completed_containers = {{.id = CheckerScript::Container(2)}};
    script.Tell(RmReplied{.call = CallId(1), .response = std::move(response)});
    script.Grant(2);
    EXPECT_EQ(script.Begins(), Names());
  }
  NextEpochScript script;
  script.StopsOnItsNode();
  script.Tell(NmReplied{.call = CallId(1),
                        .response = yarn::RpcError{.code = yarn::RpcErrorCode::kUnavailable}});
  EXPECT_EQ(script.Begins(), Names());
}

// ---------------------------------------------------------------- good-citizen

TEST(CheckersConductTest, OneRefusalOutOfTurnTellsTheTurn) {
  ConductScript script;
  // Made together: what the first refusal teaches came too late for the others.
  for (std::uint64_t call = 2; call < 9; ++call)
    script.Order(CallRm{.call = CallId(call), .request = AskFor(0, 1)});
  script.At(1s);
  for (std::uint64_t call = 2; call < 9; ++call)
    Refuse(script, call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
  EXPECT_EQ(script.Broken(), Names());
  for (std::uint64_t call = 9; call < 14; ++call) {
    script.At(call * 1s);
    script.Order(CallRm{.call = CallId(call), .request = AskFor(0, 1)});
    Refuse(script, call, yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
  }
  EXPECT_EQ(script.Broken(), Names({"good-citizen"}));
}

// Idle calls and their answers are in no trace.
TEST(CheckersConductTest, RefusalsOfOldCallsAreNotInARow) {
  for (const bool fault : {true, false}) {
    for (const bool answered_between : {true, false}) {
      ConductScript script;
      if (fault) script.Say(trace::FaultBegan{.fault = 1, .kind = "delay"});
      for (std::uint64_t call = 20; call < 25; ++call) {
        script.At(call * 1s);
        Refuse(script, answered_between ? 10 * call : call,
               yarn::RpcErrorCode::kInvalidApplicationMasterRequest);
      }
      EXPECT_EQ(script.Broken(), fault || answered_between ? Names() : Names({"good-citizen"}));
    }
  }
}

TEST(CheckersConductTest, WhoWaitsForNodesOrHasDecidedAsksForNothing) {
  {
    ConductScript script;
    script.Allocate(AskFor(2, 0));
    script.Order(NodesAwaited{.limit = "2 containers of 1 GPU", .at_most = 10min});
    script.Allocate(AskFor(2, 0));  // The same call once more.
    script.Allocate(AskFor(0, 1));
    EXPECT_EQ(script.Broken(), Names());
    script.Allocate(AskFor(2, 2));
    EXPECT_EQ(script.Broken(), Names({"good-citizen"}));
    script.Order(NodesAwaited{});
    script.Allocate(AskFor(2, 3));
    EXPECT_EQ(script.Broken(), Names());
  }
  ConductScript script;
  script.Order(Appends(journal::VerdictDecided{.status = JobStatus::kFailed}));
  script.Allocate(AskFor(2, 0));
  EXPECT_EQ(script.Broken(), Names({"good-citizen"}));
}

TEST(CheckersConductTest, NotEveryNodeIsOnTheBlacklist) {
  ConductScript script;
  script.Allocate({.response_id = 0, .blacklist_additions = {"n1"}});
  EXPECT_EQ(script.Broken(), Names());
  script.Allocate({.response_id = 1, .blacklist_additions = {"n2"}});
  EXPECT_EQ(script.Broken(), Names({"good-citizen"}));
}

TEST(CheckersConductTest, ANodeWhoseTokenDidNotComeMayBeOneTooMany) {
  const yarn::Container granted{.id = CheckerScript::Container(4), .node = {.host = "n2"}};
  enum class Token { kNever, kWithIt, kLater };
  for (const Token token : {Token::kNever, Token::kWithIt, Token::kLater}) {
    ConductScript script;
    yarn::AllocateResponse answer{.allocated_containers = {granted}};
    const std::vector<yarn::NmToken> one{{.node = granted.node}};
    if (token == Token::kWithIt) answer.nm_tokens = one;
    script.Tell(RmReplied{.response = answer});
    if (token == Token::kLater)
      script.Tell(RmReplied{.response = yarn::AllocateResponse{.nm_tokens = one}});
    script.Allocate({.response_id = 0, .blacklist_additions = {"n1", "n2"}});
    const auto broken = token == Token::kNever ? Names() : Names({"good-citizen"});
    EXPECT_EQ(script.Broken(), broken);
  }
}

// ---------------------------------------------------------------- no-idle-containers

TEST(CheckersConductTest, AJobHoldsNoMoreContainersThanItHasTasks) {
  for (const bool gives_back : {true, false}) {
    CheckerScript script;
    script.Run();
    script.Grant(4, "n2");
    script.At(5min);
    if (gives_back) script.Allocate({.response_id = 1, .release = {CheckerScript::Container(4)}});
    script.At(30min);
    script.Allocate(AskFor(0, 2));
    EXPECT_EQ(script.Broken(), gives_back ? Names() : Names({"no-idle-containers"}));
  }
}

// ---------------------------------------------------------------- no-idle-containers

/// Container 2 has been given back. The RM counts it, and the AM knows that.
class OwedScript : public ConductScript {
 public:
  OwedScript() {
    Grant(1, "n1", 0, true);
    Grant(2);
  }
  /// That AM starts, stores an entry or does not, and hears that the RM counts the container.
  void List(std::int32_t attempt, bool stores = false) {
    now += 1s;
    Tell(AmStarted{.attempt = {.application = App(), .attempt = attempt}}, attempt);
    if (stores) Store(attempt);
    ListAgain(attempt);
  }
  void ListAgain(std::int32_t attempt) {
    Tell(RmReplied{.call = CallId(1),
                   .response =
                       yarn::RegisterApplicationMasterResponse{
                           .containers_from_previous_attempts = {{.id = Container(2)}}}},
         attempt);
  }
  void Store(std::int32_t attempt = 1) {
    const JournalSeq entry(static_cast<std::uint64_t>(attempt));
    Order(AppendJournal{.seq = entry}, attempt);
    Tell(JournalAppended{.seq = entry}, attempt);
  }
  void Stop(std::int32_t attempt) {
    Order(CallNm{.call = CallId(1),
                 .request = yarn::StopContainersRequest{.containers = {Container(2)}}},
          attempt);
  }
  std::int64_t Idle() {
    now += 4s;
    Exit(9);  // Time passes with what happens.
    const Names broken = Broken();
    return std::count(broken.begin(), broken.end(), "no-idle-containers");
  }
};

TEST(CheckersConductTest, WhatAnEarlierAmGaveBackTheNextGivesBackAgain) {
  for (const bool stops : {true, false}) {
    OwedScript script;
    script.Stop(1);
    script.At(1s);
    script.Store();
    script.List(2);
    if (stops) script.Stop(2);
    EXPECT_EQ(script.Idle(), stops ? 0 : 1);
  }
  // HDFS has nothing of it: what it has rests on what was stored in that very instant.
  for (const Duration later : {0s, 1s}) {
    OwedScript script;
    script.Store();
    script.At(later);
    script.Stop(1);
    script.List(2);
    EXPECT_EQ(script.Idle(), 0);
  }
  {
    // Nor by what the next one has stored since.
    OwedScript script;
    script.Store();
    script.At(1s);
    script.Stop(1);
    script.List(2, true);
    EXPECT_EQ(script.Idle(), 0);
  }
  {
    // An AM that takes over a verdict may not know that it was: its process is to end first.
    OwedScript script;
    script.Store();
    script.Stop(1);
    script.List(2);
    script.Order(SendToAgent{.container = CheckerScript::Container(2), .message = StopProcess{}},
                 2);
    EXPECT_EQ(script.Idle(), 0);
  }
  // No AM has given it back.
  OwedScript script;
  script.List(2);
  EXPECT_EQ(script.Idle(), 0);
}

// Its node ends it, whatever becomes of the ResourceManager meanwhile.
TEST(CheckersConductTest, WhatItsNodeIsToStopIsNotGivenBackToTheNextRm) {
  for (const bool refuses : {false, true}) {
    OwedScript script;
    script.Stop(1);
    script.At(1s);
    script.Store();
    script.List(2);
    script.Stop(2);
    yarn::StopContainersResponse answer;
    if (!refuses) answer.succeeded = {CheckerScript::Container(2)};
    script.Tell(NmReplied{.call = CallId(1), .response = std::move(answer)}, 2);
    script.ListAgain(2);
    EXPECT_EQ(script.Idle(), refuses ? 1 : 0);
  }
}

TEST(CheckersConductTest, WhatARestartedRmHasFromItsNodeIsReleasedAgain) {
  for (const bool releases : {true, false}) {
    for (const bool heard : {true, false}) {
      OwedScript script;
      script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
      script.Allocate({.release = {CheckerScript::Container(2)}});
      script.Free(2);
      if (heard)
        script.Tell(RmReplied{
            .call = CallId(2),
            .response = yarn::AllocateResponse{
                .response_id = 1, .completed_containers = {{.id = CheckerScript::Container(2)}}}});
      script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
      script.Say(trace::FaultEnded{.fault = 0});
      script.now += 1s;
      script.Tell(
          RmReplied{.call = CallId(3), .response = yarn::RegisterApplicationMasterResponse{}});
      if (releases) script.Allocate({.release = {CheckerScript::Container(2)}});
      script.Grant(2);
      EXPECT_EQ(script.Idle(), releases || heard ? 0 : 1);
    }
  }
}

// What the RM counts of that, it lists to the next one.
TEST(CheckersConductTest, WhatAnEarlierAmReleasedTheNextNeedNotKnow) {
  OwedScript script;
  script.Allocate({.release = {CheckerScript::Container(2)}});
  script.now += 1s;
  script.StartAm(2);
  EXPECT_EQ(script.Idle(), 0);
}

// ---------------------------------------------------------------- one-owner

TEST(CheckersConductTest, NothingStartsWhereTheAgentHasSaidThatItEnds) {
  CheckerScript script(With([](JobSpec& spec) { spec.strategy = Strategy::kIndependent; }));
  script.Run();
  const AgentFence fence{.container = CheckerScript::Container(2), .task = kWorker0};
  script.Tell(AgentSaid{.message = ProcessEnded{.fence = fence, .agent_leaves = true}});
  script.Exit(2, 1);
  script.Order(RestartDecided{.epoch = Epoch(2), .tasks = {kWorker0}});
  script.OrderProcess(2, kWorker0, 2);
  EXPECT_EQ(script.Broken(), Names({"one-owner"}));
}

TEST(CheckersConductTest, AnAgentIsToldNothingThatAnswersAnother) {
  CheckerScript script;
  script.Run();
  const AgentFence own{.container = CheckerScript::Container(2), .task = kWorker0};
  AgentFence other = own;
  other.container = CheckerScript::Container(7);
  const auto say = [&](AmToAgent message) {
    script.Order(
        SendToAgent{.container = CheckerScript::Container(2), .message = std::move(message)});
  };
  say(AgentAccepted{.fence = own});
  say(AgentRefused{.fence = other});
  EXPECT_EQ(script.Broken(), Names());
  say(AgentAccepted{.fence = other});
  EXPECT_EQ(script.Broken(), Names({"one-owner"}));
}

TEST(CheckersConductTest, NothingStartsInTheContainerOfBefore) {
  CheckerScript script(With([](JobSpec& spec) { spec.strategy = Strategy::kIndependent; }));
  script.Run();
  script.Grant(4, "n2");
  script.Say(
      trace::AgentTold{.job = CheckerScript::kJob,
                       .container = CheckerScript::Container(4),
                       .event = AgentStarted{.fence = {.container = CheckerScript::Container(4),
                                                       .task = kWorker0,
                                                       .incarnation = Incarnation(1)}}});
  script.Order(RestartDecided{.epoch = Epoch(2), .tasks = {kWorker0}});
  script.OrderProcess(2, kWorker0, 2);
  EXPECT_EQ(script.Broken(), Names({"one-owner"}));
}

// ---------------------------------------------------------------- limits-kept, verdict

TEST(CheckersConductTest, ADrainHasItsTime) {
  for (const Duration after : {10s, 70s}) {
    CheckerScript script(With([](JobSpec& spec) { spec.finish.drain["worker"] = 1min; }), {},
                         {"limits-kept"});
    script.Run();
    script.Order(Appends(journal::VerdictDecided{.status = JobStatus::kSucceeded}));
    script.Exit(2);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    script.Ended(kWorker1, 0, ExitClass::kOk);
    script.Order(VerdictReached{.status = JobStatus::kSucceeded, .rule = "default/success"});
    static_cast<void>(script.Broken());
    script.At(after);
    script.Order(SendToAgent{
        .container = CheckerScript::Container(3),
        .message = StopProcess{
            .fence = {.container = CheckerScript::Container(3), .task = kWorker1}, .grace = 15s}});
    EXPECT_EQ(script.Broken(), after < 1min ? Names({"limits-kept"}) : Names());
  }
}

TEST(CheckersConductTest, ASuccessHasTheFilesThatItRequires) {
  for (const bool seen : {true, false}) {
    CheckerScript script(
        With([](JobSpec& spec) { spec.finish.require_paths = {"/out/model.bin"}; }));
    script.Run();
    hdfs::HdfsResponse answer = hdfs::HdfsError{.code = hdfs::HdfsErrorCode::kNotFound};
    if (seen) answer = hdfs::FileStatus{.path = "/out/model.bin"};
    script.Tell(HdfsReplied{.call = CallId(5), .response = std::move(answer)});
    script.Succeed();
    EXPECT_EQ(script.Broken(), seen ? Names() : Names({"verdict"}));
  }
}

// ---------------------------------------------------------------- gang-start

/// The job of CheckerScript with an evaluator, which gets container 4, and is launched there.
class BesideScript : public CheckerScript {
 public:
  explicit BesideScript(GangPolicy policy = GangPolicy::kAll) : CheckerScript(Spec(policy)) {
    Grant(1, "n1", 0, true);
    StartAm();
    Grant(4, "n2", 0);
    At(30min);
  }
  static JobSpec Spec(GangPolicy policy) {
    JobSpec spec = Job();
    spec.gang.policy = policy;
    spec.tasks.push_back({.name = "evaluator",
                          .resource = {.memory_mb = 512, .vcores = 1, .gpus = 0, .others = {}}});
    return spec;
  }
  void OrderLaunch(std::int32_t attempt = 1) {
    Order(CallNm{.call = CallId(7),
                 .node = Node("n2"),
                 .request =
                     yarn::StartContainersRequest{.containers = {{.container = Container(4)}}}},
          attempt);
  }
  void Launch(std::int32_t attempt = 1) {
    OrderLaunch(attempt);
    Say(trace::AgentTold{.job = kJob,
                         .container = Container(4),
                         .event = AgentStarted{.fence = {.container = Container(4),
                                                         .task = TaskId{"evaluator", 0}}}});
  }
};

TEST(CheckersConductTest, NothingIsLaunchedBesideAGangThatNeverWasWhole) {
  for (const bool whole : {true, false}) {
    BesideScript script;
    for (const std::int64_t worker : {2, 3}) {
      if (whole) script.Grant(worker);
    }
    script.Launch();
    EXPECT_EQ(script.Broken(), whole ? Names() : Names({"gang-start"}));
  }
}

TEST(CheckersConductTest, WhereNoGangIsNeededAnythingIsLaunched) {
  BesideScript script(GangPolicy::kNone);
  script.Launch();
  EXPECT_EQ(script.Broken(), Names());
}

TEST(CheckersConductTest, NothingIsLaunchedBesideAGangThatWasLostBeforeItTrained) {
  for (const bool again : {true, false}) {
    BesideScript script;
    script.Grant(2);
    script.Grant(3);
    script.Free(3);
    script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker1}});
    if (again) script.Grant(5);
    script.Launch();
    EXPECT_EQ(script.Broken(), again ? Names() : Names({"gang-start"}));
  }
}

// A gang that was lost is whole again without the one that does not start again.
TEST(CheckersConductTest, AGangIsWholeAgainWithoutWhatHasEndedForGood) {
  enum Ends { kNever, kBefore, kAfter };
  for (const Ends ends : {kNever, kBefore, kAfter}) {
    BesideScript script;
    for (const std::int64_t id : {2, 3}) script.Grant(id);
    for (const std::int64_t id : {2, 3}) script.Free(id);
    script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker0}});
    if (ends == kBefore) script.Ended(kWorker1, -100, ExitClass::kNodeLost);
    script.Grant(5);
    // That it is lost, too, the AM has yet to hear.
    if (ends == kBefore) script.Free(5);
    if (ends == kAfter) script.Ended(kWorker1, -100, ExitClass::kNodeLost);
    script.Launch();
    EXPECT_EQ(script.Broken(), ends == kNever ? Names({"gang-start"}) : Names());
  }
}

TEST(CheckersConductTest, ALaunchThatIsRepeatedWasOrderedBesideAWholeGang) {
  for (const bool ordered : {true, false}) {
    BesideScript script;
    script.Grant(2);
    script.Grant(3);
    if (ordered) script.OrderLaunch();
    script.Free(3);
    script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker1}});
    script.Launch();
    EXPECT_EQ(script.Broken(), ordered ? Names() : Names({"gang-start"}));
  }
}

TEST(CheckersConductTest, TheNextAmKnowsByTheJournalThatAGangHasTrained) {
  for (const bool began : {true, false}) {
    BesideScript script;
    // All is lost with the AM that had it stored, and what it ordered never starts.
    if (began)
      script.Order(Appends(journal::EpochBegan{.spec = {.epoch = Epoch(1)}, .processes = {}}));
    script.StartAm(2);
    script.Launch(2);
    EXPECT_EQ(script.Broken(), began ? Names() : Names({"gang-start"}));
  }
}

}  // namespace
}  // namespace tfyarn::sim::checkers_conduct_test
