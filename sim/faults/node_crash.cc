// Nodes that go down with all that runs on them, and come back empty.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::SwitchNodes(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (nodes_[node].down++ == 0) CrashNode(node);
    } else if (--nodes_[node].down == 0) {
      Trace(trace::NodePower{.node = nodes_[node].id, .up = true});
      if (nodes_[node].nm_down == 0) StartNm(node, std::nullopt);
    }
  }
}

template <>
void SimHost::Strike<FaultId::kNodeCrash>(const FaultOrder& order) {
  SwitchNodes(order);
}

template <>
void SimHost::Strike<FaultId::kNodeReboot>(const FaultOrder& order) {
  SwitchNodes(order);
}

void SimHost::CrashNode(std::int32_t node) {
  Trace(trace::NodePower{.node = nodes_[node].id, .up = false});
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm != 0) EndNm(static_cast<NmActor&>(*actors_[nm]));
  unreported_.erase(node);
  nm_states_.erase(node);
  for (const auto& [index, job] : jobs_)
    std::erase_if(job->localized, [node](const auto& entry) { return entry.first.second == node; });
  for (const ContainerId& id : ContainersOn(node)) EndContainer(id);
}

}  // namespace tfyarn::sim
