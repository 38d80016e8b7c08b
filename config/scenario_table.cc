// The fields of scenario.yaml itself: its head, its blocks, invariants and sweeps.
#include "config/scenario_table.h"

#include <fmt/format.h>

#include "config/emit.h"
#include "config/names.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kMostCells = 10'000;
constexpr std::uint64_t kMaxSeeds = 1'000'000;

Type<JobConfig> SimulatedJob() {
  return {.info = Of(SimulatedJobTable).info,
          .read =
              [](Decoder& decoder, const Node& node, JobConfig& out) {
                SimulatedJobDraft draft;
                SimulatedJobTable().Read(decoder, node, draft);
                out = Complete(std::move(draft));
              },
          .show = [](const JobConfig&) { return std::string(); }};
}

const Record<InvariantOff>& InvariantOffTable() {
  static const Record<InvariantOff> table = [] {
    Record<InvariantOff> record("invariant that is off",
                                "A check that this scenario is meant to break.");
    record.Field("name", &InvariantOff::name, Word(InvariantNames()), "Which.", {.required = true});
    record.Field("because", &InvariantOff::because, SomeText(), "Why.",
                 {.example = "hold is meant to deadlock", .required = true});
    return record;
  }();
  return table;
}

Record<Scenario> InvariantsTable() {
  Record<Scenario> record(
      "invariants", "They are always checked; one is switched off only by name and with a reason.");
  record.Field("off", &Scenario::invariants_off, ListOf(Of(InvariantOffTable)),
               "The ones not checked.",
               {.example = "[{name: progress, because: hold is meant to deadlock}]"});
  return record;
}

/// "A..B", both ends included, or one number.
void ReadSeeds(Decoder& decoder, const Node& node, SweepSpec& out) {
  constexpr std::string_view kForm = "seeds like 0..99";
  if (!node.is_scalar()) return decoder.Wrong(node, kForm);
  const std::string_view text = node.text;
  const std::size_t dots = text.find("..");
  const auto first = ParseWhole(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : ParseWhole(text.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < 0) return decoder.Wrong(node, kForm);
  out.first_seed = static_cast<std::uint64_t>(*first);
  out.last_seed = static_cast<std::uint64_t>(*last);
  if (*first > *last) return decoder.Error(node, "`seeds`: the first is above the last");
  if (out.last_seed - out.first_seed >= kMaxSeeds) {
    decoder.Error(node, fmt::format("`seeds`: more than {} of them", kMaxSeeds));
  }
}

void ReadMatrix(Decoder& decoder, const Node& node, SweepSpec& out) {
  if (!node.is_map()) return decoder.Wrong(node, "a map of paths, as in --set, to lists of values");
  std::size_t cells = 1;
  for (const Entry& entry : node.entries) {
    const Decoder::Scope scope(decoder, entry.key);
    if (!entry.value.is_list() || entry.value.items.empty()) {
      decoder.Wrong(entry.value, "a list of values");
      continue;
    }
    std::vector<std::string> values;
    for (const Node& value : entry.value.items) values.push_back(EmitInline(value));
    if (cells <= kMostCells) cells *= values.size();
    out.matrix.emplace_back(entry.key, std::move(values));
  }
  if (cells > kMostCells)
    decoder.Error(node, fmt::format("`matrix`: more than {} cells", kMostCells));
}

const Record<SweepSpec>& SweepTable() {
  static const Record<SweepSpec> table = [] {
    Record<SweepSpec> record("sweep",
                             "Many runs: every combination of the matrix with every seed.");
    record.Custom("matrix",
                  {.shape = Shape::kMap,
                   .text = "map of paths to lists of values",
                   .pattern = "",
                   .of = {{.shape = Shape::kList, .text = "list of values", .of = {}}}},
                  "Paths as in --set, each with the values it takes.", ReadMatrix,
                  {.example = "{defaults.gang.policy: [hold, all]}"});
    record.Custom(
        "seeds",
        {.shape = Shape::kText, .text = "seeds like 0..99", .pattern = R"(^[0-9]+(\.\.[0-9]+)?$)"},
        "From the first to the last, both included.", ReadSeeds,
        {.example = "0..99", .default_text = "the scenario's"});
    return record;
  }();
  return table;
}

/// Only checked here: it has been merged into the jobs before they are read.
void ReadDefaults(Decoder& decoder, const Node& node, Scenario& /*out*/) {
  Decoder partial(false);
  SimulatedJobDraft draft;
  SimulatedJobTable().Read(partial, node, draft);
  for (const std::string_view own : {"name", "submit"}) {
    if (const Node* value = node.Find(own); value != nullptr && own == "name") {
      decoder.Error(*value, "`name`: every job needs its own");
    }
  }
  for (Finding& finding : partial.findings()) decoder.findings().push_back(std::move(finding));
}

const Record<FutureSpec>& FutureTable() {
  static const Record<FutureSpec> table = [] {
    Record<FutureSpec> record(
        "future",
        "Up to its time the run is the same, record by record; after it all that is chance is "
        "another: delays, losses, the waits for random faults and their targets. Delays that the "
        "scenario gives as constants come between half and one and a half of them.");
    record.Field("from", &FutureSpec::from, Time(), "Simulated time.",
                 {.example = "41.5s", .required = true});
    record.Field("seed", &FutureSpec::seed, Seed(), "Of what is drawn from then on.");
    return record;
  }();
  return table;
}

void CheckFutures(Decoder& decoder, const Node& node, const Scenario& scenario) {
  const Node* list = node.Find("futures");
  for (std::size_t i = 1; list != nullptr && i < scenario.futures.size(); ++i) {
    if (scenario.futures[i].from <= scenario.futures[i - 1].from)
      decoder.Error(ItemOf(*list, i), "`futures`: each must begin after the one before");
  }
}

void AddHead(Record<Scenario>& record) {
  record.Custom("schema", Word({"tfsim/v1"}).info,
                "Which version of this description the file follows.",
                [](Decoder& decoder, const Node& node, Scenario&) {
                  (void)ReadChoice(decoder, node, {"tfsim/v1"});
                },
                {.example = "tfsim/v1"});
  record.Field("name", &Scenario::name, ScenarioName(), "The scenario's name.",
               {.example = "worker-node-dies", .required = true});
  record.Field("description", &Scenario::description, Text(), "One line about it.");
  record.Custom("include",
                AnyOf("file name or list of them", {SomeText().info, ListOf(SomeText()).info}),
                "Other files, relative to this one, over which this one is merged: maps key by "
                "key, all else replaced; "
                "`null` removes.",
                [](Decoder&, const Node&, Scenario&) {}, {.example = "[cluster.yaml]"});
  record.Field("seed", &Scenario::seed, Seed(),
               "Of everything random; --seed and --seeds override it.");
  record.Field(
      "horizon", &Scenario::horizon, Time(1ms),
      "End of the simulation; a job unfinished then fails the run unless its expectation says so.");
  record.Field("warmup", &Scenario::warmup, Time(), "Metrics count jobs submitted after it.");
  record.Field("futures", &Scenario::futures, ListOf(Of(FutureTable)),
               "Other futures of the run, as `tfsim explore` and `tfsim why` draw them.",
               {.example = "[{from: 41.5s, seed: 7}]"});
  record.Checked(CheckFutures);
}

}  // namespace

const std::vector<std::string>& InvariantNames() {
  static const std::vector<std::string> names = {"capacity",           "one-owner",
                                                 "released-once",      "gang-start",
                                                 "one-spec",           "one-attempt",
                                                 "final-once",         "verdict",
                                                 "after-final",        "budgets",
                                                 "excluded-nodes",     "progress",
                                                 "quiescence",         "littles-law",
                                                 "gpu-seconds",        "good-citizen",
                                                 "reference-verdict",  "own-address",
                                                 "limits-kept",        "durable-before-visible",
                                                 "rule-matches-cause", "said-again",
                                                 "as-asked",           "notice-passed-on",
                                                 "gives-not-up",       "no-idle-containers",
                                                 "depends-kept"};
  return names;
}

Type<SweepSpec> Sweep() {
  return Of(SweepTable);
}

const Record<Scenario>& ScenarioTable() {
  static const Record<Scenario> table = [] {
    Record<Scenario> record("scenario",
                            "A cluster, the jobs on it, what goes wrong, and what must hold.");
    AddHead(record);
    record.Field("cluster", &Scenario::cluster, Of(ClusterTable), "The nodes and the network.",
                 {.required = true});
    record.Field("yarn", &Scenario::yarn, Of(YarnTable),
                 "The ResourceManager and the NodeManagers.");
    record.Field("hdfs", &Scenario::hdfs, Of(HdfsTable), "The file system.");
    record.Custom("defaults", Of(SimulatedJobTable).info,
                  "Merged under every job and template: maps key by key, all else replaced; `null` "
                  "in a job removes.",
                  ReadDefaults, {.example = "{gang: {policy: all}}"});
    record.Field("jobs", &Scenario::jobs, ListOf(SimulatedJob()), "The jobs.");
    record.Field("arrivals", &Scenario::arrivals, ListOf(Of(ArrivalTable)),
                 "Many jobs, at random times or from a trace.");
    record.Field("faults", &Scenario::faults, ListOf(Fault()), "What goes wrong.");
    record.Field("expect", &Scenario::expect, ListOf(Expect()), "What must hold.");
    record.Group("invariants", InvariantsTable());
    record.Field("sweep", &Scenario::sweep, Maybe(Sweep()), "Many runs.",
                 {.example = "{matrix: {defaults.gang.policy: [hold, all]}, seeds: 0..99}"});
    record.CheckedAnyway(CheckScenario);
    return record;
  }();
  return table;
}

}  // namespace tfyarn::config
