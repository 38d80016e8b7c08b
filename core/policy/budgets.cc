#include "core/policy/budgets.h"

#include <algorithm>

namespace tfyarn::policy {
namespace {

/// Keeps memory bounded where something is restarted for ever; more than any allowance counts.
constexpr std::size_t kRemembered = 10'000;

void Remember(std::deque<WallTime>& times, WallTime at) {
  times.push_back(at);
  if (times.size() > kRemembered) times.pop_front();
}

}  // namespace

void Budgets::Pay(Budget budget, WallTime at) {
  if (budget != Budget::kNone) Remember(paid_[budget], at);
}

void Budgets::CountTask(TaskIndex task, WallTime at) {
  Remember(restarts_[task], at);
}

bool Budgets::Allows(const Allowance& allowance, Budget budget, TaskIndex task,
                     WallTime now) const {
  return !allowance.restarts || Used(allowance, budget, task, now) < *allowance.restarts;
}

std::int32_t Budgets::Used(const Allowance& allowance, Budget budget, TaskIndex task,
                           WallTime now) const {
  const std::deque<WallTime>* times = nullptr;
  if (allowance.per_task) {
    if (const auto entry = restarts_.find(task); entry != restarts_.end()) times = &entry->second;
  } else if (const auto entry = paid_.find(budget); entry != paid_.end()) {
    times = &entry->second;
  }
  if (times == nullptr) return 0;
  if (!allowance.window) return static_cast<std::int32_t>(times->size());
  // A wall clock may jump back: a payment from the future still counts.
  return static_cast<std::int32_t>(std::count_if(
      times->begin(), times->end(), [&](WallTime at) { return now - at < *allowance.window; }));
}

}  // namespace tfyarn::policy
