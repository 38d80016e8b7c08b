// An administrator takes nodes out of service, and in again.
#include <map>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNodeDecommission>(const FaultOrder& order) {
  const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
  for (const std::int32_t node : NodesOf(order)) {
    std::map<std::uint64_t, bool>& leaving = cluster_.nodes[node].leaving_by;
    if (!order.begins) {
      leaving.erase(KeyOf(order));
      if (leaving.empty()) Recommission(node);
      continue;
    }
    leaving[KeyOf(order)] = grace == Duration::zero();
    rm_.Exclude(node);
    if (grace == Duration::zero()) continue;
    kernel_.After(grace, [this, node, key = KeyOf(order)] {
      const auto entry = cluster_.nodes[node].leaving_by.find(key);
      if (entry == cluster_.nodes[node].leaving_by.end()) return;
      entry->second = true;
      rm_.Exclude(node);
    });
  }
}

void SimHost::Recommission(std::int32_t node) {
  rm_.Tell(fakes::RecommissionNode{.node = cluster_.nodes[node].id});
  cluster_.nodes[node].restart_nm = true;
  nms_.RestartShutDown(node);
}

}  // namespace tfyarn::sim
