#include "explore/amnesia.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "explore/comparison.h"
#include "sim/doubles.h"

namespace tfyarn::explore::amnesia_test {
namespace {

const std::string kJob = R"(schema: tfsim/v1
name: small
cluster: {nodes: [{name: n, count: 3, resources: {memory: 8GiB, vcores: 8}}]}
jobs:
  - name: a
    tasks: {worker: {instances: 2, memory: 1GiB}}
    training: {steps: 200, step_time: 100ms, checkpoint: {every: 5s, cost: 100ms}}
    behavior: [{task: "worker:1", attempt: 0, exit: 137, after: 10s}]
)";

Node Job() {
  return DocumentOf(kJob).value();
}

/// What the relation finds, over its variants until something is `enough`.
using Enough = std::function<bool(const Problem&)>;
std::vector<Problem> FoundBy(Guard guard, std::size_t* variants = nullptr,
                             const Enough& enough = nullptr) {
  Comparison comparison(Relation::kAmnesia, Job(), std::move(guard));
  EXPECT_TRUE(comparison.scenario());
  comparison.Run();
  if (variants != nullptr) *variants = comparison.variants().size();
  std::vector<Problem> found;
  for (std::size_t i = 0; i < comparison.variants().size(); ++i) {
    for (Problem& problem : comparison.Try(i)) found.push_back(std::move(problem));
    if (enough && std::any_of(found.begin(), found.end(), enough)) break;
  }
  return found;
}

TEST(AmnesiaTest, AJobComesToTheSameWhereverItsAmDies) {
  std::size_t variants = 0;
  const std::vector<Problem> found =
      FoundBy({.simulate = sim::RunScenario, .interrupt = nullptr, .most_events = 0}, &variants);
  EXPECT_GT(variants, 20U);
  EXPECT_EQ(variants % 5, 0U);  // One death as it appends, one after it, and three second deaths.
  for (const Problem& problem : found) ADD_FAILURE() << problem.sentence;
}

TEST(AmnesiaTest, AnAmThatTakesOverNothingIsFound) {
  sim::Doubles doubles;
  doubles.am = [](am::ApplicationMaster& real, Instant now, const AmEvent& event,
                  std::vector<AmAction>& actions) {
    const bool journal = std::holds_alternative<JournalRead>(event);
    real.Step(now, journal ? AmEvent(JournalRead{}) : event, actions);
  };
  const auto simulate = [&](const config::Scenario& scenario, const sim::RunOptions& options) {
    sim::RunOptions with = options;
    with.doubles = &doubles;
    with.elide = false;
    return sim::RunScenario(scenario, with);
  };
  const auto starts_differ = [](const Problem& problem) {
    return problem.sentence.find("the number of starts of worker") != std::string::npos;
  };
  const std::vector<Problem> found = FoundBy(
      {.simulate = simulate, .interrupt = nullptr, .most_events = 0}, nullptr, starts_differ);
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), starts_differ));
}

TEST(AmnesiaTest, EachDeathHasAnAttemptMore) {
  const Node with = WithMoreAttempts(Job());
  EXPECT_EQ(TextAt(with, "yarn.am_max_attempts"), "4");
  EXPECT_EQ(TextAt(with.Find("jobs")->items.at(0), "am.attempts"), "4");
}

// ---------------------------------------------------------------- what must be the same

RunRecord Record(std::int32_t infrastructure = 1) {
  RunRecord record;
  record.result.jobs.push_back(
      {.name = "a", .status = JobStatus::kSucceeded, .rule = "default/success"});
  sim::JobTally tally{.job = "a"};
  tally.restarts[Budget::kInfrastructure] = infrastructure;
  tally.starts[TaskId{"worker", 0}] = 2;
  tally.verdicts = 1;
  record.tallies.push_back(tally);
  return record;
}

std::string Difference(const RunRecord& other, const RunRecord& plain = Record()) {
  return DifferenceOf(
      {.name = "", .document = {}, .options = {}, .same = Sameness::kTally, .job = "a"}, plain,
      other);
}

TEST(AmnesiaTest, NothingIsPaidOrStartedTwice) {
  EXPECT_EQ(Difference(Record()), "");
  EXPECT_EQ(Difference(Record(2)),
            "the number of restarts that infrastructure pays of job a is 2 and not 1");
  RunRecord other = Record();
  other.tallies[0].starts[TaskId{"worker", 0}] = 3;
  EXPECT_EQ(Difference(other), "the number of starts of worker of job a is 3 and not 2");
  other = Record();
  other.tallies[0].verdicts = 2;
  EXPECT_EQ(Difference(other), "the number of verdicts of job a is 2 and not 1");
  other = Record();
  other.result.jobs[0].status = JobStatus::kFailed;
  EXPECT_EQ(Difference(other), "the status of job a is FAILED and not SUCCEEDED");
}

TEST(AmnesiaTest, FewerRestartsAreNoHarm) {
  EXPECT_EQ(Difference(Record(0)), "");
}

TEST(AmnesiaTest, OneThatWasToStartAgainWhenTheJobEndedMayDoSo) {
  RunRecord plain = Record();
  plain.tallies[0].restarted[TaskId{"worker", 0}] = 2;
  RunRecord other = Record();
  other.tallies[0].starts[TaskId{"worker", 0}] = 3;
  EXPECT_EQ(Difference(other, plain), "");
  other.tallies[0].starts[TaskId{"worker", 0}] = 4;
  EXPECT_EQ(Difference(other, plain), "the number of starts of worker of job a is 4 and not 3");
}

TEST(AmnesiaTest, TwoFailuresThatAreHeardAtOnceMayBeginAnEpoch) {
  RunRecord other = Record();
  other.result.jobs[0].epochs = 1;
  EXPECT_EQ(Difference(other), "the number of epochs of job a is 1 and not 0");
  RunRecord plain = Record();
  plain.tallies[0].restarts[Budget::kNone] = 1;
  EXPECT_EQ(Difference(other, plain), "");
  plain = Record();
  plain.tallies[0].blows["worker:1 ends after worker:0"] = 1;
  other.tallies[0].blows = plain.tallies[0].blows;
  EXPECT_EQ(Difference(other, plain), "");
}

TEST(AmnesiaTest, ARestartThatNoBudgetPaysInPlaceOfAPaidOneIsNoHarm) {
  RunRecord other = Record(0);
  other.tallies[0].restarts[Budget::kNone] = 1;
  EXPECT_EQ(Difference(other), "");
  other.tallies[0].restarts[Budget::kNone] = 2;
  EXPECT_EQ(Difference(other), "the number of restarts that none pays of job a is 2 and not 0");
}

TEST(AmnesiaTest, WhatTheWorldDidOtherwiseExcusesWhatFollows) {
  RunRecord other = Record(2);
  other.tallies[0].blows["worker:0 ends with 1"] = 1;
  EXPECT_EQ(Difference(other), "");
  other.result.jobs[0].status = JobStatus::kFailed;
  EXPECT_NE(Difference(other), "");
}

// An AM that dies between two ends of one moment leaves the second to the next, or the first.
TEST(AmnesiaTest, WhichOfTwoEndsOfOneMomentIsHeardFirstIsNotCompared) {
  RunRecord other = Record();
  other.result.jobs[0].status = JobStatus::kFailed;
  other.result.jobs[0].cause = Cause{.task = {.type = "worker", .index = 1}};
  EXPECT_NE(Difference(other), "");
  RunRecord plain = Record();
  plain.tallies[0].failed_beside_success = {"worker:0"};
  EXPECT_NE(Difference(other, plain), "");
  plain.tallies[0].failed_beside_success = {"worker:1"};
  EXPECT_EQ(Difference(other, plain), "");
  plain = Record();
  plain.tallies[0].failed_together = {"worker:0", "worker:1"};
  EXPECT_NE(Difference(other, plain), "") << "the same befell it";
  plain.tallies[0].blows["worker:0 ends with 137"] = 1;
  EXPECT_EQ(Difference(other, plain), "");
  other.tallies[0].blows["worker:1 ends with 1"] = 2;
  plain = Record();
  plain.tallies[0].blows["worker:1 ends with 1"] = 2;
  EXPECT_NE(Difference(other, plain), "");
  plain.tallies[0].blows["worker:1 ends with 1"] = 1;
  EXPECT_EQ(Difference(other, plain), "") << "it failed more often";
  other.tallies[0].blows.clear();
  plain = Record();
  plain.tallies[0].last_one_hung = true;
  EXPECT_EQ(Difference(other, plain), "");
  plain = Record();
  plain.tallies[0].failed_beside_the_gang = true;
  EXPECT_EQ(Difference(Record(2), plain), "");
}

TEST(AmnesiaTest, WhatYarnTookWithTheAmExcusesARestart) {
  RunRecord other = Record(2);
  other.tallies[0].am_lost = 1;
  EXPECT_EQ(Difference(other), "");
}

TEST(AmnesiaTest, AnEndByTimeIsNotCompared) {
  const auto failed_by = [](const std::string& rule) {
    RunRecord record = Record();
    record.result.jobs[0].status = JobStatus::kFailed;
    record.result.jobs[0].rule = rule;
    return record;
  };
  EXPECT_EQ(Difference(failed_by("deadlines/run")), "");
  EXPECT_EQ(Difference(failed_by("")), "") << "its client waits no longer for an AM";
  EXPECT_NE(Difference(failed_by("deadlines/start")), "");
  EXPECT_NE(Difference(failed_by("gang/deadline")), "");
}

TEST(AmnesiaTest, WhatWaitsForOthersMayStartOnce) {
  RunRecord other = Record();
  other.tallies[0].starts[TaskId{"evaluator", 0}] = 1;
  EXPECT_EQ(Difference(other), "");
  other.tallies[0].starts[TaskId{"evaluator", 0}] = 2;
  EXPECT_EQ(Difference(other), "the number of starts of evaluator of job a is 2 and not 0");
}

TEST(AmnesiaTest, AJobByItselfHasNoFaultsAndOnlyFirstAttempts) {
  const Node alone = FirstJobAlone(DocumentOf(R"(schema: tfsim/v1
cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 8}}]}
jobs:
  - {name: a, tasks: {worker: {}}, watch: {stalled: 6s}, behavior: [{attempt: 1, exit: 3}, {attempt: 0, exit: 4}, {exit: 5}]}
  - {name: b, tasks: {worker: {}}}
faults: [{kind: am_crash, at: 5s, target: {am: a}}]
expect: [{job: a, status: FAILED}, {job: b, status: SUCCEEDED}]
)")
                                       .value());
  EXPECT_EQ(alone.Find("faults"), nullptr);
  ASSERT_EQ(alone.Find("jobs")->items.size(), 1U);
  EXPECT_EQ(alone.Find("jobs")->items[0].Find("watch"), nullptr);
  const Node& behavior = *alone.Find("jobs")->items[0].Find("behavior");
  // One attempt more would meet what the last row says of all later ones.
  ASSERT_EQ(behavior.items.size(), 1U);
  EXPECT_EQ(TextAt(behavior.items[0], "exit"), "4");
  ASSERT_EQ(alone.Find("expect")->items.size(), 1U);
  EXPECT_EQ(TextAt(alone.Find("expect")->items[0], "job"), "a");
}

/// What is left of the behaviour of a job with those task types.
std::size_t RowsLeft(const std::string& tasks) {
  const Node alone = FirstJobAlone(
      DocumentOf("schema: tfsim/v1\n"
                 "cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 8}}]}\n"
                 "jobs: [{name: a, tasks: " +
                 tasks +
                 ", behavior: [{exit: 143, after: 1s}, {task: worker, exit: 1}]}]\n"
                 "expect: [{job: a, status: FAILED}]\n")
          .value());
  return alone.Find("jobs")->items[0].Find("behavior")->items.size();
}

TEST(AmnesiaTest, ServersAndWorkersOfADrawnJobDoNotAllEndAtOnce) {
  EXPECT_EQ(RowsLeft("{worker: {}, ps: {}}"), 1U);
  EXPECT_EQ(RowsLeft("{worker: {instances: 2}}"), 2U);
}

/// A job that is drawn with these times, by itself.
Node AloneWith(const std::string& localize, const std::string& registration) {
  return FirstJobAlone(
      DocumentOf("schema: tfsim/v1\n"
                 "cluster: {nodes: [{name: n, resources: {memory: 8GiB, vcores: 8}}], "
                 "network: {latency: 5ms, loss: 0.02}}\n"
                 "yarn: {localize: {dist: uniform, min: 1s, max: " +
                 localize +
                 "}}\n"
                 "jobs: [{name: a, tasks: {worker: {}}, deadlines: {registration: " +
                 registration +
                 "}}]\n"
                 "expect: [{job: a, status: SUCCEEDED}]\n")
          .value());
}

TEST(AmnesiaTest, NoAgentOfADrawnJobComesTooLateByChance) {
  EXPECT_NE(AloneWith("20s", "5m").FindPath("yarn.localize"), nullptr);
  EXPECT_EQ(AloneWith("6m", "5m").FindPath("yarn.localize"), nullptr);
  EXPECT_EQ(AloneWith("20s", "30s").FindPath("yarn.localize"), nullptr);
}

TEST(AmnesiaTest, NoMessageOfADrawnJobIsLostByChance) {
  const Node alone = AloneWith("20s", "5m");
  EXPECT_EQ(alone.FindPath("cluster.network.loss"), nullptr);
  EXPECT_EQ(TextAt(alone, "cluster.network.latency"), "5ms");
}

TEST(AmnesiaTest, AScenarioThatLosesMessagesIsNotCompared) {
  Node document = Job();
  Set(MapAt(MapAt(document, "cluster"), "network"), "loss", Text("0.02"));
  EXPECT_TRUE(std::holds_alternative<Skipped>(VariantsOf(Relation::kAmnesia, document, Record())));
}

struct JobEnd {
  JobStatus status = JobStatus::kSucceeded;
  std::string rule;
};

/// The comparison of a job whose plain run and others are said to have come to these ends.
Comparison CompareEnds(Relation relation, const Node& document, JobEnd plain, JobEnd other,
                       bool wild = true) {
  const auto simulate = [plain = std::move(plain), other = std::move(other), run = 0](
                            const config::Scenario& scenario,
                            const sim::RunOptions& options) mutable {
    sim::RunOutcome outcome = sim::RunScenario(scenario, options);
    const JobEnd& end = run++ == 0 ? plain : other;
    outcome.result.jobs.front().status = end.status;
    outcome.result.jobs.front().rule = end.rule;
    return outcome;
  };
  Comparison comparison(
      relation, document,
      {.simulate = simulate, .interrupt = nullptr, .most_events = 0, .wild = wild});
  comparison.Run();
  EXPECT_FALSE(comparison.variants().empty());
  return comparison;
}

// What a job that fails by itself comes to may hang on which of its failures is heard first.
TEST(AmnesiaTest, OfAWildJobOnlyInvariantsCountWhereItFails) {
  for (const bool wild : {true, false}) {
    for (const bool fails : {true, false}) {
      const JobEnd well{.rule = "default/oom"};
      const JobEnd failed{.status = JobStatus::kFailed, .rule = "default/oom"};
      Comparison comparison = CompareEnds(Relation::kAmnesia, Job(), fails ? failed : well,
                                          fails ? well : failed, wild);
      EXPECT_EQ(comparison.Try(0).empty(), wild && fails);
    }
  }
}

// Its own deadlines count what an AM's death takes; its own rows may end it for what an effect was.
TEST(AmnesiaTest, AWildJobMayBeEndedByWhatItsFileSays) {
  Node own = Job();
  Node& job = ListAt(own, "jobs").items[0];
  Set(job, "deadlines", Map({{"start", Time(1h)}, {"am_start", Time(1h)}}));
  Set(job, "gang", Map({{"deadline", Time(1h)}}));
  const auto compares = [](Relation relation, const Node& document, const std::string& rule) {
    Comparison comparison = CompareEnds(relation, document, {.rule = "default/all-tracked"},
                                        {.status = JobStatus::kFailed, .rule = rule});
    bool differs = false;
    for (std::size_t i = 0; i < comparison.variants().size(); ++i)
      differs = differs || !comparison.Try(i).empty();
    return differs;
  };
  for (const std::string rule : {"deadlines/start", "gang/deadline"}) {
    EXPECT_FALSE(compares(Relation::kAmnesia, own, rule)) << rule;
    EXPECT_TRUE(compares(Relation::kAmnesia, Job(), rule)) << rule;
  }
  EXPECT_FALSE(compares(Relation::kFailedEffect, own, "")) << "its client has given it up";
  EXPECT_TRUE(compares(Relation::kFailedEffect, Job(), ""));
  EXPECT_FALSE(compares(Relation::kFailedEffect, Job(), "on_exit/0"));
  EXPECT_TRUE(compares(Relation::kAmnesia, Job(), "on_exit/0"));
}

TEST(AmnesiaTest, WhatTheHorizonCutsIsNotCompared) {
  RunRecord other = Record();
  other.result.jobs[0].status = JobStatus::kUnfinished;
  EXPECT_EQ(Difference(other), "");
}

}  // namespace
}  // namespace tfyarn::explore::amnesia_test
