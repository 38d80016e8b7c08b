// Nodes that go down with all that runs on them, and come back empty.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::SwitchNodes(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      if (cluster_.nodes[node].down++ == 0) CrashNode(node);
    } else if (--cluster_.nodes[node].down == 0) {
      trace_.Tell(trace::NodePower{.node = cluster_.nodes[node].id, .up = true});
      if (cluster_.nodes[node].nm_down == 0) StartNm(node, std::nullopt);
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
  trace_.Tell(trace::NodePower{.node = cluster_.nodes[node].id, .up = false});
  if (NmActor* nm = cluster_.NmOn(node)) EndNm(*nm);
  unreported_.erase(node);
  nm_states_.erase(node);
  for (const auto& [index, job] : cluster_.jobs)
    std::erase_if(job->localized, [node](const auto& entry) { return entry.first.second == node; });
  for (const ContainerId& id : cluster_.ContainersOn(node)) EndContainer(id);
}

}  // namespace tfyarn::sim
