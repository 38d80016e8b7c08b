// Single messages that are lost, late or doubled.
#include <cstdint>
#include <string>
#include <utility>

#include "sim/faults/effects.h"

namespace tfyarn::sim {
namespace {

/// Messages by their own name.
MessageFaults::Rule ByName(const FaultOrder& order, MessageEffect effect) {
  MessageFaults::Rule rule;
  rule.message = WordOf(order, "message", "");
  rule.effect = effect;
  rule.first = static_cast<std::int64_t>(NumberOf(order, "nth", 1));
  if (rule.first == 0) rule.first = 1, rule.count = 0;
  rule.delay = SecondsToDuration(NumberOf(order, "delay", 0));
  return rule;
}

/// Answers of the RM, by the name of the call.
MessageFaults::Rule AnswersOfRm(const FaultOrder& order, MessageEffect effect) {
  MessageFaults::Rule rule;
  const std::string method = WordOf(order, "method", "any");
  rule.message = (method == "any" ? "*" : method) + "Response";
  rule.effect = effect;
  rule.count = static_cast<std::int64_t>(NumberOf(order, "count", 1));
  return rule;
}

void SingleOut(World& world, const FaultOrder& order, MessageFaults::Rule rule) {
  world.links.DisturbAll();
  if (!order.begins) {
    world.message_faults.Remove(KeyOf(order));
    return world.links.RestoreAll();
  }
  rule.key = KeyOf(order);
  for (const Struck& struck : order.struck) {
    MessageFaults::Rule one = rule;
    if (struck.kind == StruckKind::kNode) {
      one.places = {struck.node};
    } else {
      one.job = struck.job;
      one.task = struck.task;
    }
    world.message_faults.Add(std::move(one));
  }
  if (order.struck.empty() && !order.spec->target) world.message_faults.Add(std::move(rule));
  world.links.RestoreAll();
}

}  // namespace

template <>
void Strike<FaultId::kDrop>(World& world, const FaultOrder& order) {
  SingleOut(world, order, ByName(order, MessageEffect::kDrop));
}

template <>
void Strike<FaultId::kDelay>(World& world, const FaultOrder& order) {
  SingleOut(world, order, ByName(order, MessageEffect::kDelay));
}

template <>
void Strike<FaultId::kDuplicate>(World& world, const FaultOrder& order) {
  SingleOut(world, order, ByName(order, MessageEffect::kDuplicate));
}

template <>
void Strike<FaultId::kRmDropResponse>(World& world, const FaultOrder& order) {
  SingleOut(world, order, AnswersOfRm(order, MessageEffect::kDrop));
}

template <>
void Strike<FaultId::kRmDuplicateResponse>(World& world, const FaultOrder& order) {
  SingleOut(world, order, AnswersOfRm(order, MessageEffect::kDuplicate));
}

}  // namespace tfyarn::sim
