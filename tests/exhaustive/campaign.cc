#include "tests/exhaustive/campaign.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <utility>

namespace tfyarn::exhaustive {
namespace {

using Clock = std::chrono::steady_clock;

struct Sum {
  std::uint64_t explorations = 0;
  std::uint64_t states = 0;
  std::uint64_t moves = 0;
  std::uint64_t ends = 0;
  std::uint64_t groups = 0;
  std::uint64_t judged = 0;
  std::uint64_t whole = 0;  ///< Explorations that no limit ended.
  double seconds = 0;

  void Add(const Report& report, double took) {
    ++explorations;
    states += report.states;
    moves += report.moves;
    ends += report.ends;
    groups += report.groups;
    judged += report.judged;
    whole += report.complete ? 1 : 0;
    seconds += took;
  }
};

void PrintHead(std::string_view of) {
  fmt::print("{:<44}{:>6}{:>7}{:>12}{:>12}{:>11}{:>9}{:>9}\n", of, "runs", "whole", "states",
             "moves", "ends", "facts", "seconds");
}

void Print(std::string_view name, const Sum& sum) {
  fmt::print("{:<44}{:>6}{:>7}{:>12}{:>12}{:>11}{:>9}{:>9.1f}\n", name, sum.explorations, sum.whole,
             sum.states, sum.moves, sum.ends, sum.groups, sum.seconds);
  std::fflush(stdout);
}

std::string TextOf(const Path& path) {
  std::size_t length = path.size();
  while (length > 0 && path[length - 1] == 0) --length;  // The first move is taken behind the end.
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += fmt::format("{}{}", i == 0 ? "" : " ", path[i]);
  return text;
}

/// As the command line takes it.
std::string OptionsOf(const Scope& scope) {
  std::string text = fmt::format("--faults {}", scope.faults);
  if (scope.faults > 0) text += " --kinds " + exhaustive::TextOf(scope.kinds);
  if (scope.latency > Duration::zero())
    text += fmt::format(" --latency {}",
                        std::chrono::duration_cast<std::chrono::seconds>(scope.latency).count());
  return text;
}

void PrintStory(const Scope& scope, const Path& path) {
  for (const std::string& line : Tell(scope, path).lines) fmt::print("    {}\n", line);
  fmt::print("  again: all_orders tell {} {} --path \"{}\"\n", scope.name, OptionsOf(scope),
             TextOf(path));
}

void PrintFinding(const Scope& scope, const Finding& finding) {
  fmt::print("\nFOUND in {} ({} paths): {}\n", scope.name, finding.times, finding.what);
  for (const Fact& fact : finding.facts) fmt::print("  {}\n", exhaustive::TextOf(fact, *scope.job));
  PrintStory(scope, finding.path);
  if (!finding.other.empty()) {
    fmt::print("  and the same facts in another order:\n");
    PrintStory(scope, finding.other);
  }
}

class Campaign {
 public:
  [[nodiscard]] bool Run(const std::vector<Pass>& passes) {
    PrintHead("pass");
    for (const Pass& pass : passes) Run(pass);
    Print("all", total_);
    fmt::print("\n");
    PrintHead("policy");
    for (const auto& [policy, sum] : by_policy_) Print(policy, sum);
    fmt::print("\ndiffers, and may:\n");
    for (const auto& [why, times] : allowed_) fmt::print("{:>9}  {}\n", times, why);
    fmt::print("\n{} findings, {} states in {:.1f} s\n", findings_, total_.states, total_.seconds);
    return findings_ == 0;
  }

 private:
  void Run(const Pass& pass) {
    Sum sum;
    for (const std::string& name : JobNames()) {
      std::optional<Scope> scope = ScopeOf(pass, name);
      if (!name.starts_with(pass.jobs) ||
          scope->job->task_count() > static_cast<int>(pass.most_tasks))
        continue;
      if (!pass.one_kind_at_a_time || pass.faults == 0) {
        Run(*scope, pass.limits, sum);
        continue;
      }
      for (std::size_t kind = 0; kind < kFaults; ++kind) {
        scope->kinds = {};
        scope->kinds.Add(static_cast<Fault>(kind));
        Run(*scope, pass.limits, sum);
      }
    }
    Print(pass.name, sum);
  }

  void Run(const Scope& scope, const Limits& limits, Sum& sum) {
    const auto began = Clock::now();
    Explorer explorer(scope, limits);
    const Report report = explorer.Run();
    const double took = std::chrono::duration<double>(Clock::now() - began).count();
    for (Sum* of : {&sum, &total_, &by_policy_[scope.name.substr(0, scope.name.find('/'))]})
      of->Add(report, took);
    for (const auto& [why, times] : report.allowed) allowed_[why] += times;
    findings_ += report.findings.size();
    for (const Finding& finding : report.findings) PrintFinding(scope, finding);
  }

  Sum total_;
  std::map<std::string, Sum> by_policy_;
  std::map<std::string, std::uint64_t> allowed_;
  std::size_t findings_ = 0;
};

Limits LimitsOf(std::int32_t deviations, std::uint64_t states) {
  Limits limits;
  limits.deviations = deviations;
  limits.states = states;
  return limits;
}

}  // namespace

std::optional<Scope> ScopeOf(const Pass& pass, std::string_view job) {
  Scope scope{.name = std::string(job),
              .job = JobNamed(job),
              .faults = pass.faults,
              .kinds = pass.kinds,
              .latency = pass.latency};
  if (scope.job == nullptr) return std::nullopt;
  return scope;
}

std::vector<Pass> SamplePasses() {
  constexpr auto kAll = ~std::uint64_t{0};
  return {
      {.name = "no fault, two tasks, all orders", .most_tasks = 2, .limits = LimitsOf(-1, kAll)},
      {.name = "one fault, one task, all orders",
       .most_tasks = 1,
       .faults = 1,
       .one_kind_at_a_time = true,
       .limits = LimitsOf(-1, kAll)},
      {.name = "one fault, no deviation", .faults = 1, .limits = LimitsOf(0, kAll)},
      {.name = "two faults, one task, no deviation",
       .most_tasks = 1,
       .faults = 2,
       .limits = LimitsOf(0, kAll)},
  };
}

std::vector<Pass> SoakPasses() {
  constexpr auto kAll = ~std::uint64_t{0};
  constexpr std::uint64_t kPart = 100'000;
  constexpr std::uint64_t kSmallPart = 20'000;
  return {
      {.name = "no fault, all orders", .limits = LimitsOf(-1, kAll)},
      {.name = "one fault, two tasks, all orders",
       .most_tasks = 2,
       .faults = 1,
       .one_kind_at_a_time = true,
       .limits = LimitsOf(-1, kAll)},
      {.name = "one fault, up to 1 deviation", .faults = 1, .limits = LimitsOf(1, kAll)},
      {.name = "one fault, messages take up to 3 s",
       .faults = 1,
       .latency = 3s,
       .limits = LimitsOf(0, kSmallPart)},
      {.name = "two faults, two tasks, no deviation",
       .most_tasks = 2,
       .faults = 2,
       .limits = LimitsOf(0, kAll)},
      {.name = "two faults, no deviation, a part", .faults = 2, .limits = LimitsOf(0, kPart)},
  };
}

bool RunPasses(const std::vector<Pass>& passes) {
  return Campaign().Run(passes);
}

}  // namespace tfyarn::exhaustive
