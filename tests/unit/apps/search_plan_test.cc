// What a search runs: scenarios that it draws, scenarios of the user's with drawn faults, and
// branches of runs that it kept.
#include <gtest/gtest.h>

#include "apps/cli/explore_search.h"
#include "config/emit.h"

namespace tfyarn::cli::search_plan_test {
namespace {

constexpr std::uint64_t kRuns = 600;

explore::Sketch SketchOf(const explore::Node& document) {
  return explore::SketchOf(*explore::ScenarioOf(document));
}

/// A guide that knows one kept run.
std::shared_ptr<const explore::Guide> GuideWith(const explore::Node& document) {
  explore::Corpus corpus;
  const explore::Corpus::Run run{
      .index = 0, .reached = {{.cell = 1, .at = Instant{} + 30s}}, .records = 100, .from = {}};
  EXPECT_TRUE(corpus.Take(run));
  corpus.Keep(run, config::EmitYaml(document), SketchOf(document));
  return corpus.MakeGuide();
}

TEST(SearchPlanTest, ADrawnJobWhoseAmDiesHasNoFaultsBesides) {
  const SearchPlan plan;
  std::uint64_t killed = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    const explore::Experiment experiment = plan.Plan(i, {}).experiment;
    EXPECT_EQ(experiment.wild, explore::MayKillAnAm(experiment.relation)) << i;
    if (!explore::MayKillAnAm(experiment.relation)) continue;
    ++killed;
    EXPECT_EQ(experiment.document.Find("faults"), nullptr) << i;
  }
  EXPECT_GT(killed, 0U);
}

// Both have faults, with which the death of an AM rightly comes to something else.
TEST(SearchPlanTest, NoAmIsKilledBesideTheFaultsOfABranchOrOfAUsersScenario) {
  const SearchPlan drawn;
  const explore::Node document = drawn.Plan(0, {}).experiment.document;
  const auto guide = GuideWith(document);
  SearchPlan own;
  own.bases = {{.file = "own.yaml", .document = document, .sketch = SketchOf(document)}};
  std::uint64_t branched = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    const PlannedRun branch = drawn.Plan(i, *guide);
    if (branch.from) {
      ++branched;
      EXPECT_FALSE(explore::MayKillAnAm(branch.experiment.relation) || branch.experiment.wild) << i;
    }
    EXPECT_FALSE(explore::MayKillAnAm(own.Plan(i, {}).experiment.relation)) << i;
  }
  EXPECT_GT(branched, 0U);
}

}  // namespace
}  // namespace tfyarn::cli::search_plan_test
