// limits-kept: nothing later than a limit allows, and nothing before it is over. Each test has a
// trace that nearly breaks one and a trace that does.
#include <gtest/gtest.h>

#include "core/model/exit.h"
#include "tests/unit/sim/checker_script.h"

namespace tfyarn::sim::checkers_limits_test {
namespace {

const Names kBroken{"limits-kept"};

/// What the checker allows beyond a limit.
constexpr Duration kSlack = 2min;

class LimitScript : public CheckerScript {
 public:
  explicit LimitScript(JobSpec spec = Job(), config::Scenario scenario = {})
      : CheckerScript(std::move(spec), WithoutProgress(std::move(scenario)), {"limits-kept"}) {}
  static config::Scenario WithoutProgress(config::Scenario scenario) {
    scenario.invariants_off.push_back({.name = "progress", .because = "nothing is trained"});
    return scenario;
  }
  /// A container that its node knows of.
  void GrantKnown(std::int64_t id, const char* host = "n1") {
    Grant(id, host);
    Say(trace::ContainerLocalizing{.container = Container(id)});
  }

  /// Time passes: any record of the world shows it.
  void Pass(Duration time) {
    At(time);
    Say(trace::NodePower{.node = Node("n9"), .up = true});
  }
  void Launch(std::int64_t container) {
    yarn::StartContainersRequest request;
    request.containers.push_back({.container = Container(container)});
    Order(CallNm{.call = CallId(3), .node = Node("n1"), .request = std::move(request)});
    Say(trace::ContainerLocalizing{.container = Container(container)});
    Say(trace::ContainerLaunched{.container = Container(container)});
  }
  void Register(std::int64_t container, const TaskId& task) {
    Tell(AgentSaid{.message =
                       RegisterAgent{.fence = {.container = Container(container), .task = task}}});
  }
  void TellAgent(std::int64_t container, AgentEvent event) {
    Say(trace::AgentTold{
        .job = kJob, .container = Container(container), .event = std::move(event)});
  }
  void AgentOrders(std::int64_t container, AgentAction action) {
    Say(trace::AgentOrdered{
        .job = kJob, .container = Container(container), .action = std::move(action)});
  }
  void StopAndTerm(std::int64_t container, Duration grace) {
    TellAgent(container, AmSaid{.message = StopProcess{.grace = grace}, .am_attempt = 1});
    AgentOrders(container, SignalProcess{.signal = StopSignal::kTerm});
  }
  void Kill(std::int64_t container) {
    AgentOrders(container, SignalProcess{.signal = StopSignal::kKill});
  }
  void AmAndLaunchedContainers() {
    Grant(1, "n1", 0, true);
    Say(trace::ContainerLaunched{.container = Container(1)});
    StartAm();
    for (const std::int64_t id : {2, 3}) Grant(id, id == 2 ? "n1" : "n2"), Launch(id);
  }
  /// Both processes run.
  void RunAll() {
    AmAndLaunchedContainers();
    Register(2, kWorker0);
    Register(3, kWorker1);
    Spawn(2, kWorker0);
    Spawn(3, kWorker1);
  }
  void FailBy(std::string rule) {
    Order(VerdictReached{.status = JobStatus::kFailed, .rule = std::move(rule)});
  }
  /// How often the invariant was checked.
  [[nodiscard]] std::uint64_t Judged() const {
    for (const trace::InvariantResult& result : checkers.summary()) {
      if (result.name == "limits-kept") return result.checked;
    }
    return 0;
  }
  static JobSpec JobWithoutGang(DeadlineSpec deadlines = {}) {
    JobSpec spec = JobWith(deadlines);
    spec.gang.policy = GangPolicy::kNone;
    return spec;
  }
  static JobSpec JobWith(DeadlineSpec deadlines) {
    JobSpec spec = Job();
    spec.deadlines = deadlines;
    return spec;
  }
};

TEST(CheckersLimitsTest, AContainerThatIsNeverLaunchedExpires) {
  config::Scenario scenario;
  scenario.yarn.container_expiry = 10min;
  LimitScript script(LimitScript::Job(), scenario);
  script.Grant(2);
  script.Pass(10min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(10min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, NothingExpiresBeforeItsTime) {
  for (const Duration after : {599s, 600s}) {
    LimitScript script(LimitScript::JobWithoutGang());
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.Grant(2);
    script.At(after);
    script.Say(trace::ContainerFreed{.job = LimitScript::kJob,
                                     .container = LimitScript::Container(2),
                                     .exit_status = container_exit::kAborted});
    EXPECT_EQ(script.Broken(), after < 600s ? kBroken : Names{});
  }
}

// Its node may be taken for lost, with its AM or without.
TEST(CheckersLimitsTest, WhereMessagesGetLostAContainerMayBeTakenBackSooner) {
  config::Scenario scenario;
  scenario.yarn.container_expiry = 10min;
  for (const double loss : {0.0, 0.02}) {
    scenario.cluster.network.loss = loss;
    LimitScript script(LimitScript::Job(), scenario);
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = CheckerScript::Container(1)});
    script.StartAm();
    script.Grant(2);
    script.Pass(10s);
    script.Say(trace::ContainerFreed{.job = CheckerScript::kJob,
                                     .container = CheckerScript::Container(2),
                                     .exit_status = container_exit::kAborted});
    EXPECT_EQ(script.Broken(), loss > 0 ? Names{} : kBroken) << loss;
  }
}

TEST(CheckersLimitsTest, TheViolationIsAtTheInstantAtWhichTheLimitWasOver) {
  LimitScript script;
  script.Grant(2);
  script.Pass(100h);
  const std::vector<Violation> found = script.checkers.TakeNew();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, Instant{} + 10min + kSlack);
}

TEST(CheckersLimitsTest, AContainerThatHasEndedIsGivenBackWhenItsNodeExpires) {
  LimitScript script;
  script.AmAndLaunchedContainers();
  script.Register(2, kWorker0);
  script.Register(3, kWorker1);
  script.Gone(3);
  script.Pass(12min);
  script.Free(3);
  script.Gone(2);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(12min + 10min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AnAmThatStoodStillReadsItsMailFirst) {
  for (const Duration after : {999ms, 1000ms}) {
    for (const Duration late : {499ms, 500ms}) {  // Of five heartbeats of a second a tenth.
      LimitScript script(LimitScript::JobWith({.registration = 1min}));
      script.AmAndLaunchedContainers();
      script.At(30s);
      script.Say(trace::FaultBegan{.kind = "am_pause", .target = "am of a"});
      script.At(1min + late);
      script.Say(trace::FaultEnded{});
      script.At(1min + late + after);
      script.Order(TaskAttemptEnded{.task = kWorker0,
                                    .container = LimitScript::Container(2),
                                    .exit_class = ExitClass::kTimeout});
      EXPECT_EQ(script.Broken(), after < 1s && late == 500ms ? kBroken : Names{});
    }
  }
}

TEST(CheckersLimitsTest, AnAgentThatDoesNotRegisterIsGivenUp) {
  LimitScript script;
  script.AmAndLaunchedContainers();
  script.Register(2, kWorker0);
  script.Pass(5min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(5min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AnAgentHasItsWholeTimeToRegister) {
  for (const Duration after : {299s, 300s}) {
    LimitScript script;
    script.AmAndLaunchedContainers();
    script.At(after);
    script.Order(TaskAttemptEnded{.task = kWorker0,
                                  .container = LimitScript::Container(2),
                                  .exit_class = ExitClass::kTimeout});
    EXPECT_EQ(script.Broken(), after < 300s ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, AFaultPutsALimitOff) {
  LimitScript script;
  script.AmAndLaunchedContainers();
  script.Register(2, kWorker0);
  script.At(6min);
  script.Say(trace::FaultBegan{.fault = 0, .instance = 0, .kind = "node_crash", .target = "n2"});
  script.Say(trace::FaultEnded{.fault = 0, .instance = 0});
  script.Pass(31min);  // Node expiry, AM expiry and the slack make 27 minutes.
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(34min);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, EveryProcessMustRunWithinStart) {
  LimitScript script;
  script.AmAndLaunchedContainers();
  script.Register(2, kWorker0);
  script.Register(3, kWorker1);
  script.Spawn(2, kWorker0);
  script.Pass(15min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(15min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AGangThatWaitsForWhatDoesNotTrainHasItsDeadline) {
  for (const Duration after : {29min, 30min}) {
    JobSpec spec = LimitScript::Job();
    spec.tasks.push_back({.name = "prepare", .resource = spec.tasks[0].resource});
    spec.policy = {.name = "tony", .options = {{"sidecar", "prepare"}}};
    spec.depends = {{.task = "worker", .after = "prepare"}};
    LimitScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    for (const std::int64_t id : {2, 3}) script.GrantKnown(id);
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 1}}});
    script.At(after);
    script.FailBy("gang/deadline");
    EXPECT_EQ(script.Broken(), after < 30min ? kBroken : Names{});
  }
}

// One that stands still as it is to ask does so when it goes on.
TEST(CheckersLimitsTest, TheGangsDeadlineRunsWhileTheAmStandsStill) {
  for (const Duration asks : {31s, 33s}) {
    LimitScript script;
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    script.At(1s);
    script.Say(trace::FaultBegan{.fault = 0, .kind = "am_pause", .target = "am of a"});
    script.At(31s);
    script.Say(trace::FaultEnded{.fault = 0});
    script.At(asks);
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 2}}});
    script.At(1s + 30min);
    script.FailBy("gang/deadline");
    EXPECT_EQ(script.Broken(), asks == 31s ? Names{} : kBroken);
  }
}

// What an earlier AM has launched may take until deadlines.registration to find the next one.
TEST(CheckersLimitsTest, StartWaitsForAgentsThatLookForTheNextAm) {
  LimitScript script(LimitScript::JobWith({.registration = 30min}));
  script.AmAndLaunchedContainers();
  script.Free(3);
  script.StartAm(2);
  script.Grant(4, "n2");
  script.Launch(4);
  script.Register(2, kWorker0);
  script.Register(4, kWorker1);
  script.Spawn(2, kWorker0);
  script.Pass(44min);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(50min);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AJobEndsWithinRun) {
  LimitScript script(LimitScript::JobWith({.run = 1h}));
  script.RunAll();
  script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                         .phase = trace::TrainingPhase::kTraining});
  script.Pass(1h + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(1h + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AllHaveRunWhenTheAmHasHeardSo) {
  for (const Duration lives : {1s, 10s}) {
    LimitScript script(LimitScript::JobWith({.run = 1h}));
    script.RunAll();
    script.At(lives);
    script.Exit(2, 2);
    script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                           .phase = trace::TrainingPhase::kTraining});
    script.Pass(1h + kSlack + 1s);
    EXPECT_EQ(script.Broken(), lives > 5s ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, AFaultMayKeepFromTheAmThatAllHaveRun) {
  for (const bool fault : {true, false}) {
    for (const bool am_ends : {true, false}) {
      LimitScript script(LimitScript::JobWith({.run = 1h}));
      script.RunAll();
      script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                             .phase = trace::TrainingPhase::kTraining});
      script.At(1s);
      if (fault) script.Say(trace::FaultBegan{.kind = "loss", .target = "everybody"});
      script.At(10min);
      if (am_ends) {
        script.Gone(1);
        script.Free(1);
      }
      script.Exit(2, 2);
      script.At(11min);
      if (fault) script.Say(trace::FaultEnded{});
      if (am_ends) script.StartAm(2);
      script.Pass(1h + 30min + kSlack);
      EXPECT_EQ(script.Broken(), fault ? Names{} : kBroken) << am_ends;
    }
  }
}

// A row of `depends` with `within` says by when a type ends, not that it waits.
TEST(CheckersLimitsTest, WhatMustEndWithinATimeRunsWithTheOthers) {
  for (const bool waits : {false, true}) {
    JobSpec job = LimitScript::JobWithoutGang({.run = 1h});
    job.tasks.push_back({.name = "chief", .instances = 1});
    Dependency row{.task = "worker", .after = "chief", .state = DependencyState::kEnded};
    if (!waits) row.within = 10min;
    job.depends = {row};
    LimitScript script(job);
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    script.GrantKnown(2);
    script.Spawn(2, {"chief", 0});
    script.Pass(1h + kSlack + 1s);
    EXPECT_EQ(script.Broken(), waits ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, ASuccessorThatWasNotToldCountsFromWhenItSeesAllRun) {
  LimitScript script(LimitScript::JobWith({.run = 1h}));
  script.RunAll();
  script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                         .phase = trace::TrainingPhase::kTraining});
  script.At(10s);
  script.Gone(1);
  script.Free(1);
  script.At(30min);
  script.StartAm(2);
  script.Pass(1h + 30min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(1h + 30min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

// It stands still when its successor comes, and YARN takes it only then.
TEST(CheckersLimitsTest, AnAmThatAFaultStillHoldsNeedNotHaveSeenAllRun) {
  // Or just after it.
  for (const Duration over : {11min, 9min, 0min}) {
    const bool fault = over != 0min;
    LimitScript script(LimitScript::JobWith({.run = 1h}));
    script.RunAll();
    script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                           .phase = trace::TrainingPhase::kTraining});
    script.At(1s);
    if (fault) script.Say(trace::FaultBegan{.kind = "am_pause", .target = "am of a"});
    if (over == 9min) {
      script.At(over);
      script.Say(trace::FaultEnded{});
    }
    script.At(10min);
    script.StartAm(2);
    script.Gone(1);
    script.Free(1);
    if (over == 11min) {
      script.At(over);
      script.Say(trace::FaultEnded{});
    }
    script.Pass(1h + 9min + kSlack);
    EXPECT_EQ(script.Broken(), fault ? Names{} : kBroken);
  }
}

TEST(CheckersLimitsTest, NoDeadlineFailsAJobBeforeItIsOver) {
  const auto broken = [](const std::string& rule, Duration after, double loss = 0) {
    config::Scenario scenario;
    scenario.cluster.network.loss = loss;
    LimitScript script(LimitScript::JobWithoutGang({.run = 1h}), scenario);
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 2}}});
    script.GrantKnown(2);
    if (rule == "deadlines/run") {
      script.GrantKnown(3, "n2");
      script.Spawn(2, kWorker0);
      script.Spawn(3, kWorker1);
    }
    script.At(after);
    script.FailBy(rule);
    return script.Broken();
  };
  EXPECT_EQ(broken("deadlines/run", 1h), Names{});
  EXPECT_EQ(broken("deadlines/run", 1h - 1s), kBroken);
  EXPECT_EQ(broken("deadlines/start", 15min), Names{});
  EXPECT_EQ(broken("deadlines/start", 15min - 1s), kBroken);
  EXPECT_EQ(broken("gang/deadline", 30min), Names{});
  EXPECT_EQ(broken("gang/deadline", 30min - 2s), kBroken);
  // Where the call before it was lost, it asked later than it had to.
  EXPECT_EQ(broken("gang/deadline", 30min - 21s, 0.02), Names{});
  EXPECT_EQ(broken("gang/deadline", 30min - 22s, 0.02), kBroken);
}

TEST(CheckersLimitsTest, OnlyAVerdictThatADeadlineLeadsToIsJudgedByIt) {
  for (const std::string rule : {"deadlines/start", "default/exit"}) {
    LimitScript script(LimitScript::JobWithoutGang());
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.GrantKnown(2);
    script.Pass(15min);
    const std::uint64_t before = script.Judged();
    script.FailBy(rule);
    EXPECT_EQ(script.Judged() - before, rule == "deadlines/start" ? 1U : 0U) << rule;
  }
}

TEST(CheckersLimitsTest, WhatStartsInALostContainerHasRunBeforeItsLossIsHeard) {
  for (const bool starts : {true, false}) {
    LimitScript script(LimitScript::JobWithoutGang({.run = 1h}));
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    script.GrantKnown(2);
    script.GrantKnown(3, "n2");
    script.Spawn(2, kWorker0);
    script.Say(trace::ContainerFreed{.job = LimitScript::kJob,
                                     .container = LimitScript::Container(3),
                                     .exit_status = container_exit::kAborted});
    if (starts) script.Spawn(3, kWorker1);
    script.At(10min);
    script.GrantKnown(4, "n1");
    script.Spawn(4, kWorker1);
    script.At(1h);
    script.FailBy("deadlines/run");
    EXPECT_EQ(script.Broken(), starts ? Names{} : kBroken);
  }
}

TEST(CheckersLimitsTest, WhatHasEndedForGoodNeedNotRunBeforeDeadlinesRun) {
  for (const char* policy : {"tony", "default"}) {
    JobSpec job = LimitScript::JobWithoutGang({.run = 1h});
    job.policy.name = policy;
    LimitScript script(job);
    script.Grant(1, "n1", 0, true);
    script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
    script.StartAm();
    script.GrantKnown(2);
    script.Spawn(2, kWorker0);
    script.Ended(kWorker1, {}, ExitClass::kHeartbeatLost);
    script.At(10min);
    script.GrantKnown(3, "n2");
    script.Spawn(3, kWorker1);
    script.At(1h);
    script.FailBy("deadlines/run");
    EXPECT_EQ(script.Broken(), std::string(policy) == "tony" ? Names{} : kBroken) << policy;
  }
}

TEST(CheckersLimitsTest, AGangThatIsNeverCompleteFails) {
  LimitScript script;
  script.Grant(1, "n1", 0, true);
  script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
  script.StartAm();
  script.Allocate({.ask = {{.priority = 1,
                            .resource_name = "*",
                            .capability = {.memory_mb = 1024},
                            .num_containers = 2}}});
  script.Pass(30min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(30min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AGangThatWasCompleteHasItsDeadlineAgain) {
  LimitScript script;
  script.Grant(1, "n1", 0, true);
  script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
  script.StartAm();
  const auto ask = [&] {
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 2}}});
  };
  ask();
  script.GrantKnown(2);
  script.GrantKnown(3, "n2");
  script.At(10min);
  script.Order(GangReleased{.containers = 2});
  for (const std::int64_t id : {2, 3}) script.Gone(id), script.Free(id);
  ask();
  script.Pass(40min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(40min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, TheHoldOfAGangBeginsWithTheOldestContainerThatItKeeps) {
  JobSpec spec = LimitScript::Job();
  spec.tasks[0].instances = 3;
  for (const bool lost : {false, true}) {
    LimitScript script(spec);
    script.Grant(1, "n1", 0, true);
    script.StartAm();
    script.GrantKnown(2);
    script.At(4min);
    script.GrantKnown(3, "n2");
    if (lost) script.Gone(2), script.Free(2);
    script.Pass(5min + kSlack + 1s);
    EXPECT_EQ(script.Broken(), lost ? Names{} : kBroken);
    script.Pass(9min + kSlack + 1s);
    EXPECT_EQ(script.Broken(), lost ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, WhatAnEarlierApplicationHoldsIsNoPartOfTheNextGang) {
  const auto failed_after = [](Duration time) {
    JobSpec spec = LimitScript::Job();
    spec.retries.resubmit = 1;
    LimitScript script(spec);
    script.RunAll();
    for (const TaskId& task : {kWorker0, kWorker1}) script.Ended(task, 143, ExitClass::kKilledByUs);
    const ApplicationId next{.id = 2};
    script.Say(trace::ClientOrdered{
        .job = LimitScript::kJob,
        .action = ApplicationSubmitted{.application = next, .resubmission = 1}});
    const ContainerId am{.application_attempt = {.application = next, .attempt = 1}, .id = 1};
    script.Say(trace::ContainerGranted{
        .job = LimitScript::kJob,
        .container = am,
        .node = LimitScript::Node("n2"),
        .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 0, .others = {}},
        .am = true});
    script.Say(trace::ContainerLocalizing{.container = am});
    for (const std::int64_t id : {1, 2}) script.Gone(id), script.Free(id);
    script.resubmission = 1;
    script.Tell(AmStarted{.attempt = {.application = next, .attempt = 1}});
    script.Allocate({.ask = {{.priority = 1,
                              .resource_name = "*",
                              .capability = {.memory_mb = 1024},
                              .num_containers = 2}}});
    script.Gone(3), script.Free(3);
    script.At(time);
    script.FailBy("gang/deadline");
    return script.Broken();
  };
  EXPECT_EQ(failed_after(30min), Names{});
  EXPECT_EQ(failed_after(30min - 2s), kBroken);
}

TEST(CheckersLimitsTest, AnIncompleteGangGivesItsContainersBack) {
  LimitScript script;
  script.Grant(1, "n1", 0, true);
  script.Say(trace::ContainerLaunched{.container = LimitScript::Container(1)});
  script.StartAm();
  script.GrantKnown(2);
  script.Pass(5min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(5min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AProcessHasItsTimeToEndAndNoMore) {
  LimitScript script(LimitScript::JobWith({.stop = 15s}));
  script.RunAll();
  script.At(10s);
  script.StopAndTerm(2, 15s);
  script.StopAndTerm(3, 15s);
  script.At(25s);
  script.Kill(2);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(27s);
  EXPECT_EQ(script.Broken(), kBroken);  // worker:1 lives on.
}

TEST(CheckersLimitsTest, NothingIsKilledBeforeItsTimeToEndIsOver) {
  LimitScript script(LimitScript::JobWith({.stop = 15s}));
  script.RunAll();
  script.At(10s);
  script.StopAndTerm(2, 1s);
  script.StopAndTerm(3, 15s);
  script.At(11s);
  script.Kill(2);
  EXPECT_EQ(script.Broken(), Names{});
  script.At(24s);
  script.Kill(3);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AWarningEndsNothing) {
  LimitScript script;
  script.RunAll();
  script.TellAgent(2, AmSaid{.message = WarnProcess{}, .am_attempt = 1});
  script.AgentOrders(2, SignalProcess{.signal = StopSignal::kTerm});
  script.Pass(1min);
  EXPECT_EQ(script.Broken(), Names{});
}

// The time is that of the order, and not the job's.
TEST(CheckersLimitsTest, AnAgentThatIsToEndGivesItsProcessTheTimeItIsTold) {
  const auto broken = [](Duration killed_after) {
    LimitScript script(LimitScript::JobWith({.stop = 15s}));
    script.RunAll();
    script.TellAgent(2, AmSaid{.message = EndAgent{.grace = 5s}, .am_attempt = 1});
    script.AgentOrders(2, SignalProcess{.signal = StopSignal::kTerm});
    script.Pass(killed_after);
    script.Kill(2);
    return script.Broken();
  };
  EXPECT_EQ(broken(5s), Names{});
  EXPECT_EQ(broken(4s), kBroken);
}

TEST(CheckersLimitsTest, AnOrderToStopNamesTheJobsTime) {
  const auto broken = [](Duration grace) {
    LimitScript script(LimitScript::JobWith({.stop = 15s, .stop_broken = 1s}));
    script.RunAll();
    script.Order(SendToAgent{.container = LimitScript::Container(2),
                             .message = StopProcess{.grace = grace}});
    return script.Broken();
  };
  EXPECT_EQ(broken(15s), Names{});
  EXPECT_EQ(broken(1s), Names{});
  EXPECT_EQ(broken(2s), kBroken);
}

TEST(CheckersLimitsTest, AProcessWithoutAnAmEnds) {
  LimitScript script(LimitScript::JobWith({.stop = 15s, .orphan = 30min}));
  script.RunAll();
  script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                         .phase = trace::TrainingPhase::kTraining});
  script.Gone(1);
  script.Free(1);
  script.Pass(30min + 15s + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(30min + 15s + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

// A container of an earlier attempt may be launched late, when the RM has started another one.
TEST(CheckersLimitsTest, AnEarlierAmThatStartsLateAndEndsLeavesNoOrphans) {
  for (const bool earlier : {true, false}) {
    LimitScript script(LimitScript::JobWith({.stop = 15s, .orphan = 30min}));
    script.RunAll();
    script.Say(trace::TrainingPhaseChanged{.job = LimitScript::kJob,
                                           .phase = trace::TrainingPhase::kTraining});
    if (earlier) {
      script.StartAm(2);
      script.StartAm(1);
    }
    script.Gone(1);
    script.Free(1);
    script.Pass(30min + 15s + kSlack + 1s);
    EXPECT_EQ(script.Broken(), earlier ? Names{} : kBroken);
  }
}

TEST(CheckersLimitsTest, AnAgentWaitsForItsAmAsLongAsItMay) {
  for (const Duration after : {29min, 30min}) {
    LimitScript script;
    script.RunAll();
    script.At(after);
    script.AgentOrders(2, ExitAgent{.code = agent_exit::kAmLost});
    EXPECT_EQ(script.Broken(), after < 30min ? kBroken : Names{});
  }
}

// It waits for its last report to be seen, and hears that.
TEST(CheckersLimitsTest, AnAgentThatLeavesForWantOfAnAmMayHearOneOnItsWay) {
  for (const Duration heard : {29min, 30min}) {
    LimitScript script;
    script.RunAll();
    script.At(heard);
    script.Say(trace::AgentTold{.job = LimitScript::kJob,
                                .container = LimitScript::Container(2),
                                .event = AmSaid{.message = HeartbeatSeen{}}});
    script.At(30min + 1s);
    script.AgentOrders(2, ExitAgent{.code = agent_exit::kAmLost});
    EXPECT_EQ(script.Broken(), heard < 30min ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, TheClientWaitsForAnAmAsLongAsItMay) {
  const auto script_up_to = [](Duration after) {
    auto script = std::make_unique<LimitScript>(LimitScript::JobWith({.am_start = 10min}));
    script->Say(trace::ClientOrdered{.job = LimitScript::kJob,
                                     .action = CallRm{.call = CallId(1),
                                                      .request = yarn::SubmitApplicationRequest{
                                                          .application = LimitScript::App()}}});
    script->Pass(after);
    return script;
  };
  const auto gives_up = [](LimitScript& script) {
    script.Say(trace::ClientOrdered{.job = LimitScript::kJob,
                                    .action = CallRm{.call = CallId(2),
                                                     .request = yarn::KillApplicationRequest{
                                                         .application = LimitScript::App()}}});
  };
  const auto early = script_up_to(599s);
  gives_up(*early);
  EXPECT_EQ(early->Broken(), kBroken);
  const auto in_time = script_up_to(600s);
  gives_up(*in_time);
  in_time->Pass(1h);
  EXPECT_EQ(in_time->Broken(), Names{});
  EXPECT_EQ(script_up_to(10min + kSlack + 1s)->Broken(), kBroken);
  // Once it knows that the RM has the application, none but the RM can say that no AM runs.
  for (const bool back : {false, true}) {
    const auto away = script_up_to(1s);
    away->Say(trace::ClientTold{
        .job = LimitScript::kJob,
        .event = RmReplied{.call = CallId(1), .response = yarn::SubmitApplicationResponse{}}});
    away->Say(trace::FaultBegan{.kind = "rm_restart", .target = "rm"});
    away->Pass(601s);
    if (back) away->Say(trace::FaultEnded{});
    gives_up(*away);
    EXPECT_EQ(away->Broken(), back ? Names{} : kBroken);
  }
  // The answer to its registration was lost, and the RM says to the next one that it has been.
  const auto unanswered = script_up_to(1min);
  unanswered->Tell(AmStarted{.attempt = {.application = LimitScript::App(), .attempt = 1}});
  unanswered->Tell(RmReplied{
      .call = CallId(2),
      .response = yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                                 .message = "already registered"}});
  unanswered->Pass(10min + kSlack + 1s);
  EXPECT_EQ(unanswered->Broken(), Names{});
}

TEST(CheckersLimitsTest, TheClientWaitsForTheNextAmAsLongAsForTheFirst) {
  const auto script_up_to = [](Duration after, bool comes, std::uint64_t call = 4) {
    auto script = std::make_unique<LimitScript>(LimitScript::JobWith({.am_start = 10min}));
    const auto asks = [&](std::uint64_t id, const yarn::RmRequest& request) {
      script->Say(trace::ClientOrdered{.job = LimitScript::kJob,
                                       .action = CallRm{.call = CallId(id), .request = request}});
    };
    const auto hears = [&](std::uint64_t id, yarn::YarnApplicationState state) {
      yarn::GetApplicationReportResponse response;
      response.report.application = LimitScript::App();
      response.report.state = state;
      script->Say(trace::ClientTold{.job = LimitScript::kJob,
                                    .event = RmReplied{.call = CallId(id), .response = response}});
    };
    const auto registers = [&](std::int32_t attempt) {
      script->Tell(AmStarted{.attempt = {.application = LimitScript::App(), .attempt = attempt},
                             .wall = CalendarAt(script->now)},
                   attempt);
      script->Tell(
          RmReplied{.call = CallId(2),
                    .response =
                        yarn::RpcError{.code = yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                                       .message = "already registered"}},
          attempt);
    };
    asks(1, yarn::SubmitApplicationRequest{.application = LimitScript::App()});
    registers(1);
    asks(2, yarn::GetApplicationReportRequest{.application = LimitScript::App()});
    asks(3, yarn::GetApplicationReportRequest{.application = LimitScript::App()});
    hears(3, yarn::YarnApplicationState::kRunning);
    script->Pass(1h);
    script->Say(trace::ClientTold{.job = LimitScript::kJob,
                                  .event = HeartbeatsElided{.count = 1, .last = Instant(1h)}});
    hears(call, yarn::YarnApplicationState::kAccepted);
    if (comes) registers(2);
    script->Pass(1h + after);
    return script;
  };
  const auto gives_up = [](LimitScript& script) {
    script.Say(trace::ClientOrdered{.job = LimitScript::kJob,
                                    .action = CallRm{.call = CallId(9),
                                                     .request = yarn::KillApplicationRequest{
                                                         .application = LimitScript::App()}}});
    return script.Broken();
  };
  EXPECT_EQ(gives_up(*script_up_to(599s, false)), kBroken);
  EXPECT_EQ(gives_up(*script_up_to(600s, false)), Names{});
  EXPECT_EQ(script_up_to(10min + kSlack + 1s, false)->Broken(), kBroken);
  EXPECT_EQ(script_up_to(10min + kSlack + 1s, true)->Broken(), Names{});
  // An answer that another has overtaken is none, and neither is one to a call before those that
  // were skipped.
  EXPECT_EQ(script_up_to(10min + kSlack + 1s, false, 2)->Broken(), Names{});
  EXPECT_EQ(script_up_to(10min + kSlack + 1s, false, 3)->Broken(), Names{});
}

TEST(CheckersLimitsTest, AStallIsToldWhenItsTimeIsOver) {
  for (const Duration after : {69s, 70s}) {
    JobSpec spec = LimitScript::Job();
    spec.watch = WatchSpec{.progress = "x", .stalled = 60s};
    LimitScript script(spec);
    script.RunAll();
    script.At(10s);
    script.TellAgent(2, ProgressSeen{});
    script.At(after);
    script.AgentOrders(2, SendToAm{.message = ProgressStalled{.number = 1}});
    EXPECT_EQ(script.Broken(), after < 70s ? kBroken : Names{});
  }
}

TEST(CheckersLimitsTest, WhatMakesNoProgressIsToldOf) {
  const auto script_up_to = [](Duration progress, Duration told, Duration until) {
    JobSpec spec = LimitScript::Job();
    spec.watch = WatchSpec{.progress = "x", .stalled = 60s};
    auto script = std::make_unique<LimitScript>(spec);
    script->RunAll();
    std::uint32_t reports = 0;
    for (Duration at = 10s; at <= until; at += 10s) {
      script->At(at);
      for (const std::int64_t container : {2, 3}) {
        if (container == 3 || at <= progress) script->TellAgent(container, ProgressSeen{});
      }
      if (at == told)
        script->AgentOrders(2, SendToAm{.message = ProgressStalled{.number = ++reports}});
    }
    return script;
  };
  EXPECT_EQ(script_up_to(30min, 0s, 30min)->Broken(), Names{});
  EXPECT_EQ(script_up_to(10s, 0s, 70s + kSlack)->Broken(), Names{});
  EXPECT_EQ(script_up_to(10s, 0s, 80s + kSlack)->Broken(), kBroken);
  EXPECT_EQ(script_up_to(0s, 0s, 70s + kSlack)->Broken(), kBroken);
  EXPECT_EQ(script_up_to(10s, 70s, 30min)->Broken(), Names{});
  // What is to end need not be told of.
  const auto stopped = script_up_to(10s, 0s, 60s);
  for (const std::int64_t container : {2, 3}) stopped->StopAndTerm(container, 15s);
  stopped->At(75s);
  for (const std::int64_t container : {2, 3}) stopped->Kill(container);
  stopped->Pass(30min);
  EXPECT_EQ(stopped->Broken(), Names{});
}

TEST(CheckersLimitsTest, WhatIsSilentWithItsNodeIsGivenUp) {
  enum class Way { kKept, kGivenBack, kAmSleeps, kNextAm, kNodeIsBack };
  for (const Way way :
       {Way::kKept, Way::kGivenBack, Way::kAmSleeps, Way::kNextAm, Way::kNodeIsBack}) {
    JobSpec spec = LimitScript::JobWith({.stop = 15s, .blame = 20s});
    spec.heartbeat = {.every = 1s, .missed = 5};
    LimitScript script(spec);
    script.RunAll();
    script.At(10min);
    script.Say(trace::FaultBegan{.kind = "node_crash", .target = "n2"});
    script.Say(trace::NodePower{.node = LimitScript::Node("n2"), .up = false});
    script.Gone(3);
    if (way == Way::kAmSleeps)
      script.Say(trace::FaultBegan{.fault = 1, .kind = "am_pause", .target = "am of a"});
    script.At(10min + 30s);
    if (way == Way::kGivenBack)
      script.Order(
          CallRm{.call = CallId(7),
                 .request = yarn::AllocateRequest{.release = {LimitScript::Container(3)}}});
    if (way == Way::kNextAm) script.StartAm(2);
    if (way == Way::kNodeIsBack)
      script.Say(trace::NodePower{.node = LimitScript::Node("n2"), .up = true});
    script.Pass(11min + 10s);
    EXPECT_EQ(script.Broken(), Names{});
    script.Pass(11min + 11s);
    EXPECT_EQ(script.Broken(), way == Way::kKept ? kBroken : Names{}) << static_cast<int>(way);
  }
}

// It may not have found the AM before its node went.
TEST(CheckersLimitsTest, AnEarlierAmsAgentMayBeSilentForItsRegistration) {
  JobSpec spec = LimitScript::JobWith({.registration = 5min, .stop = 15s, .blame = 20s});
  spec.heartbeat = {.every = 1s, .missed = 5};
  LimitScript script(spec);
  script.RunAll();
  script.At(10min);
  script.Gone(1);
  script.StartAm(2);
  script.At(10min + 1s);
  script.Say(trace::FaultBegan{.kind = "node_crash", .target = "n2"});
  script.Say(trace::NodePower{.node = LimitScript::Node("n2"), .up = false});
  script.Gone(3);
  script.Pass(15min + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(15min + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, AnApplicationEndsAfterItsVerdict) {
  LimitScript script(LimitScript::JobWith({.stop = 15s}));
  script.RunAll();
  script.At(1h);
  script.Order(VerdictReached{.status = JobStatus::kKilled, .rule = "killed"});
  static_cast<void>(script.Broken());
  script.Pass(1h + 3 * 45s + kSlack);
  EXPECT_EQ(script.Broken(), Names{});
  script.Pass(1h + 3 * 45s + kSlack + 1s);
  EXPECT_EQ(script.Broken(), kBroken);
}

TEST(CheckersLimitsTest, NoPolicyPaysForMoreRestartsThanItAllows) {
  const auto broken = [](const PolicySpec& policy, std::int32_t user, int restarts) {
    JobSpec spec = LimitScript::Job();
    spec.policy = policy;
    spec.retries.user = user;
    LimitScript script(spec);
    script.RunAll();
    for (int i = 0; i < restarts; ++i)
      script.Order(RestartDecided{.paid = Budget::kUser, .tasks = {kWorker0}});
    return script.Broken();
  };
  EXPECT_EQ(broken({.name = "tony"}, 2, 2), Names{});
  EXPECT_EQ(broken({.name = "tony"}, 2, 3), kBroken);
  EXPECT_EQ(broken({.name = "tony", .options = {{"retry_count", "3"}}}, 0, 3), Names{});
  EXPECT_EQ(broken({.name = "tony", .options = {{"retry_count", "3"}}}, 9, 4), kBroken);
  EXPECT_EQ(broken({.name = "tf-yarn"}, 1, 2), kBroken);
  EXPECT_EQ(broken({.name = "tfjob"}, 0, 50), Names{});
  EXPECT_EQ(broken({.name = "tfjob"}, 1, 2), kBroken);
  EXPECT_EQ(broken({.name = "tfjob", .options = {{"backoff_limit", "4"}}}, 1, 5), kBroken);
}

/// What breaks when a tensorboard of that class starts for the fifth time.
Names FifthStartOf(std::optional<TaskClass> task_class) {
  JobSpec spec = LimitScript::Job();
  spec.tasks.push_back({.name = "tensorboard",
                        .instances = 1,
                        .resource = {.memory_mb = 1024, .vcores = 1, .gpus = 0, .others = {}},
                        .task_class = task_class});
  LimitScript script(spec);
  script.RunAll();
  script.GrantKnown(4);
  const TaskId tensorboard{"tensorboard", 0};
  for (int i = 0; i < 4; ++i) script.Spawn(4, tensorboard), script.Exit(4, 1);
  EXPECT_EQ(script.Broken(), Names{});
  script.Spawn(4, tensorboard);
  return script.Broken();
}

TEST(CheckersLimitsTest, ASidecarStartsAgainThreeTimes) {
  EXPECT_EQ(FifthStartOf(std::nullopt), kBroken);
  EXPECT_EQ(FifthStartOf(TaskClass::kSidecar), kBroken);
}

TEST(CheckersLimitsTest, ATensorboardOfAnotherClassIsNoSidecar) {
  EXPECT_EQ(FifthStartOf(TaskClass::kTracked), Names{});
}

}  // namespace
}  // namespace tfyarn::sim::checkers_limits_test
