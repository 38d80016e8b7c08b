#include "apps/cli/ensemble_run.h"

#include <fmt/format.h>

#include <chrono>

#include "apps/cli/ensemble_judge.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/process_pool.h"
#include "apps/cli/progress.h"
#include "apps/cli/single_run.h"
#include "core/trace/json.h"

namespace tfyarn::cli {
namespace {

std::vector<std::string> SetsOf(const CellSettings& settings) {
  std::vector<std::string> sets;
  for (const auto& [path, value] : settings) sets.push_back(path + "=" + value);
  return sets;
}

/// A run that crashed is a failed run with the reason; the others go on.
trace::RunSummary SummaryOf(const ChildOutcome& outcome, std::uint64_t seed) {
  if (outcome.crash.empty()) {
    const auto summary = trace::SummaryFromJson(outcome.bytes);
    if (summary && summary->seed == seed) return *summary;
  }
  trace::RunSummary summary;
  summary.seed = seed;
  summary.verdict = trace::Verdict::kFailed;
  summary.exit_code = ToInt(ExitCode::kInternal);
  summary.reason = "the run crashed: " + (outcome.crash.empty() ? "no summary" : outcome.crash);
  return summary;
}

/// The grid of runs: cells times seeds, by one number.
struct Plan {
  std::vector<CellSettings> cells;
  std::vector<config::Scenario> scenarios;  ///< One for each cell.
  std::uint64_t first_seed = 0;
  std::uint64_t seeds = 0;

  [[nodiscard]] std::size_t runs() const { return cells.size() * static_cast<std::size_t>(seeds); }
  [[nodiscard]] std::size_t CellOf(std::size_t run) const {
    return run / static_cast<std::size_t>(seeds);
  }
  [[nodiscard]] std::uint64_t SeedOf(std::size_t run) const { return first_seed + run % seeds; }
};

std::optional<Plan> MakePlan(const config::Scenario& scenario, const RunArguments& arguments) {
  Plan plan;
  plan.cells = CellsOf(scenario.sweep);
  for (const CellSettings& settings : plan.cells) {
    if (settings.empty()) {
      plan.scenarios.push_back(scenario);
      continue;
    }
    auto cell = LoadOrExplain(arguments.input, SetsOf(settings));
    if (!cell) return std::nullopt;
    plan.scenarios.push_back(std::move(*cell));
  }
  std::pair<std::uint64_t, std::uint64_t> range{scenario.seed, scenario.seed};
  if (scenario.sweep) range = {scenario.sweep->first_seed, scenario.sweep->last_seed};
  if (arguments.seed) range = {*arguments.seed, *arguments.seed};
  if (arguments.seeds) range = *arguments.seeds;
  plan.first_seed = range.first;
  plan.seeds = range.second - range.first + 1;
  return plan;
}

}  // namespace

std::vector<CellSettings> CellsOf(const std::optional<config::SweepSpec>& sweep) {
  std::vector<CellSettings> cells{{}};
  if (!sweep) return cells;
  for (const auto& [path, values] : sweep->matrix) {
    std::vector<CellSettings> longer;
    for (const CellSettings& cell : cells) {
      for (const std::string& value : values) {
        longer.push_back(cell);
        longer.back().emplace_back(path, value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

std::optional<trace::Ensemble> RunEnsemble(const config::Scenario& scenario,
                                           const RunArguments& arguments,
                                           const Simulator& simulator, const RunSink& each) {
  const std::optional<Plan> plan = MakePlan(scenario, arguments);
  if (!plan) return std::nullopt;
  const std::atomic<bool>& interrupt = CatchInterrupts();
  ProgressLine progress(arguments.quiet);
  std::vector<trace::CellBuilder> builders;
  for (const CellSettings& settings : plan->cells) builders.emplace_back(settings);
  trace::CellBuilder all({});
  std::size_t done = 0;

  PoolOptions pool;
  pool.at_once = ProcessesAtOnce(arguments.at_once);
  pool.interrupt = &interrupt;
  pool.tick = [&] { progress.Show({.done = done, .total = plan->runs(), .noun = "run"}); };
  const auto run = [&](std::size_t index) {
    SingleRun single;
    single.seed = plan->SeedOf(index);
    single.elide = arguments.elide;
    single.reference = arguments.reference;
    single.interrupt = &interrupt;
    single.alone = false;
    return trace::SummaryJson(
        trace::Summarize(RunOnce(plan->scenarios[plan->CellOf(index)], single, simulator)));
  };
  RunInProcesses(plan->runs(), pool, run, [&](std::size_t index, const ChildOutcome& outcome) {
    const trace::RunSummary summary = SummaryOf(outcome, plan->SeedOf(index));
    // What was cut off says nothing about the scenario.
    if (interrupt && summary.verdict != trace::Verdict::kPassed) return;
    const std::size_t cell = plan->CellOf(index);
    const std::string replay =
        ReplayCommand(arguments.input, SetsOf(plan->cells[cell]), summary.seed);
    builders[cell].Add(summary, replay);
    all.Add(summary, replay);
    each(summary, fmt::format("{}", fmt::join(SetsOf(plan->cells[cell]), " ")));
    ++done;
  });
  progress.Clear();

  trace::Ensemble ensemble;
  ensemble.scenario = scenario.name;
  ensemble.scenario_digest = scenario.digest;
  ensemble.version = simulator.version;
  ensemble.first_seed = plan->first_seed;
  ensemble.last_seed = plan->first_seed + plan->seeds - 1;
  ensemble.wall_seconds = progress.wall_seconds();
  ensemble.all = all.Finish();
  if (scenario.sweep && !scenario.sweep->matrix.empty()) {
    for (const trace::CellBuilder& builder : builders) ensemble.cells.push_back(builder.Finish());
  }
  ensemble.expectations = JudgeEnsemble(scenario.expect, ensemble);
  Judge(ensemble);
  if (interrupt) {
    ensemble.verdict = trace::Verdict::kInterrupted;
    ensemble.exit_code = ToInt(ExitCode::kSignalBase) + InterruptSignal();
    ensemble.reason = fmt::format("interrupted after {} of {} runs", done, plan->runs());
  }
  return ensemble;
}

}  // namespace tfyarn::cli
