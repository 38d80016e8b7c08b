#include "apps/cli/explore_relation.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "apps/cli/explore_json.h"
#include "apps/cli/process_pool.h"
#include "core/model/random_stream.h"
#include "explore/comparison.h"

namespace tfyarn::cli {
namespace {

using nlohmann::json;

/// Variants of one child: its plain run costs as much as one of them.
constexpr std::uint64_t kVariantsAtOnce = 24;

/// The order in which a scenario's variants are tried: the same in every child.
std::vector<std::size_t> OrderOf(std::uint64_t seed, const std::string& name, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  RandomStream stream(seed, "variants of " + name);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[stream.Below(i)]);
  return order;
}

/// Rounds of batches: each goes over all scenarios, so that a search that ends early has seen some
/// of each.
class Rounds {
 public:
  Rounds(const RelationPlan& plan, const std::vector<SearchBase>& cases,
         const explore::Laboratory& laboratory, const std::atomic<bool>& interrupt,
         const std::function<void(const RelationOutcome&)>& shown)
      : plan_(plan),
        cases_(cases),
        laboratory_(laboratory),
        interrupt_(interrupt),
        shown_(shown),
        begin_(std::chrono::steady_clock::now()) {}

  RelationOutcome Finish() {
    std::vector<std::size_t> left(cases_.size());
    std::iota(left.begin(), left.end(), 0U);
    for (std::uint64_t round = 0; !left.empty() && !over_; ++round) left = Round(round, left);
    outcome_.interrupted = interrupt_;
    return std::move(outcome_);
  }

 private:
  void Look() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    if (interrupt_ || (plan_.seconds > 0 && passed.count() >= plan_.seconds) ||
        (plan_.runs > 0 && outcome_.runs >= plan_.runs))
      over_ = true;
  }

  /// Those that have more variants.
  std::vector<std::size_t> Round(std::uint64_t round, const std::vector<std::size_t>& scenarios) {
    std::vector<std::size_t> more;
    PoolOptions pool{.at_once = plan_.at_once, .interrupt = &over_, .keep_words = true};
    pool.tick = [&] {
      Look();
      shown_(outcome_);
    };
    RunInProcesses(
        scenarios.size(), pool, [&](std::size_t i) { return RunBatch(round, scenarios[i]); },
        [&](std::size_t i, const ChildOutcome& outcome) {
          if (!outcome.crash.empty()) {
            if (!over_) Add(CrashOf(outcome), scenarios[i]);
            return;
          }
          if (Take(json::parse(outcome.bytes), scenarios[i])) more.push_back(scenarios[i]);
          Look();
        });
    return more;
  }

  /// In the child.
  std::string RunBatch(std::uint64_t round, std::size_t scenario) const {
    json out = {{"runs", 0}, {"all", 0}, {"more", false}, {"problems", json::array()}};
    explore::Comparison comparison(plan_.relation, cases_[scenario].document,
                                   {.simulate = laboratory_.simulate, .interrupt = &interrupt_});
    const bool runs = comparison.scenario() &&
                      (!laboratory_.accepts || laboratory_.accepts(*comparison.scenario()));
    if (!runs) {
      out["skipped"] = comparison.scenario() ? "`tfsim run` refuses it" : comparison.error();
      return out.dump();
    }
    comparison.Run();
    if (!comparison.plain().whole()) {
      out["skipped"] = "its run takes too long";
      return out.dump();
    }
    if (!comparison.skipped().empty()) out["skipped"] = comparison.skipped();
    const std::size_t count = comparison.variants().size();
    const std::vector<std::size_t> order = OrderOf(plan_.seed, cases_[scenario].file, count);
    const std::size_t end = std::min<std::size_t>(count, (round + 1) * kVariantsAtOnce);
    for (std::size_t i = round * kVariantsAtOnce; i < end && !interrupt_; ++i) {
      for (const explore::Problem& problem : comparison.Try(order[i]))
        out["problems"].push_back(ToJson(problem));
      out["runs"] = out["runs"].get<std::uint64_t>() + 1;
    }
    out["all"] = count;
    out["more"] = end < count;
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  /// True: the scenario has more variants.
  bool Take(const json& batch, std::size_t scenario) {
    outcome_.runs += batch.at("runs").get<std::uint64_t>();
    if (!counted_[scenario]) outcome_.all += batch.at("all").get<std::uint64_t>();
    counted_[scenario] = true;
    if (batch.contains("skipped")) outcome_.skipped[batch.at("skipped")].push_back(scenario);
    for (const json& row : batch.at("problems")) Add(ProblemFrom(row), scenario);
    return batch.at("more");
  }

  void Add(explore::Problem problem, std::size_t scenario) {
    for (RelationFinding& known : outcome_.found) {
      if (known.problem.key != problem.key || known.scenario != scenario) continue;
      ++known.times;
      return;
    }
    outcome_.found.push_back({.problem = std::move(problem), .scenario = scenario});
  }

  const RelationPlan& plan_;
  const std::vector<SearchBase>& cases_;
  const explore::Laboratory& laboratory_;
  const std::atomic<bool>& interrupt_;
  const std::function<void(const RelationOutcome&)>& shown_;
  std::chrono::steady_clock::time_point begin_;
  std::atomic<bool> over_ = false;
  std::map<std::size_t, bool> counted_;
  RelationOutcome outcome_;
};

}  // namespace

RelationOutcome CheckRelation(const RelationPlan& plan, const std::vector<SearchBase>& cases,
                              const explore::Laboratory& laboratory,
                              const std::atomic<bool>& interrupt,
                              const std::function<void(const RelationOutcome&)>& shown) {
  return Rounds(plan, cases, laboratory, interrupt, shown).Finish();
}

}  // namespace tfyarn::cli
