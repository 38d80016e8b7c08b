// A ResourceManager that is down, and starts from its store; or its standby does. A standby opens
// no port before it is the active one, and clients, AMs and nodes find it by themselves: to them
// both are one that was away.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/faults/effects.h"
#include "sim/yarn_options.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kRmRestart>(const FaultOrder& order) {
  ReplaceRm(order);
}

template <>
void SimHost::Strike<FaultId::kRmFailover>(const FaultOrder& order) {
  ReplaceRm(order);
}

void SimHost::ReplaceRm(const FaultOrder& order) {
  if (order.begins) {
    if (rm_downs_++ > 0) return;
    DisturbAllLinks();
    rm_store_ = rm_->state_store();
    SetAllocatedAside();
    rm_.reset();
  } else if (--rm_downs_ == 0) {
    rm_ = std::make_unique<fakes::ResourceManager>(RmOptionsOf(scenario_, nodes_), *rm_store_,
                                                   SeedFor("rm", KeyOf(order) + 1), now_);
    rm_store_.reset();
    for (std::int32_t node = 0; node < nodes_.size(); ++node) OrderDecommission(node);
    AwaitClaims();
    RestoreAllLinks();
    Reschedule(*actors_[0]);
  }
}

// What a new RM knows of containers it has from their nodes (hadoop-yarn, work-preserving recovery;
// without that recovery everything ends). A node takes the tokens of the RM that it has registered
// with: until it has done so again, it may start what that RM allocated. What it does not report
// then has never been started, or has ended meanwhile; the new RM gives nothing back for it.
void SimHost::SetAllocatedAside() {
  for (const auto& [application, booked] : rm_->books().applications) {
    for (const auto& [id, container] : booked->containers) {
      if (!scenario_.yarn.work_preserving_restart) {
        TraceFreed(id, container_exit::kAborted);
      } else {
        const auto node = static_cast<std::size_t>(container.node);
        unclaimed_[*nodes_.Find(rm_->books().nodes.at(node)->id.host)].push_back(id);
      }
    }
  }
}

void SimHost::AwaitClaims() {
  claims_end_ = now_ + scenario_.yarn.nm_expiry;
  After(scenario_.yarn.nm_expiry, [this] { ForgetUnclaimed(); });
}

/// A node that has not come back to a restarted RM by now counts as lost. A RM that stands still
/// hears none, and takes none for lost: they have their time again when it goes on.
void SimHost::ForgetUnclaimed() {
  if (rm_paused_) {
    nodes_have_their_time_again_ = true;
    return;
  }
  std::vector<Place> nodes;
  for (const auto& [place, ids] : unclaimed_) nodes.push_back(place);
  for (const Place place : nodes) ForgetUnclaimedOn(place);
}

void SimHost::ForgetUnclaimedOn(Place node) {
  const auto aside = unclaimed_.find(node);
  if (rm_ == nullptr || aside == unclaimed_.end()) return;
  // A registration that is under way claims what ran when it was sent, and may have ended since.
  const std::uint32_t nm = nm_of_node_[static_cast<std::size_t>(node)];
  if (nm != 0 && static_cast<const NmActor&>(*actors_[nm]).machine->registering())
    return After(scenario_.yarn.nm_heartbeat, [this, node] { ForgetUnclaimedOn(node); });
  const std::vector<ContainerId> ids = std::move(aside->second);
  unclaimed_.erase(aside);
  for (const ContainerId& id : ids) {
    const auto& applications = rm_->books().applications;
    const auto booked = applications.find(id.application_attempt.application);
    if (booked != applications.end() && booked->second->containers.contains(id)) continue;
    if (containers_.contains(id)) {
      unclaimed_[node].push_back(id);  // It runs where the RM does not know of it.
    } else {
      TraceFreed(id, container_exit::kAborted);
    }
  }
}

/// With the RM that runs.
bool SimHost::IsRegistered(Place node) const {
  if (rm_ == nullptr) return false;
  const std::vector<const fakes::BookedNode*>& known = rm_->books().nodes;
  const std::string& host = nodes_[node].id.host;
  return std::any_of(known.begin(), known.end(),
                     [&](const fakes::BookedNode* one) { return one->id.host == host; });
}

}  // namespace tfyarn::sim
