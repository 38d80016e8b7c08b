// Whether a fault reaches anything of what it names. One that never does is said in the verdict: it
// was drawn or written for nothing, and a run that it did not disturb proves nothing.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/trace/result.h"
#include "sim/fault_plan.h"
#include "sim/world.h"

namespace tfyarn::sim {

class FaultReach {
 public:
  /// `world` must outlive it.
  explicit FaultReach(World& world)
      : world_(world),
        began_(world.setup.scenario.faults.size()),
        present_(world.setup.scenario.faults.size()) {}
  FaultReach(const FaultReach&) = delete;
  FaultReach& operator=(const FaultReach&) = delete;

  /// Before the order is carried out.
  void Note(const FaultOrder& order);
  /// After some order has been: one that reached nothing as yet may now. Machines and the
  /// ResourceManager come and go by faults alone.
  void NoteDormant();
  [[nodiscard]] std::vector<trace::FaultWithoutEffect> WithoutEffect() const;

 private:
  /// What another fault has taken away is not reached: a fault that takes it away as well is, once
  /// it alone does. `began`: its effect is there already.
  [[nodiscard]] bool Reaches(const FaultOrder& order, bool began) const;
  [[nodiscard]] bool ReachesTask(const FaultOrder& order) const;
  [[nodiscard]] bool ReachesSuspendedClient(const FaultOrder& order) const;

  World& world_;
  std::vector<bool> began_;                      ///< By fault.
  std::vector<bool> present_;                    ///< By fault: what it names was there once.
  std::map<std::uint64_t, FaultOrder> dormant_;  ///< By fault and instance.
};

}  // namespace tfyarn::sim
