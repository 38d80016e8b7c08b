// Messages that take longer, overtake each other, or are lost at random.
#include "sim/faults/effects.h"

namespace tfyarn::sim {

template <>
void SimHost::Strike<FaultId::kLatency>(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DelayMessages(order);
}

template <>
void SimHost::Strike<FaultId::kRmSlow>(const FaultOrder& order) {
  DelayMessages(order);
}

void SimHost::DelayMessages(const FaultOrder& order) {
  links_.DisturbAll();
  if (order.begins) {
    cluster_.network.AddDelay(KeyOf(order), PlacesOf(order.struck),
                              SecondsToDuration(NumberOf(order, "delay", 0)));
  } else {
    cluster_.network.RemoveDelay(KeyOf(order));
  }
  links_.RestoreAll();
}

template <>
void SimHost::Strike<FaultId::kReorder>(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  links_.DisturbAll();
  if (order.begins) {
    cluster_.network.AddDisorder(KeyOf(order), PlacesOf(order.struck),
                                 SecondsToDuration(NumberOf(order, "by", 1)));
  } else {
    cluster_.network.RemoveDisorder(KeyOf(order));
  }
  links_.RestoreAll();
}

template <>
void SimHost::Strike<FaultId::kLoss>(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  links_.DisturbAll();
  if (order.begins) {
    cluster_.network.AddLoss(KeyOf(order), PlacesOf(order.struck), NumberOf(order, "loss", 0));
  } else {
    cluster_.network.RemoveLoss(KeyOf(order));
  }
  links_.RestoreAll();
}

}  // namespace tfyarn::sim
