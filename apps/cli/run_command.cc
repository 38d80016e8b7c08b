#include "apps/cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "apps/cli/artifacts.h"
#include "apps/cli/ensemble_run.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/single_run.h"
#include "apps/cli/verdict_text.h"
#include "core/trace/json.h"
#include "reports/csv.h"

namespace tfyarn::cli {
namespace {

int Broken(const Error& error) {
  Complain(error.message);
  return ToInt(ExitCode::kInternal);
}

/// Files first, then stdout; the exit code of `what` when all of it could be written. What could
/// not be written takes nothing else with it: the run may have been long.
template <class Outcome, class... ForTheReport>
int Deliver(const Outcome& what, const std::string& document, const RunArguments& arguments,
            const ArtifactPaths& paths, std::vector<Error> errors, const ForTheReport&... more) {
  for (Error& error : WriteArtifacts(what, document, paths, more...)) {
    errors.push_back(std::move(error));
  }
  const std::string text =
      arguments.json ? document
                     : VerdictText(what, {.color = ColorOn(STDOUT_FILENO), .report = paths.html});
  if (auto written = WriteStdout(text); !written) errors.push_back(written.error());
  for (const Error& error : errors) Complain(error.message);
  return errors.empty() ? what.exit_code : ToInt(ExitCode::kInternal);
}

int RunOne(const config::Scenario& scenario, const RunArguments& arguments,
           const Simulator& simulator) {
  const ArtifactPaths paths = PathsOf(arguments, false);
  if (auto writable = CheckWritable(paths); !writable) return Broken(writable.error());
  const std::atomic<bool>& interrupt = CatchInterrupts();
  GrowingFile records;
  if (auto opened = records.Open(paths.records); !opened) return Broken(opened.error());
  ProgressLine progress(arguments.quiet);
  SingleRun run;
  run.seed = arguments.seed.value_or(scenario.seed);
  run.elide = arguments.elide;
  run.reference = arguments.reference;
  run.tasks = arguments.tasks;
  run.progress = &progress;
  run.interrupt = &interrupt;
  if (records.is_open())
    run.sink = [&](const trace::TraceRecord& record) {
      records.Add(trace::RecordJson(record) + "\n");
    };
  const trace::Result result = RunOnce(scenario, run, simulator);
  std::vector<Error> errors;
  if (auto committed = records.Commit(); !committed) errors.push_back(committed.error());
  const bool document_wanted = arguments.json || !paths.result.empty() || !paths.html.empty();
  return Deliver(result, document_wanted ? trace::ResultJson(result) : "", arguments, paths,
                 std::move(errors));
}

int RunMany(const config::Scenario& scenario, const RunArguments& arguments,
            const Simulator& simulator) {
  if (arguments.events || !arguments.trace.empty()) {
    Complain("--events and --trace are about one run; add --seed N to choose it");
    return ToInt(ExitCode::kUsage);
  }
  const ArtifactPaths paths = PathsOf(arguments, true);
  if (auto writable = CheckWritable(paths); !writable) return Broken(writable.error());
  CatchInterrupts();
  GrowingFile runs;
  if (auto opened = runs.Open(paths.runs_csv); !opened) return Broken(opened.error());
  runs.Add(reports::RunsCsvHeader());
  const std::optional<trace::Ensemble> ensemble = RunEnsemble(
      scenario, arguments, simulator,
      [&](const auto& run, const auto& set) { runs.Add(reports::RunsCsvLine(run, set)); });
  if (!ensemble) return ToInt(ExitCode::kInvalidInput);
  std::vector<Error> errors;
  if (auto committed = runs.Commit(); !committed) errors.push_back(committed.error());
  return Deliver(*ensemble, trace::EnsembleJson(*ensemble), arguments, paths, std::move(errors),
                 scenario.effective_yaml);
}

}  // namespace

int RunCommand(const RunArguments& arguments, const Simulator& simulator) {
  const std::optional<config::Scenario> scenario = LoadOrExplain(arguments.input);
  if (!scenario) return ToInt(ExitCode::kInvalidInput);
  if (!arguments.json) Tell(scenario->ignored);
  const bool many = arguments.seeds.has_value() || (scenario->sweep.has_value() && !arguments.seed);
  if (!many) return RunOne(*scenario, arguments, simulator);
  return RunMany(*scenario, arguments, simulator);
}

}  // namespace tfyarn::cli
