#include "tests/exhaustive/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "core/model/text.h"

namespace tfyarn::exhaustive {
namespace {

struct Shape {
  std::string_view name;
  Strategy strategy = Strategy::kMultiWorker;
  std::vector<std::pair<std::string, std::int32_t>> tasks;
};

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> kShapes = {
      {"multi-worker/1", Strategy::kMultiWorker, {{"worker", 1}}},
      {"multi-worker/2", Strategy::kMultiWorker, {{"worker", 2}}},
      {"multi-worker/3", Strategy::kMultiWorker, {{"worker", 3}}},
      {"multi-worker/evaluator",
       Strategy::kMultiWorker,
       {{"chief", 1}, {"worker", 1}, {"evaluator", 1}}},
      {"parameter-server/2", Strategy::kParameterServer, {{"worker", 1}, {"ps", 1}}},
      {"parameter-server/3", Strategy::kParameterServer, {{"chief", 1}, {"worker", 1}, {"ps", 1}}},
      {"independent/2", Strategy::kIndependent, {{"worker", 2}}},
      {"independent/3", Strategy::kIndependent, {{"worker", 3}}},
  };
  return kShapes;
}

struct Policy {
  std::string_view name;
  PolicySpec spec;
};

const std::vector<Policy>& Policies() {
  static const std::vector<Policy> kPolicies = {
      {"default", {.name = "default"}},
      {"tony", {.name = "tony"}},
      {"tony-strict", {.name = "tony", .options = {{"fail_on_worker_failure", "true"}}}},
      {"tf-yarn", {.name = "tf-yarn"}},
      {"tf-yarn-late", {.name = "tf-yarn", .options = {{"propagate", "late"}}}},
      {"tfjob", {.name = "tfjob"}},
      {"tfjob-on-failure",
       {.name = "tfjob", .options = {{"restart_policy", "OnFailure"}, {"backoff_limit", "2"}}}},
      {"tfjob-exit-code",
       {.name = "tfjob", .options = {{"restart_policy", "ExitCode"}, {"backoff_limit", "1"}}}},
  };
  return kPolicies;
}

/// Of the user's and of infrastructure.
constexpr std::array<std::pair<std::int32_t, std::int32_t>, 2> kRetries = {{{1, 1}, {0, 2}}};

JobSpec Make(const Policy& policy, const Shape& shape,
             std::pair<std::int32_t, std::int32_t> retries) {
  JobSpec job;
  job.name = "j";
  job.strategy = shape.strategy;
  job.policy = policy.spec;
  for (const auto& [name, instances] : shape.tasks) {
    TaskTypeSpec type{.name = name, .instances = instances};
    type.resource = {.memory_mb = 1024 * static_cast<std::int64_t>(job.tasks.size() + 1),
                     .vcores = 1};
    job.tasks.push_back(std::move(type));
  }
  job.retries.user = retries.first;
  job.retries.infrastructure = retries.second;
  job.am.attempts = 9;
  return job;
}

std::string NameOf(const Policy& policy, const Shape& shape,
                   std::pair<std::int32_t, std::int32_t> retries) {
  return fmt::format("{}/{}/{}-{}", policy.name, shape.name, retries.first, retries.second);
}

}  // namespace

std::string TextOf(FaultSet set) {
  if (set.bits == FaultSet::All().bits) return "all";
  std::string text;
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (set.Has(fault)) text += (text.empty() ? "" : ",") + KebabName(fault);
  }
  return text;
}

std::optional<FaultSet> FaultSetFrom(std::string_view text) {
  if (text == "all") return FaultSet::All();
  FaultSet set;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    std::size_t kind = 0;
    while (kind < kFaults && KebabName(static_cast<Fault>(kind)) != name) ++kind;
    if (kind == kFaults) return std::nullopt;
    set.Add(static_cast<Fault>(kind));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
  }
  return set;
}

std::vector<std::string> JobNames() {
  std::vector<std::string> names;
  for (const Policy& policy : Policies()) {
    for (const Shape& shape : Shapes()) {
      for (const auto& retries : kRetries) names.push_back(NameOf(policy, shape, retries));
    }
  }
  return names;
}

std::shared_ptr<const JobSpec> JobNamed(std::string_view name) {
  for (const Policy& policy : Policies()) {
    for (const Shape& shape : Shapes()) {
      for (const auto& retries : kRetries) {
        if (NameOf(policy, shape, retries) == name)
          return std::make_shared<const JobSpec>(Make(policy, shape, retries));
      }
    }
  }
  return nullptr;
}

}  // namespace tfyarn::exhaustive
