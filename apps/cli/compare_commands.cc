#include "apps/cli/compare_commands.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "apps/cli/documents.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/policy_replay.h"
#include "apps/cli/recorded_run.h"
#include "apps/cli/replay_recordings.h"
#include "apps/cli/single_run.h"
#include "config/diagnostics.h"
#include "core/trace/digest.h"
#include "core/trace/json.h"

namespace tfyarn::cli {
namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kShownDifferences = 20;
constexpr std::size_t kLine = 2000;

int Say(const std::string& text, ExitCode code) {
  if (auto written = WriteStdout(text); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  return ToInt(code);
}

int EndWith(const std::string& text, ExitCode code) {
  cli::Complain(text);
  return ToInt(code);
}

// ---------------------------------------------------------------- two runs

/// One number for each record of a run: enough to find where another run leaves it.
std::vector<std::uint64_t> Fingerprints(const config::Scenario& scenario, SingleRun run,
                                        const Simulator& simulator, trace::Result& result) {
  std::vector<std::uint64_t> prints;
  run.sink = [&](const trace::TraceRecord& record) {
    trace::Digest one;
    one.Add(record);
    prints.push_back(one.value().low);
  };
  result = RunOnce(scenario, run, simulator);
  return prints;
}

/// The records of the run around the given position.
std::string RecordsAround(const config::Scenario& scenario, SingleRun run,
                          const Simulator& simulator, std::size_t position) {
  std::string text;
  std::size_t at = 0;
  run.sink = [&](const trace::TraceRecord& record) {
    if (at + kContext >= position && at <= position) {
      text += fmt::format("{} {:>8}  {}\n", at == position ? ">" : " ", at,
                          config::Printable(trace::RecordJson(record), kLine));
    }
    ++at;
  };
  static_cast<void>(RunOnce(scenario, run, simulator));
  if (position >= at) text += fmt::format("> {:>8}  (the run has ended)\n", position);
  return text;
}

struct Side {
  const config::Scenario* scenario = nullptr;
  SingleRun run;
  std::string label;
};

/// Runs both and tells where they first differ.
int CompareRuns(const Side& left, const Side& right, const Simulator& simulator) {
  trace::Result left_result, right_result;
  const auto left_prints = Fingerprints(*left.scenario, left.run, simulator, left_result);
  const auto right_prints = Fingerprints(*right.scenario, right.run, simulator, right_result);
  if (InterruptSignal() != 0) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
  if (left_prints == right_prints) {
    return Say(fmt::format("same: {} records, digest {}\n", left_prints.size(), left_result.digest),
               ExitCode::kOk);
  }
  std::size_t position = 0;
  while (position < left_prints.size() && position < right_prints.size() &&
         left_prints[position] == right_prints[position]) {
    ++position;
  }
  return Say(fmt::format("first difference at record {}\n{}\n{}{}\n{}", position, left.label,
                         RecordsAround(*left.scenario, left.run, simulator, position), right.label,
                         RecordsAround(*right.scenario, right.run, simulator, position)),
             ExitCode::kRunsDiffer);
}

// ---------------------------------------------------------------- two files

/// A stream that is not open: the file cannot be read. A directory opens as a file does, and would
/// read as an empty one.
std::ifstream Open(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return {};
  return std::ifstream(path, std::ios::binary);
}

/// nullopt: it cannot be read, which was said.
std::optional<Document> ReadDocumentFile(const std::string& path) {
  const auto text = TextOf(path);
  if (!text) {
    cli::Complain("cannot read " + path);
    return std::nullopt;
  }
  Expected<Document> document = ReadDocument(*text);
  if (document) return *std::move(document);
  cli::Complain(fmt::format("{}: {}", path, document.error().message));
  return std::nullopt;
}

int CompareDocumentFiles(const DiffArguments& arguments) {
  const std::optional<Document> left = ReadDocumentFile(arguments.left);
  if (!left) return ToInt(ExitCode::kInvalidInput);
  const std::optional<Document> right = ReadDocumentFile(arguments.right);
  if (!right) return ToInt(ExitCode::kInvalidInput);
  const std::vector<std::string> differences = DifferencesOf(*left, *right);
  if (differences.empty()) return Say("same\n", ExitCode::kOk);
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < kShownDifferences; ++i)
    text += differences[i] + "\n";
  if (differences.size() > kShownDifferences) {
    text += fmt::format("and {} more\n", differences.size() - kShownDifferences);
  }
  return Say(text, ExitCode::kRunsDiffer);
}

int CompareLineFiles(const DiffArguments& arguments) {
  std::ifstream left = Open(arguments.left), right = Open(arguments.right);
  if (!left.is_open() || !right.is_open()) {
    return EndWith("cannot read " + (left.is_open() ? arguments.right : arguments.left),
                   ExitCode::kInvalidInput);
  }
  const LineComparison result = CompareLines(left, right);
  if (!result.left && !result.right)
    return Say(fmt::format("same: {} records\n", result.same), ExitCode::kOk);
  std::string text = fmt::format("first difference at line {}\n", result.same + 1);
  for (const std::string& line : result.before)
    text += "  " + config::Printable(line, kLine) + "\n";
  text += "< " + (result.left ? config::Printable(*result.left, kLine) : "(end)") + "\n";
  text += "> " + (result.right ? config::Printable(*result.right, kLine) : "(end)") + "\n";
  return Say(text, ExitCode::kRunsDiffer);
}

int CompareScenarios(const DiffArguments& arguments, const Simulator& simulator) {
  const auto load = [&](const std::string& file) {
    return LoadOrExplain(
        {.file = file, .sets = arguments.sets, .trace_directory = arguments.trace_directory});
  };
  const auto left = load(arguments.left);
  const auto right = load(arguments.right);
  if (!left || !right) return ToInt(ExitCode::kInvalidInput);
  const std::atomic<bool>* interrupt = &CatchInterrupts();
  const auto side = [&](const config::Scenario& scenario, const std::string& file) {
    Side made{.scenario = &scenario, .run = {}, .label = file};
    made.run.seed = arguments.seed.value_or(scenario.seed);
    made.run.interrupt = interrupt;
    return made;
  };
  return CompareRuns(side(*left, arguments.left), side(*right, arguments.right), simulator);
}

}  // namespace

int ReplayCommand(const ReplayArguments& given, const Simulator& simulator) {
  ReplayArguments arguments = given;
  const bool on_machines = !RecordingsIn(given.input.file).empty();
  if (!on_machines) {
    const auto recorded = SimulatedRunAt(given.input.file);
    if (!recorded) return EndWith(recorded.error().message, ExitCode::kInvalidInput);
    if (*recorded) {
      arguments.input.file = (*recorded)->scenario;
      if (!arguments.seed) arguments.seed = (*recorded)->run.seed;
      if (arguments.result.empty()) arguments.result = (*recorded)->result;
    }
  }
  if (!arguments.policy.empty()) return ReplayWithPolicy(arguments, simulator);
  if (on_machines) return ReplayRunDirectory(arguments.input.file, simulator.version);
  const auto scenario = LoadOrExplain(arguments.input);
  if (!scenario) return ToInt(ExitCode::kInvalidInput);
  SingleRun run;
  run.seed = arguments.seed.value_or(scenario->seed);
  run.interrupt = &CatchInterrupts();
  if (arguments.result.empty()) {
    Side left{.scenario = &*scenario, .run = run, .label = "with idle heartbeats skipped:"};
    Side right{.scenario = &*scenario, .run = run, .label = "with idle heartbeats simulated:"};
    right.run.elide = false;
    return CompareRuns(left, right, simulator);
  }
  const auto text = TextOf(arguments.result);
  if (!text) return EndWith("cannot read " + arguments.result, ExitCode::kInvalidInput);
  const Expected<RecordedRun> then = ReadRecordedRun(*text);
  if (!then)
    return EndWith(arguments.result + ": " + then.error().message, ExitCode::kInvalidInput);
  if (!arguments.seed) run.seed = then->seed;
  if (then->scenario_digest != fmt::format("{:016x}", scenario->digest)) {
    Complain("the scenario is not the one of that result (another digest)");
  }
  const trace::Result result = RunOnce(*scenario, run, simulator);
  if (result.verdict == trace::Verdict::kInterrupted) return result.exit_code;
  if (result.digest == then->digest)
    return Say(fmt::format("same: digest {}\n", then->digest), ExitCode::kOk);
  return Say(fmt::format("different: digest {} now, {} then\n", result.digest,
                         config::Printable(then->digest)),
             ExitCode::kRunsDiffer);
}

int DiffCommand(const DiffArguments& arguments, const Simulator& simulator) {
  if (arguments.left.ends_with(".jsonl") && arguments.right.ends_with(".jsonl")) {
    return CompareLineFiles(arguments);
  }
  if (arguments.left.ends_with(".json") && arguments.right.ends_with(".json"))
    return CompareDocumentFiles(arguments);
  return CompareScenarios(arguments, simulator);
}

}  // namespace tfyarn::cli
