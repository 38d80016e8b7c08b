#include <gtest/gtest.h>

#include "core/trace/result.h"
#include "tests/unit/core/trace/trace_script.h"

namespace tfyarn::trace::result_builder_test {
namespace {

constexpr TrainingPhase kTraining = TrainingPhase::kTraining;
const TaskId kWorker0{"worker", 0};
const TaskId kWorker1{"worker", 1};

double MetricOf(const Result& result, const std::string& name) {
  const auto value = Lookup(result, name);
  EXPECT_TRUE(value && value->number) << name;
  return value && value->number ? *value->number : -1;
}

/// One job of two 8-GPU workers on two nodes; the node of the second dies at 400 s and is replaced
/// by a third.
TraceScript WorkerNodeDies() {
  TraceScript script;
  script.Fact(RunStarted{.scenario = "worker-node-dies", .scenario_digest = 5, .seed = 1});
  script.Node("gpu-1", 8).Node("gpu-2", 8).Node("gpu-3", 8);
  script.Job("a", 0, 16).Client(ApplicationSubmitted{.application = {0, 1}, .resubmission = 0});
  script.At(1).Grant(0, 1, "gpu-1", 0, true).AmStarts(0);
  script.At(1.2).AmRegisters(0).Am(JobStateChanged{JobState::kAllocating});
  script.At(2).Grant(0, 2, "gpu-1", 8);
  script.At(3.4).Grant(0, 3, "gpu-2", 8).Am(GangCompleted{.epoch = Epoch(1), .containers = 2});
  script.At(5).Am(SpecAssembled{.spec = SpecRef(SpecId(9), nullptr), .epoch = Epoch(1)});
  script.At(5.6).Starts(0, kWorker0, 0, 2, "gpu-1").Starts(0, kWorker1, 0, 3, "gpu-2");
  script.Am(JobStateChanged{JobState::kRunning}).Phase(0, kTraining);
  script.At(400).Fact(
      FaultBegan{.fault = 0, .instance = 0, .kind = "node_crash", .target = "gpu-2"});
  script.Fact(NodePower{.node = {"gpu-2", 1}, .up = false}).Phase(0, TrainingPhase::kIdle);
  script.Fact(WorkLost{.job = JobIndex(0), .work = 40s});
  script.Fact(TrainingAccounted{.job = JobIndex(0),
                                .useful = 354400ms * 16,
                                .checkpoint = 0s,
                                .lost = 40s * 16,
                                .restore = 0s});
  script.At(404.6).Ends(0, kWorker1, 0, 3, "gpu-2", -100, ExitClass::kHeartbeatLost);
  script.Am(RestartDecided{.unit = RestartUnit::kGang,
                           .paid = Budget::kInfrastructure,
                           .epoch = Epoch(2),
                           .cause = {},
                           .tasks = {kWorker0, kWorker1}});
  script.At(405).Ends(0, kWorker1, 0, 3, "gpu-2", -100, ExitClass::kNodeLost).Free(0, 3, -100);
  script.Ends(0, kWorker0, 0, 2, "gpu-1", 143, ExitClass::kKilledByUs);
  script.At(408).Grant(0, 4, "gpu-3", 8).Am(GangCompleted{.epoch = Epoch(2), .containers = 2});
  script.At(411).Starts(0, kWorker0, 1, 2, "gpu-1", 2).Starts(0, kWorker1, 1, 4, "gpu-3", 2);
  script.At(412).Phase(0, TrainingPhase::kRestore);
  script.At(417).Phase(0, kTraining);
  script.At(1000)
      .Fact(FaultEnded{.fault = 0, .instance = 0})
      .Fact(NodePower{.node = {"gpu-2", 1}, .up = true});
  script.At(1099).Phase(0, TrainingPhase::kDone);
  script.Fact(TrainingAccounted{
      .job = JobIndex(0), .useful = 682s * 16, .checkpoint = 0s, .lost = 0s, .restore = 5s * 16});
  script.Ends(0, kWorker0, 1, 2, "gpu-1", 0, ExitClass::kOk)
      .Ends(0, kWorker1, 1, 4, "gpu-3", 0, ExitClass::kOk);
  script.Am(VerdictReached{.status = JobStatus::kSucceeded,
                           .diagnostics = "all workers ended 0",
                           .cause = {},
                           .rule = "default/ok"});
  script.Free(0, 2).Free(0, 4);
  script.At(1100).Free(0, 1).End(0, JobStatus::kSucceeded);
  script.At(1160).Stop(StopReason::kQuiescent);
  return script;
}

TEST(ResultBuilderTest, AJobsFieldsComeFromItsRecords) {
  const Result result = WorkerNodeDies().Finish();
  ASSERT_EQ(result.jobs.size(), 1U);
  const JobResult& job = result.jobs[0];

  EXPECT_EQ(result.scenario, "worker-node-dies");
  EXPECT_EQ(result.seed, 1U);
  EXPECT_EQ(job.status, JobStatus::kSucceeded);
  EXPECT_EQ(job.diagnostics, "all workers ended 0");
  EXPECT_EQ(job.rule, "default/ok");
  EXPECT_EQ(job.application, (ApplicationId{0, 1}));
  EXPECT_EQ(job.am_registered, Second(1.2));
  EXPECT_EQ(job.gang_complete, Second(3.4));
  EXPECT_EQ(job.started, Second(5.6));
  EXPECT_EQ(job.finished, Second(1100));
  EXPECT_EQ(job.queue_wait(), 1200ms);
  EXPECT_EQ(job.gang_wait(), 2200ms);
  EXPECT_EQ(job.start_wait(), 5600ms);
  EXPECT_EQ(job.epochs, 2U);
  EXPECT_EQ(job.am_attempts, 1);
  EXPECT_EQ(job.restarts.gang, 1);
  EXPECT_EQ(job.restarts.task, 0);
  EXPECT_EQ(job.containers, 3);
  EXPECT_EQ(job.lost_work, 40s);
}

TEST(ResultBuilderTest, GpuTimeIsSplitExactly) {
  const Result result = WorkerNodeDies().Finish();
  const GpuSplit& gpu = result.jobs[0].gpu;
  // Container 2 from 2 to 1099, container 3 from 3.4 to 405, container 4 from 408 to 1099.
  EXPECT_EQ(gpu.held,
            static_cast<GpuNanos>(8) * (1'097'000'000'000 + 401'600'000'000 + 691'000'000'000));
  EXPECT_EQ(gpu.sum(), gpu.held);
  EXPECT_EQ(ToSeconds(gpu.lost), 640);
  // Idle from 400 to 412 with 16, 8 and 16 GPUs, and 5 s of restoring.
  EXPECT_EQ(ToSeconds(gpu.recovery), 5 * 16 + 3 * 8 + 4 * 16 + 5 * 16);
  EXPECT_EQ(gpu.overrun, 0);
}

TEST(ResultBuilderTest, TheLatestAccountOfAnAttemptsEndCounts) {
  const Result result = WorkerNodeDies().Finish();
  const std::vector<TaskResult>& tasks = result.jobs[0].tasks;
  ASSERT_EQ(tasks.size(), 2U);
  ASSERT_EQ(tasks[1].attempts.size(), 2U);
  const AttemptResult& lost = tasks[1].attempts[0];
  EXPECT_EQ(tasks[1].task, kWorker1);
  EXPECT_EQ(lost.exit_class, ExitClass::kNodeLost);
  EXPECT_EQ(lost.exit, -100);
  EXPECT_EQ(lost.node, "gpu-2");
  EXPECT_EQ(lost.started, Second(5.6));
  EXPECT_EQ(lost.finished, Second(404.6));
  EXPECT_EQ(tasks[1].attempts[1].epoch, Epoch(2));
  EXPECT_EQ(tasks[1].attempts[1].node, "gpu-3");
}

TEST(ResultBuilderTest, AnAmThatIsCutOffTellsNothingOfItsSuccessorsTasks) {
  TraceScript script;
  script.Job("a").Grant(0, 1, "n1", 0, true).Grant(0, 2, "n2", 1);
  script.AmStarts(0).AmStarts(0, 2);
  const TaskAttemptEnded ended{.task = kWorker0,
                               .process = {.epoch = Epoch(1)},
                               .container = TraceScript::Container(0, 2),
                               .exit_class = ExitClass::kOk};
  TaskAttemptEnded lost = ended;
  lost.exit_class = ExitClass::kHeartbeatLost;
  script.Am(JobStateChanged{.state = JobState::kRunning}).Am(ended);
  for (const AmAction& action : {AmAction(lost), AmAction(JobStateChanged{JobState::kAllocating})})
    script.Fact(AmOrdered{.job = JobIndex(0), .am_attempt = 1, .action = action});
  const Result result = script.Finish();
  ASSERT_EQ(result.jobs[0].tasks.size(), 1U);
  EXPECT_EQ(result.jobs[0].tasks[0].attempts.at(0).exit_class, ExitClass::kOk);
  EXPECT_EQ(result.jobs[0].state, JobState::kRunning);
}

TEST(ResultBuilderTest, AFaultIsDetectedByItsNodeAndRecoveredWhenTheJobTrainsAgain) {
  const Result result = WorkerNodeDies().Finish();
  ASSERT_EQ(result.faults.size(), 1U);
  EXPECT_EQ(result.faults[0].at, Second(400));
  EXPECT_EQ(result.faults[0].ended, Second(1000));
  EXPECT_EQ(result.faults[0].detected, Second(404.6));
  EXPECT_EQ(result.faults[0].recovered, Second(412));
}

TEST(ResultBuilderTest, AFaultThatNobodyHadToNoticeIsNeverDetected) {
  TraceScript script;
  script.Node("n1", 8).Node("n2", 8).Job("a");
  script.At(1).Fact(FaultBegan{.fault = 2, .instance = 0, .kind = "node_crash", .target = "n2"});
  script.At(2).Ends(0, kWorker0, 0, 2, "n1", 1, ExitClass::kUserPermanent);
  const Result result = script.Finish();
  EXPECT_FALSE(result.faults[0].detected);
  EXPECT_FALSE(result.faults[0].recovered);
}

TEST(ResultBuilderTest, ANodeFaultIsNoticedAlsoByTheReplacedAmThatRanThere) {
  TraceScript script;
  script.Node("n1", 8).Node("n2", 8).Job("a").Grant(0, 1, "n1", 0, true).AmStarts(0);
  script.At(10).Fact(
      FaultBegan{.fault = 0, .instance = 0, .kind = "node_crash", .target = "n3, n1 and 4 more"});
  script.At(20).Free(0, 1).Grant(0, 9, "n2", 0, true).AmStarts(0, 2);
  script.At(30).Am(JobStateChanged{JobState::kRunning});
  const Result result = script.Finish();
  EXPECT_EQ(result.faults[0].detected, Second(20));
  EXPECT_EQ(result.faults[0].recovered, Second(30));
}

TEST(ResultBuilderTest, AFaultOfATaskIsRecoveredWhenItsNextProcessRunsBesideTraining) {
  TraceScript script;
  script.Node("n1", 8).Job("a").Phase(0, kTraining);
  script.At(10).Fact(
      FaultBegan{.fault = 0, .instance = 0, .kind = "container_exit", .target = "a worker:1"});
  script.At(11).Ends(0, kWorker1, 0, 2, "n1", 75, ExitClass::kUserRetryable);
  script.At(12).Starts(0, kWorker0, 4, 2, "n1");
  script.At(15).Starts(0, kWorker1, 1, 2, "n1");
  const Result result = script.Finish();
  EXPECT_EQ(result.faults[0].detected, Second(11));
  EXPECT_EQ(result.faults[0].recovered, Second(15));
}

// A month later the same node may break a process for another reason.
TEST(ResultBuilderTest, AnOldFaultIsNotBlamedForALaterFailureOnItsNode) {
  TraceScript script;
  script.Node("n1", 8).Job("a");
  script.At(1).Fact(FaultBegan{.fault = 0, .instance = 0, .kind = "slow_node", .target = "n1"});
  script.At(2).Fact(FaultEnded{.fault = 0, .instance = 0});
  script.At(2e6).Ends(0, kWorker0, 0, 2, "n1", 1, ExitClass::kUserPermanent);
  EXPECT_FALSE(script.Finish().faults[0].detected);
}

TEST(ResultBuilderTest, UtilizationCountsHeldGpusOfNodesThatAreUp) {
  const Result result = WorkerNodeDies().Finish();
  // 24 GPUs for 1100 s, less gpu-2's 8 from 400 to 1000; held as in the split, less what gpu-2 held
  // while it was down.
  const double capacity = 24 * 1100.0 - 8 * 600;
  const double held = 8 * (1097 + 401.6 + 691) - 8 * 5;
  EXPECT_NEAR(MetricOf(result, "gpu_utilization"), held / capacity, 1e-12);
  EXPECT_NEAR(MetricOf(result, "goodput"), (354.4 + 682) * 16 / (8 * (1097 + 401.6 + 691)), 1e-12);
  EXPECT_EQ(MetricOf(result, "makespan_seconds"), 1100);
  EXPECT_EQ(MetricOf(result, "jobs_finished"), 1);
}

TEST(ResultBuilderTest, ASeriesPointNeverExceedsTheCapacity) {
  const Result result = WorkerNodeDies().Finish();
  for (const UseIntegral& bucket : result.usage.buckets) {
    GpuNanos sum = 0;
    for (const GpuNanos amount : bucket) {
      EXPECT_GE(amount, 0);
      sum += amount;
    }
    EXPECT_LE(sum, static_cast<GpuNanos>(24) * result.usage.width.count());
  }
}

TEST(ResultBuilderTest, WithoutAClientTheRmsWordEndsTheJob) {
  TraceScript script;
  script.Node("n1", 8).Job("a");
  script.At(5).Am(JobStateChanged{JobState::kRunning});
  script.At(50).Am(VerdictReached{.status = JobStatus::kFailed,
                                  .diagnostics = "ps:0 died",
                                  .cause = Cause{.task = {"ps", 0}, .exit = 137},
                                  .rule = "r"});
  script.At(60).Fact(ApplicationEnded{.job = JobIndex(0),
                                      .application = {0, 1},
                                      .final_status = yarn::FinalApplicationStatus::kFailed});
  const Result result = script.At(100).Stop(StopReason::kHorizon).Finish();
  EXPECT_EQ(result.jobs[0].status, JobStatus::kFailed);
  EXPECT_EQ(result.jobs[0].finished, Second(60));
  ASSERT_TRUE(result.jobs[0].cause);
  EXPECT_EQ(result.jobs[0].cause->exit, 137);
}

TEST(ResultBuilderTest, AJobHasStartedWhenItRunsOrElseWithItsFirstProcess) {
  for (const bool runs : {true, false}) {
    TraceScript script;
    script.Node("n1", 8).Job("a");
    script.At(5).Starts(0, kWorker0, 0, 2, "n1");
    if (runs) script.At(7).Am(JobStateChanged{JobState::kRunning});
    if (runs) script.At(9).Am(JobStateChanged{JobState::kRunning});
    script.At(60).End(0, JobStatus::kSucceeded);
    EXPECT_EQ(script.Finish().jobs[0].started, Second(runs ? 7 : 5));
  }
}

TEST(ResultBuilderTest, AnAttemptSaysWhereItsProcessListens) {
  TraceScript script;
  script.Node("n1", 8).Job("a");
  script.At(5).Starts(0, kWorker0, 0, 2, "n1");
  script.At(60).Am(PortUseFound{.task = kWorker0,
                                .process = {TaskAttempt(0), Epoch(1)},
                                .container = TraceScript::Container(0, 2),
                                .address = {.host = "n1", .port = 2001},
                                .use = {.listener = PortListener::kNobody, .elsewhere = {5001}}});
  const Result result = script.Finish();
  EXPECT_EQ(result.jobs[0].tasks[0].attempts[0].port,
            "worker:0 listens on 5001, not on its port 2001");
}

TEST(ResultBuilderTest, AResubmittedJobKeepsBothApplicationsAttemptsApart) {
  TraceScript script;
  script.Node("n1", 8).Job("a").Client(
      ApplicationSubmitted{.application = {0, 1}, .resubmission = 0});
  script.AmStarts(0, 1).AmStarts(0, 2);
  script.At(1).Starts(0, kWorker0, 0, 2, "n1").Am(SpecAssembled{.spec = {}, .epoch = Epoch(3)});
  script.At(2).Client(ApplicationSubmitted{.application = {0, 2}, .resubmission = 1});
  AmStarted second;
  second.attempt = {{0, 2}, 1};
  script.Fact(AmTold{.job = JobIndex(0), .am_attempt = 1, .event = second});
  script.At(3).Am(TaskAttemptStarted{.task = kWorker0,
                                     .process = {TaskAttempt(0), Epoch(1)},
                                     .container = {{{0, 2}, 1}, 2},
                                     .node = {"n1", 1}});
  script.Am(SpecAssembled{.spec = {}, .epoch = Epoch(1)});
  const Result result = script.Finish();
  EXPECT_EQ(result.jobs[0].am_attempts, 3);
  EXPECT_EQ(result.jobs[0].restarts.job, 1);
  EXPECT_EQ(result.jobs[0].epochs, 1U);
  EXPECT_EQ(result.jobs[0].tasks[0].attempts.size(), 2U);
  EXPECT_EQ(result.jobs[0].application, (ApplicationId{0, 2}));
}

// Fails when the next container's process is taken for the one that never ran: it would end before
// it started.
TEST(ResultBuilderTest, AContainerInWhichNothingRanIsAnAttemptOfItsOwn) {
  TraceScript script;
  script.Node("n1", 8).Job("a").AmStarts(0, 1);
  const ProcessRef process{TaskAttempt(0), Epoch(1)};
  script.At(1).Am(TaskAttemptEnded{.task = kWorker0,
                                   .process = process,
                                   .container = {{{0, 1}, 1}, 2},
                                   .node = {"n1", 1},
                                   .exit = std::nullopt,
                                   .exit_class = ExitClass::kLaunchError,
                                   .diagnostics = "no disk"});
  script.At(3).Am(TaskAttemptStarted{
      .task = kWorker0, .process = process, .container = {{{0, 1}, 1}, 3}, .node = {"n1", 1}});
  const Result result = script.Finish();
  const std::vector<AttemptResult>& attempts = result.jobs[0].tasks[0].attempts;
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_FALSE(attempts[0].started);
  EXPECT_EQ(attempts[0].finished, Instant{} + 1s);
  EXPECT_EQ(attempts[1].started, Instant{} + 3s);
  EXPECT_FALSE(attempts[1].finished);
}

TEST(ResultBuilderTest, MoreThanAThousandJobsGoWithoutTasksUnlessAsked) {
  for (const bool always : {false, true}) {
    TraceScript script({.always_tasks = always});
    script.Node("n1", 8);
    for (std::uint32_t job = 0; job <= kMaxJobsWithTasks; ++job) {
      script.Job("j" + std::to_string(job), job).Starts(job, kWorker0, 0, 2, "n1");
    }
    const Result result = script.Finish();
    EXPECT_EQ(result.tasks_kept, always);
    EXPECT_EQ(result.jobs[0].tasks.empty(), !always);
  }
}

TEST(ResultBuilderTest, MetricsCountJobsSubmittedAfterTheWarmup) {
  TraceScript script({.warmup = 100s});
  script.Node("n1", 8);
  script.At(0).Job("early", 0).Grant(0, 2, "n1", 8);
  script.At(150).Job("late", 1);
  script.At(200).Free(0, 2).End(0, JobStatus::kSucceeded);
  script.At(300).End(1, JobStatus::kFailed);
  const Result result = script.Finish();
  EXPECT_EQ(MetricOf(result, "jobs_submitted"), 1);
  EXPECT_EQ(MetricOf(result, "jobs_failed"), 1);
  EXPECT_EQ(MetricOf(result, "jct_mean_seconds"), 150);
  EXPECT_EQ(MetricOf(result, "gpu_utilization"),
            0.5);  // 8 GPUs from 100 to 300, all held until 200
}

TEST(ResultBuilderTest, AClusterWithoutGpusIsMeasuredInVcores) {
  TraceScript script;
  script.Node("n1", 0, 4).Job("a").Grant(0, 1, "n1", 0);
  script.At(10).Free(0, 1).End(0, JobStatus::kSucceeded);
  const Result result = script.Finish();
  EXPECT_FALSE(result.usage.gpus);
  EXPECT_EQ(MetricOf(result, "cluster_utilization"), 0.25);
  EXPECT_EQ(Lookup(result, "gpu_utilization")->text, "null");
}

TEST(ResultBuilderTest, ARunIsDeadlockedWhenNoUnfinishedJobMovesAtTheHorizon) {
  const auto run = [](TrainingPhase phase, StopReason reason) {
    TraceScript script;
    script.Node("n1", 8).Job("a", 0).Job("b", 1).Phase(1, phase);
    return script.At(10).Stop(reason).Finish().deadlocked;
  };
  EXPECT_TRUE(run(TrainingPhase::kIdle, StopReason::kHorizon));
  EXPECT_FALSE(run(kTraining, StopReason::kHorizon));
  EXPECT_FALSE(run(TrainingPhase::kIdle, StopReason::kInterrupted));
}

TEST(ResultBuilderTest, ViolationsOfInvariantsJoinTheListOfThoseChecked) {
  TraceScript script;
  script.At(3).Fact(InvariantBroken{.invariant = "capacity", .detail = "n1 holds 9 of 8 GPUs"});
  script.At(4).Fact(InvariantBroken{.invariant = "capacity", .detail = "again"});
  RunFacts facts;
  facts.invariants = {{.name = "one-owner", .checked = 5}, {.name = "capacity", .checked = 9}};
  const Result result = script.Finish(std::move(facts));
  ASSERT_EQ(result.invariants.size(), 2U);
  EXPECT_EQ(result.invariants[1].violations, 2U);
  EXPECT_EQ(result.invariants[1].first_at, Second(3));
  EXPECT_EQ(result.invariants[1].first_detail, "n1 holds 9 of 8 GPUs");
}

TEST(ResultBuilderTest, AnInvariantThatIsOnNoListIsAppendedUnderItsName) {
  TraceScript script;
  script.At(3).Fact(InvariantBroken{.invariant = "capacity", .detail = "n1 holds 9 of 8 GPUs"});
  const Result result = script.Finish();
  ASSERT_EQ(result.invariants.size(), 1U);
  EXPECT_EQ(result.invariants[0].name, "capacity");
  EXPECT_EQ(result.invariants[0].violations, 1U);
}

TEST(ResultBuilderTest, AFieldCanBeLookedUpWhileTheRunGoesOn) {
  TraceScript script;
  script.Node("n1", 8).Job("v1.2", 0).Grant(0, 2, "n1", 8);
  script.At(10).Fact(ContainersLeaked{.job = JobIndex(0), .containers = 2});
  EXPECT_EQ(script.builder().LookupJob("job/v1.2.leaked_containers")->number, 2);
  EXPECT_EQ(script.builder().LookupJob("job/v1.2.gpu_seconds.waiting")->number, 80);
  EXPECT_EQ(script.builder().LookupJob("job/v1.2.status")->text, "UNFINISHED");
  EXPECT_FALSE(script.builder().LookupJob("job/v1.epochs"));
  EXPECT_FALSE(script.builder().LookupJob("job/v1.2.nonsense"));
}

TEST(ResultBuilderTest, AContainerGrantedAndFreedAfterItsJobsEndIsStillCounted) {
  TraceScript script;
  script.Node("n1", 8).Job("a").Grant(0, 2, "n1", 8);
  script.At(10).Free(0, 2).End(0, JobStatus::kKilled);
  script.At(20).Grant(0, 3, "n1", 8);
  script.At(21).Free(0, 3);
  const Result result = script.Finish();
  EXPECT_EQ(ToSeconds(result.jobs[0].gpu.held), 88);
  EXPECT_EQ(result.jobs[0].gpu.sum(), result.jobs[0].gpu.held);
}

TEST(ResultBuilderTest, AnAmThatMissedTheAnswerToItsRegistrationIsRegistered) {
  TraceScript script;
  script.Node("n", 8).Job("a", 0, 0);
  script.At(1).Grant(0, 1, "n", 0, true).AmStarts(0);
  const yarn::RpcError refused{.code = yarn::RpcErrorCode::kInvalidApplicationMasterRequest,
                               .message = "Application Master is already registered"};
  script.At(11).Fact(AmTold{.job = JobIndex(0),
                            .am_attempt = 1,
                            .event = RmReplied{.call = CallId(2), .response = refused}});
  script.At(20).Am(GangCompleted{.epoch = Epoch(1), .containers = 2});
  script.At(50).AmStarts(0, 2).AmRegisters(0);
  const Result result = script.Finish();
  EXPECT_EQ(result.jobs[0].queue_wait(), 11s);
  EXPECT_EQ(result.jobs[0].gang_wait(), 9s) << "and not before the second attempt, at -30 s";
}

TEST(ResultBuilderTest, AnEpochIsKnownByItsProcessesWhereItsAmCouldNotTell) {
  TraceScript script;
  script.Node("n", 8).Job("a", 0, 8);
  script.At(10).AmStarts(0, 2).AmRegisters(0);
  script.At(11).Starts(0, kWorker0, 1, 2, "n", 2);
  EXPECT_EQ(script.Finish().jobs[0].epochs, 2U);
}

// Nothing but the ResourceManager says how such a job ended.
TEST(ResultBuilderTest, AMasterThatHasNoAttemptLeftIsTheCause) {
  const std::string diagnostics =
      "Application application_1_0001 failed 2 times due to AM Container for appattempt_1_0001_02 "
      "exited with  exitCode: 137";
  TraceScript script;
  script.At(0).Fact(RunStarted{.scenario = "s"}).Job("a");
  script.At(9).Client(tfyarn::JobEnded{.status = JobStatus::kFailed, .diagnostics = diagnostics});
  const Result lost = script.Finish();
  EXPECT_EQ(lost.jobs[0].rule, "yarn/am-attempts");
  ASSERT_TRUE(lost.jobs[0].cause.has_value());
  EXPECT_EQ(lost.jobs[0].cause->exit_class, ExitClass::kAmLost);
  EXPECT_EQ(lost.jobs[0].cause->detail, diagnostics);

  TraceScript other;
  other.At(0).Fact(RunStarted{.scenario = "s"}).Job("a");
  other.At(9).Client(
      tfyarn::JobEnded{.status = JobStatus::kFailed, .diagnostics = "queue q is stopped"});
  EXPECT_FALSE(other.Finish().jobs[0].cause.has_value());
}

TEST(ResultBuilderTest, AnEndThatIsNotTheVerdictsHasNothingOfIt) {
  for (const JobStatus verdict : {JobStatus::kSucceeded, JobStatus::kFailed}) {
    TraceScript script;
    script.Job("a").Grant(0, 1, "n1", 0, true).AmStarts(0);
    script.At(5).Am(VerdictReached{.status = verdict,
                                   .diagnostics = "as it was decided",
                                   .cause = Cause{.exit_class = ExitClass::kOom},
                                   .rule = "default/it"});
    script.At(9).Client(
        tfyarn::JobEnded{.status = JobStatus::kFailed, .diagnostics = "no AM for 5s"});
    const JobResult job = script.Finish().jobs.at(0);
    const bool by_verdict = verdict == JobStatus::kFailed;
    EXPECT_EQ(job.diagnostics, by_verdict ? "as it was decided" : "no AM for 5s");
    EXPECT_EQ(job.rule, by_verdict ? "default/it" : "");
    EXPECT_EQ(job.cause.has_value(), by_verdict);
  }
}

}  // namespace
}  // namespace tfyarn::trace::result_builder_test
