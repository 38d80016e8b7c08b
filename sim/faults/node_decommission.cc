// An administrator takes nodes out of service, and in again.
#include <algorithm>
#include <map>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNodeDecommission>(const FaultOrder& order) {
  const Duration grace = SecondsToDuration(NumberOf(order, "graceful", 0));
  for (const std::int32_t node : NodesOf(order)) {
    std::map<std::uint64_t, bool>& leaving = nodes_[node].leaving_by;
    if (!order.begins) {
      leaving.erase(KeyOf(order));
      if (leaving.empty()) Recommission(node);
      continue;
    }
    leaving[KeyOf(order)] = grace == Duration::zero();
    OrderDecommission(node);
    if (grace == Duration::zero()) continue;
    kernel_.After(grace, [this, node, key = KeyOf(order)] {
      const auto entry = nodes_[node].leaving_by.find(key);
      if (entry == nodes_[node].leaving_by.end()) return;
      entry->second = true;
      OrderDecommission(node);
    });
  }
}

/// An RM that is down reads the list of its administrator when it starts.
void SimHost::OrderDecommission(std::int32_t node) {
  const std::map<std::uint64_t, bool>& leaving = nodes_[node].leaving_by;
  if (rm_ == nullptr || leaving.empty()) return;
  const bool at_once =
      std::any_of(leaving.begin(), leaving.end(), [](const auto& entry) { return entry.second; });
  StepRm(fakes::DecommissionNode{.node = nodes_[node].id, .graceful = !at_once});
}

void SimHost::Recommission(std::int32_t node) {
  if (rm_ != nullptr) StepRm(fakes::RecommissionNode{.node = nodes_[node].id});
  nodes_[node].restart_nm = true;
  RestartShutDownNm(node);
}

/// An excluded NodeManager has shut itself down; its operator starts it again, when nothing of it
/// runs any more. One that has not heard of it goes on.
void SimHost::RestartShutDownNm(std::int32_t node) {
  const std::uint32_t index = nm_of_node_[static_cast<std::size_t>(node)];
  if (index == 0 || !static_cast<const NmActor&>(*actors_[index]).machine->is_shut_down()) return;
  nodes_[node].restart_nm = false;
  EndNm(static_cast<NmActor&>(*actors_[index]));
  for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
  StartNm(node, std::nullopt);
}

}  // namespace tfyarn::sim
