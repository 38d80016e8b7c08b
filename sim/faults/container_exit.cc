// User's processes that end: by themselves, by a signal, by the kernel.
#include <cstdint>

#include "sim/behavior.h"
#include "sim/faults/effects.h"
#include "sim/struck_actors.h"

namespace tfyarn::sim {
namespace {

void EndProcesses(World& world, const FaultOrder& order, const ProcessExit& exit) {
  for (const AgentActor* agent : AgentsOf(world.cluster, order))
    world.workloads.EndProcess(agent->fence.container, exit);
}

}  // namespace

template <>
void Strike<FaultId::kContainerExit>(World& world, const FaultOrder& order) {
  EndProcesses(world, order, {.code = static_cast<std::int32_t>(NumberOf(order, "exit", 1))});
}

template <>
void Strike<FaultId::kContainerSignal>(World& world, const FaultOrder& order) {
  EndProcesses(world, order,
               {.signal = static_cast<std::int32_t>(NumberOf(order, "signal", kSigkill))});
}

template <>
void Strike<FaultId::kContainerOom>(World& world, const FaultOrder& order) {
  EndProcesses(world, order, {.signal = kSigkill, .out_of_memory = true});
}

}  // namespace tfyarn::sim
