// What the exploration rests on: the reductions leave out no outcome, a state that is put back is
// the state that was, and what is wrong is said.
#include "tests/exhaustive/explorer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/text.h"
#include "core/policy/exit_classifier.h"
#include "tests/exhaustive/allowed.h"
#include "tests/exhaustive/books.h"
#include "tests/exhaustive/campaign.h"

namespace tfyarn::exhaustive::explorer_test {
namespace {

struct Seen {
  Report report;
  /// Facts and what came of them, in words.
  std::set<std::string> outcomes;
};

Seen Explore(const Scope& scope, const Limits& limits) {
  // What is made once and for all must not be made in the arena.
  (void)policy::DefaultRetryableCodes();
  Explorer explorer(scope, limits);
  Seen seen{.report = explorer.Run(), .outcomes = {}};
  for (const auto& [hash, group] : explorer.groups()) {
    std::string facts;
    for (const Fact& fact : group.facts) facts += TextOf(fact, *scope.job) + "\n";
    for (const Explorer::Example& example : group.examples) {
      const Outcome& outcome = example.outcome;
      seen.outcomes.insert(facts + KebabName(outcome.status) + " by " + outcome.rule + ", " +
                           std::to_string(outcome.PaidBy(Budget::kUser)) + " and " +
                           std::to_string(outcome.PaidBy(Budget::kInfrastructure)));
    }
  }
  return seen;
}

Scope OneFault(std::string_view job, Fault fault) {
  Pass pass{.faults = 1};
  pass.kinds = {};
  pass.kinds.Add(fault);
  return *ScopeOf(pass, job);
}

Scope NoFault(std::string_view job) {
  return *ScopeOf({}, job);
}

TEST(Reduction, SleepSetsLeaveOutMovesAndNoOutcome) {
  for (const char* job : {"default/multi-worker/2/1-1", "tony/independent/2/1-1"}) {
    for (const Fault fault : {Fault::kAgentKilled, Fault::kAppendUnanswered}) {
      const Scope scope = OneFault(job, fault);
      const Seen reduced = Explore(scope, {});
      const Seen whole = Explore(scope, {.sleep = false});
      EXPECT_EQ(reduced.outcomes, whole.outcomes) << job << " " << KebabName(fault);
      EXPECT_LT(reduced.report.moves, whole.report.moves) << job << " " << KebabName(fault);
    }
  }
}

TEST(Reduction, EveryOrderOfOneTaskEndsAsTheReducedOrdersDo) {
  for (const Fault fault :
       {Fault::kExit1, Fault::kContainerLost, Fault::kAmKilled, Fault::kAppendUnanswered}) {
    const Scope scope = OneFault("default/multi-worker/1/1-1", fault);
    const Seen reduced = Explore(scope, {});
    const Seen every = Explore(scope, {.merge = false, .sleep = false});
    EXPECT_TRUE(every.report.complete);
    EXPECT_EQ(reduced.outcomes, every.outcomes) << KebabName(fault);
    EXPECT_LT(reduced.report.ends, every.report.ends) << KebabName(fault);
  }
}

TEST(Reduction, ABoundOnDeviationsFindsNothingThatAllOrdersDoNot) {
  const Scope scope = OneFault("default/multi-worker/2/1-1", Fault::kExit1);
  const Seen all = Explore(scope, {});
  std::uint64_t states = 0;
  for (const std::int32_t deviations : {0, 1, 2}) {
    const Seen few = Explore(scope, {.deviations = deviations});
    for (const std::string& outcome : few.outcomes) EXPECT_TRUE(all.outcomes.contains(outcome));
    EXPECT_GT(few.report.states, states);
    states = few.report.states;
  }
  EXPECT_LT(states, all.report.states);
}

TEST(Exploration, EachRunOfItIsTheSame) {
  const Scope scope = OneFault("default/parameter-server/2/1-1", Fault::kPreemptedWithNotice);
  const Seen once = Explore(scope, {});
  const Seen again = Explore(scope, {});
  EXPECT_EQ(once.report.states, again.report.states);
  EXPECT_EQ(once.report.moves, again.report.moves);
  EXPECT_EQ(once.outcomes, again.outcomes);
}

TEST(Exploration, WithoutAFaultEveryJobHasOneOutcome) {
  for (const char* job : {"default/multi-worker/2/1-1", "tony/parameter-server/2/1-1",
                          "tf-yarn-late/multi-worker/2/0-2", "tfjob/parameter-server/2/0-2"}) {
    const Seen seen = Explore(NoFault(job), {});
    EXPECT_EQ(seen.report.groups, 1) << job;
    EXPECT_TRUE(seen.report.complete);
    EXPECT_TRUE(seen.report.findings.empty()) << seen.report.findings.front().what;
    EXPECT_GT(seen.report.ends, 1U) << job;
  }
}

TEST(Exploration, ALimitOfStatesEndsItAndIsSaid) {
  const Seen seen = Explore(NoFault("default/multi-worker/2/1-1"), {.states = 20});
  EXPECT_EQ(seen.report.states, 20);
  EXPECT_FALSE(seen.report.complete);
}

TEST(Exploration, APathIsToldInWords) {
  const Scope scope = NoFault("default/multi-worker/1/1-1");
  const Told told = Tell(scope, {});
  EXPECT_EQ(told.broken, "");
  EXPECT_EQ(told.outcome.status, JobStatus::kSucceeded);
  ASSERT_EQ(told.facts.size(), 1);
  EXPECT_EQ(TextOf(told.facts[0], *scope.job), " 101.000 s  worker:0 attempt 0 ended with 0");
  EXPECT_FALSE(told.lines.empty());
}

// ---------------------------------------------------------------- what is wrong

class Wrong : public testing::Test {
 protected:
  static SpawnProcess Order(std::uint32_t attempt, std::int32_t port, std::uint32_t epoch = 1) {
    ClusterSpec spec{.epoch = Epoch(epoch)};
    spec.tasks["worker"] = {{.host = "n1", .port = 2000}, {.host = "n2", .port = port}};
    return {.task = {.type = "worker", .index = 1},
            .process = {.attempt = TaskAttempt(attempt), .epoch = Epoch(epoch)},
            .spec = Share(std::move(spec))};
  }
  void Spawn(const SpawnProcess& order, const std::vector<Books::Living>& living = {}) {
    books_.OnSpawn(order, {.host = "n2", .port = 2000}, true, living);
  }

  std::shared_ptr<const JobSpec> job_ = JobNamed("default/multi-worker/2/1-1");
  Books books_{*job_};
};

TEST_F(Wrong, NothingWhereASpecHasTheAgentsOwnAddress) {
  Spawn(Order(0, 2000));
  EXPECT_EQ(books_.broken(), "");
}

TEST_F(Wrong, ASpecWithThePortOfAnother) {
  Spawn(Order(0, 2001));
  EXPECT_TRUE(books_.broken().starts_with("own-address")) << books_.broken();
}

TEST_F(Wrong, ASecondProcessThatNoRestartPaidFor) {
  Spawn(Order(0, 2000));
  Spawn(Order(1, 2000));
  EXPECT_TRUE(books_.broken().starts_with("started-once")) << books_.broken();
}

TEST_F(Wrong, ACollectiveInTwoEpochs) {
  Spawn(Order(0, 2000, 2), {{.task = 0, .epoch = Epoch(1), .trains = true}});
  EXPECT_TRUE(books_.broken().starts_with("one-spec")) << books_.broken();
}

TEST_F(Wrong, AVerdictThatIsNotStored) {
  books_.OnVerdict({.status = JobStatus::kFailed, .rule = "default/oom"});
  EXPECT_TRUE(books_.broken().starts_with("durable")) << books_.broken();
}

TEST_F(Wrong, AnOrderToStartThatIsNotStored) {
  books_.OnOrdered(AmAction{
      SendToAgent{.message = StartProcess{.fence = {.task = {.type = "worker"}}, .process = {}}}});
  EXPECT_TRUE(books_.broken().starts_with("durable")) << books_.broken();
}

TEST(SameFacts, TwoVerdictsAreAllowedOnlyWhereTheDocumentsSaySo) {
  const Scope scope = OneFault("tony/independent/2/1-1", Fault::kExit1);
  const Outcome succeeded{.status = JobStatus::kSucceeded, .rule = "tony/success"};
  const Outcome failed{.status = JobStatus::kFailed, .rule = "tony/chief-failed"};
  const auto ended = [](Duration at, std::int8_t task, std::int32_t code) {
    return Fact{.at = Instant{} + at, .task = task, .code = code};
  };
  EXPECT_TRUE(WhyAllowed(scope, {ended(101s, 0, 0), ended(101s, 1, 1)}, succeeded, failed));
  EXPECT_FALSE(WhyAllowed(scope, {ended(41s, 0, 1), ended(101s, 1, 0)}, succeeded, failed));
  EXPECT_FALSE(WhyAllowed(scope, {ended(101s, 0, 0), ended(101s, 1, 0)}, succeeded, failed));
}

}  // namespace
}  // namespace tfyarn::exhaustive::explorer_test
