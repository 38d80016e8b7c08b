// NodeManagers that are down while containers go on.
#include <optional>
#include <utility>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kNmRestart>(const FaultOrder& order) {
  for (const std::int32_t node : NodesOf(order)) {
    if (order.begins) {
      ++cluster_.nodes[node].nm_down;
      NmActor* nm = cluster_.NmOn(node);
      if (nm == nullptr) continue;
      links_.CatchUp(*nm);
      const bool keeps = NumberOf(order, "recover", 1) != 0 && !nm->machine->is_shut_down();
      if (keeps) nm_states_.insert_or_assign(node, nm->machine->state());
      EndNm(*nm);
      if (keeps) continue;
      // Without recovery a stopping NodeManager ends its containers.
      for (const ContainerId& id : cluster_.ContainersOn(node)) EndContainer(id);
    } else {
      if (--cluster_.nodes[node].nm_down > 0 || cluster_.nodes[node].down > 0) continue;
      std::optional<fakes::NmState> state;
      if (const auto kept = nm_states_.find(node); kept != nm_states_.end()) {
        state = std::move(kept->second);
        nm_states_.erase(kept);
      }
      StartNm(node, std::move(state));
      ReportMissed(node);
    }
  }
}

void SimHost::ReportMissed(std::int32_t node) {
  const auto missed = unreported_.find(node);
  if (missed == unreported_.end()) return;
  const std::vector<fakes::NmEvent> events = std::move(missed->second);
  unreported_.erase(missed);
  for (const fakes::NmEvent& event : events) TellNmOf(node, event);
}

}  // namespace tfyarn::sim
