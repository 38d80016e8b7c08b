// Each checker fires on a stream that breaks its property, and on nothing else: invariants of
// containers, processes and balances.
#include "sim/checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_test {
namespace {

TEST(CheckersTest, AGoodJobBreaksNothingAndEverythingWasChecked) {
  CheckerScript script;
  script.Run();
  script.Order(AppendJournal{.seq = JournalSeq(1)});
  script.Allocate({.release = {CheckerScript::Container(2)}});
  script.At(100s);
  script.Succeed();
  script.At(160s);
  script.checkers.JobSettled(script.now, CheckerScript::kJob, FixedWorld{});
  script.checkers.FullScan(script.now, FixedWorld{});
  script.checkers.Finish(script.now, trace::StopReason::kQuiescent);
  EXPECT_EQ(script.Broken(), Names{});
  for (const trace::InvariantResult& result : script.checkers.summary()) {
    EXPECT_EQ(result.violations, 0U) << result.name;
    const bool needs_more = result.name == "budgets" || result.name == "excluded-nodes" ||
                            result.name == "progress" || result.name == "own-address" ||
                            result.name == "notice-passed-on" || result.name == "gives-not-up" ||
                            result.name == "depends-kept";
    if (needs_more || !result.off_because.empty()) continue;
    EXPECT_GT(result.checked, 0U) << result.name;
  }
}

TEST(CheckersTest, CapacityBreaksWhenANodeGivesOutMoreThanItHas) {
  CheckerScript script;
  script.Grant(1, "n1", 4);
  EXPECT_EQ(script.Broken(), Names{});
  script.Grant(2, "n1", 1);
  EXPECT_EQ(script.Broken(), Names{"capacity"});
}

// A node that lost a GPU holds more than it has until somebody ends; memory is still there to give.
TEST(CheckersTest, CapacityForgivesWhatWasGrantedBeforeTheNodeShrank) {
  CheckerScript script;
  script.Grant(1, "n1", 4);
  script.Say(
      trace::NodeDeclared{.node = CheckerScript::Node("n1"),
                          .capacity = {.memory_mb = 8192, .vcores = 8, .gpus = 2, .others = {}}});
  script.Grant(2, "n1", 0);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, CapacityBreaksWhenTheRmsBooksDisagree) {
  CheckerScript script;
  script.Grant(1);
  FixedWorld world;
  world.in_rm = {{.job = CheckerScript::kJob,
                  .container = CheckerScript::Container(1),
                  .node = CheckerScript::Node("n2"),
                  .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 1, .others = {}}}};
  script.checkers.FullScan(script.now, world);
  EXPECT_EQ(script.Broken(), Names{"capacity"});
  script.checkers.FullScan(script.now, FixedWorld{});
  EXPECT_EQ(script.Broken(), Names{"capacity"});
}

TEST(CheckersTest, OneOwnerBreaksWhenAContainerIsGrantedTwice) {
  CheckerScript script;
  script.Grant(1);
  script.Grant(1);  // A recovered RM says it again.
  EXPECT_EQ(script.Broken(), Names{});
  script.Grant(1, "n2");
  EXPECT_EQ(script.Broken(), Names{"one-owner"});
}

TEST(CheckersTest, OneOwnerBreaksWhenAContainerServesAnotherTask) {
  CheckerScript script;
  script.Run();
  script.Exit(2);
  script.Say(trace::AgentOrdered{.job = CheckerScript::kJob,
                                 .container = CheckerScript::Container(2),
                                 .action = SpawnProcess{.task = kWorker1,
                                                        .process = {.epoch = Epoch(1)},
                                                        .spec = SpecRef(SpecId(100), nullptr)}});
  EXPECT_EQ(script.Broken(), (Names{"one-owner", "budgets"}));
}

TEST(CheckersTest, OneOwnerBreaksWhenAnAmStartsAForeignContainer) {
  CheckerScript script;
  script.Run();
  script.Order(CallNm{.node = CheckerScript::Node("n1"),
                      .request = yarn::StartContainersRequest{
                          .containers = {{.container = CheckerScript::Container(99)}}}});
  EXPECT_EQ(script.Broken(), Names{"one-owner"});
}

TEST(CheckersTest, ReleasedOnceBreaksOnASecondRelease) {
  CheckerScript script;
  script.Grant(1);
  script.Free(1);
  EXPECT_EQ(script.Broken(), Names{});
  script.Free(1);
  EXPECT_EQ(script.Broken(), Names{"released-once"});
  script.Free(77);
  EXPECT_EQ(script.Broken(), Names{"released-once"});
}

TEST(CheckersTest, CapacityDoesNotCountWhatARestartedRmHasNotHeardOf) {
  CheckerScript script;
  for (std::int64_t id = 1; id <= 4; ++id) script.Grant(id);
  script.At(1s);
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.At(2s);
  script.Grant(1);  // Its node has told of it, and of no other.
  for (std::int64_t id = 5; id <= 7; ++id) script.Grant(id);
  EXPECT_EQ(script.Broken(), Names{});
  script.Grant(8);
  EXPECT_EQ(script.Broken(), Names{"capacity"});
}

// The node ends what the RM did not take, and a launch that was under way may take its time.
TEST(CheckersTest, CapacityDoesNotCountWhatANodeKeepsThatTheNextRmDidNotTake) {
  for (const bool launching : {true, false}) {
    CheckerScript script;
    script.Grant(1);
    if (launching) script.Say(trace::ContainerLocalizing{.container = CheckerScript::Container(1)});
    script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
    script.At(1s);
    script.Say(trace::FaultEnded{.fault = 0});
    script.At(1h);
    script.checkers.FullScan(script.now, FixedWorld{});
    EXPECT_EQ(script.Broken(), launching ? Names{} : Names{"capacity"});
  }
}

// Its node has not heard that the RM before has taken it back, and brings it along.
TEST(CheckersTest, AContainerThatWasTakenBackMayComeBackToTheNextRm) {
  CheckerScript script;
  script.Run();
  script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
  script.Free(2);
  script.Grant(2);
  EXPECT_EQ(script.Broken(), Names{"one-owner"});
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.Grant(2);
  script.Free(2);
  EXPECT_EQ(script.Broken(), Names{});
  script.Say(trace::FaultEnded{.fault = 0});
  script.Gone(2);
  script.now += 6s;
  script.Grant(2);
  EXPECT_EQ(script.Broken(), Names{"one-owner"});
}

TEST(CheckersTest, WhatItsNodeHadNotClaimedInTimeMayComeBackLater) {
  for (const std::int32_t status : {container_exit::kAborted, 0}) {
    CheckerScript script;
    script.Run();
    script.now += 1s;
    script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
    script.Say(trace::FaultEnded{.fault = 0});
    script.now += 10s;
    script.Say(trace::ContainerFreed{.job = CheckerScript::kJob,
                                     .container = CheckerScript::Container(2),
                                     .exit_status = status});
    script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
    script.now += 10s;
    script.Grant(2);
    EXPECT_EQ(script.Broken(), status == 0 ? Names{"one-owner"} : Names{});
  }
}

TEST(CheckersTest, AFaultMayKeepBackTheRegistrationThatBringsAContainer) {
  for (const bool paused : {true, false}) {
    CheckerScript script;
    script.Run();
    script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
    script.Free(2);
    script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
    script.Say(trace::FaultEnded{.fault = 0});
    script.Gone(2);
    if (paused) script.Say(trace::FaultBegan{.fault = 1, .kind = "rm_pause"});
    script.now += 30s;
    if (paused) script.Say(trace::FaultEnded{.fault = 1});
    script.Grant(2);
    EXPECT_EQ(script.Broken(), paused ? Names{} : Names{"one-owner"});
  }
}

// The node's registration, which names it, was under way.
TEST(CheckersTest, SoMayOneThatEndsAsItsNodeRegisters) {
  CheckerScript script;
  script.Run();
  script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
  script.Free(2);
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.Gone(2);
  script.now += 200ms;
  script.Grant(2);
  EXPECT_EQ(script.Broken(), Names{});
}

// The RM is not asked whether there is room for what is there.
TEST(CheckersTest, CapacityDoesNotCountWhatComesBackToTheNextRm) {
  CheckerScript script;
  for (std::int64_t id = 1; id <= 4; ++id) script.Grant(id);
  script.Say(trace::ContainerLocalizing{.container = CheckerScript::Container(1)});
  script.Free(1);
  script.Grant(5);
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.now += 1s;
  for (const std::int64_t id : {2, 3, 4, 5, 1}) script.Grant(id);
  EXPECT_EQ(script.Broken(), Names{});
  script.Grant(6);
  EXPECT_EQ(script.Broken(), Names{"capacity"});
}

// Its NodeManager was down when it ended.
TEST(CheckersTest, SoMayOneOfWhichItsNodeManagerHasNotSeenTheEnd) {
  CheckerScript script;
  script.Run();
  script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(2)});
  script.Free(2);
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.Say(trace::FaultBegan{.fault = 1, .kind = "nm_restart"});
  script.Say(trace::FaultEnded{.fault = 1});
  script.Gone(2);
  script.Grant(2);
  EXPECT_EQ(script.Broken(), Names{});
}

// The RM hears of it with the node's next heartbeat.
TEST(CheckersTest, CapacityCountsALostGpuOnceTheRmMayKnow) {
  for (const bool known : {false, true}) {
    CheckerScript script;
    for (std::int64_t id = 1; id <= 3; ++id) script.Grant(id);
    script.At(10s);
    script.Say(trace::NodeDeclared{.node = CheckerScript::Node("n1"),
                                   .capacity = {.memory_mb = 8192, .vcores = 8, .gpus = 3}});
    script.At(known ? 16s : 11s);
    script.Grant(4);
    EXPECT_EQ(script.Broken(), known ? Names{"capacity"} : Names{});
  }
}

TEST(CheckersTest, SoMayOneThatIsNotLaunchedYet) {
  CheckerScript script;
  script.Run();
  script.Say(trace::ContainerLocalizing{.container = CheckerScript::Container(2)});
  script.Free(2);
  script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
  script.Grant(2);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, ReleasedOnceBreaksWhenAContainerOutlivesItsJob) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Grant(4);
  script.At(60s);
  script.checkers.JobSettled(script.now, CheckerScript::kJob, FixedWorld{});
  EXPECT_EQ(script.Broken(), Names{"released-once"});
}

// The RM has heard that it ends, gives it up with its node, and takes back the rest then.
TEST(CheckersTest, WhatIsLeftBehindAnAmThatDiesWithItsNodeMayWait) {
  for (const char* node : {"n1", "n2"}) {
    CheckerScript script;
    script.Run();
    script.Succeed();
    script.Grant(4, "n1", 0, true);
    script.At(1s);
    script.Say(trace::NodePower{.node = CheckerScript::Node(node)});
    script.At(60s);
    FixedWorld world;
    world.remains = {"an agent"};
    script.checkers.JobSettled(script.now, CheckerScript::kJob, world);
    const std::string_view of_am = "n1";
    const Names left{"released-once", "quiescence"};
    EXPECT_EQ(script.Broken(), node == of_am ? Names{} : left);
  }
}

// An RM that keeps nothing over its restart has taken it back; its node hears no order before all
// that it runs has ended.
TEST(CheckersTest, ReleasedOnceAllowsWhatWasStartedUnderAnEarlierRm) {
  for (const bool restart : {true, false}) {
    CheckerScript script;
    script.Run();
    script.Succeed();
    script.Grant(4);
    script.At(50s);
    if (restart) script.Say(trace::FaultBegan{.fault = 0, .kind = "rm_restart"});
    script.Free(4);
    script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(4)});
    if (restart) script.Say(trace::FaultEnded{.fault = 0});
    script.At(20min);
    FixedWorld world;
    world.remains = {"container 4"};
    script.checkers.JobSettled(script.now, CheckerScript::kJob, world);
    const std::vector<std::string> broken = script.Broken();
    EXPECT_EQ(std::count(broken.begin(), broken.end(), "released-once"), restart ? 0 : 1);
  }
}

TEST(CheckersTest, GangStartBreaksWhenAProcessStartsBeforeItsGangIsHeld) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  script.Grant(2);
  script.Spawn(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{"gang-start"});
}

TEST(CheckersTest, GangStartDoesNotWaitForATaskThatHasEndedForGood) {
  using End = std::pair<std::int32_t, ExitClass>;
  for (const auto& [code, exit_class] :
       {End(0, ExitClass::kOk), End(1, ExitClass::kUserPermanent)}) {
    CheckerScript script;
    script.Run();
    script.Exit(3, code);
    script.Ended(kWorker1, code, exit_class);
    script.Free(3);
    script.Exit(2, 137);
    script.Ended(kWorker0, -100, ExitClass::kNodeLost);
    script.Free(2);
    script.Order(RestartDecided{.unit = RestartUnit::kGang,
                                .epoch = Epoch(2),
                                .cause = {.task = kWorker0, .exit_class = ExitClass::kNodeLost},
                                .tasks = {kWorker0}});
    script.Grant(4);
    script.SpawnUnannounced(4, kWorker0, 2);
    EXPECT_EQ(script.Broken(), Names{});
  }
}

TEST(CheckersTest, GangStartHoldsAfterALossOfAContainerOnceTheGangWasComplete) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  script.Grant(2);
  script.Grant(3, "n2");
  script.Free(3);
  script.Spawn(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
  script.Order(GangReleased{.containers = 1});
  script.Exit(2);
  script.Spawn(2, kWorker0, 2);
  EXPECT_EQ(script.Broken(), Names{"gang-start"});
}

RestartDecided BothAgainFor(const TaskId& lost) {
  return {.unit = RestartUnit::kGang,
          .paid = Budget::kInfrastructure,
          .epoch = Epoch(2),
          .cause = Cause{.task = lost, .exit_class = ExitClass::kNodeLost},
          .tasks = {kWorker0, kWorker1}};
}

// The AM decides on a restart and has a whole gang; while HDFS stores that, a node counts as lost.
TEST(CheckersTest, GangStartKnowsThatTheAmNeedNotHearOfALostNodeWhereMessagesGetLost) {
  enum class Known { kNothing, kByTheRm, kByItsOrder, kByTheNextAm };
  const auto broken = [](double loss, Known known, int lost = -100) {
    config::Scenario scenario;
    scenario.cluster.network.loss = loss;
    CheckerScript script(CheckerScript::Job(), scenario);
    script.Run();
    if (known == Known::kByItsOrder) script.Allocate({.release = {CheckerScript::Container(2)}});
    script.Say(trace::ContainerFreed{
        .job = CheckerScript::kJob, .container = CheckerScript::Container(2), .exit_status = lost});
    if (known == Known::kByTheRm) {
      yarn::AllocateResponse response;
      response.completed_containers = {
          {.id = CheckerScript::Container(2), .exit_status = lost, .diagnostics = {}}};
      script.Tell(RmReplied{.call = CallId(1), .response = response});
    }
    if (known == Known::kByTheNextAm) script.StartAm(2);
    script.Exit(3);
    script.Order(BothAgainFor(kWorker0), known == Known::kByTheNextAm ? 2 : 1);
    script.OrderProcess(3, kWorker1, 2);
    return script.Broken();
  };
  EXPECT_EQ(broken(0.02, Known::kNothing), Names{});
  EXPECT_EQ(broken(0, Known::kNothing), Names{"gang-start"});
  for (const Known known : {Known::kByTheRm, Known::kByItsOrder, Known::kByTheNextAm})
    EXPECT_EQ(broken(0.02, known), Names{"gang-start"});
  EXPECT_EQ(broken(0.02, Known::kNothing, 0), Names{"gang-start"});
}

// Nor does a ResourceManager that has restarted since tell the next AM of what it has forgotten.
TEST(CheckersTest, GangStartKnowsThatARestartedRmSaysNothingOfALostContainer) {
  for (const bool restarted : {true, false}) {
    CheckerScript script;
    script.Run();
    script.At(10s);
    if (restarted) {
      script.Say(trace::FaultBegan{.kind = "rm_restart", .target = "rm"});
      script.Say(trace::FaultEnded{});
    }
    script.At(20s);
    script.Say(trace::ContainerFreed{.job = CheckerScript::kJob,
                                     .container = CheckerScript::Container(2),
                                     .exit_status = container_exit::kAborted});
    script.At(1h);
    script.StartAm(2);
    script.Exit(3);
    script.Order(BothAgainFor(kWorker1), 2);
    script.OrderProcess(3, kWorker1, 2);
    EXPECT_EQ(script.Broken(), restarted ? Names{} : Names{"gang-start"});
  }
}

TEST(CheckersTest, GangStartCountsAProcessThatNoOneOrdered) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  script.Grant(2);
  script.Appear(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{"gang-start"});
}

TEST(CheckersTest, GangStartCountsWhenTheAmOrdersIt) {
  CheckerScript script;
  script.Grant(1, "n1", 0, true);
  script.StartAm();
  script.Grant(2);
  script.Grant(3, "n2");
  script.OrderProcess(2, kWorker0);
  // What it decides next overtakes its order.
  script.Free(3);
  script.Order(GangReleased{.containers = 1});
  script.Spawn(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, GangStartDoesNotApplyWithoutAGang) {
  JobSpec spec = CheckerScript::Job();
  spec.gang.policy = GangPolicy::kNone;
  CheckerScript script(spec);
  script.Grant(2);
  script.Spawn(2, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
}

// Its node was lost, and has not heard so when the order to start comes.
TEST(CheckersTest, WhatYarnTookBeforeItStartedRunsBesideNothing) {
  for (const std::int32_t status : {container_exit::kAborted, 0}) {
    CheckerScript script;
    script.Grant(2);
    script.Say(trace::ContainerFreed{.job = CheckerScript::kJob,
                                     .container = CheckerScript::Container(2),
                                     .exit_status = status});
    script.Spawn(2, kWorker0);
    script.Grant(3);
    script.Grant(4);
    script.Spawn(3, kWorker1, 2, 102);
    const std::vector<std::string> broken = script.Broken();
    EXPECT_EQ(std::count(broken.begin(), broken.end(), "one-spec"), status == 0 ? 1 : 0);
  }
}

TEST(CheckersTest, OneSpecBreaksWhenAnEpochHasTwoSpecs) {
  CheckerScript script;
  script.Run();
  script.Exit(2);
  script.Spawn(2, kWorker0, 1, 101);
  EXPECT_EQ(script.Broken(), Names{"one-spec"});
}

TEST(CheckersTest, OneSpecBreaksWhenEpochsTrainSideBySide) {
  CheckerScript script;
  script.Run();
  script.Exit(2);
  script.Spawn(2, kWorker0, 2, 102);
  EXPECT_EQ(script.Broken(), Names{"one-spec"});
}

// It runs until its node hears of that, which the AM can neither see nor hasten.
TEST(CheckersTest, OneSpecDoesNotCountWhatYarnHasTaken) {
  for (const std::int32_t status : {container_exit::kPreempted, 0}) {
    CheckerScript script;
    script.Run();
    script.Exit(2);
    script.Say(trace::ContainerFreed{.job = CheckerScript::kJob,
                                     .container = CheckerScript::Container(3),
                                     .exit_status = status});
    script.Spawn(2, kWorker0, 2, 102);
    EXPECT_EQ(script.Broken(), status == 0 ? Names{"one-spec"} : Names{});
  }
}

TEST(CheckersTest, OneSpecAllowsTheNextEpochWhenTheLastHasEnded) {
  CheckerScript script;
  script.Run();
  script.Exit(2);
  script.Exit(3);
  script.Spawn(2, kWorker0, 2, 102);
  script.Spawn(3, kWorker1, 2, 102);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, OneSpecAllowsEpochsSideBySideUnderParameterServer) {
  JobSpec spec = CheckerScript::Job();
  spec.strategy = Strategy::kParameterServer;
  CheckerScript script(spec);
  script.Run();
  script.Exit(2);
  script.Spawn(2, kWorker0, 2, 102);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, OneSpecBreaksWhenAScanFindsTwoSpecsThatCanBeReached) {
  CheckerScript script;
  FixedWorld world;
  world.processes = {{.job = CheckerScript::kJob,
                      .task = kWorker0,
                      .process = {.epoch = Epoch(1)},
                      .spec = SpecId(1)},
                     {.job = CheckerScript::kJob,
                      .task = kWorker1,
                      .process = {.epoch = Epoch(2)},
                      .spec = SpecId(2)}};
  world.processes[0].reachable = false;
  script.checkers.FullScan(script.now, world);
  EXPECT_EQ(script.Broken(), Names{});
  world.processes[0].reachable = true;
  script.checkers.FullScan(script.now, world);
  EXPECT_EQ(script.Broken(), Names{"one-spec"});
}

TEST(CheckersTest, AfterFinalBreaksWhenAProcessStartsLongAfterTheVerdict) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.Grant(2 + 10);
  script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker0}});
  script.Order(RestartDecided{.epoch = Epoch(1), .tasks = {kWorker0}});
  script.At(5s);
  script.Appear(12, kWorker0);
  EXPECT_EQ(script.Broken(), Names{});
  script.At(30s);
  script.Appear(12, kWorker0);
  EXPECT_EQ(script.Broken(), Names{"after-final"});
}

// Its bound is 10 min for a node, 15 for an AM, 1 in general, and the job's own 20 min 35 s.
TEST(CheckersTest, ProgressBreaksAtTheInstantAtWhichTheBoundHasPassed) {
  CheckerScript script;
  script.Run();
  script.At(46min);
  script.Say(trace::TrainingPhaseChanged{.job = CheckerScript::kJob,
                                         .phase = trace::TrainingPhase::kTraining});
  script.At(30h);
  script.Say(trace::TrainingPhaseChanged{.job = CheckerScript::kJob,
                                         .phase = trace::TrainingPhase::kIdle});
  script.At(30h + 51min + 35s);
  script.Say(trace::NodePower{.node = CheckerScript::Node("n9")});
  EXPECT_EQ(script.Broken(), Names{});
  script.At(100h);
  script.Say(trace::NodePower{.node = CheckerScript::Node("n9")});
  const std::vector<Violation> found = script.checkers.TakeNew();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].invariant, "progress");
  EXPECT_EQ(found[0].at, Instant{} + 30h + 51min + 35s + Duration(1));
}

TEST(CheckersTest, AGoodEndThatWasNoneIsToldWithWhatTheProcessDid) {
  for (const bool ended : {true, false}) {
    CheckerScript script;
    script.Run();
    if (ended) script.Exit(2, 3);
    script.Ended(kWorker0, 0, ExitClass::kOk);
    const std::vector<Violation> found = script.checkers.TakeNew();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].invariant, "verdict");
    EXPECT_THAT(found[0].detail, testing::EndsWith(ended ? "its process ended with 3"
                                                         : "its process has not ended"));
  }
}

TEST(CheckersTest, ProgressIsJudgedWhereNothingHappensAnyMore) {
  CheckerScript script;
  script.Run();
  script.checkers.Finish(Instant{} + 51min, trace::StopReason::kHorizon);
  EXPECT_EQ(script.Broken(), Names{});
  script.checkers.Finish(Instant{} + 52min, trace::StopReason::kHorizon);
  EXPECT_EQ(script.Broken(), Names{"progress"});
}

// HDFS stores nothing for so long; and a chief waits for the worker that tony counts as failed.
TEST(CheckersTest, ProgressIsNotDemandedOfWhatMayStandStill) {
  for (const std::string why : {"", "hdfs", "tony"}) {
    config::Scenario scenario;
    scenario.hdfs.latency = config::Distribution::Constant(1);
    config::FaultSpec slow;
    slow.kind = "hdfs_slow";
    slow.numbers["factor"] = 30;
    if (why == "hdfs") scenario.faults = {slow, slow};
    JobSpec spec = CheckerScript::Job();
    if (why == "tony") spec.policy.name = "tony";
    CheckerScript script(spec, scenario);
    script.Run();
    script.Exit(2, 1);
    script.Ended(kWorker0, 1, ExitClass::kUserPermanent);
    script.checkers.Finish(Instant{} + 1h, trace::StopReason::kHorizon);
    EXPECT_EQ(script.Broken(), why.empty() ? Names{"progress"} : Names{}) << why;
  }
}

TEST(CheckersTest, ProgressIsWhateverHappensToTheJob) {
  const auto broken_after = [](const std::function<void(CheckerScript&)>& happens) {
    CheckerScript script;
    script.Run();
    script.Grant(4);
    script.At(30min);
    happens(script);
    script.checkers.Finish(Instant{} + 52min, trace::StopReason::kHorizon);
    return script.Broken();
  };
  using Happens = std::function<void(CheckerScript&)>;
  const std::map<std::string, Happens> things = {
      {"a call", [](CheckerScript& script) { script.Allocate({}); }},
      {"a grant", [](CheckerScript& script) { script.Grant(5); }},
      {"a container that is freed", [](CheckerScript& script) { script.Free(4); }},
      {"an attempt that starts", [](CheckerScript& script) { script.Started(kWorker0, 1); }},
      {"an attempt that ends",
       [](CheckerScript& script) { script.Ended(kWorker0, 1, ExitClass::kUserPermanent); }},
      {"a restart",
       [](CheckerScript& script) {
         script.Order(RestartDecided{.epoch = Epoch(2), .tasks = {kWorker0, kWorker1}});
       }},
      {"a process", [](CheckerScript& script) { script.SpawnUnannounced(2, kWorker0, 2); }},
      {"a process's end", [](CheckerScript& script) { script.Exit(2); }},
      {"a verdict",
       [](CheckerScript& script) {
         script.Order(VerdictReached{.status = JobStatus::kFailed, .rule = "default/oom"});
       }},
      {"the next AM",
       [](CheckerScript& script) {
         script.Tell(AmStarted{.attempt = {.application = CheckerScript::App(), .attempt = 2}}, 2);
       }},
      {"training", [](CheckerScript& script) {
         script.Say(trace::TrainingPhaseChanged{.job = CheckerScript::kJob,
                                                .phase = trace::TrainingPhase::kIdle});
       }}};
  EXPECT_THAT(broken_after([](CheckerScript&) {}), testing::Contains("progress"));
  for (const auto& [what, happens] : things)
    EXPECT_THAT(broken_after(happens), testing::Not(testing::Contains("progress"))) << what;
}

// What the AM of a job's earlier application asked for holds up nothing of the next one.
TEST(CheckersTest, ProgressIsDemandedOfTheLatestApplication) {
  for (const bool next : {false, true}) {
    JobSpec spec = CheckerScript::Job();
    spec.retries.resubmit = 1;
    CheckerScript script(spec);
    script.Run();
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 1}}});
    if (next) {
      script.resubmission = 1;
      script.Tell(AmStarted{.attempt = {.application = {.id = 2}, .attempt = 1}});
    }
    script.checkers.Finish(Instant{} + 2h, trace::StopReason::kHorizon);
    EXPECT_EQ(script.Broken(), next ? Names{"progress"} : Names{});
  }
}

TEST(CheckersTest, ProgressWaitsForTheLastFault) {
  CheckerScript script;
  script.Run();
  script.At(46min);
  script.Say(trace::FaultBegan{.kind = "rm_pause"});
  script.At(20h);
  script.checkers.Finish(script.now, trace::StopReason::kHorizon);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, ProgressIsDemandedAgainWhenTheLastFaultHasEnded) {
  for (const bool ends : {false, true}) {
    CheckerScript script;
    script.Run();
    script.At(46min);
    script.Say(trace::FaultBegan{.fault = 0, .instance = 1, .kind = "rm_pause"});
    if (ends) {
      script.At(2h);
      script.Say(trace::FaultEnded{.fault = 0, .instance = 0});
      script.Say(trace::FaultEnded{.fault = 0, .instance = 1});
    }
    script.At(30h);
    script.checkers.Finish(script.now, trace::StopReason::kHorizon);
    EXPECT_EQ(script.Broken(), ends ? Names{"progress"} : Names{});
  }
}

TEST(CheckersTest, QuiescenceBreaksWhenSomethingIsLeftOfAJob) {
  CheckerScript script;
  script.Run();
  script.Succeed();
  script.At(60s);
  FixedWorld world;
  world.remains = {"an ApplicationMaster"};
  script.checkers.JobSettled(script.now, CheckerScript::kJob, world);
  EXPECT_EQ(script.Broken(), Names{"quiescence"});
}

TEST(CheckersTest, QuiescenceIsNotExcusedByWhatStrikesOnlyItsTarget) {
  for (const char* kind :
       {"node_crash", "gpu_lost", "container_exit", "disk_full", "slow_node", "launch_fail",
        "localize_fail", "preempt", "hang", "port_in_use", "partition"}) {
    CheckerScript script;
    script.Run();
    script.Say(trace::FaultBegan{.fault = 0, .kind = kind});
    script.Succeed();
    script.At(60s);
    FixedWorld world;
    world.remains = {"an agent"};
    script.checkers.JobSettled(script.now, CheckerScript::kJob, world);
    const bool wide = std::string_view(kind) == "partition";
    EXPECT_EQ(script.Broken(), wide ? Names{} : Names{"quiescence"}) << kind;
  }
}

TEST(CheckersTest, QuiescenceWaitsForWhatAFaultHasDelayed) {
  for (const double delay : {1.0, 60.0}) {
    config::Scenario scenario;
    scenario.yarn.nm_expiry = scenario.yarn.am_expiry = 10s;
    scenario.faults = {{.kind = "latency",
                        .duration = config::Distribution::Constant(10.0),
                        .numbers = {{"delay", delay}}}};
    CheckerScript script(CheckerScript::Job(), scenario);
    script.Run();
    script.Say(trace::FaultBegan{.fault = 0, .kind = "latency"});
    script.Succeed();
    script.At(10s);
    script.Say(trace::FaultEnded{.fault = 0});
    script.At(100s);
    FixedWorld world;
    world.remains = {"an agent"};
    script.checkers.JobSettled(script.now, CheckerScript::kJob, world);
    EXPECT_EQ(script.Broken(), delay < 10 ? Names{"quiescence"} : Names{}) << delay;
  }
}

// The two sides of the balance come from different records, so a record that only one of them sees
// shows.
TEST(CheckersTest, LittlesLawBreaksWhenAJobIsCreatedTwice) {
  CheckerScript script;
  script.At(10s);
  script.Say(trace::JobCreated{.job = CheckerScript::kJob, .name = "a", .queue = "default"});
  script.At(20s);
  script.checkers.Finish(script.now, trace::StopReason::kHorizon);
  EXPECT_EQ(script.Broken(), Names{"littles-law"});
}

TEST(CheckersTest, GpuSecondsBalanceOverContainersThatLiveAndDie) {
  CheckerScript script;
  script.Grant(1, "n1", 2);
  script.At(10s);
  script.Grant(2, "n2", 4);
  script.At(25s);
  script.Free(1);
  script.At(60s);
  script.checkers.Finish(script.now, trace::StopReason::kHorizon);
  EXPECT_EQ(script.Broken(), Names{});
}

TEST(CheckersTest, WhatIsOffIsNeitherCheckedNorReported) {
  config::Scenario scenario;
  scenario.invariants_off = {{.name = "capacity", .because = "the test says so"}};
  CheckerScript script(CheckerScript::Job(), scenario);
  script.Grant(1, "n1", 40);
  EXPECT_EQ(script.Broken(), Names{});
  EXPECT_EQ(script.checkers.summary()[0].off_because, "the test says so");
  EXPECT_EQ(script.checkers.summary()[0].checked, 0U);
}

TEST(CheckersTest, AllViolationsAreCountedButOnlyTheFirstHundredAreTold) {
  CheckerScript script;
  for (int i = 0; i < 150; ++i) script.Free(1000 + i);
  EXPECT_EQ(script.checkers.TakeNew().size(), 100U);
  EXPECT_EQ(script.checkers.summary()[2].violations, 150U);
  EXPECT_NE(script.checkers.summary()[2].first_detail, "");
}

}  // namespace
}  // namespace tfyarn::sim::checkers_test
