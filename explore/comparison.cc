#include "explore/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tfyarn::explore {
namespace {

/// What is compared beyond the result must be kept on the way.
bool NeedsTally(Relation relation) {
  return MayKillAnAm(relation) || relation == Relation::kNodeOrder;
}

/// Whether the job's file itself asks for that end of a run in which its AM, or an effect, failed:
/// by a deadline of its own, or because of a row or a policy that ends a job for such a failure.
bool AskedFor(Relation relation, const Node& job, const trace::JobResult& ended) {
  // What its applications before came to is not in its result.
  if (ended.restarts.job > 0) return true;
  if (ended.status == JobStatus::kSucceeded) return false;
  const std::string& rule = ended.rule;
  // The client has given it up.
  if (rule.empty()) return job.FindPath("deadlines.am_start") != nullptr;
  // Its own success may come before all has ended, or after.
  if (rule.ends_with("/tracked-ended")) return job.Find("success") != nullptr;
  // Rules of deadlines have the deadline's path in the file.
  if (rule.starts_with("deadlines/") || rule.starts_with("gang/")) {
    std::string path = rule;
    std::replace(path.begin(), path.end(), '/', '.');
    return job.FindPath(path) != nullptr;
  }
  return relation == Relation::kFailedEffect && !rule.starts_with("default/");
}

/// Its end is that of a job that is well, and its containers were kept.
bool IsSteady(Relation relation, const Node& document, const RunRecord& plain,
              const RunRecord& other) {
  const Node* jobs = document.Find("jobs");
  for (std::size_t i = 0; i < plain.result.jobs.size(); ++i) {
    const bool kept = i < plain.tallies.size() && i < other.tallies.size() &&
                      other.tallies[i].am_lost <= plain.tallies[i].am_lost;
    if (plain.result.jobs[i].status != JobStatus::kSucceeded || !kept) return false;
    const bool known = jobs != nullptr && i < jobs->items.size() && i < other.result.jobs.size();
    if (known && AskedFor(relation, jobs->items[i], other.result.jobs[i])) return false;
  }
  return true;
}

}  // namespace

Comparison::Comparison(Relation relation, const Node& document, Guard guard)
    : relation_(relation), guard_(std::move(guard)) {
  const Node plain = PlainOf(relation, document);
  loaded_ = Load(plain);
  if (!loaded_.scenario) return;
  document_ = plain;
}

void Comparison::Run(sim::Coverage* coverage) {
  sim::RunOptions options{.seed = loaded_.scenario->seed};
  options.tally = NeedsTally(relation_);
  options.coverage = coverage;
  plain_ = GuardedRun(*loaded_.scenario, std::move(options), guard_);
  events_ += plain_.record.result.events;
  if (!plain_.whole()) return;
  auto variants = VariantsOf(relation_, document_, plain_.record);
  if (const auto* skipped = std::get_if<Skipped>(&variants)) {
    skipped_ = skipped->why;
  } else {
    variants_ = std::move(std::get<std::vector<Variant>>(variants));
  }
}

std::vector<Problem> Comparison::Try(std::size_t variant) {
  const Variant& other = variants_.at(variant);
  const Loaded loaded = Load(other.document);
  if (!loaded.scenario) return {};
  sim::RunOptions options = other.options;
  options.seed = loaded.scenario->seed;
  options.tally = NeedsTally(relation_);
  const Ran run = GuardedRun(*loaded.scenario, std::move(options), guard_);
  events_ += run.record.result.events;
  if (!run.whole()) return {};
  const std::string where = other.name.empty() ? "" : fmt::format(" ({})", other.name);
  const auto say = [&](const std::string& what, std::optional<Instant> at) {
    Problem problem = ProblemOf(fmt::format("relation {}: {}", KebabName(relation_), what), at);
    // Of two variants that show one problem the second shows it again.
    problem.sentence += where;
    return problem;
  };
  std::vector<Problem> problems;
  // What is wrong with the plain run too needs no relation to be seen.
  const std::vector<Problem> known = ProblemsOf(plain_.record.result);
  for (const Problem& problem : ProblemsOf(run.record.result)) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const Problem& one) { return one.key == problem.key; });
    if (!problem.expectation && !is_known) problems.push_back(say(problem.sentence, problem.at));
  }
  if (guard_.wild && !IsSteady(relation_, document_, plain_.record, run.record)) return problems;
  const std::string difference = DifferenceOf(other, plain_.record, run.record);
  if (!difference.empty()) problems.push_back(say(difference, std::nullopt));
  return problems;
}

}  // namespace tfyarn::explore
