// Groups that cannot talk to each other.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

std::vector<PeerCut> PeerCuts(const World& world) {
  std::vector<PeerCut> cuts;
  for (const auto& [key, cut] : world.cluster.network.cuts()) {
    PeerCut peers;
    for (const Place place : cut.from) {
      if (place >= 0) peers.from.insert(world.cluster.nodes[place].id.host);
    }
    for (const Place place : cut.to) {
      if (place >= 0) peers.to.insert(world.cluster.nodes[place].id.host);
    }
    // A group of masters only cuts no peer from another.
    if (peers.from.empty() || (peers.to.empty() && !cut.to.empty())) continue;
    cuts.push_back(std::move(peers));
  }
  return cuts;
}

void TellWorkloadsOfCuts(World& world) {
  for (JobRecord* job : world.cluster.JobsInOrder()) {
    world.workloads.Do(
        *job, [&](JobWorkload& workload, Instant now, std::vector<WorkloadOutput>& outputs) {
          workload.CutsChanged(now, PeerCuts(world), outputs);
        });
  }
}

}  // namespace

template <>
void Strike<FaultId::kPartition>(World& world, const FaultOrder& order) {
  world.links.DisturbAll();
  if (order.begins) {
    Cut cut;
    if (!order.groups.empty()) cut.from = PlacesOf(order.groups[0]);
    for (std::size_t i = 1; i < order.groups.size(); ++i) cut.to.merge(PlacesOf(order.groups[i]));
    // An empty `to` would cut off every place, but no group of those named is anywhere.
    if (order.groups.size() > 1 && cut.to.empty()) cut.from.clear();
    const std::string direction = WordOf(order, "direction", "both");
    cut.forward = direction != "backward";
    cut.backward = direction != "forward";
    world.cluster.network.AddCut(KeyOf(order), std::move(cut));
  } else {
    world.cluster.network.RemoveCut(KeyOf(order));
    world.cluster.healed_at = world.kernel.now();
  }
  TellWorkloadsOfCuts(world);
  world.links.RestoreAll();
}

}  // namespace tfyarn::sim
