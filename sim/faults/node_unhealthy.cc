// Nodes that report to be unhealthy.
//
// Source: NodeHealthScriptRunner.java, RMNodeImpl.StatusUpdateWhenHealthyTransition: the RM hears
// of it with the next heartbeat.
#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNodeUnhealthy>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order))
    SetUnhealthy(node, KeyOf(order), order.begins ? "ERROR: the health script failed" : "");
}

void SimHost::SetUnhealthy(std::int32_t node, std::uint64_t fault, const std::string& report) {
  std::map<std::uint64_t, std::string>& behind = cluster_.nodes[node].unhealthy_by;
  const bool was_healthy = behind.empty();
  behind.erase(fault);
  if (!report.empty()) behind[fault] = report;
  if (behind.empty() != was_healthy) TellHealth(node);
}

/// The NodeManager of the node hears how the node is; one that starts later hears it then.
void SimHost::TellHealth(std::int32_t node) {
  const std::map<std::uint64_t, std::string>& behind = cluster_.nodes[node].unhealthy_by;
  NmActor* nm = cluster_.NmOn(node);
  if (nm == nullptr) return;
  nm->Step(fakes::HealthChanged{.healthy = behind.empty(),
                                .report = behind.empty() ? "" : behind.begin()->second});
}

}  // namespace tfyarn::sim
