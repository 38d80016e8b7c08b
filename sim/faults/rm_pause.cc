// A ResourceManager that answers no call, and loses nothing.
#include <utility>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kRmPause>(const FaultOrder& order) {
  if (order.begins) {
    if (rm_pauses_++ > 0) return;
    links_.DisturbAll();
    rm_actor_.paused = true;
    return;
  }
  if (--rm_pauses_ > 0) return;
  rm_actor_.paused = false;
  for (const std::uint32_t call : rm_backlog_) kernel_.Release(call);
  rm_backlog_.clear();
  if (std::exchange(nodes_have_their_time_again_, false)) AwaitClaims();
  links_.RestoreAll();
  links_.Reschedule(rm_actor_);
}

}  // namespace tfyarn::sim
