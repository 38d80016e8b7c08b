#include "apps/cli/compare_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "apps/cli/exit_codes.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/single_run.h"
#include "config/diagnostics.h"
#include "core/trace/digest.h"
#include "core/trace/json.h"

namespace tfyarn::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kContext = 3;
constexpr std::size_t kShownDifferences = 20;
constexpr std::size_t kLine = 2000;

int Say(std::string text, ExitCode code) {
  if (auto written = WriteStdout(text); !written) {
    Complain(written.error().message);
    return ToInt(ExitCode::kInternal);
  }
  return ToInt(code);
}

int Complain(const std::string& text, ExitCode code) {
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

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// Differences that are no difference of the runs.
bool IsAboutThisMachine(const std::string& path) {
  return path == "/wall_seconds" || path == "/peak_rss_bytes";
}

void CollectDifferences(const Json& left, const Json& right, const std::string& path,
                        std::vector<std::string>& out) {
  if (left == right || IsAboutThisMachine(path)) return;
  if (left.is_object() && right.is_object()) {
    for (const auto& [key, value] : left.items()) {
      CollectDifferences(value, right.contains(key) ? right[key] : Json(), path + "/" + key, out);
    }
    for (const auto& [key, value] : right.items()) {
      if (!left.contains(key)) CollectDifferences(Json(), value, path + "/" + key, out);
    }
  } else if (left.is_array() && right.is_array()) {
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      CollectDifferences(i < left.size() ? left[i] : Json(), i < right.size() ? right[i] : Json(),
                         fmt::format("{}/{}", path, i), out);
    }
  } else {
    out.push_back(fmt::format("{}: {} | {}", path, config::Printable(left.dump(), 200),
                              config::Printable(right.dump(), 200)));
  }
}

/// Line and column of a byte, counted from 1.
std::string PlaceIn(const std::string& text, std::size_t byte) {
  const std::string before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const std::size_t newline = before.rfind('\n');
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     newline == std::string::npos ? before.size() + 1 : before.size() - newline);
}

/// nullopt: the file is not JSON, which was said.
std::optional<Json> ParseDocument(const std::string& path, const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    Complain(fmt::format("{}: not JSON: {}", path, PlaceIn(text, error.byte)),
             ExitCode::kInvalidInput);
  }
  return std::nullopt;
}

int CompareDocuments(const DiffArguments& arguments, const std::string& left,
                     const std::string& right) {
  const std::optional<Json> left_document = ParseDocument(arguments.left, left);
  const std::optional<Json> right_document = ParseDocument(arguments.right, right);
  if (!left_document || !right_document) return ToInt(ExitCode::kInvalidInput);
  std::vector<std::string> differences;
  CollectDifferences(*left_document, *right_document, "", differences);
  if (differences.empty()) return Say("same\n", ExitCode::kOk);
  std::string text;
  for (std::size_t i = 0; i < differences.size() && i < kShownDifferences; ++i)
    text += differences[i] + "\n";
  if (differences.size() > kShownDifferences) {
    text += fmt::format("and {} more\n", differences.size() - kShownDifferences);
  }
  return Say(text, ExitCode::kRunsDiffer);
}

int CompareLines(const DiffArguments& arguments) {
  std::ifstream left(arguments.left), right(arguments.right);
  std::deque<std::string> before;
  std::string left_line, right_line;
  for (std::size_t number = 1;; ++number) {
    const bool more_left = static_cast<bool>(std::getline(left, left_line));
    const bool more_right = static_cast<bool>(std::getline(right, right_line));
    if (!more_left && !more_right)
      return Say(fmt::format("same: {} records\n", number - 1), ExitCode::kOk);
    if (more_left && more_right && left_line == right_line) {
      before.push_back(left_line);
      if (before.size() > kContext) before.pop_front();
      continue;
    }
    std::string text = fmt::format("first difference at line {}\n", number);
    for (const std::string& line : before) text += "  " + config::Printable(line, kLine) + "\n";
    text += "< " + (more_left ? config::Printable(left_line, kLine) : "(end)") + "\n";
    text += "> " + (more_right ? config::Printable(right_line, kLine) : "(end)") + "\n";
    return Say(text, ExitCode::kRunsDiffer);
  }
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

int ReplayCommand(const ReplayArguments& arguments, const Simulator& simulator) {
  const auto scenario = LoadOrExplain(arguments.input);
  if (!scenario) return ToInt(ExitCode::kInvalidInput);
  SingleRun run;
  run.seed = arguments.seed.value_or(scenario->seed);
  run.interrupt = &CatchInterrupts();
  if (arguments.result.empty()) {
    Side left{.scenario = &*scenario, .run = run, .label = "with idle heartbeats skipped:"};
    Side right{.scenario = &*scenario, .run = run, .label = "with every heartbeat carried:"};
    right.run.elide = false;
    return CompareRuns(left, right, simulator);
  }
  const auto text = ReadFile(arguments.result);
  if (!text) return Complain("cannot read " + arguments.result, ExitCode::kInvalidInput);
  std::string digest, scenario_digest;
  try {
    const Json document = Json::parse(*text);
    digest = document.at("digest").get<std::string>();
    scenario_digest = document.at("scenario_digest").get<std::string>();
    if (!arguments.seed) run.seed = document.at("seed").get<std::uint64_t>();
  } catch (const Json::exception&) {
    return Complain(arguments.result + " is no result document of one run",
                    ExitCode::kInvalidInput);
  }
  if (scenario_digest != fmt::format("{:016x}", scenario->digest)) {
    Complain("the scenario is not the one of that result (another digest)");
  }
  const trace::Result result = RunOnce(*scenario, run, simulator);
  if (result.verdict == trace::Verdict::kInterrupted) return result.exit_code;
  if (result.digest == digest) return Say(fmt::format("same: digest {}\n", digest), ExitCode::kOk);
  return Say(fmt::format("different: digest {} now, {} then\n", result.digest, digest),
             ExitCode::kRunsDiffer);
}

int DiffCommand(const DiffArguments& arguments, const Simulator& simulator) {
  if (arguments.left.ends_with(".jsonl") && arguments.right.ends_with(".jsonl")) {
    for (const std::string* path : {&arguments.left, &arguments.right}) {
      if (!std::ifstream(*path)) return Complain("cannot read " + *path, ExitCode::kInvalidInput);
    }
    return CompareLines(arguments);
  }
  if (!arguments.left.ends_with(".json") || !arguments.right.ends_with(".json")) {
    return CompareScenarios(arguments, simulator);
  }
  const auto left = ReadFile(arguments.left);
  const auto right = ReadFile(arguments.right);
  if (!left || !right) {
    return Complain("cannot read " + (left ? arguments.right : arguments.left),
                    ExitCode::kInvalidInput);
  }
  return CompareDocuments(arguments, *left, *right);
}

}  // namespace tfyarn::cli
