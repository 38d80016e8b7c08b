#include "apps/cli/explore_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/cli/explore_json.h"
#include "apps/cli/process_pool.h"
#include "config/emit.h"
#include "explore/amnesia.h"
#include "explore/branch.h"
#include "explore/draw.h"
#include "explore/shrink.h"
#include "sim/coverage.h"

namespace tfyarn::cli {
namespace {

using nlohmann::json;

/// Trials of one child: what starting a process costs is little beside them, and one that crashes
/// takes few with it.
constexpr std::uint64_t kBatch = 10;
/// A multiple of that.
constexpr std::uint64_t kGeneration = kSearchStep;
constexpr int kBranchedPercent = 50;
constexpr std::uint64_t kNoLimit = 1ULL << 40;
/// Simulated events that shrinking one finding may cost: half a minute. What is no smaller for a
/// run that is much longer is not tried to its end.
constexpr std::uint64_t kShrinkEffort = 30'000'000;
constexpr std::uint64_t kLongerRun = 4;
constexpr std::uint64_t kShortRun = 20'000;

/// What the parent needs to know of a run.
json RunJson(const sim::Coverage& coverage, const explore::Trial& trial,
             const PlannedRun& planned) {
  json reached = json::array();
  for (const sim::ReachedCell& one : coverage.reached()) {
    reached.push_back(one.cell);
    reached.push_back(one.at.time_since_epoch().count());
  }
  json row = {
      {"reached", std::move(reached)}, {"records", trial.records}, {"digest", trial.digest}};
  if (planned.from) row["from"] = *planned.from;
  return row;
}

explore::Corpus::Run RunFrom(const json& row, std::uint64_t index) {
  explore::Corpus::Run run{
      .index = index, .reached = {}, .records = row.at("records"), .from = std::nullopt};
  const json& reached = row.at("reached");
  for (std::size_t i = 0; i + 1 < reached.size(); i += 2) {
    run.reached.push_back({.cell = reached[i].get<sim::Cell>(),
                           .at = Instant(Duration(reached[i + 1].get<std::int64_t>()))});
  }
  if (row.contains("from")) run.from = row.at("from").get<std::uint64_t>();
  return run;
}

/// Ends the search: at the interrupt, or when the time is over.
class Clock {
 public:
  Clock(double seconds, const std::atomic<bool>& interrupt)
      : seconds_(seconds), interrupt_(interrupt), begin_(std::chrono::steady_clock::now()) {}
  void Look() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    if (interrupt_ || (seconds_ > 0 && passed.count() >= seconds_)) over_ = true;
  }
  void End() { over_ = true; }
  [[nodiscard]] const std::atomic<bool>& over() const { return over_; }

 private:
  double seconds_;
  const std::atomic<bool>& interrupt_;
  std::chrono::steady_clock::time_point begin_;
  std::atomic<bool> over_ = false;
};

class Searcher {
 public:
  Searcher(const SearchPlan& plan, const SearchLimits& limits,
           const explore::Laboratory& laboratory, const std::atomic<bool>& interrupt,
           const std::function<void(const SearchState&)>& shown)
      : plan_(plan),
        limits_(limits),
        laboratory_(laboratory),
        interrupt_(interrupt),
        shown_(shown),
        end_(limits.from + (limits.runs == 0 ? kNoLimit : limits.runs)) {
    const auto nothing = std::make_shared<const explore::Guide>();
    const std::uint64_t first = GenerationOf(limits.from);
    guides_ = {{first, nothing}, {first + 1, nothing}};
  }

  SearchState Finish() {
    Clock clock(limits_.seconds, interrupt_);
    PoolOptions pool{.at_once = limits_.at_once, .interrupt = &clock.over(), .keep_words = true};
    const auto first_of = [from = limits_.from](std::size_t batch) {
      return from + batch * kBatch;
    };
    pool.ready = [&](std::size_t batch) { return guides_.contains(GenerationOf(first_of(batch))); };
    pool.tick = [&] {
      clock.Look();
      shown_(state_);
    };
    const std::uint64_t batches = (end_ - limits_.from + kBatch - 1) / kBatch;
    RunInProcesses(
        static_cast<std::size_t>(batches), pool,
        [&](std::size_t batch) { return RunBatch(first_of(batch)); },
        [&](std::size_t batch, const ChildOutcome& outcome) {
          // What was under way when the last finding came would make it a matter of luck.
          if (HasEnough()) return;
          if (outcome.crash.empty()) {
            Take(outcome.bytes, first_of(batch));
          } else if (!clock.over()) {
            TakeOneByOne(first_of(batch));
          }
          if (first_of(batch + 1) % kGeneration == 0) EndGeneration(first_of(batch));
          if (HasEnough()) clock.End();
        });
    state_.interrupted = interrupt_;
    return std::move(state_);
  }

 private:
  [[nodiscard]] std::uint64_t EndOf(std::uint64_t first) const {
    return std::min(first + kBatch, end_);
  }

  [[nodiscard]] static std::uint64_t GenerationOf(std::uint64_t index) {
    return index / kGeneration;
  }
  [[nodiscard]] const explore::Guide& GuideOf(std::uint64_t index) const {
    return *guides_.at(GenerationOf(index));
  }

  /// The generation after the next one may begin.
  void EndGeneration(std::uint64_t index) {
    const std::uint64_t generation = GenerationOf(index);
    guides_.emplace(generation + 2, state_.corpus.MakeGuide());
    guides_.erase(generation);
  }

  [[nodiscard]] bool HasEnough() const {
    return limits_.findings > 0 && state_.found.size() >= limits_.findings;
  }

  /// In the child.
  std::string RunBatch(std::uint64_t first) const {
    json out = {{"runs", json::array()}, {"cut_short", 0}, {"problems", json::array()}};
    const explore::Guide& guide = GuideOf(first);
    for (std::uint64_t index = first; index < EndOf(first); ++index) {
      const PlannedRun planned = plan_.Plan(index, guide);
      sim::Coverage coverage;
      const explore::Trial trial =
          explore::Try(planned.experiment, laboratory_, &interrupt_, &coverage);
      // What was cut off says nothing.
      if (interrupt_) break;
      out["runs"].push_back(RunJson(coverage, trial, planned));
      if (trial.cut_short) out["cut_short"] = out["cut_short"].get<std::uint64_t>() + 1;
      for (const explore::Problem& problem : trial.problems) {
        json row = ToJson(problem);
        row["index"] = index;
        out["problems"].push_back(std::move(row));
      }
    }
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  void Take(const std::string& bytes, std::uint64_t first) {
    const json batch = json::parse(bytes);
    state_.cut_short += batch.at("cut_short").get<std::uint64_t>();
    std::uint64_t index = first;
    for (const json& row : batch.at("runs")) {
      if (limits_.digests) state_.digests[index] = row.at("digest");
      explore::Corpus::Run run = RunFrom(row, index++);
      run.drawn = !run.from && run.index >= plan_.first.size();
      TakeRun(run);
    }
    for (const json& row : batch.at("problems")) Add(ProblemFrom(row), row.at("index"));
  }

  void TakeRun(const explore::Corpus::Run& run) {
    ++state_.runs;
    if (!state_.corpus.Take(run)) return;
    const explore::Node document = plan_.Plan(run.index, GuideOf(run.index)).experiment.document;
    const auto scenario = explore::ScenarioOf(document);
    if (!scenario) return;
    explore::Sketch sketch = explore::SketchOf(*scenario);
    sketch.healthy = explore::MustSucceed(document);
    state_.corpus.Keep(run, config::EmitYaml(document), std::move(sketch));
  }

  void TakeOneByOne(std::uint64_t first) {
    std::vector<explore::Experiment> experiments;
    for (std::uint64_t index = first; index < EndOf(first); ++index)
      experiments.push_back(plan_.Plan(index, GuideOf(index)).experiment);
    const auto trials = TryApart(experiments, limits_.at_once, laboratory_);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      ++state_.runs;
      for (const explore::Problem& problem : trials[i].problems) Add(problem, first + i);
    }
  }

  void Add(const explore::Problem& problem, std::uint64_t index) {
    for (FoundProblem& known : state_.found) {
      if (known.problem.key != problem.key) continue;
      ++known.times;
      return;
    }
    if (HasEnough() || limits_.known.contains(problem.key)) return;
    explore::Experiment experiment = plan_.Plan(index, GuideOf(index)).experiment;
    experiment.put_together = false;
    state_.found.push_back(
        {.problem = problem, .index = index, .experiment = std::move(experiment)});
    shown_(state_);
  }

  const SearchPlan& plan_;
  const SearchLimits& limits_;
  const explore::Laboratory& laboratory_;
  const std::atomic<bool>& interrupt_;
  const std::function<void(const SearchState&)>& shown_;
  std::uint64_t end_;  ///< After the last run.
  /// By generation; of those that may begin and are not over.
  std::map<std::uint64_t, std::shared_ptr<const explore::Guide>> guides_;
  SearchState state_;
};

}  // namespace

PlannedRun SearchPlan::Plan(std::uint64_t index, const explore::Guide& guide) const {
  if (index < first.size()) {
    explore::Experiment again{.document = first[static_cast<std::size_t>(index)]};
    again.put_together = true;
    return {.experiment = std::move(again), .from = std::nullopt};
  }
  PlannedRun planned{.experiment = Fresh(index), .from = std::nullopt};
  explore::Draw draw(seed, fmt::format("branch {}", index));
  if (!guided || guide.empty() || !draw.Percent(kBranchedPercent)) return planned;
  const explore::Guide::Choice choice = guide.Choose(draw);
  if (planned.experiment.wild) planned.experiment = {};  // A branch has the faults of its run.
  planned.experiment.document = explore::Branch(*choice.run, draw);
  planned.experiment.put_together = true;
  planned.from = choice.position;
  return planned;
}

explore::Experiment SearchPlan::Fresh(std::uint64_t index) const {
  explore::Draw draw(seed, fmt::format("trial {}", index));
  const auto own = static_cast<std::uint64_t>(draw.Whole(1, 1LL << 62));
  explore::Experiment experiment;
  static const std::vector<explore::Relation> kRelations = {
      explore::Relation::kNone,           explore::Relation::kNone,
      explore::Relation::kEveryHeartbeat, explore::Relation::kKeyOrder,
      explore::Relation::kUnusedNode,     explore::Relation::kRepeatedMessage};
  experiment.relation = draw.Of(kRelations);
  // Of a stream of its own: a seed's other runs stay as they were.
  if (experiment.relation == explore::Relation::kNone) {
    explore::Draw more(seed, fmt::format("relation {}", index));
    if (more.Percent(30)) experiment.relation = explore::Relation::kShiftedPorts;
    if (more.Percent(15)) experiment.relation = explore::Relation::kNodeOrder;
    if (more.Percent(15)) experiment.relation = explore::Relation::kLater;
    // Of a job without faults only, which a scenario of the user's and a branch are not.
    if (bases.empty()) {
      if (more.Percent(12)) experiment.relation = explore::Relation::kAmnesia;
      if (more.Percent(6)) experiment.relation = explore::Relation::kFailedEffect;
    }
  }
  if (bases.empty()) {
    experiment.document = explore::DrawScenario(own);
    if (explore::MayKillAnAm(experiment.relation)) {
      experiment.document = explore::FirstJobAlone(std::move(experiment.document));
      experiment.wild = true;
    }
    return experiment;
  }
  const SearchBase& base = bases[index % bases.size()];
  experiment.document = base.document;
  explore::Set(experiment.document, "seed", explore::Number(draw.Whole(1, 1'000'000)));
  explore::DrawnFaults faults = explore::DrawFaults(own, base.sketch, draw.Whole(0, 3));
  for (explore::Node& fault : faults.list.items)
    explore::ListAt(experiment.document, "faults").items.push_back(std::move(fault));
  return experiment;
}

SearchState Search(const SearchPlan& plan, const SearchLimits& limits,
                   const explore::Laboratory& laboratory, const std::atomic<bool>& interrupt,
                   const std::function<void(const SearchState&)>& shown) {
  return Searcher(plan, limits, laboratory, interrupt, shown).Finish();
}

std::vector<explore::Trial> TryApart(const std::vector<explore::Experiment>& experiments,
                                     std::size_t at_once, const explore::Laboratory& laboratory) {
  std::vector<explore::Trial> trials(experiments.size());
  const PoolOptions pool{.at_once = at_once, .keep_words = true, .tick = {}};
  RunInProcesses(
      experiments.size(), pool,
      [&](std::size_t i) {
        const explore::Trial trial = explore::Try(experiments[i], laboratory);
        json out = {{"events", trial.events}, {"problems", json::array()}};
        for (const explore::Problem& problem : trial.problems)
          out["problems"].push_back(ToJson(problem));
        return out.dump(-1, ' ', false, json::error_handler_t::replace);
      },
      [&](std::size_t i, const ChildOutcome& outcome) {
        if (!outcome.crash.empty()) {
          trials[i].problems = {CrashOf(outcome)};
          return;
        }
        const json out = json::parse(outcome.bytes);
        trials[i].events = out.at("events");
        for (const json& row : out.at("problems")) trials[i].problems.push_back(ProblemFrom(row));
      });
  return trials;
}

explore::Node ShrinkExperiment(const explore::Experiment& experiment,
                               const explore::Problem& problem, std::size_t at_once,
                               const explore::Laboratory& laboratory,
                               const std::atomic<bool>& interrupt) {
  const auto shows = [&](const explore::Trial& trial) {
    return std::any_of(trial.problems.begin(), trial.problems.end(),
                       [&](const explore::Problem& p) { return p.key == problem.key; });
  };
  explore::Experiment limited = experiment;
  std::uint64_t spent = TryApart({experiment}, 1, laboratory).front().events;
  limited.most_events = std::max(kShortRun, spent * kLongerRun);
  const auto still_shows = [&](const std::vector<explore::Node>& candidates) {
    std::vector<bool> showing(candidates.size(), false);
    if (interrupt || spent > kShrinkEffort) return showing;
    std::vector<explore::Experiment> smaller(candidates.size(), limited);
    for (std::size_t i = 0; i < candidates.size(); ++i) smaller[i].document = candidates[i];
    const std::vector<explore::Trial> trials = TryApart(smaller, at_once, laboratory);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      spent += trials[i].events;
      showing[i] = shows(trials[i]);
    }
    return showing;
  };
  const bool never_ends = problem.key.find("UNFINISHED") != std::string::npos ||
                          problem.key.starts_with("invariant progress");
  return explore::Shrink(experiment.document, still_shows,
                         {.at_once = at_once, .keep_ends = never_ends});
}

}  // namespace tfyarn::cli
