// What restarts were paid, and whether another one may be.
//
// Calendar time, because what was paid before an AM restart counts as well. What costs what is the
// policy's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/job_spec.h"
#include "core/model/task_index.h"
#include "core/model/time.h"
#include "core/policy/decision.h"
#include "core/policy/job_view.h"

namespace tfyarn::policy {

/// A restart as it counts for allowances.
struct CountedRestart {
  Budget paid = Budget::kNone;
  std::optional<TaskIndex> cause;  ///< Whose end led to it.
  std::vector<TaskIndex> tasks;    ///< That start again.
  StoredTime at{};
};

/// The task that asks, and the positions that its type's tasks have.
struct Claimant {
  TaskIndex task;
  TaskIndex first_of_type;
  std::uint32_t type_size = 1;
};

/// Where tasks are numbered type by type, in the order of `types`. Of a task that is of none of
/// them: the default.
[[nodiscard]] Claimant ClaimantOf(const std::vector<TypeCounts>& types, const TaskId& task);

class Budgets {
 public:
  void Count(const CountedRestart& restart);
  /// The task runs in another container from now on.
  void TookContainer(TaskIndex task);
  /// Whether the allowance has room for one more restart at `now`, paid by `budget`.
  [[nodiscard]] bool Allows(const Allowance& allowance, Budget budget, const Claimant& claimant,
                            StoredTime now) const;
  /// Restarts that count for the allowance at `now`.
  [[nodiscard]] std::int32_t Used(const Allowance& allowance, Budget budget,
                                  const Claimant& claimant, StoredTime now) const;
  friend bool operator==(const Budgets&, const Budgets&) = default;

 private:
  struct Payment {
    StoredTime at{};
    std::optional<TaskIndex> cause;
    friend bool operator==(const Payment&, const Payment&) = default;
  };
  struct OfTask {
    std::vector<StoredTime> restarts;  // in order of time
    std::int32_t in_container = 0;     // for its own ends, since it had another container
    friend bool operator==(const OfTask&, const OfTask&) = default;
  };
  std::map<Budget, std::vector<Payment>> paid_;  // each in order of time
  std::map<TaskIndex, OfTask> tasks_;
};

}  // namespace tfyarn::policy
