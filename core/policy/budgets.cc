#include "core/policy/budgets.h"

#include <algorithm>

namespace tfyarn::policy {
namespace {

/// Keeps memory bounded where something is restarted for ever; more than any allowance counts.
constexpr std::size_t kRemembered = 10'000;

template <class T>
void Remember(std::vector<T>& list, T entry) {
  list.push_back(std::move(entry));
  if (list.size() > kRemembered) list.erase(list.begin());
}

/// Counted of the task itself, and not of what a budget has paid.
bool IsOfTask(Counted counted) {
  return counted == Counted::kOfTask || counted == Counted::kInContainer;
}

}  // namespace

Claimant ClaimantOf(const std::vector<TypeCounts>& types, const TaskId& task) {
  std::uint32_t first = 0;
  for (const TypeCounts& type : types) {
    const auto size = static_cast<std::uint32_t>(type.instances);
    if (type.name == task.type) {
      return {.task = TaskIndex(first + static_cast<std::uint32_t>(task.index)),
              .first_of_type = TaskIndex(first),
              .type_size = size};
    }
    first += size;
  }
  return {};
}

void Budgets::Count(const CountedRestart& restart) {
  if (restart.paid != Budget::kNone)
    Remember(paid_[restart.paid], {.at = restart.at, .cause = restart.cause});
  for (const TaskIndex task : restart.tasks) {
    OfTask& of = tasks_[task];
    Remember(of.restarts, restart.at);
    of.in_container += static_cast<std::int32_t>(restart.cause == task);
  }
}

void Budgets::TookContainer(TaskIndex task) {
  if (const auto of = tasks_.find(task); of != tasks_.end()) of->second.in_container = 0;
}

bool Budgets::Allows(const Allowance& allowance, Budget budget, const Claimant& claimant,
                     StoredTime now) const {
  if (!allowance.restarts) return true;
  if (*allowance.restarts == 0) return false;
  // Most budgets are far from spent, whatever counts of what was paid.
  const auto paid = paid_.find(budget);
  if (!IsOfTask(allowance.counted) &&
      (paid == paid_.end() || static_cast<std::int64_t>(paid->second.size()) < *allowance.restarts))
    return true;
  return Used(allowance, budget, claimant, now) < *allowance.restarts;
}

std::int32_t Budgets::Used(const Allowance& allowance, Budget budget, const Claimant& claimant,
                           StoredTime now) const {
  // A wall clock may jump back: a payment from the future still counts.
  const auto counts = [&](StoredTime at) {
    return !allowance.window || now - at < *allowance.window;
  };
  const auto of_type = [&](TaskIndex task) {
    return task >= claimant.first_of_type &&
           task.value - claimant.first_of_type.value < claimant.type_size;
  };
  if (IsOfTask(allowance.counted)) {
    const auto entry = tasks_.find(claimant.task);
    if (entry == tasks_.end()) return 0;
    if (allowance.counted == Counted::kInContainer) return entry->second.in_container;
    const std::vector<StoredTime>& all = entry->second.restarts;
    return static_cast<std::int32_t>(std::count_if(all.begin(), all.end(), counts));
  }
  const auto entry = paid_.find(budget);
  if (entry == paid_.end()) return 0;
  return static_cast<std::int32_t>(
      std::count_if(entry->second.begin(), entry->second.end(), [&](const Payment& payment) {
        switch (allowance.counted) {
          case Counted::kPaidForTask:
            return counts(payment.at) && payment.cause == claimant.task;
          case Counted::kPaidForType:
            return counts(payment.at) && payment.cause && of_type(*payment.cause);
          case Counted::kPaid:
          case Counted::kOfTask:
          case Counted::kInContainer:
            break;
        }
        return counts(payment.at);
      }));
}

}  // namespace tfyarn::policy
