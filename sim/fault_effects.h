// Faults, carried out as the plan orders: the trace and the coverage hear of each, and whether it
// reaches anything is noted. What each kind does is in sim/faults.
#pragma once

#include <vector>

#include "core/trace/result.h"
#include "sim/fault_reach.h"
#include "sim/fault_schedule.h"
#include "sim/world.h"

namespace tfyarn::sim {

class FaultEffects : public FaultCarrier {
 public:
  /// `world` must outlive it.
  explicit FaultEffects(World& world) : world_(world), reach_(world) {}
  FaultEffects(const FaultEffects&) = delete;
  FaultEffects& operator=(const FaultEffects&) = delete;

  void Carry(const FaultOrder& order) override;
  [[nodiscard]] std::vector<trace::FaultWithoutEffect> WithoutEffect() const {
    return reach_.WithoutEffect();
  }

 private:
  /// RunOptions::coverage hears of it.
  void Cover(const FaultOrder& order) const;
  void Tell(const FaultOrder& order);

  World& world_;
  FaultReach reach_;
};

}  // namespace tfyarn::sim
