// User's processes that end: by themselves, by a signal, by the kernel.
#include <cstdint>

#include "sim/behavior.h"
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::EndProcesses(const FaultOrder& order, const ProcessExit& exit) {
  for (const AgentActor* agent : AgentsOf(order))
    workloads_.EndProcess(agent->fence.container, exit);
}

template <>
void SimHost::Strike<FaultId::kContainerExit>(const FaultOrder& order) {
  EndProcesses(order, {.code = static_cast<std::int32_t>(NumberOf(order, "exit", 1))});
}

template <>
void SimHost::Strike<FaultId::kContainerSignal>(const FaultOrder& order) {
  EndProcesses(order, {.signal = static_cast<std::int32_t>(NumberOf(order, "signal", kSigkill))});
}

template <>
void SimHost::Strike<FaultId::kContainerOom>(const FaultOrder& order) {
  EndProcesses(order, {.signal = kSigkill, .out_of_memory = true});
}

}  // namespace tfyarn::sim
