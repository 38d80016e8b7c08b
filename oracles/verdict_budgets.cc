// The reference model: how many restarts a row allows, and how many are spent.
#include <algorithm>
#include <cstdlib>

#include "oracles/verdict_model.h"

namespace tfyarn::oracles {
namespace {

/// In which the containers count that a task type has lost (slider-tf).
constexpr Duration kThresholdWindow = 6h;
/// Of `slider-tf`.
constexpr std::int64_t kRestartsInContainer = 5;

/// The option in place of `retries.user`; "": there is none.
std::string UserLimitOption(Policy policy) {
  return policy == Policy::kTony ? "retry_count" : policy == Policy::kTfjob ? "backoff_limit" : "";
}

}  // namespace

std::optional<std::int64_t> ReferenceVerdict::Model::Limit(const Job& job, const TaskId& task,
                                                           const Option& option, Budget budget) {
  const JobSpec& spec = *job.spec;
  if (option.pays == Pays::kInContainer)
    return NumberOf(spec, "restarts_in_container", task.type, kRestartsInContainer);
  if (budget == Budget::kNone) return std::nullopt;
  if (option.pays == Pays::kUserOfTask) return NumberOf(spec, "max_retry_count", task.type, 0);
  if (option.pays == Pays::kUserOfType)
    return NumberOf(spec, "container_failure_threshold", task.type, std::nullopt);
  if (job.policy == Policy::kDefault)
    return budget == Budget::kUser ? spec.retries.user : spec.retries.infrastructure;
  const std::string given = OptionOf(spec, UserLimitOption(job.policy));
  if (given.empty() && job.policy == Policy::kTfjob && spec.retries.user == 0) return std::nullopt;
  const std::int64_t limit = given.empty() ? spec.retries.user : std::atoi(given.c_str());
  return option.pays == Pays::kUserBelowLimit ? std::max<std::int64_t>(limit - 1, 0) : limit;
}

/// Restarts that count, surely or perhaps: under `default` those within the window.
std::int64_t ReferenceVerdict::Model::Spent(const Job& job, const TaskId& task,
                                            const Option& option, Budget budget,
                                            bool surely) const {
  std::int64_t count = surely ? 0 : job.hidden;
  if (option.pays == Pays::kInContainer) {
    const Task& one = job.tasks.at(task);
    // In another container it begins anew.
    if (one.in_place.container != one.container) return count;
    return count + (surely ? one.in_place.surely : one.in_place.perhaps);
  }
  std::optional<Duration> window;
  if (job.policy == Policy::kDefault) window = job.spec->retries.window;
  if (option.pays == Pays::kUserOfType) window = kThresholdWindow;
  for (const Payment& payment : job.paid) {
    if (payment.budget != budget) continue;
    if (option.pays == Pays::kUserOfTask && payment.task != task) continue;
    if (option.pays == Pays::kUserOfType && payment.task.type != task.type) continue;
    const Instant perhaps = spent_as_of_.value_or(job.window_at) - kClocksDiffer;
    const Duration age = surely ? now_ - payment.earliest : perhaps - payment.latest;
    count += !window || age <= *window ? 1 : 0;
  }
  return count;
}

bool ReferenceVerdict::Model::IsSpent(const Job& job, const TaskId& task, const Option& option,
                                      Budget budget, bool surely) const {
  const std::optional<std::int64_t> limit = Limit(job, task, option, budget);
  return limit && Spent(job, task, option, budget, surely) >= *limit;
}

bool ReferenceVerdict::Model::MayBeExhausted(const Job& job, const Task& task,
                                             const Option& option) const {
  if (option.name == "default/sidecar") return task.restarts + job.hidden >= 3;
  // Then the next row decides.
  if (option.pays == Pays::kInContainer) return false;
  return std::any_of(option.payers.begin(), option.payers.end(), [&](Budget payer) {
    const std::optional<std::int64_t> limit = Limit(job, task.id, option, payer);
    return limit &&
           (Spent(job, task.id, option, payer, false) >= *limit ||
            task.paid_in_a_row + job.hidden >= *limit || task.hung_in_a_row + job.hidden >= *limit);
  });
}

}  // namespace tfyarn::oracles
