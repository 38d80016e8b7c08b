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
  DisturbAllLinks();
  if (order.begins) {
    network_.AddDelay(KeyOf(order), PlacesOf(order.struck),
                      SecondsToDuration(NumberOf(order, "delay", 0)));
  } else {
    network_.RemoveDelay(KeyOf(order));
  }
  RestoreAllLinks();
}

template <>
void SimHost::Strike<FaultId::kReorder>(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DisturbAllLinks();
  if (order.begins) {
    network_.AddDisorder(KeyOf(order), PlacesOf(order.struck),
                         SecondsToDuration(NumberOf(order, "by", 1)));
  } else {
    network_.RemoveDisorder(KeyOf(order));
  }
  RestoreAllLinks();
}

template <>
void SimHost::Strike<FaultId::kLoss>(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DisturbAllLinks();
  if (order.begins) {
    network_.AddLoss(KeyOf(order), PlacesOf(order.struck), NumberOf(order, "loss", 0));
  } else {
    network_.RemoveLoss(KeyOf(order));
  }
  RestoreAllLinks();
}

}  // namespace tfyarn::sim
