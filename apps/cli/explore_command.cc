#include "apps/cli/explore_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "apps/cli/coverage_report.h"
#include "apps/cli/exit_codes.h"
#include "apps/cli/explore_relation.h"
#include "apps/cli/explore_search.h"
#include "apps/cli/human.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/load.h"
#include "apps/cli/output.h"
#include "apps/cli/process_pool.h"
#include "apps/cli/progress.h"
#include "config/emit.h"
#include "core/model/describe.h"
#include "core/model/text.h"
#include "explore/draw.h"

namespace tfyarn::cli {
namespace {

/// More findings are told, but not shrunk: the first ones are to be repaired first.
constexpr std::size_t kShrunk = 20;

struct InputFile {
  std::string path;
  bool from_folder = false;  ///< The user named the folder only.
  friend auto operator<=>(const InputFile&, const InputFile&) = default;
};

/// All files of the files and folders; nullopt: an error was told.
std::optional<std::vector<InputFile>> FilesOf(const std::vector<std::string>& inputs) {
  std::vector<InputFile> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::is_directory(input, error)) {
      files.push_back({.path = input});
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(input, error)) {
      if (entry.path().extension() == ".yaml")
        files.push_back({.path = entry.path().string(), .from_folder = true});
    }
    if (error) {
      Complain(fmt::format("{}: {}", input, error.message()));
      return std::nullopt;
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Effective documents, without what only their own faults bring about. Of a folder the files that
/// are no whole scenarios, such as those that others include, are told and left out.
std::optional<std::vector<SearchBase>> BasesOf(const ExploreArguments& arguments) {
  const auto files = FilesOf(arguments.inputs);
  if (!files) return std::nullopt;
  std::vector<SearchBase> bases;
  for (const InputFile& file : *files) {
    const auto scenario =
        LoadOrText({.file = file.path, .sets = arguments.sets, .trace_directory = {}});
    if (!scenario && file.from_folder) {
      const std::string& why = scenario.error();
      WriteStderr("tfsim: left out " + why.substr(0, why.find('\n')) + "\n");
      continue;
    }
    if (!scenario) {
      WriteStderr(scenario.error());
      return std::nullopt;
    }
    std::optional<explore::Node> document = explore::DocumentOf(scenario->effective_yaml);
    if (!document) {
      Complain(fmt::format("{}: its effective form cannot be read", file.path));
      return std::nullopt;
    }
    if (!arguments.relation && !arguments.coverage_only) {
      explore::Remove(*document, "expect");
      explore::Remove(*document, "sweep");
    }
    bases.push_back({.file = file.path,
                     .document = std::move(*document),
                     .sketch = explore::SketchOf(*scenario)});
  }
  if (bases.empty() && !arguments.inputs.empty()) {
    Complain(fmt::format("no scenario (*.yaml) in {}", fmt::join(arguments.inputs, ", ")));
    return std::nullopt;
  }
  return bases;
}

std::string Told(const explore::Problem& problem) {
  return problem.at ? fmt::format("{} (at {})", problem.sentence,
                                  ToString(Duration(problem.at->time_since_epoch())))
                    : problem.sentence;
}

/// Keys of the problems that the findings in a folder tell in their first lines; nullopt: an error
/// was told.
std::optional<std::set<std::string>> KnownIn(const std::string& folder) {
  std::set<std::string> keys;
  if (folder.empty()) return keys;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path());
    std::string line;
    if (!std::getline(file, line) || !line.starts_with("# ")) continue;
    line = line.substr(2, line.rfind(" (at ") - 2);
    keys.insert(explore::KeyOf(line));
  }
  if (!error) return keys;
  Complain(fmt::format("{}: {}", folder, error.message()));
  return std::nullopt;
}

/// One command that shows it.
std::string CommandFor(const std::string& file, explore::Relation relation,
                       const explore::Problem& problem) {
  if (problem.sentence.starts_with("relation "))
    return fmt::format("tfsim explore {} --relation {}", file, KebabName(relation));
  const bool reference = problem.sentence.starts_with("invariant reference-verdict");
  return fmt::format("tfsim run {}{}", file, reference ? " --reference" : "");
}

class Explorer {
 public:
  Explorer(const ExploreArguments& arguments, const Simulator& simulator)
      : arguments_(arguments),
        interrupt_(CatchInterrupts()),
        progress_(arguments.quiet),
        laboratory_{.simulate = simulator.run, .accepts = [](const config::Scenario& scenario) {
                      return PolicyProblems(scenario).empty();
                    }} {
    at_once_ = ProcessesAtOnce(arguments.at_once);
    out_ = arguments.out.empty() ? "tfsim-out/explore" : arguments.out;
    plan_.guided = arguments.guided;
    plan_.seed = arguments.seed ? *arguments.seed : std::random_device()();
  }

  int Run() {
    auto bases = BasesOf(arguments_);
    if (!bases) return ToInt(ExitCode::kInvalidInput);
    if (arguments_.relation) return RunRelation(*bases);
    if (arguments_.coverage_only && !bases->empty()) return TellCoverageOf(*bases);
    plan_.bases = std::move(*bases);
    if (arguments_.print) return PrintDrawn(*arguments_.print);
    if (!TakeUp(arguments_.corpus)) return ToInt(ExitCode::kInvalidInput);
    auto known = KnownIn(arguments_.known);
    if (!known) return ToInt(ExitCode::kInvalidInput);
    if (!arguments_.quiet)
      WriteStderr(fmt::format("tfsim: exploring with --seed {}\n", plan_.seed));
    const SearchState state =
        Search(plan_,
               {.runs = arguments_.runs,
                .from = arguments_.from,
                .seconds = arguments_.seconds,
                .findings = arguments_.stop_after,
                .at_once = at_once_,
                .known = std::move(*known),
                .digests = !arguments_.digests.empty()},
               laboratory_, interrupt_, [this](const SearchState& now) { Show(now); });
    progress_.Clear();
    const double seconds = progress_.wall_seconds();
    if (!KeepCorpus(state.corpus) || !WriteDigests(state)) return ToInt(ExitCode::kInternal);
    if (arguments_.coverage_only) return TellCoverage(state);
    for (std::size_t i = 0; i < state.found.size(); ++i) {
      if (!Tell(i, state.found[i])) return ToInt(ExitCode::kInternal);
    }
    return Conclude(state, seconds);
  }

 private:
  void Show(const SearchState& state) {
    // Of coverage alone no finding is told.
    for (; !arguments_.coverage_only && told_ < state.found.size(); ++told_)
      TellAtOnce(told_, state.found[told_]);
    const double seconds = progress_.wall_seconds();
    const double rate = seconds > 0 ? static_cast<double>(state.runs) / seconds : 0;
    progress_.Show({.done = state.runs,
                    .total = arguments_.runs,
                    .noun = "run",
                    .more = fmt::format("{:.0f} a second, {}, {}", rate,
                                        Plural(state.corpus.all().reached(), "cell"),
                                        Plural(state.found.size(), "finding"))});
  }

  /// What an earlier search kept is run first. False: it could not be read, which was told.
  bool TakeUp(const std::string& folder) {
    if (folder.empty()) return true;
    const auto files = FilesOf({folder});
    if (!files) return false;
    for (const InputFile& file : *files) {
      std::ifstream stream(file.path);
      const std::string text((std::istreambuf_iterator<char>(stream)), {});
      // What another version kept may be no scenario any more.
      if (auto document = explore::DocumentOf(text)) plan_.first.push_back(std::move(*document));
    }
    if (!plan_.first.empty()) return true;
    Complain(fmt::format("no run (*.yaml) in {}", folder));
    return false;
  }

  /// With --out: for a later search, and for readers. False: it could not be written.
  bool KeepCorpus(const explore::Corpus& corpus) {
    if (arguments_.out.empty()) return true;
    Expected<void> written = WriteFile(out_ + "/coverage.json", CoverageJson(corpus));
    if (written)
      written = WriteFile(out_ + "/coverage.txt", CoverageSummary(corpus) + CoverageTables(corpus));
    for (const auto& kept : corpus.kept()) {
      if (!written) break;
      written = WriteFile(fmt::format("{}/corpus/run-{:06}.yaml", out_, kept->index),
                          NewsOf(*kept) + kept->document);
    }
    if (!written) Complain(written.error().message);
    return written.has_value();
  }

  int PrintDrawn(std::uint64_t index) {
    plan_.guided = false;
    const explore::Node document = plan_.Plan(index, {}).experiment.document;
    return ToInt(WriteStdout(config::EmitYaml(document)) ? ExitCode::kOk : ExitCode::kInternal);
  }

  /// False: they could not be written, which was told.
  bool WriteDigests(const SearchState& state) const {
    if (arguments_.digests.empty()) return true;
    std::string lines;
    for (const auto& [index, digest] : state.digests)
      lines += fmt::format("{} {}\n", index, digest.empty() ? "-" : digest);
    const Expected<void> written = WriteFile(arguments_.digests, lines);
    if (!written) Complain(written.error().message);
    return written.has_value();
  }

  /// `bases` as they are, each once.
  int TellCoverageOf(const std::vector<SearchBase>& bases) {
    for (const SearchBase& base : bases) plan_.first.push_back(base.document);
    plan_.guided = false;
    const SearchState state =
        Search(plan_, {.runs = plan_.first.size(), .at_once = at_once_, .known = {}}, laboratory_,
               interrupt_, [this](const SearchState& now) { Show(now); });
    progress_.Clear();
    return KeepCorpus(state.corpus) ? TellCoverage(state) : ToInt(ExitCode::kInternal);
  }

  static int TellCoverage(const SearchState& state) {
    const auto written = WriteStdout(CoverageSummary(state.corpus) + CoverageTables(state.corpus));
    if (state.interrupted) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
    return ToInt(written ? ExitCode::kOk : ExitCode::kInternal);
  }

  int RunRelation(const std::vector<SearchBase>& bases) {
    const RelationPlan plan{.relation = *arguments_.relation,
                            .seed = plan_.seed,
                            .runs = arguments_.runs,
                            .seconds = arguments_.limited ? arguments_.seconds : 0,
                            .at_once = at_once_};
    const RelationOutcome outcome =
        CheckRelation(plan, bases, laboratory_, interrupt_, [this](const RelationOutcome& now) {
          progress_.Show(
              {.done = now.runs,
               .total = now.all,
               .noun = now.found.empty() ? "run" : fmt::format("run, {} found", now.found.size())});
        });
    progress_.Clear();
    return ConcludeRelation(outcome, bases);
  }

  int ConcludeRelation(const RelationOutcome& outcome, const std::vector<SearchBase>& cases) {
    const std::string relation = KebabName(*arguments_.relation);
    for (const RelationFinding& found : outcome.found) {
      static_cast<void>(WriteStdout(
          fmt::format("{}: {}{}\n", cases[found.scenario].file, TerminalText(Told(found.problem)),
                      found.times > 1 ? fmt::format(", and {} more", found.times - 1) : "")));
    }
    for (const auto& [why, scenarios] : outcome.skipped) {
      static_cast<void>(WriteStdout(fmt::format(
          "{} not compared: {}\n", Plural(scenarios.size(), "scenario"), TerminalText(why))));
    }
    static_cast<void>(WriteStdout(fmt::format(
        "relation {}, seed {}: {} of {} in {} of {}: {}{}\n", relation, plan_.seed, outcome.runs,
        Plural(outcome.all, "other run"), HumanSeconds(progress_.wall_seconds()),
        Plural(cases.size(), "scenario"),
        outcome.found.empty() ? "all came to the same" : Plural(outcome.found.size(), "difference"),
        outcome.interrupted ? ", interrupted" : "")));
    if (!outcome.found.empty()) return ToInt(ExitCode::kRunsDiffer);
    if (outcome.interrupted) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
    return ToInt(ExitCode::kOk);
  }

  [[nodiscard]] std::string FileOf(std::size_t i) const {
    return fmt::format("{}/finding-{}.yaml", out_, i + 1);
  }

  static explore::Experiment ExperimentOf(const FoundProblem& found) {
    explore::Experiment experiment = found.experiment;
    const bool of_relation = found.problem.sentence.starts_with("relation ");
    if (!of_relation) experiment.relation = explore::Relation::kNone;
    return experiment;
  }

  [[nodiscard]] Expected<void> Write(const std::string& file, const FoundProblem& found,
                                     const explore::Experiment& experiment,
                                     const explore::Problem& shown) const {
    const std::string header = fmt::format(
        "# {}\n# {}\n# Found by tfsim explore --seed {}, run {}.\n", TerminalText(Told(shown)),
        CommandFor(file, experiment.relation, found.problem), plan_.seed, found.index);
    return WriteFile(file, header + config::EmitYaml(experiment.document));
  }

  /// As it was found: a search may take hours, and the first finding be looked into meanwhile.
  void TellAtOnce(std::size_t i, const FoundProblem& found) {
    const std::string file = FileOf(i);
    const Expected<void> written = Write(file, found, ExperimentOf(found), found.problem);
    if (arguments_.quiet) return;
    progress_.Clear();
    WriteStderr(fmt::format("run {}: {} ({})\n", found.index, TerminalText(Told(found.problem)),
                            written ? file : written.error().message));
  }

  /// Shrinks, writes and prints one finding. False: it could not be written.
  bool Tell(std::size_t i, const FoundProblem& found) {
    explore::Experiment experiment = ExperimentOf(found);
    if (arguments_.shrink && i < kShrunk && !interrupt_) {
      progress_.Show({.done = i + 1, .noun = "finding"});
      experiment.document =
          ShrinkExperiment(experiment, found.problem, at_once_, laboratory_, interrupt_);
      progress_.Clear();
    }
    const std::string file = FileOf(i);
    // The shrunk scenario's own words: times and ids are others than in the first run.
    std::string sentence = found.problem.sentence;
    std::optional<Instant> at = found.problem.at;
    const auto again = TryApart({experiment}, 1, laboratory_);
    for (const explore::Problem& problem : again.front().problems) {
      if (problem.key != found.problem.key) continue;
      sentence = problem.sentence;
      at = problem.at;
      break;
    }
    const explore::Problem shown{.key = {}, .sentence = sentence, .at = at};
    const auto written = Write(file, found, experiment, shown);
    if (!written) {
      Complain(written.error().message);
      return false;
    }
    std::string text = fmt::format("{}. {}\n", i + 1, TerminalText(Told(shown)));
    text += fmt::format("   run {}{}\n   {}\n", found.index,
                        found.times > 1 ? fmt::format(", and {} more", found.times - 1) : "",
                        CommandFor(file, experiment.relation, found.problem));
    static_cast<void>(WriteStdout(text));
    return true;
  }

  int Conclude(const SearchState& state, double seconds) {
    const std::string rate =
        seconds > 0 ? fmt::format(", {:.0f} a second", static_cast<double>(state.runs) / seconds)
                    : "";
    const std::string cut =
        state.cut_short > 0
            ? fmt::format(" ({} cut, as their jobs start again for days)", state.cut_short)
            : "";
    std::string coverage = CoverageSummary(state.corpus);
    if (arguments_.coverage) coverage += CoverageTables(state.corpus) + "\n";
    static_cast<void>(WriteStdout(coverage));
    static_cast<void>(WriteStdout(
        fmt::format("{}{} of seed {} in {}{}: {}{}\n", Plural(state.runs, "run"), cut, plan_.seed,
                    HumanSeconds(seconds), rate,
                    state.found.empty() ? "nothing found" : Plural(state.found.size(), "finding"),
                    state.interrupted ? ", interrupted" : "")));
    const bool only_expectations =
        std::all_of(state.found.begin(), state.found.end(),
                    [](const FoundProblem& found) { return found.problem.expectation; });
    if (!state.found.empty())
      return ToInt(only_expectations ? ExitCode::kExpectationFailed : ExitCode::kInvariantBroken);
    if (state.interrupted) return ToInt(ExitCode::kSignalBase) + InterruptSignal();
    return ToInt(ExitCode::kOk);
  }

  const ExploreArguments& arguments_;
  const std::atomic<bool>& interrupt_;
  ProgressLine progress_;
  explore::Laboratory laboratory_;
  std::size_t at_once_ = 1;
  std::string out_;
  SearchPlan plan_;
  std::size_t told_ = 0;  ///< Findings, as they came.
};

}  // namespace

int ExploreCommand(const ExploreArguments& arguments, const Simulator& simulator) {
  return Explorer(arguments, simulator).Run();
}

}  // namespace tfyarn::cli
