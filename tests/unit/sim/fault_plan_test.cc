#include "sim/fault_plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tfyarn::sim::fault_plan_test {
namespace {

using config::FaultSpec;
using config::Target;
using config::TargetKind;

constexpr Instant kStart{};

config::Distribution Const(double value) {
  return config::Distribution::Constant(value);
}

class SmallCluster : public ClusterView {
 public:
  SmallCluster() {
    for (int i = 1; i <= 4; ++i) {
      nodes_.push_back(
          {.name = "gpu-" + std::to_string(i), .rack = i <= 2 ? "r1" : "r2", .labels = {"gpu"}});
    }
    nodes_.push_back({.name = "cpu", .rack = "r1", .labels = {}});
  }
  [[nodiscard]] const std::vector<PlanNode>& nodes() const override { return nodes_; }
  [[nodiscard]] std::optional<std::int32_t> NodeOfTask(std::string_view job,
                                                       const TaskId& task) const override {
    if (job != "a" || task.index >= holding) return std::nullopt;
    return task.index;
  }
  [[nodiscard]] std::vector<TaskId> TasksOfJob(std::string_view job) const override {
    std::vector<TaskId> tasks;
    for (int i = 0; job == "a" && i < holding; ++i) tasks.push_back({.type = "worker", .index = i});
    return tasks;
  }
  [[nodiscard]] std::optional<std::int32_t> NodeOfAm(std::string_view) const override { return 4; }
  [[nodiscard]] bool HasClient(std::string_view) const override { return true; }

  int holding = 2;

 private:
  std::vector<PlanNode> nodes_;
};

Target Node(const char* name) {
  return {.kind = TargetKind::kNode, .name = name};
}
Target Label(const char* name) {
  return {.kind = TargetKind::kLabel, .name = name};
}

/// "400s begin gpu-2" for everything that happens until `end`.
std::vector<std::string> Play(FaultPlan& plan, const ClusterView& cluster, Duration end) {
  std::vector<std::string> log;
  while (const std::optional<Instant> due = plan.next_deadline()) {
    if (*due > kStart + end) break;
    for (const FaultOrder& order : plan.Fire(*due)) {
      log.push_back(
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*due - kStart).count()) +
          "s " + (order.begins ? "begin " : "end ") + DescribeStruck(order, cluster));
    }
  }
  return log;
}

using Log = std::vector<std::string>;

TEST(FaultPlanTest, AFaultWithATimeBeginsAndEndsOnce) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "node_crash", .when = {.at = 400s}, .target = Node("gpu-2"), .duration = Const(60)}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"400s begin gpu-2", "460s end gpu-2"}));
  EXPECT_EQ(plan.next_deadline(), std::nullopt);
}

TEST(FaultPlanTest, ATaskIsStruckWhereItIsAtThatMoment) {
  SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "node_crash",
       .when = {.at = 1s},
       .target = Target{.kind = TargetKind::kTask, .name = "a", .task = "worker:1"}}};
  FaultPlan plan(faults, cluster, 1);
  const std::vector<FaultOrder> orders = plan.Fire(kStart + 1s);
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].struck,
            (std::vector<Struck>{
                {.kind = StruckKind::kTask, .node = 1, .job = "a", .task = {"worker", 1}}}));
  EXPECT_FALSE(orders[0].lasts);
  EXPECT_EQ(DescribeStruck(orders[0], cluster), "a worker:1");
}

TEST(FaultPlanTest, AWholeJobIsAllItsTasksOrItsClient) {
  const SmallCluster cluster;
  const Target job{.kind = TargetKind::kTask, .name = "a"};
  const std::vector<FaultSpec> faults = {
      {.kind = "container_exit", .when = {.at = 1s}, .target = job},
      {.kind = "client_kill", .when = {.at = 2s}, .target = job}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(plan.Fire(kStart + 1s)[0].struck.size(), 2U);
  EXPECT_EQ(plan.Fire(kStart + 2s)[0].struck,
            (std::vector<Struck>{{.kind = StruckKind::kJob, .job = "a"}}));
}

TEST(FaultPlanTest, AStateOfAJobArmsAFaultOnce) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {{.kind = "am_crash",
                                          .when = {.job = "a", .state = "running", .after = 10s},
                                          .target = Target{.kind = TargetKind::kAm, .name = "a"}}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_TRUE(plan.Watches("a"));
  EXPECT_FALSE(plan.Watches("b"));
  plan.OnJobState(kStart + 1s, "a", JobState::kAllocating);
  plan.OnJobState(kStart + 1s, "b", JobState::kRunning);
  EXPECT_EQ(plan.next_deadline(), std::nullopt);
  plan.OnJobState(kStart + 5s, "a", JobState::kRunning);
  plan.OnJobState(kStart + 50s, "a", JobState::kRunning);
  EXPECT_EQ(Play(plan, cluster, 1h), Log{"15s begin am of a"});
}

/// What the simulator's trace says of job `a`, whose container 1 has worker:0 and 2 worker:1.
class TracedJob {
 public:
  explicit TracedJob(FaultPlan& plan) : plan_(plan) {
    Say(0s, trace::JobCreated{.job = {}, .name = "a"});
    for (std::int32_t i = 0; i < 2; ++i) {
      AgentStarted started;
      started.fence = {.container = Container(i), .task = {"worker", i}};
      Say(0s, trace::AgentTold{.container = Container(i), .event = started});
    }
  }
  static ContainerId Container(std::int32_t i) { return {.id = i + 1}; }
  bool Say(Duration at, trace::Fact fact) {
    return plan_.Observe({.at = kStart + at, .fact = std::move(fact)});
  }
  bool Orders(Duration at, AmAction action) {
    return Say(at, trace::AmOrdered{.am_attempt = 1, .action = std::move(action)});
  }

 private:
  FaultPlan& plan_;
};

TEST(FaultPlanTest, ATasksStatesArmAFault) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "rm_restart", .when = {.job = "a", .state = "registered", .task = "worker:1"}},
      {.kind = "rm_pause", .when = {.job = "a", .state = "running", .task = "worker"}},
      {.kind = "hdfs_down", .when = {.job = "a", .state = "ended", .task = "worker:0", .nth = 2}}};
  FaultPlan plan(faults, cluster, 1);
  TracedJob job(plan);
  for (std::int32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(job.Orders(1s * (i + 1), SendToAgent{.container = TracedJob::Container(i),
                                                   .message = AgentAccepted{}}),
              i == 1);
  }
  EXPECT_FALSE(job.Orders(3s, JobStateChanged{.state = JobState::kRunning}));
  plan.OnJobState(kStart + 3s, "a", JobState::kRunning);
  EXPECT_TRUE(job.Say(
      4s, trace::AgentTold{.container = TracedJob::Container(1), .event = ProcessSpawned{}}));
  EXPECT_FALSE(job.Say(
      5s, trace::AgentTold{.container = TracedJob::Container(0), .event = ProcessExited{}}));
  EXPECT_FALSE(job.Say(
      6s, trace::AgentTold{.container = TracedJob::Container(1), .event = ProcessExited{}}));
  EXPECT_TRUE(job.Say(
      7s, trace::AgentTold{.container = TracedJob::Container(0), .event = ProcessExited{}}));
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"2s begin rm", "4s begin rm", "7s begin hdfs"}));
}

TEST(FaultPlanTest, AnAppendAndAMessageAreCounted) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "rm_restart", .when = {.job = "a", .append = 2, .after = 1s}},
      {.kind = "hdfs_down", .when = {.job = "a", .message = "StopProcess", .nth = 2}},
      {.kind = "rm_pause", .when = {.job = "a", .task = "worker:1", .message = "StopProcess"}}};
  FaultPlan plan(faults, cluster, 1);
  TracedJob job(plan);
  EXPECT_FALSE(job.Orders(1s, AppendJournal{}));
  EXPECT_TRUE(job.Orders(2s, AppendJournal{}));
  const auto stop = [](std::int32_t i) {
    return SendToAgent{.container = TracedJob::Container(i), .message = StopProcess{}};
  };
  EXPECT_FALSE(job.Orders(4s, stop(0)));
  EXPECT_TRUE(job.Orders(5s, stop(1)));
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"3s begin rm", "5s begin hdfs", "5s begin rm"}));
}

TEST(FaultPlanTest, AFaultWaitsForAnother) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "hdfs_down", .when = {.fault = 1, .after = 5s}},
      {.kind = "rm_pause", .when = {.at = 10s}, .duration = Const(20)},
      {.kind = "rm_restart", .when = {.state = "ended", .fault = 1}}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 1h),
            (Log{"10s begin rm", "15s begin hdfs", "30s end rm", "30s begin rm"}));
}

TEST(FaultPlanTest, ARepeatedFaultCountsFromItsOwnEnd) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {{.kind = "node_crash",
                                          .when = {.every = Const(100)},
                                          .target = Node("cpu"),
                                          .duration = Const(30)}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 300s),
            (Log{"100s begin cpu", "130s end cpu", "230s begin cpu", "260s end cpu"}));
}

TEST(FaultPlanTest, PerNodeEveryNodeHasItsOwnClock) {
  const SmallCluster cluster;
  std::vector<FaultSpec> faults = {
      {.kind = "node_crash",
       .when = {.every = config::Distribution{.law = config::Law::kExponential, .a = 1000},
                .per_node = true},
       .target = Label("gpu"),
       .duration = Const(10)}};
  FaultPlan plan(faults, cluster, 1);
  const Log all = Play(plan, cluster, 10000s);
  // Four nodes with a mean of 1,010 s between failures.
  EXPECT_NEAR(static_cast<double>(all.size()), 2 * 4 * 10000.0 / 1010, 25);

  // With only one of the nodes as target, that node fails at the very same times.
  faults[0].target = Node("gpu-3");
  FaultPlan alone(faults, cluster, 1);
  Log of_third;
  for (const std::string& line : all) {
    if (line.find("gpu-3") != std::string::npos) of_third.push_back(line);
  }
  EXPECT_EQ(Play(alone, cluster, 10000s), of_third);
}

TEST(FaultPlanTest, RandomTargetsAreDrawnAnewEachTimeWithoutRepetition) {
  const SmallCluster cluster;
  const auto all = std::make_shared<Target>(Label("gpu"));
  const std::vector<FaultSpec> faults = {
      {.kind = "node_reboot",
       .when = {.every = Const(10)},
       .target = Target{.kind = TargetKind::kRandom, .amount = 2, .of = all}}};
  FaultPlan plan(faults, cluster, 1);
  std::set<std::vector<std::int32_t>> seen;
  for (int i = 1; i <= 50; ++i) {
    const std::vector<FaultOrder> orders = plan.Fire(kStart + 10s * i);
    ASSERT_EQ(orders.size(), 1U);
    ASSERT_EQ(orders[0].struck.size(), 2U);
    EXPECT_LT(orders[0].struck[0].node, orders[0].struck[1].node);
    seen.insert({orders[0].struck[0].node, orders[0].struck[1].node});
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(FaultPlanTest, AFractionIsAtLeastOne) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "slow_node",
       .when = {.at = 1s},
       .target = Target{.kind = TargetKind::kFraction, .amount = 0.1}}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(plan.Fire(kStart + 1s)[0].struck.size(), 1U);
}

TEST(FaultPlanTest, PartitionsHaveTheirGroups) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "partition",
       .when = {.at = 1s},
       .between = {Target{.kind = TargetKind::kRack, .name = "r2"},
                   Target{.kind = TargetKind::kAm, .name = "a"}},
       .duration = Const(5)}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 1h),
            (Log{"1s begin gpu-3, gpu-4 | am of a", "6s end gpu-3, gpu-4 | am of a"}));
}

TEST(FaultPlanTest, WithoutATimeAFaultHoldsFromTheStart) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {{.kind = "drop"},
                                         {.kind = "hdfs_down", .when = {.at = 2s}}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"0s begin everybody", "2s begin hdfs"}));
}

TEST(FaultPlanTest, EndsComeBeforeBeginningsAtOneInstant) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "node_crash", .when = {.at = 10s}, .target = Node("cpu")},
      {.kind = "node_crash", .when = {.at = 5s}, .target = Node("gpu-1"), .duration = Const(5)}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"5s begin gpu-1", "10s end gpu-1", "10s begin cpu"}));
}

TEST(FaultPlanTest, InstancesAreCountedForEachFault) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {
      {.kind = "node_reboot", .when = {.every = Const(10)}, .target = Node("cpu")}};
  FaultPlan plan(faults, cluster, 1);
  EXPECT_EQ(plan.Fire(kStart + 10s)[0].instance, 0U);
  EXPECT_EQ(plan.Fire(kStart + 20s)[0].instance, 1U);
}

// Two sources on one node (source k goes to node k modulo five): it is down while any of them is.
TEST(FaultPlanTest, OutagesOfATraceThatOverlapOnANodeAreOne) {
  const SmallCluster cluster;
  const std::vector<FaultSpec> faults = {{.kind = "trace"}};
  const std::map<std::uint32_t, std::vector<FaultPlan::Outage>> outages = {
      {0,
       {{.source = 1, .from = kStart + 10s, .to = kStart + 20s},
        {.source = 6, .from = kStart + 15s, .to = kStart + 30s},
        {.source = 1, .from = kStart + 40s, .to = kStart + 50s},
        {.source = 2, .from = kStart + 12s, .to = kStart + 13s}}}};
  FaultPlan plan(faults, cluster, 1, outages);
  EXPECT_EQ(Play(plan, cluster, 1h), (Log{"10s begin gpu-2", "12s begin gpu-3", "13s end gpu-3",
                                          "30s end gpu-2", "40s begin gpu-2", "50s end gpu-2"}));
}

}  // namespace
}  // namespace tfyarn::sim::fault_plan_test
