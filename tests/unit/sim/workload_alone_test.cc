// Strategy independent: every task trains for itself.
#include <gtest/gtest.h>

#include "tests/unit/sim/workload_harness.h"

namespace tfyarn::sim::workload_alone_test {
namespace {

config::JobConfig Independent(int workers) {
  config::JobConfig job;
  job.spec.name = "a";
  job.spec.strategy = Strategy::kIndependent;
  job.spec.tasks = {TaskType("worker", workers, 2)};
  job.training = UsualTraining();
  return job;
}

TEST(WorkloadAloneTest, EveryTaskDoesAllTheStepsByItself) {
  WorkloadHarness host(Independent(2));
  const SpecRef spec = host.SpecOf(1);
  host.Spawn(kWorker0, spec);
  host.Until(30s);
  host.Spawn(kWorker1, spec);
  host.Until(500s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"0s training", "109s worker:0 exit 0", "139s done", "139s worker:1 exit 0"}));
  EXPECT_EQ(host.account().gpu.useful, Duration(400s).count());
}

TEST(WorkloadAloneTest, ALossConcernsNobodyElseAndARestartGoesOnFromItsOwnCheckpoint) {
  WorkloadHarness host(Independent(2));
  const SpecRef spec = host.SpecOf(1);
  host.SpawnAll(spec);
  host.Until(25s);
  host.Exit(kWorker0, 1);
  host.Until(40s);
  host.Spawn(kWorker0, host.SpecOf(2), 1);
  host.Until(500s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "25s worker:0 exit 1", "25s lost 3s",
                                 "109s worker:1 exit 0", "132s done", "132s worker:0 exit 0"}));
  EXPECT_EQ(host.account().wall.restore, Duration(5s).count());
}

TEST(WorkloadAloneTest, AStandingTaskStandsAlone) {
  WorkloadHarness host(Independent(2));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker0, true);
  host.Until(120s);
  host.Freeze(kWorker0, false);
  host.Until(500s);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "109s idle", "109s worker:1 exit 0",
                                 "120s training", "224s done", "224s worker:0 exit 0"}));
}

TEST(WorkloadAloneTest, SigtermWithACheckpointSavesTheTasksOwnWork) {
  config::JobConfig job = Independent(1);
  job.behavior = {{.on_term = config::OnTerm{.checkpoint = true, .after = Const(2), .exit = 75}}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(8s);
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(20s);
  host.SpawnAll(host.SpecOf(1), 1);
  host.Until(25s);
  EXPECT_EQ(host.account().wall.lost, 0);
  EXPECT_EQ(host.account().wall.useful, Duration(8s).count());
}

TEST(WorkloadAloneTest, AStoppedTaskShowsAndHearsItsSigtermAfterSigcont) {
  WorkloadHarness host(Independent(1));
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker0, true);
  EXPECT_EQ(host.TakeSigns(), Log{"worker:0 stopped"});
  host.Signal(kWorker0, StopSignal::kTerm);
  host.Until(7s);
  host.Signal(kWorker0, StopSignal::kContinue);
  EXPECT_EQ(host.TakeSigns(), Log{"worker:0 none"});
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle", "7s training", "7s worker:0 signal 15",
                                 "7s lost 5s", "7s idle"}));
}

TEST(WorkloadAloneTest, WhatWasPutOffByAStandstillHappensWhenItEnds) {
  config::JobConfig job = Independent(1);
  job.behavior = {{.after = Const(10), .exit = 4}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(5s);
  host.Freeze(kWorker0, true);
  host.Until(50s);
  EXPECT_EQ(host.workload.next_deadline(), std::nullopt);
  host.Freeze(kWorker0, false);
  EXPECT_EQ(host.TakeLog(), (Log{"0s training", "5s idle", "50s training", "50s worker:0 exit 4",
                                 "50s lost 5s", "50s idle"}));
}

TEST(WorkloadAloneTest, ATaskThatListensLateTakesPartThenAndIsSeenAtTheDeadlineBefore) {
  config::JobConfig job = MultiWorker(2);
  job.spec.deadlines.listen = 10s;
  job.behavior = {{.task = "worker:1", .listens = Const(30)}};
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(31s);
  EXPECT_EQ(host.TakeLog(),
            (Log{"10s worker:1 port: nobody", "30s worker:1 port: ours", "30s training"}));
}

// A thousand processes cost a handful of events each, not more.
TEST(WorkloadAloneTest, EventsGrowWithProcessesAndNotWithTime) {
  config::JobConfig job = Independent(1000);
  job.training.steps = Const(1e8);
  WorkloadHarness host(job);
  host.SpawnAll(host.SpecOf(1));
  host.Until(24h * 365);
  EXPECT_LE(host.steps, 1);
  EXPECT_EQ(host.TakeLog().size(), 1002U);
}

}  // namespace
}  // namespace tfyarn::sim::workload_alone_test
