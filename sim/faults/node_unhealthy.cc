// Nodes that report to be unhealthy.
//
// Source: NodeHealthScriptRunner.java, RMNodeImpl.StatusUpdateWhenHealthyTransition: the RM hears
// of it with the next heartbeat.
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kNodeUnhealthy>(World& world, const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order))
    world.nms.SetUnhealthy(node, KeyOf(order),
                           order.begins ? "ERROR: the health script failed" : "");
}

}  // namespace tfyarn::sim
