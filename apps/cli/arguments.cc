#include "apps/cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "apps/cli/command_line.h"
#include "apps/cli/explore_search.h"
#include "config/quantity.h"

namespace tfyarn::cli {
namespace {

// As many as a sweep of a scenario may have.
constexpr std::uint64_t kMaxSeeds = 1'000'000;
constexpr const char* kProgram = "tfsim";

/// Options as CLI11 fills them in, before they are checked.
struct Raw {
  RunArguments run;
  ValidateArguments validate;
  ExplainArguments explain;
  ExplainJobArguments explain_job;
  SchemaArguments schema;
  InitArguments init;
  FaultsArguments faults;
  ReplayArguments replay;
  DiffArguments diff;
  ExploreArguments explore;
  WhyArguments why;
  std::string why_seed, why_futures, why_jobs;
  std::string explore_budget, explore_from, explore_seed, explore_jobs, explore_relation,
      explore_stop_after;
  std::string explore_print;
  std::string run_seed, run_seeds, replay_seed, diff_seed, jobs, topic;
  std::string explain_at, explain_seed;
  bool version = false;
  bool no_elision = false;
  bool explore_unguided = false;
  bool explore_unshrunk = false;
};

/// `file`: what the positional argument may be.
void AddInput(CLI::App& app, InputArguments& input, const char* file = "scenario.yaml") {
  app.add_option("FILE", input.file, file)->required();
  app.add_option("--set", input.sets, "path=value, overrides the file; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app.add_option("--trace-dir", input.trace_directory,
                 "directory of the traces of jobs and failures that are not beside the scenario")
      ->type_name("DIR");
}

void AddRun(CLI::App& app, Raw& raw) {
  CLI::App& run =
      *app.add_subcommand("run", "run a scenario; many seeds or a sweep give one summary");
  AddInput(run, raw.run.input);
  run.add_option("--seed", raw.run_seed, "in place of the scenario's seed")->type_name("N");
  run.add_option("--seeds", raw.run_seeds, "run every seed from A to B, both included")
      ->type_name("A..B");
  run.add_option("-j,--jobs", raw.jobs, "number of runs at once (default: one for each processor)")
      ->type_name("N");
  run.add_option("--out", raw.run.out, "write result.json, report.html, junit.xml and CSV there")
      ->type_name("DIR");
  run.add_flag("--json", raw.run.json, "print the result document in place of the verdict");
  run.add_option("--html", raw.run.html, "write the report there")->type_name("FILE");
  run.add_option(
         "--trace", raw.run.trace,
         "write a timeline for ui.perfetto.dev there; FILE.jsonl: every record of the run instead")
      ->type_name("FILE");
  run.add_option("--junit", raw.run.junit, "write JUnit XML there")->type_name("FILE");
  run.add_option("--csv", raw.run.csv,
                 "write jobs.csv and attempts.csv there, or runs.csv for many runs")
      ->type_name("DIR");
  run.add_flag("--events", raw.run.events,
               "with --out: write events.jsonl too, every record of the run");
  run.add_flag("--no-elision", raw.no_elision,
               "simulate idle heartbeats one by one instead of skipping them: slower, same result");
  run.add_flag("--reference", raw.run.reference,
               "judge verdicts and restarts by the reference model too, as `explore` does");
  run.add_flag("--tasks", raw.run.tasks,
               "in result.json: every task attempt, even with more than 1,000 jobs");
  run.add_flag("-q,--quiet", raw.run.quiet, "no progress line");
}

void AddOthers(CLI::App& app, Raw& raw) {
  CLI::App& validate = *app.add_subcommand("validate", "check scenario or job files; run nothing");
  validate.add_option("FILES", raw.validate.files, "scenario.yaml or job.yaml")->required();
  validate
      .add_option("--set", raw.validate.sets, "path=value, overrides the files; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  validate
      .add_option("--trace-dir", raw.validate.trace_directory,
                  "directory of the traces of jobs and failures that are not beside the file")
      ->type_name("DIR");

  CLI::App& explain = *app.add_subcommand(
      "explain", "explain a field, a failure policy, or what a job waits for at a time");
  explain
      .add_option("WORDS", raw.explain.words,
                  "a field (gang.hold), or: policy NAME, or: FILE job/NAME --at TIME")
      ->required();
  explain.add_option("--at", raw.explain_at, "with FILE job/NAME: the simulated time to look at")
      ->type_name("TIME");
  explain.add_option("--seed", raw.explain_seed, "in place of the scenario's seed")->type_name("N");
  explain
      .add_option("--set", raw.explain_job.input.sets,
                  "path=value, overrides the file; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  explain
      .add_option("--trace-dir", raw.explain_job.input.trace_directory,
                  "directory of the traces of jobs and failures that are not beside the scenario")
      ->type_name("DIR");

  CLI::App& schema = *app.add_subcommand("schema", "print a JSON Schema for editors");
  schema.add_option("WHICH", raw.schema.which, "scenario (default) or job");

  CLI::App& init = *app.add_subcommand("init", "write a small scenario to start from");
  init.add_option("DIR", raw.init.directory, "default: the current directory");
  init.add_flag("--force", raw.init.force, "replace an existing scenario.yaml");

  CLI::App& faults =
      *app.add_subcommand("faults", "list the kinds of faults that a scenario can have");
  faults.add_option("KIND", raw.faults.kind, "only this one");

  CLI::App& replay = *app.add_subcommand(
      "replay",
      "repeat a scenario, or the machines of a real run, and check that the result "
      "is the same");
  AddInput(replay, raw.replay.input,
           "scenario.yaml; or the folder of a run: what --out wrote, or that of a real run");
  replay.add_option("--seed", raw.replay_seed, "in place of the scenario's seed")->type_name("N");
  replay
      .add_option("--result", raw.replay.result,
                  "an earlier result.json, whose digest the run must have, too")
      ->type_name("FILE");
  replay
      .add_option("--policy", raw.replay.policy,
                  "print what this failure policy would have decided at each recorded end")
      ->type_name("NAME");
  replay.add_flag("-q,--quiet", raw.replay.quiet, "no progress line");

  CLI::App& diff = *app.add_subcommand(
      "diff", "compare two result.json, two events.jsonl, or runs of two scenarios");
  diff.add_option("LEFT", raw.diff.left, "result.json, events.jsonl or scenario.yaml")->required();
  diff.add_option("RIGHT", raw.diff.right, "the same")->required();
  diff.add_option("--seed", raw.diff_seed, "for scenarios")->type_name("N");
  diff.add_option("--set", raw.diff.sets, "for scenarios: path=value in both; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  diff.add_option("--trace-dir", raw.diff.trace_directory, "for scenarios")->type_name("DIR");

  CLI::App& explore = *app.add_subcommand(
      "explore",
      "draw scenarios, or faults for yours, until an invariant breaks or a job ends wrongly");
  explore.add_option("FILES", raw.explore.inputs,
                     "scenarios, or folders of them; draw only faults and seeds for them");
  explore
      .add_option("--budget", raw.explore_budget, "a time (10m) or a number of runs (default: 1m)")
      ->type_name("TIME|RUNS");
  explore.add_option("--seed", raw.explore_seed, "determines all draws (default: random)")
      ->type_name("N");
  explore
      .add_option("-j,--jobs", raw.explore_jobs,
                  "number of processes at once (default: one for each processor)")
      ->type_name("N");
  explore
      .add_option("--from", raw.explore_from,
                  "begin with that run of an --unguided search, a multiple of 100: goes on with "
                  "an interrupted search")
      ->type_name("RUN");
  explore.add_option("--stop-after", raw.explore_stop_after, "end the search after N findings")
      ->type_name("N");
  explore
      .add_option("--known", raw.explore.known,
                  "do not report again the findings in that folder (--out of an earlier search)")
      ->type_name("DIR");
  explore
      .add_option("--out", raw.explore.out,
                  "write findings there (default: tfsim-out/explore); with this option also the "
                  "coverage, and the runs that reached a cell first")
      ->type_name("DIR");
  explore
      .add_option("--corpus", raw.explore.corpus,
                  "go on from the runs that an earlier search kept (DIR/corpus of its --out DIR)")
      ->type_name("DIR");
  explore.add_flag("--unguided", raw.explore_unguided,
                   "draw each run independently: none branches from one that reached a new cell");
  explore.add_flag("--unshrunk", raw.explore_unshrunk,
                   "write the scenario of a finding as drawn, not shrunk");
  explore.add_flag("--coverage", raw.explore.coverage, "print all tables of the coverage");
  explore.add_flag("--coverage-only", raw.explore.coverage_only,
                   "report only the coverage: of FILES as they are, or of the drawn scenarios");
  explore
      .add_option("--digests", raw.explore.digests,
                  "write the digest of each run there, one per line, to compare two versions or "
                  "machines")
      ->type_name("FILE");
  explore
      .add_option("--print", raw.explore_print,
                  "print the scenario of that run of an --unguided search, and run nothing")
      ->type_name("RUN");
  explore
      .add_option("--relation", raw.explore_relation,
                  "only compare runs of FILES that must have the same outcome, all of them without "
                  "--budget: every-heartbeat, key-order, unused-node, repeated-message, "
                  "shifted-ports, node-order, other-seed, later, amnesia or failed-effect")
      ->type_name("NAME");
  explore.add_option("--set", raw.explore.sets, "path=value, overrides FILES; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  explore.add_flag("-q,--quiet", raw.explore.quiet, "no progress line");

  CLI::App& why = *app.add_subcommand(
      "why",
      "find the event that made a run fail: its chances after each event, from other futures");
  AddInput(why, raw.why.input,
           "scenario.yaml; or the folder of a simulated run, as --out wrote it");
  why.add_option("--seed", raw.why_seed, "in place of the scenario's seed")->type_name("N");
  why.add_option("--futures", raw.why_futures, "number of futures from each event on (default: 20)")
      ->type_name("N");
  why.add_option("-j,--jobs", raw.why_jobs,
                 "number of processes at once (default: one for each processor)")
      ->type_name("N");
  why.add_option("--html", raw.why.html, "write a page there")->type_name("FILE");
  why.add_flag("--json", raw.why.json, "print a document in place of the table");
  why.add_flag("-q,--quiet", raw.why.quiet, "no progress line");

  CLI::App& help = *app.add_subcommand("help", "help on a command, or on `exit-codes`");
  help.add_option("TOPIC", raw.topic, "a command, or exit-codes");
}

std::unique_ptr<CLI::App> MakeApp(Raw& raw) {
  auto app = std::make_unique<CLI::App>("Distributed TensorFlow on YARN, simulated.", kProgram);
  app->require_subcommand(0, 1);
  app->add_flag("-V,--version", raw.version, "print the version");
  app->footer(
      "To start: `tfsim init my` writes a scenario, `tfsim run my/scenario.yaml` runs it.\n"
      "`tfsim help COMMAND` and `tfsim help exit-codes` say more.");
  AddRun(*app, raw);
  AddOthers(*app, raw);
  return app;
}

std::optional<UsageError> ReadSeed(const std::string& text, std::optional<std::uint64_t>& seed) {
  if (text.empty()) return std::nullopt;
  const auto range = ParseSeeds(text);
  if (!range || range->first != range->second) {
    return UsageError{fmt::format("tfsim: --seed takes one whole number, not {}\n", text)};
  }
  seed = range->first;
  return std::nullopt;
}

std::optional<UsageError> ReadProcesses(const std::string& text, std::size_t& at_once) {
  if (text.empty()) return std::nullopt;
  const auto jobs = ParseSeeds(text);
  if (!jobs || jobs->first != jobs->second || jobs->first == 0 || jobs->first > 4096) {
    return UsageError{fmt::format("tfsim: -j takes a whole number from 1 to 4096, not {}\n", text)};
  }
  at_once = static_cast<std::size_t>(jobs->first);
  return std::nullopt;
}

std::optional<UsageError> CheckRun(Raw& raw) {
  RunArguments& run = raw.run;
  run.elide = !raw.no_elision;
  if (auto error = ReadSeed(raw.run_seed, run.seed)) return error;
  if (!raw.run_seeds.empty()) {
    run.seeds = ParseSeeds(raw.run_seeds);
    if (!run.seeds)
      return UsageError{
          fmt::format("tfsim: --seeds takes A..B with A <= B, not {}\n", raw.run_seeds)};
    if (run.seeds->second - run.seeds->first >= kMaxSeeds)
      return UsageError{
          fmt::format("tfsim: --seeds takes at most {} seeds, not {}\n", kMaxSeeds, raw.run_seeds)};
    if (run.seed) return UsageError{"tfsim: --seed and --seeds exclude each other\n"};
  }
  if (auto error = ReadProcesses(raw.jobs, run.at_once)) return error;
  if (run.events && run.out.empty())
    return UsageError{"tfsim: --events needs --out DIR (or use --trace FILE.jsonl)\n"};
  return std::nullopt;
}

std::optional<UsageError> ReadBudget(const std::string& text, ExploreArguments& explore) {
  if (text.empty()) return std::nullopt;
  explore.limited = true;
  if (const auto time = config::ParseDuration(text); time && *time > Duration::zero()) {
    explore.seconds = SecondsOf(*time);
    return std::nullopt;
  }
  const auto runs = ParseSeeds(text);
  if (!runs || runs->first != runs->second || runs->first == 0) {
    return UsageError{fmt::format(
        "tfsim explore: --budget takes a time like 10m or a number of runs, not {}\n", text)};
  }
  explore.runs = runs->first;
  explore.seconds = 0;
  return std::nullopt;
}

std::optional<UsageError> CheckExplore(Raw& raw) {
  ExploreArguments& explore = raw.explore;
  if (auto error = ReadSeed(raw.explore_seed, explore.seed)) return error;
  if (auto error = ReadProcesses(raw.explore_jobs, explore.at_once)) return error;
  if (auto error = ReadBudget(raw.explore_budget, explore)) return error;
  if (!raw.explore_stop_after.empty()) {
    const auto findings = ParseSeeds(raw.explore_stop_after);
    if (!findings || findings->first != findings->second || findings->first == 0) {
      return UsageError{
          fmt::format("tfsim explore: --stop-after takes a number from 1 on, not {}\n",
                      raw.explore_stop_after)};
    }
    explore.stop_after = findings->first;
  }
  explore.guided = !raw.explore_unguided;
  if (!raw.explore_from.empty()) {
    const auto run = ParseSeeds(raw.explore_from);
    if (!run || run->first != run->second || run->first % kSearchStep != 0 || !explore.seed ||
        explore.guided) {
      return UsageError{
          fmt::format("tfsim explore: --from {}: it takes the number of a run, a multiple of {}, "
                      "with --unguided and --seed, which identify the search\n",
                      raw.explore_from, kSearchStep)};
    }
    explore.from = run->first;
  }
  explore.shrink = !raw.explore_unshrunk;
  if (!raw.explore_print.empty()) {
    const auto run = ParseSeeds(raw.explore_print);
    if (!run || run->first != run->second || !explore.seed) {
      return UsageError{fmt::format(
          "tfsim explore: --print {}: it takes the number of a run, from 0 on, and --seed, which "
          "identifies the search\n",
          raw.explore_print)};
    }
    explore.print = run->first;
  }
  const bool searches =
      raw.explore_relation.empty() && (explore.inputs.empty() || !explore.coverage_only);
  if (!searches && (!explore.digests.empty() || explore.print)) {
    const bool print = explore.print.has_value();
    return UsageError{fmt::format(
        "tfsim explore: {} goes with a search, not with --relation or --coverage-only and "
        "FILES{}\n",
        print ? "--print" : "--digests",
        print ? "" : "; `tfsim run FILE` prints the digest of a file")};
  }
  if (raw.explore_relation.empty()) return std::nullopt;
  explore.relation = EnumeratorFromKebab<explore::Relation>(raw.explore_relation);
  if (explore.relation && !explore.inputs.empty()) return std::nullopt;
  return UsageError{
      "tfsim explore: --relation takes every-heartbeat, key-order, unused-node, "
      "repeated-message, shifted-ports, node-order, other-seed, later, amnesia or failed-effect, "
      "and FILES\n"};
}

std::optional<UsageError> CheckWhy(Raw& raw) {
  constexpr std::uint64_t kMostFutures = 10'000;
  WhyArguments& why = raw.why;
  if (auto error = ReadSeed(raw.why_seed, why.seed)) return error;
  if (auto error = ReadProcesses(raw.why_jobs, why.at_once)) return error;
  if (raw.why_futures.empty()) return std::nullopt;
  const auto futures = ParseSeeds(raw.why_futures);
  if (!futures || futures->first != futures->second || futures->first == 0 ||
      futures->first > kMostFutures) {
    return UsageError{
        fmt::format("tfsim why: --futures takes a whole number from 1 to {}, not {}\n",
                    kMostFutures, raw.why_futures)};
  }
  why.futures = futures->first;
  return std::nullopt;
}

/// `explain FILE job/NAME --at TIME`, told from a field by its second word.
tl::expected<Command, UsageError> Explain(Raw& raw) {
  const std::vector<std::string>& words = raw.explain.words;
  constexpr std::string_view kJob = "job/";
  if (words.size() != 2 || !words[1].starts_with(kJob)) {
    if (raw.explain_at.empty()) return raw.explain;
    return tl::unexpected<UsageError>(
        UsageError{"tfsim explain: --at goes with FILE job/NAME\nsee: tfsim help explain\n"});
  }
  ExplainJobArguments& job = raw.explain_job;
  job.input.file = words[0];
  job.job = words[1].substr(kJob.size());
  if (auto error = ReadSeed(raw.explain_seed, job.seed)) return tl::unexpected<UsageError>(*error);
  const auto at = config::ParseDuration(raw.explain_at);
  if (!at) {
    return tl::unexpected<UsageError>(UsageError{
        fmt::format("tfsim explain: --at takes a time like 90s, not `{}`\n", raw.explain_at)});
  }
  job.at = *at;
  return job;
}

tl::expected<Command, UsageError> Chosen(const CLI::App& app, Raw& raw) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) return PrintText{MakeApp(*std::make_unique<Raw>())->help()};
  const std::string name = chosen.front()->get_name();
  std::optional<UsageError> error;
  if (name == "run") error = CheckRun(raw);
  if (name == "replay") error = ReadSeed(raw.replay_seed, raw.replay.seed);
  if (name == "schema" && raw.schema.which != "scenario" && raw.schema.which != "job") {
    error = UsageError{
        fmt::format("tfsim schema: {} is not one of: scenario, job\nsee: tfsim help schema\n",
                    raw.schema.which)};
  }
  if (name == "diff") error = ReadSeed(raw.diff_seed, raw.diff.seed);
  if (name == "explore") error = CheckExplore(raw);
  if (name == "why") error = CheckWhy(raw);
  if (error) return tl::unexpected<UsageError>(*error);
  if (name == "run") return raw.run;
  if (name == "validate") return raw.validate;
  if (name == "explain") return Explain(raw);
  if (name == "schema") return raw.schema;
  if (name == "init") return raw.init;
  if (name == "faults") return raw.faults;
  if (name == "replay") return raw.replay;
  if (name == "diff") return raw.diff;
  if (name == "explore") return raw.explore;
  if (name == "why") return raw.why;
  return HelpOn(app, kProgram, raw.topic);
}

}  // namespace

std::optional<std::pair<std::uint64_t, std::uint64_t>> ParseSeeds(const std::string& text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const std::string_view all(text);
  const auto dots = all.find("..");
  const auto first = number(all.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(all.substr(dots + 2));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

tl::expected<Command, UsageError> ParseArguments(const std::vector<std::string>& words,
                                                 const std::string& version) {
  Raw raw;
  const std::unique_ptr<CLI::App> app = MakeApp(raw);
  if (auto other = ParseWords(*app, kProgram, words, version)) {
    if (!*other) return tl::unexpected<UsageError>(other->error());
    return std::move(**other);
  }
  return Chosen(*app, raw);
}

}  // namespace tfyarn::cli
