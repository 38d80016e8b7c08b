// What restarts were paid, and whether another one may be.
//
// Calendar time, because what was paid before an AM restart counts as well. What costs what is the
// policy's business.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "core/model/job_spec.h"
#include "core/model/task_index.h"
#include "core/model/time.h"
#include "core/policy/engine.h"

namespace tfyarn::policy {

class Budgets {
 public:
  void Pay(Budget budget, WallTime at);
  /// A restart of this task alone, whoever paid: for allowances that count per task.
  void CountTask(TaskIndex task, WallTime at);
  /// Whether the allowance has room for one more restart at `now`, paid by `budget`.
  [[nodiscard]] bool Allows(const Allowance& allowance, Budget budget, TaskIndex task,
                            WallTime now) const;
  /// Payments that count for the allowance at `now`.
  [[nodiscard]] std::int32_t Used(const Allowance& allowance, Budget budget, TaskIndex task,
                                  WallTime now) const;

 private:
  std::map<Budget, std::deque<WallTime>> paid_;         // each in order of time
  std::map<TaskIndex, std::deque<WallTime>> restarts_;  // likewise
};

}  // namespace tfyarn::policy
