#include "explore/trial.h"

#include <algorithm>
#include <utility>

#include "explore/comparison.h"

namespace tfyarn::explore {
namespace {

/// Of a relation with many variants: the plain run is theirs together.
constexpr std::size_t kTries = 3;

}  // namespace

std::optional<config::Scenario> ScenarioOf(const Node& document) {
  return Load(document).scenario;
}

Trial Try(const Experiment& experiment, const Laboratory& laboratory,
          const std::atomic<bool>* interrupt, sim::Coverage* coverage) {
  Trial trial;
  Comparison comparison(experiment.relation, experiment.document,
                        {.simulate = laboratory.simulate,
                         .interrupt = interrupt,
                         .most_events = experiment.most_events,
                         .wild = experiment.wild});
  if (!comparison.scenario() && experiment.put_together) return {.valid = false};
  if (!comparison.scenario()) {
    trial.problems.push_back(ProblemOf("not a scenario: " + comparison.error()));
    trial.valid = false;
    return trial;
  }
  if (laboratory.accepts && !laboratory.accepts(*comparison.scenario())) {
    trial.valid = false;
    return trial;
  }
  comparison.Run(coverage);
  const Ran& run = comparison.plain();
  const trace::Result& plain = run.record.result;
  trial.digest = plain.digest;
  trial.records = plain.records;
  trial.events = comparison.events();
  trial.skipped = comparison.skipped();
  if (!run.circles.empty()) {
    trial.problems.push_back(ProblemOf(run.circles, plain.stopped));
    return trial;
  }
  trial.problems = ProblemsOf(plain);
  if (run.too_long) {
    trial.cut_short = true;
    std::erase_if(trial.problems, [](const Problem& problem) { return problem.expectation; });
    return trial;
  }
  if (comparison.variants().empty()) return trial;
  const std::size_t count = comparison.variants().size();
  const std::size_t tries = std::min(kTries, count);
  for (std::size_t i = 0; i < tries; ++i) {
    const std::size_t choice = (comparison.scenario()->seed + i * count / tries) % count;
    for (Problem& problem : comparison.Try(choice)) trial.problems.push_back(std::move(problem));
  }
  trial.events = comparison.events();
  return trial;
}

}  // namespace tfyarn::explore
