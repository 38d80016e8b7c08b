// Containers that fail to launch, or in localization.
#include <fmt/format.h>

#include <string>

#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::FailStarts(const FaultOrder& order, bool launch) {
  for (const std::int32_t node : NodesOf(order)) {
    auto& behind =
        launch ? cluster_.nodes[node].launch_failed_by : cluster_.nodes[node].localize_failed_by;
    if (order.begins) {
      behind.insert(order.fault);
    } else {
      behind.erase(order.fault);
    }
    if (order.lasts || !order.begins) {
      (launch ? cluster_.nodes[node].launch_fails : cluster_.nodes[node].localize_fails) +=
          order.begins ? 1 : -1;
    } else {
      (launch ? cluster_.nodes[node].launch_fails_next
              : cluster_.nodes[node].localize_fails_next) +=
          static_cast<std::int32_t>(NumberOf(order, "count", 1));
    }
  }
}

template <>
void SimHost::Strike<FaultId::kLaunchFail>(const FaultOrder& order) {
  FailStarts(order, /*launch=*/true);
}

template <>
void SimHost::Strike<FaultId::kLocalizeFail>(const FaultOrder& order) {
  FailStarts(order, /*launch=*/false);
}

}  // namespace tfyarn::sim
