// Messages that take longer, overtake each other, or are lost at random.
#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

void DelayMessages(World& world, const FaultOrder& order) {
  world.links.DisturbAll();
  if (order.begins) {
    world.cluster.network.AddDelay(KeyOf(order), PlacesOf(order.struck),
                                   SecondsToDuration(NumberOf(order, "delay", 0)));
  } else {
    world.cluster.network.RemoveDelay(KeyOf(order));
  }
  world.links.RestoreAll();
}

}  // namespace

template <>
void Strike<FaultId::kLatency>(World& world, const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DelayMessages(world, order);
}

template <>
void Strike<FaultId::kRmSlow>(World& world, const FaultOrder& order) {
  DelayMessages(world, order);
}

template <>
void Strike<FaultId::kReorder>(World& world, const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  world.links.DisturbAll();
  if (order.begins) {
    world.cluster.network.AddDisorder(KeyOf(order), PlacesOf(order.struck),
                                      SecondsToDuration(NumberOf(order, "by", 1)));
  } else {
    world.cluster.network.RemoveDisorder(KeyOf(order));
  }
  world.links.RestoreAll();
}

template <>
void Strike<FaultId::kLoss>(World& world, const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  world.links.DisturbAll();
  if (order.begins) {
    world.cluster.network.AddLoss(KeyOf(order), PlacesOf(order.struck), NumberOf(order, "loss", 0));
  } else {
    world.cluster.network.RemoveLoss(KeyOf(order));
    world.cluster.healed_at = world.kernel.now();
  }
  world.links.RestoreAll();
}

}  // namespace tfyarn::sim
