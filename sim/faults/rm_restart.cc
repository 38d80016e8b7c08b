// A ResourceManager that is down, and starts from its store; or its standby does. A standby opens
// no port before it is the active one, and clients, AMs and nodes find it by themselves: to them
// both are one that was away.
#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void ReplaceRm(World& world, const FaultOrder& order) {
  if (order.begins) {
    if (!world.rm.BeginDown()) return;
    world.links.DisturbAll();
    world.claims.SetAside();
    world.rm.Stop();
  } else if (world.rm.EndDown()) {
    world.rm.Restart(KeyOf(order) + 1);
    for (std::int32_t node = 0; node < world.cluster.nodes.size(); ++node) world.rm.Exclude(node);
    world.claims.Await();
    world.links.RestoreAll();
    world.rm.Reschedule();
  }
}

}  // namespace

template <>
void Strike<FaultId::kRmRestart>(World& world, const FaultOrder& order) {
  ReplaceRm(world, order);
}

template <>
void Strike<FaultId::kRmFailover>(World& world, const FaultOrder& order) {
  ReplaceRm(world, order);
}

}  // namespace tfyarn::sim
