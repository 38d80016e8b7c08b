// An administrator takes nodes out of service, and in again.
#include <algorithm>
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
    OrderDecommission(node);
    if (grace == Duration::zero()) continue;
    kernel_.After(grace, [this, node, key = KeyOf(order)] {
      const auto entry = cluster_.nodes[node].leaving_by.find(key);
      if (entry == cluster_.nodes[node].leaving_by.end()) return;
      entry->second = true;
      OrderDecommission(node);
    });
  }
}

/// An RM that is down reads the list of its administrator when it starts.
void SimHost::OrderDecommission(std::int32_t node) {
  const std::map<std::uint64_t, bool>& leaving = cluster_.nodes[node].leaving_by;
  if (leaving.empty()) return;
  const bool at_once =
      std::any_of(leaving.begin(), leaving.end(), [](const auto& entry) { return entry.second; });
  rm_.Tell(fakes::DecommissionNode{.node = cluster_.nodes[node].id, .graceful = !at_once});
}

void SimHost::Recommission(std::int32_t node) {
  rm_.Tell(fakes::RecommissionNode{.node = cluster_.nodes[node].id});
  cluster_.nodes[node].restart_nm = true;
  RestartShutDownNm(node);
}

/// An excluded NodeManager has shut itself down; its operator starts it again, when nothing of it
/// runs any more. One that has not heard of it goes on.
void SimHost::RestartShutDownNm(std::int32_t node) {
  NmActor* nm = cluster_.NmOn(node);
  if (nm == nullptr || !nm->machine->is_shut_down()) return;
  cluster_.nodes[node].restart_nm = false;
  EndNm(*nm);
  for (const ContainerId& id : cluster_.ContainersOn(node)) EndContainer(id);
  StartNm(node, std::nullopt);
}

}  // namespace tfyarn::sim
