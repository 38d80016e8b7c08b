// Containers that are gone.
#include <cstdint>
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::EndContainers(const FaultOrder& order, std::int32_t exit_status,
                            const std::string& diagnostics) {
  for (AgentActor* agent : AgentsOf(order)) {
    const ContainerId container = agent->fence.container;
    agent->End();
    nms_.ProcessEnded(container, exit_status, diagnostics);
  }
}

template <>
void SimHost::Strike<FaultId::kContainerVmem>(const FaultOrder& order) {
  constexpr std::int32_t kVmemKilled = -103;
  EndContainers(order, kVmemKilled,
                "Container is running beyond the 'VIRTUAL' memory limit. Killing container.");
}

template <>
void SimHost::Strike<FaultId::kContainerLost>(const FaultOrder& order) {
  EndContainers(order, static_cast<std::int32_t>(NumberOf(order, "exit", -100)),
                "Container released on a *lost* node");
}

}  // namespace tfyarn::sim
