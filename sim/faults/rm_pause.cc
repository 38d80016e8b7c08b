// A ResourceManager that answers no call, and loses nothing.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kRmPause>(const FaultOrder& order) {
  if (order.begins) {
    if (!rm_.BeginPause()) return;
    links_.DisturbAll();
    rm_.Pause();
  } else if (rm_.EndPause()) {
    rm_.GoOn();
    claims_.RmGoesOn();
    links_.RestoreAll();
    rm_.Reschedule();
  }
}

}  // namespace tfyarn::sim
