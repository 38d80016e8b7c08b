#include "sim/expectations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tfyarn::sim::expectations_test {
namespace {

using config::Comparison;
using config::Expectation;
using config::ExpectKind;
using config::ExpectOp;

constexpr trace::JobIndex kJob{0};

Comparison Number(std::string metric, ExpectOp op, double low, double high = 0) {
  return {.metric = std::move(metric), .op = op, .low = low, .high = high};
}
Comparison Words(std::string metric, std::vector<std::string> words) {
  return {.metric = std::move(metric), .op = ExpectOp::kIn, .words = std::move(words)};
}

/// A run of one job: epochs rise at 10 s and 20 s, fault 0 strikes at 15 s, the job succeeds at 30
/// s.
std::vector<trace::ExpectationResult> RunAll(const std::vector<Expectation>& expectations) {
  trace::ResultBuilder builder;
  OnlineExpectations online(expectations);
  const auto say = [&](Duration at, trace::Fact fact) {
    const trace::TraceRecord record{.at = Instant{} + at, .fact = std::move(fact)};
    builder.Observe(record);
    online.Observe(record, builder);
  };
  const auto epoch = [&](Duration at, std::uint32_t number) {
    say(at, trace::AmOrdered{
                .job = kJob, .am_attempt = 1, .action = GangCompleted{.epoch = Epoch(number)}});
  };
  say(0s, trace::RunStarted{.scenario = "test"});
  say(0s, trace::JobCreated{.job = kJob, .name = "a", .queue = "default", .tasks = 1});
  say(1s, trace::AmTold{.job = kJob, .am_attempt = 1, .event = AmStarted{}});
  epoch(10s, 1);
  say(15s, trace::FaultBegan{.fault = 0, .kind = "node_crash", .target = "n1"});
  epoch(20s, 2);
  say(30s, trace::ClientOrdered{.job = kJob, .action = JobEnded{.status = JobStatus::kSucceeded}});
  trace::Result result = builder.Finish();
  online.Finish(result);
  return result.expectations;
}

trace::ExpectationResult RunOne(const Expectation& expectation) {
  const std::vector<trace::ExpectationResult> results = RunAll({expectation});
  EXPECT_EQ(results.size(), 1U);
  return results.empty() ? trace::ExpectationResult{} : results[0];
}

TEST(ExpectationsTest, AStarInAWordStandsForAnyText) {
  const auto holds = [](std::string word, std::string text) {
    return Holds(Words("job/a.diagnostics", {std::move(word)}), {.text = std::move(text)});
  };
  EXPECT_TRUE(holds("port *.", "port 40123."));
  EXPECT_TRUE(holds("*worker:1*port *", "of worker:1 on port "));
  EXPECT_TRUE(holds("*", "FAILED"));
  EXPECT_TRUE(holds("a*b*b", "a b b"));
  EXPECT_FALSE(holds("port *.", "port 40123"));
  EXPECT_FALSE(holds("port *.", "a port 40123."));
  EXPECT_FALSE(holds("a*b*b", "a b"));
  EXPECT_FALSE(holds("FAIL", "FAILED"));
}

TEST(ExpectationsTest, AFinalOneHoldsWhenAllItsComparisonsDo) {
  const Expectation good{.text = "t",
                         .all_of = {Words("job/a.status", {"SUCCEEDED", "UNFINISHED"}),
                                    Number("job/a.epochs", ExpectOp::kEquals, 2)}};
  EXPECT_TRUE(RunOne(good).passed);
  Expectation bad = good;
  bad.all_of[1].low = 3;
  const trace::ExpectationResult result = RunOne(bad);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.text, "t");
  EXPECT_EQ(result.got, "job/a.epochs = 2");
}

TEST(ExpectationsTest, BoundsIncludeTheirEnds) {
  const trace::MetricValue two{.number = 2, .text = "2"};
  EXPECT_TRUE(Holds(Number("m", ExpectOp::kAtLeast, 2), two));
  EXPECT_FALSE(Holds(Number("m", ExpectOp::kAtLeast, 2.5), two));
  EXPECT_TRUE(Holds(Number("m", ExpectOp::kAtMost, 0, 2), two));
  EXPECT_FALSE(Holds(Number("m", ExpectOp::kAtMost, 0, 1), two));
  EXPECT_TRUE(Holds(Number("m", ExpectOp::kBetween, 1, 2), two));
  EXPECT_FALSE(Holds(Number("m", ExpectOp::kBetween, 3, 4), two));
}

TEST(ExpectationsTest, NothingIsNoNumberButMayBeExpectedByName) {
  const trace::MetricValue nothing{.number = std::nullopt, .text = "null"};
  EXPECT_FALSE(Holds(Number("m", ExpectOp::kAtMost, 0, 100), nothing));
  EXPECT_TRUE(Holds(Words("m", {"null"}), nothing));
}

TEST(ExpectationsTest, AnUnknownNameNeverPasses) {
  const Comparison unknown = Number("job/b.epochs", ExpectOp::kAtLeast, 0);
  for (const ExpectKind kind : {ExpectKind::kFinal, ExpectKind::kNever, ExpectKind::kEventually}) {
    const trace::ExpectationResult result = RunOne({.kind = kind, .all_of = {unknown}});
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.got, "job/b.epochs = no such name");
  }
}

TEST(ExpectationsTest, NeverSaysWhenItBroke) {
  const auto never = [](double from) {
    return Expectation{.kind = ExpectKind::kNever,
                       .all_of = {Number("job/a.epochs", ExpectOp::kAtLeast, from)}};
  };
  EXPECT_TRUE(RunOne(never(3)).passed);
  const trace::ExpectationResult broken = RunOne(never(1));
  EXPECT_FALSE(broken.passed);
  EXPECT_EQ(broken.got, "job/a.epochs = 1 at t=10.000000s");
}

// What was true in between counts, although the end no longer shows it.
TEST(ExpectationsTest, EventuallyHoldsAsSoonAsItIsTrueInTime) {
  const auto eventually = [](double epochs, std::optional<Duration> within, std::string after) {
    return Expectation{.kind = ExpectKind::kEventually,
                       .all_of = {Number("job/a.epochs", ExpectOp::kEquals, epochs)},
                       .within = within,
                       .after = std::move(after)};
  };
  EXPECT_TRUE(RunOne(eventually(1, std::nullopt, "")).passed);
  EXPECT_TRUE(RunOne(eventually(2, 5s, "fault/0")).passed);
  EXPECT_FALSE(RunOne(eventually(2, 4s, "fault/0")).passed);
  EXPECT_FALSE(RunOne(eventually(9, std::nullopt, "")).passed);
  const trace::ExpectationResult no_fault = RunOne(eventually(2, 5s, "fault/7"));
  EXPECT_FALSE(no_fault.passed);
  EXPECT_EQ(no_fault.got, "fault/7 did not happen");
}

TEST(ExpectationsTest, EnsembleFiguresAreLeftToWhoSeesAllRuns) {
  const Expectation rate{.all_of = {Number("deadlock_rate", ExpectOp::kAtMost, 0, 0)}};
  const Expectation cell{.all_of = {Number("job/a.epochs", ExpectOp::kEquals, 2)},
                         .where = {{"seed", "1"}}};
  EXPECT_TRUE(RunAll({rate, cell}).empty());
}

TEST(ExpectationsTest, ResultsComeInFileOrder) {
  const std::vector<trace::ExpectationResult> results =
      RunAll({{.text = "1", .all_of = {Words("job/a.status", {"SUCCEEDED"})}},
              {.kind = ExpectKind::kNever,
               .text = "2",
               .all_of = {Number("job/a.epochs", ExpectOp::kAtLeast, 9)}},
              {.text = "3", .all_of = {Words("job/a.status", {"FAILED"})}}});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].text, "1");
  EXPECT_EQ(results[1].text, "2");
  EXPECT_EQ(results[2].text, "3");
  EXPECT_FALSE(results[2].passed);
}

}  // namespace
}  // namespace tfyarn::sim::expectations_test
