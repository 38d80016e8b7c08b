// Parameter-server training: what TensorFlow's ParameterServerStrategy was measured to do.
#include <gtest/gtest.h>

#include "tests/unit/sim/workload_harness.h"

namespace tfyarn::sim::workload_ps_test {
namespace {

// Measured: the chief ends with 0; workers and ps never end, the launcher stops them.
TEST(WorkloadPsTest, OnlyTheChiefEndsWhenTrainingIsDone) {
  WorkloadHarness host(ParameterServer(1, 2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(1000s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s done", "109s chief:0 exit 0"}));
  host.Signal(kPs0, StopSignal::kTerm);
  EXPECT_EQ(host.TakeLog(), Log{"1000s ps:0 signal 15"});
}

TEST(WorkloadPsTest, StartOrderIsFree) {
  WorkloadHarness host(ParameterServer(1, 2));
  const SpecRef spec = host.SpecOf(1);
  host.Spawn(kChief0, spec);
  host.Until(70s);
  host.Spawn(kWorker1, spec);
  host.Until(80s);
  EXPECT_EQ(host.TakeLog(), Log{});
  host.Spawn(kPs0, spec);
  EXPECT_EQ(host.TakeLog(), Log{"80s training"});
}

TEST(WorkloadPsTest, SpeedDoesNotDependOnTheNumberOfWorkers) {
  for (const int workers : {1, 8}) {
    WorkloadHarness host(ParameterServer(2, workers));
    host.SpawnAll(host.SpecOf(1));
    host.Until(500s);
    EXPECT_EQ(host.TakeLog()[1], "109s done") << workers;
  }
}

// Measured: the chief goes on with the other worker at once; only without any does it stand.
TEST(WorkloadPsTest, ALostWorkerDelaysNothingUnlessItWasTheLast) {
  WorkloadHarness host(ParameterServer(1, 2));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(5s);
  host.Vanish(kWorker0);
  host.Until(7s);
  EXPECT_EQ(host.TakeLog(), Log{"0s training"});
  host.Exit(kWorker1, 1);
  host.Until(20s);
  EXPECT_EQ(host.TakeLog(), (Log{"7s worker:1 exit 1", "7s idle"}));
  host.Spawn(kWorker1, spec, 1);
  host.Until(200s);
  // 13 s without a worker; nothing was lost and nothing restored.
  EXPECT_EQ(host.TakeLog(), (Log{"20s training", "122s done", "122s chief:0 exit 0"}));
  EXPECT_EQ(host.account().wall.lost, 0);
  EXPECT_EQ(host.account().gpu.useful, Duration(15s + 4s + 93s * 2).count());
}

// Measured: the chief exits with 1 about a second later, even if the ps is back at once; the
// workers live on.
TEST(WorkloadPsTest, ALostPsEndsTheChief) {
  WorkloadHarness host(ParameterServer(1, 2));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(15s);
  host.Exit(kPs0, 137);
  host.Spawn(kPs0, spec, 1);
  host.Until(60s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "15s ps:0 exit 137", "15s lost 4s", "15s idle",
                                 "16s chief:0 exit 1"}));
  EXPECT_EQ(host.workload.running().size(), 3U);
  host.Spawn(kChief0, host.SpecOf(2), 1);
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"60s restore", "65s training", "163s done", "163s chief:0 exit 0"}));
}

// Measured: restarting ps at a new address with the chief works while the workers keep their old
// TF_CONFIG.
TEST(WorkloadPsTest, ProcessesOfEarlierEpochsTrainWithAChiefWhoseSpecListsTheirAddresses) {
  WorkloadHarness host(ParameterServer(1, 2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Vanish(kPs0);
  host.Until(10s);
  static_cast<void>(host.TakeLog());
  const SpecRef next = host.SpecOf(2, {kPs0});
  host.Spawn(kPs0, next, 1);
  host.Spawn(kChief0, next, 1);
  host.Until(16s);
  EXPECT_EQ(host.TakeLog(), (Log{"10s restore", "15s training"}));
}

// Measured: the chief goes on without a worker that came back at another address; the list is fixed
// in the chief.
TEST(WorkloadPsTest, AWorkerAtANewAddressIsLeftOutUntilTheChiefStartsAgain) {
  WorkloadHarness host(ParameterServer(1, 1));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Vanish(kWorker0);
  const SpecRef next = host.SpecOf(2, {kWorker0});
  host.Spawn(kWorker0, next, 1);
  host.Until(30s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle"}));
  host.Exit(kChief0, 1);
  host.Spawn(kChief0, next, 1);
  host.Until(40s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"30s chief:0 exit 1", "30s lost 5s", "30s restore", "35s training"}));
}

// Measured: kill -9 of the chief leaves the others alive; the chief alone starts again and resumes.
TEST(WorkloadPsTest, ALostChiefCostsItsUnsavedWorkAndNobodyElseEnds) {
  WorkloadHarness host(ParameterServer(1, 1));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(5s);
  host.Exit(kChief0, 1);
  host.Until(100s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s chief:0 exit 1", "5s lost 5s", "5s idle"}));
  host.Spawn(kChief0, spec, 1);
  host.Until(105s);
  EXPECT_EQ(host.TakeLog(), (Log{"100s restore", "105s training"}));
}

// Measured: SIGSTOP of a worker stalls the chief, with no error for as long as it was watched;
// killing it frees it.
TEST(WorkloadPsTest, AStandingWorkerStallsTheChiefUntilItIsKilled) {
  WorkloadHarness host(ParameterServer(1, 2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker0, true);
  host.Until(105s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle"}));
  host.Signal(kWorker0, StopSignal::kKill);
  EXPECT_EQ(host.TakeLog(), (Log{"105s worker:0 signal 9", "105s training"}));
}

TEST(WorkloadPsTest, SlowWorkersDoNotSlowTrainingButASlowPsDoes) {
  config::JobConfig job = ParameterServer(1, 1);
  job.training.checkpoint = {};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Pace(kWorker0, 4000);
  host.Until(50s);
  host.Pace(kPs0, 2000);
  host.Until(500s);
  EXPECT_EQ(host.TakeLog()[1], "150s done");
}

TEST(WorkloadPsTest, PeerLossOfTheJobEndsWorkersToo) {
  config::JobConfig job = ParameterServer(1, 2);
  job.training.peer_loss = config::PeerLossSpec{.wait = false, .after = 10s, .exit = 75};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Vanish(kChief0);
  host.Until(50s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s lost 5s", "5s idle", "15s worker:0 exit 75",
                                 "15s worker:1 exit 75"}));
}

// Without a chief (between-graph replication) the workers drive the training and end with it.
TEST(WorkloadPsTest, WithoutAChiefWorkersTrainAndEnd) {
  config::JobConfig job = ParameterServer(1, 2);
  job.spec.tasks.erase(job.spec.tasks.begin());
  WorkloadHarness host(job);
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(5s);
  host.Vanish(kPs0);
  host.Until(20s);
  host.Spawn(kPs0, spec, 1);
  host.Until(500s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "5s lost 5s", "5s idle", "20s restore", "25s training", "134s done",
                 "134s worker:0 exit 0", "134s worker:1 exit 0"}));
}

TEST(WorkloadPsTest, AChiefThatStartsAgainAfterTheEndRestoresAndEnds) {
  WorkloadHarness host(ParameterServer(1, 1));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(150s);
  static_cast<void>(host.TakeLog());
  host.Spawn(kChief0, spec, 1);
  host.Until(200s);
  EXPECT_EQ(host.TakeLog(), (Log{"150s restore", "155s done", "155s chief:0 exit 0"}));
}

}  // namespace
}  // namespace tfyarn::sim::workload_ps_test
