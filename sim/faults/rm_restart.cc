// A ResourceManager that is down, and starts from its store; or its standby does. A standby opens
// no port before it is the active one, and clients, AMs and nodes find it by themselves: to them
// both are one that was away.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kRmRestart>(const FaultOrder& order) {
  ReplaceRm(order);
}

template <>
void SimHost::Strike<FaultId::kRmFailover>(const FaultOrder& order) {
  ReplaceRm(order);
}

void SimHost::ReplaceRm(const FaultOrder& order) {
  if (order.begins) {
    if (!rm_.BeginDown()) return;
    links_.DisturbAll();
    claims_.SetAside();
    rm_.Stop();
  } else if (rm_.EndDown()) {
    rm_.Restart(KeyOf(order) + 1);
    for (std::int32_t node = 0; node < cluster_.nodes.size(); ++node) rm_.Exclude(node);
    claims_.Await();
    links_.RestoreAll();
    rm_.Reschedule();
  }
}

}  // namespace tfyarn::sim
