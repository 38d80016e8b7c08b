#include "explore/trial.h"

#include <gtest/gtest.h>

#include "explore/generator.h"

namespace tfyarn::explore::trial_test {
namespace {

const std::string kSmall = R"(schema: tfsim/v1
name: small
cluster: {nodes: [{name: n, count: 2, resources: {memory: 8GiB, vcores: 8}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 1, memory: 1GiB}}
    training: {steps: 100, step_time: 100ms}
expect: [{job: a, status: SUCCEEDED}]
)";

Node Small() {
  return DocumentOf(kSmall).value();
}

TEST(TrialTest, AHealthyRunHasNoProblemUnderAnyRelation) {
  for (const Relation relation :
       {Relation::kNone, Relation::kEveryHeartbeat, Relation::kKeyOrder, Relation::kUnusedNode,
        Relation::kRepeatedMessage, Relation::kShiftedPorts, Relation::kNodeOrder,
        Relation::kLater}) {
    const Trial trial = Try({.document = Small(), .relation = relation},
                            {.simulate = sim::RunScenario, .accepts = {}});
    EXPECT_TRUE(trial.valid);
    EXPECT_TRUE(trial.problems.empty()) << trial.problems[0].sentence;
    EXPECT_GT(trial.records, 0U);
  }
}

TEST(TrialTest, AnExpectationThatBreaksSaysHowTheJobEnded) {
  Node document = Small();
  Set(document, "faults",
      List({Map({{"kind", Text("client_kill")},
                 {"at", Text("5s")},
                 {"target", Map({{"job", Text("a")}})}})}));
  const Trial trial = Try({.document = document, .relation = Relation::kNone},
                          {.simulate = sim::RunScenario, .accepts = {}});
  ASSERT_EQ(trial.problems.size(), 1U);
  EXPECT_TRUE(trial.problems[0].expectation);
  EXPECT_TRUE(
      trial.problems[0].sentence.starts_with("expected {job: a, status: SUCCEEDED}; got KILLED"))
      << trial.problems[0].sentence;
  EXPECT_TRUE(trial.problems[0].at);
}

TEST(TrialTest, WhatIsNoScenarioIsAProblemWithItsPlace) {
  Node document = Small();
  Set(document, "horizon", Text("soon"));
  const Trial trial = Try({.document = document, .relation = Relation::kNone},
                          {.simulate = sim::RunScenario, .accepts = {}});
  EXPECT_FALSE(trial.valid);
  ASSERT_EQ(trial.problems.size(), 1U);
  EXPECT_TRUE(trial.problems[0].sentence.starts_with("not a scenario: "));
}

TEST(TrialTest, WhatIsNotAcceptedIsNotRun) {
  const Laboratory laboratory{
      .simulate = [](const config::Scenario&, const sim::RunOptions&) -> sim::RunOutcome {
        ADD_FAILURE() << "it ran";
        return {};
      },
      .accepts = [](const config::Scenario&) { return false; }};
  const Trial trial = Try({.document = Small(), .relation = Relation::kKeyOrder}, laboratory);
  EXPECT_FALSE(trial.valid);
  EXPECT_TRUE(trial.problems.empty());
}

/// A simulator that says the same of every scenario but that `differs` says.
Simulate StandIn(const std::function<void(const config::Scenario&, const sim::RunOptions&,
                                          trace::Result&)>& differs) {
  return [differs](const config::Scenario& scenario, const sim::RunOptions& options) {
    sim::RunOutcome outcome;
    outcome.result.digest = "same";
    outcome.result.jobs.push_back({.name = "a", .status = JobStatus::kSucceeded});
    differs(scenario, options, outcome.result);
    return outcome;
  };
}

TEST(TrialTest, EachRelationSeesWhatDiffers) {
  const Simulate simulate = StandIn(
      [](const config::Scenario& scenario, const sim::RunOptions& options, trace::Result& result) {
        if (!options.elide) result.digest = "other";
        if (scenario.cluster.nodes.size() > 1) result.jobs[0].epochs = 2;
        if (!scenario.faults.empty() && scenario.faults[0].kind == "duplicate")
          result.jobs[0].status = JobStatus::kFailed;
      });
  const auto sentence = [&](Relation relation) {
    const Trial trial =
        Try({.document = Small(), .relation = relation}, {.simulate = simulate, .accepts = {}});
    return trial.problems.empty() ? std::string() : trial.problems[0].sentence;
  };
  EXPECT_EQ(sentence(Relation::kNone), "");
  EXPECT_EQ(sentence(Relation::kKeyOrder), "");
  EXPECT_EQ(sentence(Relation::kEveryHeartbeat), "relation every-heartbeat: another digest");
  EXPECT_EQ(sentence(Relation::kUnusedNode),
            "relation unused-node: the number of epochs of job a is 2 and not 0");
  EXPECT_EQ(sentence(Relation::kRepeatedMessage),
            "relation repeated-message: the status of job a is FAILED and not SUCCEEDED");
}

TEST(TrialTest, FromAnotherFutureOnNothingIsAddedThatDrawsDelays) {
  const Simulate simulate =
      StandIn([](const config::Scenario& scenario, const sim::RunOptions&, trace::Result& result) {
        if (scenario.cluster.nodes.size() > 1) result.jobs[0].epochs = 2;
        if (!scenario.faults.empty()) result.jobs[0].status = JobStatus::kFailed;
      });
  Node document = Small();
  Set(document, "futures", List({Map({{"from", Text("5s")}, {"seed", Number(3)}})}));
  for (const Relation relation : {Relation::kUnusedNode, Relation::kRepeatedMessage}) {
    const Trial trial =
        Try({.document = document, .relation = relation}, {.simulate = simulate, .accepts = {}});
    EXPECT_TRUE(trial.valid && trial.problems.empty());
  }
}

TEST(TrialTest, AnUnusedNodeMayTakeTheAnswerThatAFaultDrops) {
  for (const bool named : {false, true}) {
    Node fault = Map({{"kind", Text("rm_drop_response")}, {"at", Text("5s")}});
    if (named) Set(fault, "target", Map({{"am", Text("a")}}));
    Node document = Small();
    Set(document, "faults", List({fault}));
    const Trial trial = Try({.document = document, .relation = Relation::kUnusedNode},
                            {.simulate = sim::RunScenario, .accepts = {}});
    EXPECT_EQ(trial.skipped.empty(), named);
  }
}

// The CapacityScheduler activates no application of a cluster without a node.
TEST(TrialTest, AnUnusedNodeMayBeTheOnlyOne) {
  for (const std::int64_t nodes : {1, 2}) {
    Node document = Small();
    Set(ListAt(MapAt(document, "cluster"), "nodes").items.front(), "count", Number(nodes));
    Set(document, "faults",
        List({Map({{"kind", Text("node_decommission")},
                   {"at", Text("5s")},
                   {"target", Map({{"am", Text("a")}})},
                   {"for", Text("3s")}})}));
    const Trial trial = Try({.document = document, .relation = Relation::kUnusedNode},
                            {.simulate = sim::RunScenario, .accepts = {}});
    EXPECT_EQ(trial.skipped.empty(), nodes == 2);
  }
}

TEST(TrialTest, AfterARestartOfTheRmAnUnusedNodeMayMoveWhatAFaultFindsOnAnother) {
  for (const bool restarts : {false, true}) {
    Node document = Small();
    Node faults = List({Map(
        {{"kind", Text("node_crash")}, {"at", Text("5s")}, {"target", Map({{"am", Text("a")}})}})});
    if (restarts) faults.items.push_back(Map({{"kind", Text("rm_restart")}, {"at", Text("1s")}}));
    Set(document, "faults", faults);
    Set(ListAt(MapAt(document, "cluster"), "nodes").items.front(), "count", Number(2));
    const Trial trial = Try({.document = document, .relation = Relation::kUnusedNode},
                            {.simulate = sim::RunScenario, .accepts = {}});
    EXPECT_EQ(trial.skipped.empty(), !restarts);
  }
}

TEST(TrialTest, ASchedulerThatDrawsWhomItServesDrawsMoreBesideAnotherNode) {
  for (const bool several : {false, true}) {
    Node document = Small();
    Set(document, "yarn", Map({{"scheduler", Text("uniform")}}));
    if (several) {
      Node another = document.Find("jobs")->items.front();
      Set(another, "name", Text("b"));
      ListAt(document, "jobs").items.push_back(std::move(another));
    }
    for (const Relation relation : {Relation::kUnusedNode, Relation::kOtherSeed}) {
      const Trial trial = Try({.document = document, .relation = relation},
                              {.simulate = sim::RunScenario, .accepts = {}});
      EXPECT_EQ(trial.skipped.empty(), !several);
      EXPECT_TRUE(trial.problems.empty());
    }
  }
}

TEST(TrialTest, OtherPortsAndAnotherOrderOfNodesMakeNoDifference) {
  Node document = Small();
  ListAt(MapAt(document, "cluster"), "nodes")
      .items.push_back(
          Map({{"name", Text("m")},
               {"resources", Map({{"memory", Text("8GiB")}, {"vcores", Number(8)}})}}));
  const Simulate simulate = StandIn(
      [](const config::Scenario& scenario, const sim::RunOptions& options, trace::Result& result) {
        if (options.shift_ports > 0) result.jobs[0].epochs = 2;
        if (scenario.cluster.nodes.front().name == "m") result.jobs[0].status = JobStatus::kFailed;
      });
  const auto sentence = [&](Relation relation) {
    const Trial trial =
        Try({.document = document, .relation = relation}, {.simulate = simulate, .accepts = {}});
    return trial.problems.empty() ? std::string() : trial.problems[0].sentence;
  };
  EXPECT_EQ(sentence(Relation::kShiftedPorts),
            "relation shifted-ports: the number of epochs of job a is 2 and not 0");
  EXPECT_EQ(sentence(Relation::kNodeOrder),
            "relation node-order: the status of job a is FAILED and not SUCCEEDED");
  // Which node that is depends on their order.
  Set(document, "faults",
      List({Map({{"kind", Text("node_crash")},
                 {"at", Text("5s")},
                 {"target", Map({{"am", Text("a")}})}})}));
  EXPECT_EQ(sentence(Relation::kNodeOrder), "");
}

// Where nodes beat in another order a task has no container yet when the fault strikes.
TEST(TrialTest, AContainerThatAFaultTookInOneOrderOfNodesIsNotComparedWithTheOther) {
  const Node document = DocumentOf(R"(
schema: tfsim/v1
name: small
cluster:
  nodes:
    - {name: n, resources: {memory: 64GiB, vcores: 2}}
    - {name: q, resources: {memory: 64GiB, vcores: 1}}
jobs:
  - name: a
    tasks: {worker: {memory: 1GiB}}
    behavior: [{signal: KILL, out_of_memory: true, after: 800ms}]
faults: [{kind: container_lost, target: {job: a}, at: 2s}]
)")
                            .value();
  const Trial trial = Try({.document = document, .relation = Relation::kNodeOrder},
                          {.simulate = sim::RunScenario, .accepts = {}});
  EXPECT_TRUE(trial.valid);
  EXPECT_TRUE(trial.problems.empty()) << trial.problems[0].sentence;
}

TEST(TrialTest, AnHourLaterMakesNoDifference) {
  Node document = Small();
  Set(document.Find("jobs")->items.front(), "submit", Text("30s"));
  Set(document, "horizon", Text("10m"));
  ListAt(document, "faults") = List({Map({{"kind", Text("node_crash")},
                                          {"at", Text("40s")},
                                          {"target", Map({{"node", Text("n-1")}})}}),
                                     Map({{"kind", Text("node_reboot")},
                                          {"when", Map({{"fault", Number(0)}})},
                                          {"after", Text("5s")},
                                          {"target", Map({{"node", Text("n-1")}})}})});
  std::string rule = "default/success-impossible";
  const Simulate simulate =
      StandIn([&](const config::Scenario& scenario, const sim::RunOptions&, trace::Result& result) {
        if (scenario.jobs.front().submit == 30s) return;
        EXPECT_EQ(scenario.jobs.front().submit, 30s + 1h);
        EXPECT_EQ(scenario.horizon, 10min + 1h);
        EXPECT_EQ(scenario.faults[0].when.at, Duration(40s + 1h));
        EXPECT_EQ(scenario.faults[1].when.after, Duration(5s));
        result.jobs[0].status = JobStatus::kFailed;
        result.jobs[0].rule = rule;
      });
  const auto sentence = [&] {
    const Trial trial = Try({.document = document, .relation = Relation::kLater},
                            {.simulate = simulate, .accepts = {}});
    return trial.problems.empty() ? std::string() : trial.problems[0].sentence;
  };
  EXPECT_EQ(sentence(), "relation later: the status of job a is FAILED and not SUCCEEDED");
  // Of a ResourceManager that has just started more nodes may come.
  rule = "gang/infeasible";
  EXPECT_EQ(sentence(), "");
  rule = "default/success-impossible";
  // What strikes before all nodes have registered moves their heartbeats.
  Node early = document;
  Set(early.Find("faults")->items[0], "at", Text("1s"));
  std::swap(document, early);
  EXPECT_EQ(sentence(), "");
  std::swap(document, early);
  // The next one comes when it comes.
  document.Find("faults")->items.push_back(Map({{"kind", Text("node_crash")},
                                                {"every", Text("1h")},
                                                {"target", Map({{"node", Text("n-1")}})}}));
  EXPECT_EQ(sentence(), "");
}

TEST(TrialTest, WhatYarnEndsForWantOfAttemptsHasComeMoreOrLessFar) {
  // One AM dies before it hears of what the other has decided on, as it started later.
  enum class Cut { kFewer, kMore, kNeither };
  const auto sentence = [&](Relation relation, Cut cut) {
    Node document = Small();
    ListAt(MapAt(document, "cluster"), "nodes")
        .items.push_back(
            Map({{"name", Text("m")},
                 {"resources", Map({{"memory", Text("8GiB")}, {"vcores", Number(8)}})}}));
    const Simulate simulate = StandIn([&](const config::Scenario& scenario,
                                          const sim::RunOptions& options, trace::Result& result) {
      trace::JobResult& job = result.jobs[0];
      const bool further = scenario.cluster.nodes.front().name == "m" || scenario.seed > 1 ||
                           options.shift_ports > 0;
      job.status = JobStatus::kFailed;
      job.rule = (further ? cut == Cut::kMore : cut == Cut::kFewer) ? "yarn/am-attempts"
                                                                    : "default/success-impossible";
      job.restarts.task = further ? 1 : 0;
      job.epochs = further ? 2 : 1;
    });
    const Trial trial =
        Try({.document = document, .relation = relation}, {.simulate = simulate, .accepts = {}});
    return trial.problems.empty() ? std::string() : trial.problems[0].sentence;
  };
  for (const Relation relation : {Relation::kNodeOrder, Relation::kOtherSeed}) {
    EXPECT_EQ(sentence(relation, Cut::kFewer), "");
    for (const Cut cut : {Cut::kMore, Cut::kNeither})
      EXPECT_TRUE(
          sentence(relation, cut).ends_with("the number of restarts of job a is 1 and not 0"));
  }
  // Nodes beat at the same instants.
  EXPECT_NE(sentence(Relation::kShiftedPorts, Cut::kFewer), "");
}

/// A run of so many events, that many in each second, whose job never ends.
Simulate Busy(std::uint64_t in_a_second, std::uint64_t events = 500'000) {
  return StandIn(
      [=](const config::Scenario&, const sim::RunOptions& options, trace::Result& result) {
        result.expectations.push_back(
            {.text = "job/a.status: SUCCEEDED", .passed = events < 2'000'000});
        for (result.events = 0; result.events < events && !*options.interrupt;
             result.events += 20'000) {
          result.stopped = Instant{} + 1s * static_cast<std::int64_t>(result.events / in_a_second);
          options.progress({.now = result.stopped, .horizon = {}, .events = result.events});
        }
      });
}

// The small scenario has two nodes, a job and a task.
TEST(TrialTest, ARunThatGoesRoundInCirclesIsCut) {
  const Trial trial = Try({.document = Small(), .relation = Relation::kNone},
                          {.simulate = Busy(1000), .accepts = {}});
  ASSERT_EQ(trial.problems.size(), 1U);
  EXPECT_EQ(trial.problems[0].sentence,
            "the run goes round in circles: 200000 events within 3m20s");
  EXPECT_EQ(trial.problems[0].at, Instant{} + 200s);
}

TEST(TrialTest, ALongRunGoesOn) {
  const Trial trial = Try({.document = Small(), .relation = Relation::kNone},
                          {.simulate = Busy(100), .accepts = {}});
  EXPECT_FALSE(trial.cut_short);
  EXPECT_TRUE(trial.problems.empty());
}

TEST(TrialTest, ARunThatIsTooLongIsCutAndItsEndNotJudged) {
  const Trial trial = Try({.document = Small(), .relation = Relation::kNone},
                          {.simulate = Busy(100, 1'000'000'000), .accepts = {}});
  EXPECT_TRUE(trial.cut_short);
  EXPECT_TRUE(trial.problems.empty());
}

TEST(TrialTest, WhatIsManyEventsBesideFourNodesIsUsualForAThousand) {
  Node document = Small();
  Set(document, "cluster",
      Map({{"nodes", List({Map({{"name", Text("n")},
                                {"count", Number(1000)},
                                {"resources",
                                 Map({{"memory", Text("8GiB")}, {"vcores", Number(8)}})}})})}}));
  const Trial trial = Try({.document = document, .relation = Relation::kNone},
                          {.simulate = Busy(1000), .accepts = {}});
  EXPECT_TRUE(trial.problems.empty());
}

TEST(TrialTest, NumbersAndTimesDoNotTellTwoFindingsApart) {
  EXPECT_EQ(Anonymous("container_0_0001_01_000002 ran for 1m30.5s on n-3:8041"),
            Anonymous("container_0_0007_02_000011 ran for 20s on n-1:8041"));
  EXPECT_NE(Anonymous("job a failed"), Anonymous("job a was killed"));
  EXPECT_EQ(KeyOf("relation unused-node: invariant capacity: n-1 holds 3 of 2 GPUs"),
            KeyOf("invariant capacity: n-2 holds 5 of 4 GPUs"));
  EXPECT_NE(KeyOf("relation unused-node: another digest"),
            KeyOf("relation key-order: another digest"));
}

}  // namespace
}  // namespace tfyarn::explore::trial_test
