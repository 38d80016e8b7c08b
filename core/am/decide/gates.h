// `depends`: tasks that start only when others have come so far, and tasks that must end within a
// time after others.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/model/task_index.h"
#include "core/model/time.h"

namespace tfyarn::am {

struct AmParts;

class Gates {
 public:
  explicit Gates(AmParts& parts) : parts_(parts) { Prepare(); }

  /// Looks at every row again. At the end of a step in which processes started or ended.
  void Check();
  /// Deadline::kDependency.
  void OnExpired(std::uint32_t row);
  [[nodiscard]] Instant due(std::uint32_t row) const { return due_[row]; }
  /// A time is over, and who should have ended in it has yet to find this AM after an AM restart:
  /// Check looks at it again.
  [[nodiscard]] bool awaits_agents() const { return !overdue_.empty(); }
  /// Training tasks whose agents are ready and whose gates are closed.
  [[nodiscard]] std::int32_t closed_training() const;
  /// For people: which condition holds back whom; empty when none does.
  [[nodiscard]] std::string WaitingFor() const;

 private:
  void Prepare();
  void HoldBack(const std::string& type);
  [[nodiscard]] bool Reached(std::size_t row) const;
  [[nodiscard]] bool Undone(std::size_t row) const;
  [[nodiscard]] Instant ReachedAt(std::size_t row) const;
  void Forget(std::size_t row);
  [[nodiscard]] bool NeverReached(std::size_t row) const;
  void Break(std::size_t row, const std::string& why, TaskIndex task);
  void Open(std::size_t row);

  AmParts& parts_;
  std::vector<bool> reached_;        // by row; what was open once stays open
  std::vector<bool> broken_;         // by row: its `do` was done
  std::vector<Instant> due_;         // by row: when its `within` is over
  std::set<std::uint32_t> overdue_;  // rows whose time is over, see awaits_agents()
};

}  // namespace tfyarn::am
