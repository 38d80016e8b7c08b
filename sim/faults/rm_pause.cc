// A ResourceManager that answers no call, and loses nothing.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void Strike<FaultId::kRmPause>(World& world, const FaultOrder& order) {
  if (order.begins) {
    if (!world.rm.BeginPause()) return;
    world.links.DisturbAll();
    world.rm.Pause();
  } else if (world.rm.EndPause()) {
    world.rm.GoOn();
    world.claims.RmGoesOn();
    world.links.RestoreAll();
    world.rm.Reschedule();
  }
}

}  // namespace tfyarn::sim
