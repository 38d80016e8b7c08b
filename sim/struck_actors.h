// The actors that a fault strikes, as they are when it does.
#pragma once

#include <vector>

#include "sim/cluster.h"
#include "sim/fault_plan.h"

namespace tfyarn::sim {

/// Of the tasks and jobs that it names.
[[nodiscard]] std::vector<AgentActor*> AgentsOf(const Cluster& cluster, const FaultOrder& order);
/// The newest of each job that it names, and that has one.
[[nodiscard]] std::vector<AmActor*> AmsOf(const Cluster& cluster, const FaultOrder& order);
[[nodiscard]] std::vector<ClientActor*> ClientsOf(const Cluster& cluster, const FaultOrder& order);

}  // namespace tfyarn::sim
