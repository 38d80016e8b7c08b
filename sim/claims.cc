#include "sim/claims.h"

#include <algorithm>
#include <utility>

namespace tfyarn::sim {

void Claims::SetAside() {
  for (const auto& [application, booked] : rm_.process()->books().applications) {
    for (const auto& [id, container] : booked->containers) {
      if (!setup_.scenario.yarn.work_preserving_restart) {
        rm_.Free(id, container_exit::kAborted);
      } else {
        const auto node = static_cast<std::size_t>(container.node);
        unclaimed_[*cluster_.nodes.Find(rm_.process()->books().nodes.at(node)->id.host)].push_back(
            id);
      }
    }
  }
}

void Claims::Await() {
  end_ = kernel_.now() + setup_.scenario.yarn.nm_expiry;
  kernel_.After(setup_.scenario.yarn.nm_expiry, [this] { ForgetAll(); });
}

/// A node that has not come back to a restarted RM by now counts as lost. A RM that stands still
/// hears none, and takes none for lost: they have their time again when it goes on.
void Claims::ForgetAll() {
  if (rm_.actor().paused) {
    nodes_have_their_time_again_ = true;
    return;
  }
  std::vector<Place> nodes;
  for (const auto& [place, ids] : unclaimed_) nodes.push_back(place);
  for (const Place place : nodes) Forget(place);
}

void Claims::Forget(Place node) {
  const auto aside = unclaimed_.find(node);
  if (rm_.process() == nullptr || aside == unclaimed_.end()) return;
  // A registration that is under way claims what ran when it was sent, and may have ended since.
  const NmActor* nm = cluster_.NmOn(node);
  if (nm != nullptr && nm->machine->registering())
    return kernel_.After(setup_.scenario.yarn.nm_heartbeat, [this, node] { Forget(node); });
  const std::vector<ContainerId> ids = std::move(aside->second);
  unclaimed_.erase(aside);
  for (const ContainerId& id : ids) {
    const auto& applications = rm_.process()->books().applications;
    const auto booked = applications.find(id.application_attempt.application);
    if (booked != applications.end() && booked->second->containers.contains(id)) continue;
    if (cluster_.containers.contains(id)) {
      unclaimed_[node].push_back(id);  // It runs where the RM does not know of it.
    } else {
      rm_.Free(id, container_exit::kAborted);
    }
  }
}

void Claims::NodeHasReported(Place node) {
  if (IsRegistered(node)) Forget(node);
}

bool Claims::IsRegistered(Place node) const {
  if (rm_.process() == nullptr) return false;
  const std::vector<const fakes::BookedNode*>& known = rm_.process()->books().nodes;
  const std::string& host = cluster_.nodes[node].id.host;
  return std::any_of(known.begin(), known.end(),
                     [&](const fakes::BookedNode* one) { return one->id.host == host; });
}

void Claims::RmGoesOn() {
  if (std::exchange(nodes_have_their_time_again_, false)) Await();
}

void Claims::ContainerEnded(Place node) {
  // No RM has it in its books: what was allocated before a restart ends with it. One that its
  // node had not claimed in time ends unheard.
  if (unclaimed_.contains(node) && (IsRegistered(node) || kernel_.now() >= end_))
    kernel_.After(setup_.scenario.yarn.nm_heartbeat, [this, node] { Forget(node); });
}

}  // namespace tfyarn::sim
