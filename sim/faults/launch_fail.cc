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

std::string SimHost::LaunchFailure(std::int32_t node, bool localize) {
  NodeInfo& info = cluster_.nodes[node];
  const std::int32_t always = localize ? info.localize_fails : info.launch_fails;
  std::int32_t& next = localize ? info.localize_fails_next : info.launch_fails_next;
  if (always == 0 && next == 0) return {};
  if (always == 0) --next;
  for (const std::uint32_t fault : localize ? info.localize_failed_by : info.launch_failed_by)
    marks_.struck[fault] = true;
  return localize ? fmt::format("localization failed on {}: no space left on device", info.id.host)
                  : fmt::format("container launch failed on {}: cannot run program", info.id.host);
}

}  // namespace tfyarn::sim
