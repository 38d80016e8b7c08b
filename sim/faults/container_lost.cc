// Containers that are gone.
#include <cstdint>
#include <string>

#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {
namespace {

void EndContainers(World& world, const FaultOrder& order, std::int32_t exit_status,
                   const std::string& diagnostics) {
  for (AgentActor* agent : AgentsOf(world.cluster, order)) {
    const ContainerId container = agent->fence.container;
    agent->End();
    world.nms.ProcessEnded(container, exit_status, diagnostics);
  }
}

}  // namespace

template <>
void Strike<FaultId::kContainerVmem>(World& world, const FaultOrder& order) {
  constexpr std::int32_t kVmemKilled = -103;
  EndContainers(world, order, kVmemKilled,
                "Container is running beyond the 'VIRTUAL' memory limit. Killing container.");
}

template <>
void Strike<FaultId::kContainerLost>(World& world, const FaultOrder& order) {
  EndContainers(world, order, static_cast<std::int32_t>(NumberOf(order, "exit", -100)),
                "Container released on a *lost* node");
}

}  // namespace tfyarn::sim
