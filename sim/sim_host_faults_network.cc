// What faults do to the network and to single messages.
#include <algorithm>

#include "sim/fault_words.h"
#include "sim/sim_host.h"

namespace tfyarn::sim {

void SimHost::FaultPartition(const FaultOrder& order) {
  DisturbAllLinks();
  if (order.begins) {
    Cut cut;
    if (!order.groups.empty()) cut.from = PlacesOf(order.groups[0]);
    for (std::size_t i = 1; i < order.groups.size(); ++i) cut.to.merge(PlacesOf(order.groups[i]));
    // An empty `to` would cut off every place, but no group of those named is anywhere.
    if (order.groups.size() > 1 && cut.to.empty()) cut.from.clear();
    const std::string direction = WordOf(order, "direction", "both");
    cut.forward = direction != "backward";
    cut.backward = direction != "forward";
    network_.AddCut(KeyOf(order), std::move(cut));
  } else {
    network_.RemoveCut(KeyOf(order));
  }
  TellWorkloadsOfCuts();
  RestoreAllLinks();
}

std::vector<PeerCut> SimHost::PeerCuts() const {
  std::vector<PeerCut> cuts;
  for (const auto& [key, cut] : network_.cuts()) {
    PeerCut peers;
    for (const Place place : cut.from) {
      if (place >= 0) peers.from.insert(nodes_[place].id.host);
    }
    for (const Place place : cut.to) {
      if (place >= 0) peers.to.insert(nodes_[place].id.host);
    }
    // A group of masters only cuts no peer from another.
    if (peers.from.empty() || (peers.to.empty() && !cut.to.empty())) continue;
    cuts.push_back(std::move(peers));
  }
  return cuts;
}

void SimHost::TellWorkloadsOfCuts() {
  std::vector<std::uint32_t> indices;
  for (const auto& [index, job] : jobs_) indices.push_back(index);
  std::sort(indices.begin(), indices.end());
  for (const std::uint32_t index : indices) {
    JobRt& job = *jobs_.at(index);
    std::vector<WorkloadOutput> outputs;
    job.workload->CutsChanged(now_, PeerCuts(), outputs);
    HandleWorkload(job, outputs);
  }
}

void SimHost::FaultLatency(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DisturbAllLinks();
  if (order.begins) {
    network_.AddDelay(KeyOf(order), PlacesOf(order.struck),
                      SecondsToDuration(NumberOf(order, "delay", 0.1)));
  } else {
    network_.RemoveDelay(KeyOf(order));
  }
  RestoreAllLinks();
}

void SimHost::FaultLoss(const FaultOrder& order) {
  if (order.struck.empty() && order.spec->target) return;  // An absent target is no target at all.
  DisturbAllLinks();
  if (order.begins) {
    network_.AddLoss(KeyOf(order), PlacesOf(order.struck), NumberOf(order, "loss", 0));
  } else {
    network_.RemoveLoss(KeyOf(order));
  }
  RestoreAllLinks();
}

void SimHost::FaultMessage(const FaultOrder& order) {
  DisturbAllLinks();
  if (!order.begins) {
    message_faults_.Remove(KeyOf(order));
    return RestoreAllLinks();
  }
  const bool answer = order.kind.starts_with("rm_");
  MessageFaults::Rule rule;
  rule.key = KeyOf(order);
  if (answer) {
    const std::string method = WordOf(order, "method", "any");
    rule.message = (method == "any" ? "*" : method) + "Response";
    rule.count = static_cast<std::int64_t>(NumberOf(order, "count", 1));
  } else {
    rule.message = WordOf(order, "message", "");
    rule.first = static_cast<std::int64_t>(NumberOf(order, "nth", 1));
    if (rule.first == 0) rule.first = 1, rule.count = 0;
  }
  if (order.kind == "delay") rule.effect = MessageEffect::kDelay;
  if (order.kind == "duplicate" || order.kind == "rm_duplicate_response")
    rule.effect = MessageEffect::kDuplicate;
  rule.delay = SecondsToDuration(NumberOf(order, "delay", 10));
  for (const Struck& struck : order.struck) {
    MessageFaults::Rule one = rule;
    if (struck.kind == StruckKind::kNode) {
      one.places = {struck.node};
    } else {
      one.job = struck.job;
      one.task = struck.task;
    }
    message_faults_.Add(std::move(one));
  }
  if (order.struck.empty() && !order.spec->target) message_faults_.Add(std::move(rule));
  RestoreAllLinks();
}

}  // namespace tfyarn::sim
