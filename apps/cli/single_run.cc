#include "apps/cli/single_run.h"

#include <sys/resource.h>

#include <chrono>

#include "apps/cli/ensemble_judge.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "core/trace/verdict.h"

namespace tfyarn::cli {
namespace {

std::int64_t PeakMemory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// `deadlock_rate` and its like have a value for one run too. Those about a cell have none: there
/// is no matrix here.
void JudgeAsEnsemble(const config::Scenario& scenario, trace::Result& result) {
  trace::CellBuilder one(std::vector<std::pair<std::string, std::string>>{});
  one.Add(trace::Summarize(result), "");
  trace::Ensemble ensemble;
  ensemble.all = one.Finish();
  std::vector<config::Expectation> expectations;
  for (const config::Expectation& expectation : scenario.expect) {
    if (expectation.where.empty()) expectations.push_back(expectation);
  }
  for (trace::ExpectationResult& judged : JudgeEnsemble(expectations, ensemble)) {
    result.expectations.push_back(std::move(judged));
  }
}

}  // namespace

trace::Result RunOnce(const config::Scenario& scenario, const SingleRun& run,
                      const Simulator& simulator) {
  const auto begin = std::chrono::steady_clock::now();
  sim::RunOptions options;
  options.seed = run.seed;
  options.elide = run.elide;
  options.reference = run.reference;
  options.tasks = run.tasks;
  options.future = run.future;
  options.sink = run.sink;
  options.interrupt = run.interrupt;
  if (run.progress != nullptr && run.progress->enabled()) {
    options.progress = [&](const sim::Progress& progress) {
      run.progress->Show({.done = progress.jobs_ended,
                          .total = progress.jobs_total,
                          .noun = "job",
                          .simulated_seconds = SecondsOf(progress.now),
                          .horizon_seconds = SecondsOf(progress.horizon)});
    };
  }
  trace::Result result = simulator.run(scenario, options).result;
  if (run.progress != nullptr) run.progress->Clear();
  result.version = simulator.version;
  result.scenario_yaml = scenario.effective_yaml;
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.peak_rss_bytes = PeakMemory();
  if (run.alone) JudgeAsEnsemble(scenario, result);
  trace::Judge(result, JobsWithExpectedStatus(scenario));
  if (result.verdict == trace::Verdict::kInterrupted) {
    result.exit_code = ToInt(ExitCode::kSignalBase) + InterruptSignal();
  }
  return result;
}

}  // namespace tfyarn::cli
