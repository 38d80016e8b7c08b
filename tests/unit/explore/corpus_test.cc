// What a search keeps, what it branches from, and what a branch may be.
#include "explore/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/emit.h"
#include "explore/branch.h"
#include "explore/generator.h"

namespace tfyarn::explore::corpus_test {
namespace {

using testing::ElementsAre;

Corpus::Run RunOf(std::uint64_t index, const std::vector<sim::Cell>& cells) {
  Corpus::Run run{.index = index, .reached = {}, .records = 100, .from = std::nullopt};
  for (const sim::Cell cell : cells) run.reached.push_back({.cell = cell, .at = Instant{} + 30s});
  return run;
}

/// Takes it in, and keeps it where it is to be kept. Whether it was.
bool Take(Corpus& corpus, const Corpus::Run& run, const std::string& document = "") {
  if (!corpus.Take(run)) return false;
  corpus.Keep(run, document, {});
  return true;
}

TEST(CorpusTest, ARunIsKeptWhenItReachedWhatNoneBeforeItHas) {
  Corpus corpus;
  EXPECT_TRUE(Take(corpus, RunOf(0, {1, 2})));
  EXPECT_FALSE(Take(corpus, RunOf(1, {2})));
  EXPECT_TRUE(Take(corpus, RunOf(2, {2, 3})));
  ASSERT_EQ(corpus.kept().size(), 2U);
  EXPECT_EQ(corpus.kept()[1]->index, 2U);
  EXPECT_THAT(corpus.kept()[1]->news,
              ElementsAre(sim::ReachedCell{.cell = 3, .at = Instant{} + 30s}));
  EXPECT_EQ(corpus.kept()[1]->reached.size(), 2U);
}

TEST(CorpusTest, TheChanceOfNewsIsTheShareOfRunsWhoseCellsNoOtherReached) {
  Corpus corpus;
  EXPECT_EQ(corpus.fresh().ChanceOfNews(), 1);
  for (std::uint64_t i = 0; i < 8; ++i) static_cast<void>(Take(corpus, RunOf(i, {1})));
  EXPECT_EQ(corpus.fresh().ChanceOfNews(), 0);
  static_cast<void>(Take(corpus, RunOf(8, {1, 2})));
  static_cast<void>(Take(corpus, RunOf(9, {1, 3})));
  EXPECT_DOUBLE_EQ(corpus.fresh().ChanceOfNews(), 0.2);
}

TEST(CorpusTest, ABranchSaysNothingOfWhatIsDrawnByItself) {
  Corpus corpus;
  static_cast<void>(Take(corpus, RunOf(0, {1})));
  Corpus::Run branch = RunOf(1, {1, 2});
  branch.from = 0;
  static_cast<void>(Take(corpus, branch));
  EXPECT_EQ(corpus.all().reached(), 2U);
  EXPECT_EQ(corpus.fresh().reached(), 1U);
  EXPECT_EQ(corpus.branched(), 1U);
  EXPECT_EQ(corpus.branched_with_news(), 1U);
}

TEST(CorpusTest, WhatIsTakenOverSaysNothingOfWhatIsDrawnEither) {
  Corpus corpus;
  Corpus::Run old = RunOf(0, {1, 2});
  old.drawn = false;
  EXPECT_TRUE(Take(corpus, old));
  EXPECT_EQ(corpus.fresh().runs, 0U);
  EXPECT_EQ(corpus.branched(), 0U);
}

TEST(CorpusTest, WhatReachedTheRareIsChosenMoreOften) {
  Corpus corpus;
  static_cast<void>(Take(corpus, RunOf(0, {1})));
  static_cast<void>(Take(corpus, RunOf(1, {1, 2})));
  for (std::uint64_t i = 2; i < 100; ++i) static_cast<void>(Take(corpus, RunOf(i, {1})));
  const auto guide = corpus.MakeGuide();
  Draw draw(1, "test");
  int rare = 0;
  for (int i = 0; i < 1000; ++i) rare += guide->Choose(draw).run->index == 1 ? 1 : 0;
  EXPECT_GT(rare, 950);
}

TEST(CorpusTest, WhatWasChosenOftenIsChosenLessOften) {
  Corpus corpus;
  static_cast<void>(Take(corpus, RunOf(0, {1})));
  static_cast<void>(Take(corpus, RunOf(1, {2})));
  for (std::uint64_t i = 2; i < 42; ++i) {
    Corpus::Run branch = RunOf(i, {});
    branch.from = 0;
    static_cast<void>(Take(corpus, branch));
  }
  const auto guide = corpus.MakeGuide();
  Draw draw(1, "test");
  int first = 0;
  for (int i = 0; i < 1000; ++i) first += guide->Choose(draw).run->index == 0 ? 1 : 0;
  EXPECT_LT(first, 200);
}

// ---------------------------------------------------------------- branches

class BranchTest : public testing::Test {
 protected:
  /// Of a drawn scenario that must succeed, or of one that may end in any way.
  static KeptRun Kept(std::uint64_t seed) {
    const Node document = DrawScenario(seed);
    KeptRun run{.index = seed, .document = config::EmitYaml(document)};
    const auto scenario = ScenarioOf(document);
    EXPECT_TRUE(scenario.has_value());
    run.sketch = SketchOf(*scenario);
    run.sketch.healthy = MustSucceed(document);
    run.news = {{.cell = 1, .at = Instant{} + 100s}};
    run.reached = {{.cell = 0, .at = Instant{} + 10s}, {.cell = 1, .at = Instant{} + 100s}};
    return run;
  }
  static std::size_t Faults(const Node& document) {
    const Node* faults = document.Find("faults");
    return faults == nullptr ? 0 : faults->items.size();
  }
};

TEST_F(BranchTest, NearlyEveryBranchIsAScenarioAndAnotherOne) {
  int valid = 0;
  int other = 0;
  constexpr int kBranches = 300;
  for (int i = 0; i < kBranches; ++i) {
    const KeptRun run = Kept(static_cast<std::uint64_t>(i));
    Draw draw(7, "branch " + std::to_string(i));
    const Node branch = Branch(run, draw);
    valid += ScenarioOf(branch) ? 1 : 0;
    other += config::EmitYaml(branch) != run.document ? 1 : 0;
  }
  EXPECT_GT(valid, kBranches * 95 / 100);
  EXPECT_GT(other, kBranches * 95 / 100);
}

TEST_F(BranchTest, TheSameDrawIsTheSameBranch) {
  const KeptRun run = Kept(3);
  Draw one(7, "branch");
  Draw two(7, "branch");
  EXPECT_EQ(config::EmitYaml(Branch(run, one)), config::EmitYaml(Branch(run, two)));
}

TEST_F(BranchTest, BranchesHaveOtherFuturesAndFaultsMoreAndLess) {
  bool future = false;
  bool more = false;
  bool less = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const KeptRun run = Kept(i);
    const std::size_t before = Faults(*DocumentOf(run.document));
    Draw draw(i, "branch");
    const Node branch = Branch(run, draw);
    future = future || branch.Find("futures") != nullptr;
    more = more || Faults(branch) > before;
    less = less || Faults(branch) < before;
  }
  EXPECT_TRUE(future);
  EXPECT_TRUE(more);
  EXPECT_TRUE(less);
}

TEST_F(BranchTest, WhatMustSucceedHasNoMoreFaultsThanADrawnOne) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const KeptRun run = Kept(i);
    Draw draw(i, "branch");
    const Node branch = Branch(run, draw);
    if (MustSucceed(branch)) {
      EXPECT_TRUE(run.sketch.healthy) << i;
      EXPECT_LE(Faults(branch), 2U) << i;
    }
    EXPECT_LE(Faults(branch), 4U) << i;
  }
}

/// Each fault of the branch is one of the run's, or is the same for a shorter time.
bool NoFaultIsNew(const Node& branch, const Node& run) {
  const auto without_length = [](Node fault) {
    Remove(fault, "for");
    // Of another fault, whose position may be another.
    if (!TextAt(fault, "when.fault").empty()) Remove(fault, "when");
    return config::EmitYaml(fault);
  };
  const Node* faults = branch.Find("faults");
  if (faults == nullptr) return true;
  std::set<std::string> known;
  for (const Node& fault : run.Find("faults")->items) known.insert(without_length(fault));
  return std::all_of(faults->items.begin(), faults->items.end(),
                     [&](const Node& fault) { return known.contains(without_length(fault)); });
}

TEST_F(BranchTest, WhatMustCostNothingButTimeHasNoOtherFaults) {
  int kept = 0;
  int given_up = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const KeptRun run = Kept(i);
    const bool before = run.document.find("epochs:") != std::string::npos;
    Draw draw(i, "branch");
    const Node branch = Branch(run, draw);
    const bool after = config::EmitYaml(branch).find("epochs:") != std::string::npos;
    EXPECT_LE(after, before) << i;
    if (after) {
      EXPECT_TRUE(NoFaultIsNew(branch, *DocumentOf(run.document))) << i;
    }
    kept += after ? 1 : 0;
    given_up += before && !after ? 1 : 0;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(given_up, 0);
}

TEST_F(BranchTest, ALaterFaultGetsALaterHorizon) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const KeptRun run = Kept(i);
    Draw draw(i, "branch");
    const Node branch = Branch(run, draw);
    const auto before = ScenarioOf(*DocumentOf(run.document));
    const auto after = ScenarioOf(branch);
    if (!after) continue;
    EXPECT_GE(after->horizon, before->horizon);
    if (after->faults.size() > before->faults.size()) {
      EXPECT_GT(after->horizon, before->horizon) << i;
    }
  }
}

}  // namespace
}  // namespace tfyarn::explore::corpus_test
