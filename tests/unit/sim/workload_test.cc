// Multi-worker training, behaviour rows, signals.
#include "sim/workload.h"

#include <gtest/gtest.h>

#include "tests/unit/sim/workload_harness.h"

namespace tfyarn::sim::workload_test {
namespace {

TEST(WorkloadTest, TrainsToTheEndWithFewEventsAndEverybodyExitsWithZero) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s done", "109s chief:0 exit 0",
                                 "109s worker:0 exit 0", "109s worker:1 exit 0"}));
  EXPECT_LE(host.steps, 4);
  EXPECT_EQ(host.account().wall.useful, Duration(100s).count());
  EXPECT_EQ(host.account().gpu.useful, Duration(300s).count());
  EXPECT_EQ(host.account().gpu.checkpoint, Duration(27s).count());
}

TEST(WorkloadTest, ItTrainsOnlyWhenAllAreThere) {
  WorkloadHarness host(MultiWorker(2));
  const SpecRef spec = host.SpecOf(1);
  host.Spawn(kChief0, spec);
  host.Spawn(kWorker0, spec);
  host.Until(130s);
  EXPECT_EQ(host.TakeLog(), Log{});
  host.Spawn(kWorker1, spec);
  host.Until(240s);
  EXPECT_EQ(host.TakeLog().front(), "130s training");
}

TEST(WorkloadTest, DetailsShowEveryCheckpoint) {
  config::JobConfig job = MultiWorker(1);
  job.training.steps = Const(250);
  WorkloadHarness host(job, 1, true);
  host.SpawnAll(host.SpecOf(1));
  host.Until(60s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "10s checkpoint", "11s training", "21s checkpoint", "22s training",
                 "27s done", "27s chief:0 exit 0", "27s worker:0 exit 0"}));
}

// Measured: after kill -9 of one, the survivors exit with 1 within seconds, by themselves.
TEST(WorkloadTest, SurvivorsOfALostPeerExitWithOneAfterThreeSeconds) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(25s);
  host.Vanish(kWorker1);
  host.Until(60s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "25s lost 3s", "25s idle", "28s chief:0 exit 1",
                                 "28s worker:0 exit 1"}));
  EXPECT_EQ(host.account().wall.lost, Duration(3s).count());
}

// Measured: a peer restarted alone at the same address does not help; it then hangs.
TEST(WorkloadTest, APeerRestartedAloneHangs) {
  WorkloadHarness host(MultiWorker(1));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(5s);
  host.Exit(kWorker0, 1);
  host.Spawn(kWorker0, spec, 1);
  host.Until(1000s);
  const Log log = host.TakeLog();
  EXPECT_EQ(log.back(), "8s chief:0 exit 1");
  EXPECT_EQ(host.workload.running().size(), 1U);
  EXPECT_FALSE(host.workload.makes_progress());
}

// It has no peer that could hold on to the one before.
TEST(WorkloadTest, AMemberWithoutPeersBeginsAnewByItself) {
  WorkloadHarness host(MultiWorker(0));
  const SpecRef spec = host.SpecOf(1);
  host.Spawn(kChief0, spec);
  host.Until(25s);
  host.Vanish(kChief0);
  host.Spawn(kChief0, spec, 1);
  host.Until(300s);
  const Log log = host.TakeLog();
  ASSERT_FALSE(log.empty());
  EXPECT_TRUE(log.back().ends_with("chief:0 exit 0")) << log.back();
}

TEST(WorkloadTest, ARestartOfAllGoesOnFromTheCheckpointAfterRestoring) {
  WorkloadHarness host(MultiWorker(1));
  host.SpawnAll(host.SpecOf(1));
  host.Until(25s);
  host.Vanish(kWorker0);
  host.Signal(kChief0, StopSignal::kTerm);
  static_cast<void>(host.TakeLog());
  host.Until(100s);
  host.SpawnAll(host.SpecOf(2), 1);
  host.Until(300s);
  // 80 s are left, with seven checkpoints.
  EXPECT_EQ(host.TakeLog(), (Log{"100s restore", "105s training", "192s done",
                                 "192s chief:0 exit 0", "192s worker:0 exit 0"}));
  EXPECT_EQ(host.account().wall.sum(), Duration(25s + 92s).count());
  EXPECT_EQ(host.account().gpu.restore, Duration(10s).count());
}

// Fails when the team keeps the spec of the job's first application: same epoch, same addresses.
TEST(WorkloadTest, AJobSubmittedAgainGoesOnFromTheCheckpointInItsFirstEpoch) {
  WorkloadHarness h(MultiWorker(1));
  const SpecRef spec = h.SpecOf(1);
  h.SpawnAll(spec);
  h.Until(25s);
  h.Exit({.type = "worker", .index = 0}, 2);
  h.Until(40s);
  for (const TaskId& task : {TaskId{.type = "chief"}, TaskId{.type = "worker"}}) {
    ContainerId container = h.ContainerOf(task);
    container.application_attempt.application.id = 2;
    h.Spawn({.container = container,
             .task = task,
             .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
             .spec = spec,
             .host = WorkloadHarness::HostOf(task)});
  }
  EXPECT_EQ(h.workload.phase(), trace::TrainingPhase::kRestore);
  h.Until(200s);
  EXPECT_EQ(h.workload.phase(), trace::TrainingPhase::kDone);
  EXPECT_TRUE(h.workload.running().empty());
}

TEST(WorkloadTest, ProcessesOfDifferentSpecsNeverTrainTogether) {
  WorkloadHarness host(MultiWorker(1));
  host.Spawn(kChief0, host.SpecOf(1));
  host.Spawn(kWorker0, host.SpecOf(2));
  host.Until(1000s);
  EXPECT_EQ(host.TakeLog(), Log{});
}

// Measured: SIGSTOP of one makes the others exit with 1 after 12 to 17 s; the stopped one never
// ends by itself.
TEST(WorkloadTest, AStoppedPeerIsTakenForGoneAfterAWhile) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker1, true);
  host.Until(100s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle", "15s lost 5s", "18s chief:0 exit 1",
                                 "18s worker:0 exit 1"}));
  host.Signal(kWorker1, StopSignal::kTerm);
  EXPECT_EQ(host.TakeLog(), Log{});
  host.Signal(kWorker1, StopSignal::kKill);
  EXPECT_EQ(host.TakeLog(), Log{"100s worker:1 signal 9"});
}

TEST(WorkloadTest, AShortStandstillOnlyCostsItsTime) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker1, true);
  host.Until(12s);
  host.Freeze(kWorker1, false);
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "5s idle", "12s training", "116s done", "116s chief:0 exit 0",
                 "116s worker:0 exit 0", "116s worker:1 exit 0"}));
}

TEST(WorkloadTest, WhoWakesTooLateHearsThatItsPeersAreGone) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker1, true);
  host.Until(100s);
  static_cast<void>(host.TakeLog());
  host.Freeze(kWorker1, false);
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(), Log{"103s worker:1 exit 1"});
}

TEST(WorkloadTest, WhoTrainsAloneMissesNobodyWhenItWakes) {
  config::JobConfig job = MultiWorker(1);
  job.spec.tasks = {TaskType("worker", 1, 1)};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker0, true);
  host.Until(100s);
  host.Freeze(kWorker0, false);
  host.Until(300s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "5s idle", "100s training", "204s done", "204s worker:0 exit 0"}));
}

TEST(WorkloadTest, PeersThatCannotTalkStandStillAndGiveUp) {
  WorkloadHarness host(MultiWorker(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Cuts({{.from = {WorkloadHarness::HostOf(kWorker1)}, .to = {}}});
  host.Until(8s);
  host.Cuts({});
  host.Until(20s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle", "8s training"}));
  host.Cuts({{.from = {WorkloadHarness::HostOf(kWorker1)}, .to = {"elsewhere"}}});
  EXPECT_TRUE(host.workload.makes_progress());
  host.Cuts(
      {{.from = {WorkloadHarness::HostOf(kWorker1)}, .to = {WorkloadHarness::HostOf(kChief0)}}});
  host.Until(100s);
  EXPECT_EQ(host.TakeLog(), (Log{"20s idle", "30s lost 6s", "33s chief:0 exit 1",
                                 "33s worker:0 exit 1", "33s worker:1 exit 1"}));
}

TEST(WorkloadTest, TheSlowestNodeSetsThePace) {
  config::JobConfig job = MultiWorker(1);
  job.training.checkpoint = {};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(50s);
  host.Pace(kWorker0, 2000);
  host.Until(400s);
  EXPECT_EQ(host.TakeLog()[1], "150s done");
}

TEST(WorkloadTest, PeersWaitWhenTheJobSaysSo) {
  config::JobConfig job = MultiWorker(1);
  job.training.peer_loss = config::PeerLossSpec{.wait = true};
  WorkloadHarness host(job);
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(5s);
  host.Exit(kWorker0, 9);
  host.Until(50s);
  host.Spawn(kWorker0, spec, 1);
  host.Until(300s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "5s worker:0 exit 9", "5s lost 5s", "5s idle", "50s restore",
                 "55s training", "164s done", "164s chief:0 exit 0", "164s worker:0 exit 0"}));
}

// ---------------------------------------------------------------- behaviour

TEST(WorkloadTest, TheFirstMatchingRowWins) {
  config::JobConfig job = MultiWorker(2);
  job.behavior = {{.task = "worker:1", .attempt = 0, .after = Const(30), .exit = 7},
                  {.task = "worker", .after = Const(50), .exit = 8}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(40s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "30s worker:1 exit 7", "30s lost 8s", "30s idle",
                                 "33s chief:0 exit 1", "33s worker:0 exit 1"}));
  host.Spawn(kWorker1, host.SpecOf(2), 1);
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(), Log{"90s worker:1 exit 8"});
}

TEST(WorkloadTest, StartDelaysPutTrainingOffAndCountBeforeAfter) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .start = Const(4), .after = Const(10), .signal = 11}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(15s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"4s training", "14s worker:0 signal 11", "14s lost 10s", "14s idle"}));
}

TEST(WorkloadTest, ExitZeroWithoutAfterHappensWhenTrainingIsDoneAndLeavesItsFiles) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .exit = 0, .writes = {"model.bin"}}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s done", "109s chief:0 exit 0",
                                 "109s wrote model.bin", "109s worker:0 exit 0"}));
}

TEST(WorkloadTest, AFailureWithoutAfterHappensAtTheStart) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .exit = 3}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  EXPECT_EQ(host.TakeLog().front(), "0s worker:0 exit 3");
}

TEST(WorkloadTest, RunsReplacesTrainingAndNeedsNoPeer) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .runs = Const(60)},
                  {.task = "chief", .exit = 2, .runs = Const(30)}};
  WorkloadHarness host(job);
  host.Spawn(kWorker0, host.SpecOf(1));
  host.Until(10s);
  host.Spawn(kChief0, host.SpecOf(1));
  host.Until(100s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "40s chief:0 exit 2", "60s done", "60s worker:0 exit 0"}));
}

// A task of which any attempt has `runs` is in no team: its peers do not wait for it, nor it for
// them.
TEST(WorkloadTest, AnAttemptWithoutRunsOfATaskWithRunsTrainsAlone) {
  config::JobConfig job = MultiWorker(1);
  job.spec.tasks = {TaskType("worker", 1, 1)};
  job.behavior = {{.task = "worker", .attempt = 0, .on_term = config::OnTerm{.exit = 143}},
                  {.task = "worker", .runs = Const(60)}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(500s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s done", "109s worker:0 exit 0"}));
}

TEST(WorkloadTest, RunsMayEndByASignal) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .signal = 9, .runs = Const(60), .out_of_memory = true},
                  {.task = "chief", .runs = Const(30)}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(100s);
  EXPECT_EQ(host.TakeLog().back(), "60s worker:0 signal 9");
}

TEST(WorkloadTest, AHungProcessStandsUntilItIsKilled) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .after = Const(20), .hang = true}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(60s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "20s idle", "30s lost 9s", "33s chief:0 exit 1"}));
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(70s);
  EXPECT_EQ(host.TakeLog(), Log{});
  host.Signal(kWorker0, StopSignal::kKill);
  EXPECT_EQ(host.TakeLog(), Log{"70s worker:0 signal 9"});
}

TEST(WorkloadTest, ForeverNeverEndsByItselfButTrains) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .forever = true}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(1000s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s done", "109s chief:0 exit 0"}));
}

// ---------------------------------------------------------------- signals

TEST(WorkloadTest, SigtermEndsAProcessAtOnceByDefault) {
  WorkloadHarness host(MultiWorker(1));
  host.SpawnAll(host.SpecOf(1));
  host.Until(2s);
  host.Signal(kWorker0, StopSignal::kTerm);
  EXPECT_EQ(host.TakeLog()[1], "2s worker:0 signal 15");
}

TEST(WorkloadTest, ASignalToAnotherAttemptIsHarmless) {
  WorkloadHarness host(MultiWorker(1));
  host.SpawnAll(host.SpecOf(1), 3);
  host.Signal(kWorker0, StopSignal::kKill, 2);
  EXPECT_EQ(host.workload.running().size(), 2U);
}

// Measured: SIGTERM to one makes all save at the same step and leave with the agreed code.
TEST(WorkloadTest, SigtermToOneMakesAllThatCanSaveAndLeave) {
  config::JobConfig job = MultiWorker(2);
  job.behavior = {{.on_term = config::OnTerm{.checkpoint = true, .after = Const(5), .exit = 143}}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(8s);
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(50s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "13s chief:0 exit 143", "13s idle",
                                 "13s worker:0 exit 143", "13s worker:1 exit 143"}));
  host.SpawnAll(host.SpecOf(2), 1);
  host.Until(55s);
  EXPECT_EQ(host.account().wall.lost, 0);
  EXPECT_EQ(host.account().wall.checkpoint, Duration(5s).count());
  host.Until(300s);
  // 92 s were left.
  EXPECT_EQ(host.TakeLog()[2], "156s done");
}

TEST(WorkloadTest, WhatIsKilledWhileItSavesLosesItsWork) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.on_term = config::OnTerm{.checkpoint = true, .after = Const(5), .exit = 143}}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(8s);
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(10s);
  host.Signal(kWorker0, StopSignal::kKill);
  EXPECT_EQ(host.account().wall.lost, Duration(8s).count());
}

TEST(WorkloadTest, SigtermMayBeIgnored) {
  config::JobConfig job = MultiWorker(1);
  job.behavior = {{.task = "worker", .on_term = config::OnTerm{.ignore = true}}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(2s);
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(10s);
  EXPECT_TRUE(host.workload.makes_progress());
}

TEST(WorkloadTest, ATakenPortEndsTheServerWithAConflict) {
  WorkloadHarness host(MultiWorker(1));
  const SpecRef spec = host.SpecOf(1);
  host.Spawn({.container = host.ContainerOf(kWorker0),
              .task = kWorker0,
              .process = {.attempt = TaskAttempt(0), .epoch = Epoch(1)},
              .spec = spec,
              .host = "n",
              .port_taken = true});
  host.Until(10s);
  EXPECT_EQ(host.TakeLog(), Log{"3s worker:0 exit 1 port conflict"});
}

// ---------------------------------------------------------------- watch, evaluator, draws

TEST(WorkloadTest, ProgressIsShownOnlyWithAWatchAndOnlyAsOftenAsNeeded) {
  config::JobConfig job = MultiWorker(1);
  job.spec.watch = WatchSpec{.stalled = 100s};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(60s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "25s chief:0 progress", "25s worker:0 progress",
                                 "50s chief:0 progress", "50s worker:0 progress"}));
  host.Freeze(kWorker0, true);
  host.Until(68s);
  EXPECT_EQ(host.TakeLog(), Log{"60s idle"});
}

TEST(WorkloadTest, TheEvaluatorEndsALittleAfterTrainingAndTensorboardNever) {
  config::JobConfig job = MultiWorker(1);
  job.spec.tasks.push_back(TaskType("evaluator", 1));
  job.spec.tasks.push_back(TaskType("tensorboard", 1));
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(1000s);
  EXPECT_EQ(host.TakeLog().back(), "111s evaluator:0 exit 0");
  EXPECT_EQ(host.workload.running().size(), 1U);
}

TEST(WorkloadTest, DrawsDependOnSeedAndJobAndOnNothingElse) {
  config::JobConfig job = MultiWorker(1);
  job.training.steps = {.law = config::Law::kUniform, .a = 100, .b = 100000};
  const auto shared = std::make_shared<config::JobConfig>(job);
  const auto total = [&](std::uint32_t index, std::uint64_t seed) {
    return JobWorkload(shared, trace::JobIndex(index), seed).total_work();
  };
  EXPECT_EQ(total(0, 1), total(0, 1));
  EXPECT_NE(total(0, 1), total(1, 1));
  EXPECT_NE(total(0, 1), total(0, 2));
}

TEST(WorkloadTest, SettlingCountsTrainingUnderWayAsUseful) {
  WorkloadHarness host(MultiWorker(1));
  host.SpawnAll(host.SpecOf(1));
  host.Until(25s);
  host.Settle();
  EXPECT_EQ(host.account().wall.useful, Duration(23s).count());
  EXPECT_EQ(host.account().wall.checkpoint, Duration(2s).count());
}

}  // namespace
}  // namespace tfyarn::sim::workload_test
