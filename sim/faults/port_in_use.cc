// Ports that another program has.
#include <cstdint>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kPortInUse>(World& world, const FaultOrder& order) {
  const auto count = static_cast<std::int32_t>(NumberOf(order, "count", 1));
  for (const Struck& struck : order.struck)
    world.agents.TakePorts(struck.job, struck.task, count, order.fault);
}

}  // namespace tfyarn::sim
