#include "core/trace/cluster_book.h"

#include <utility>

#include "core/model/check.h"

namespace tfyarn::trace {

std::int64_t ClusterBook::Units(const Resource& resource) const {
  return unit_is_gpu_ ? resource.gpus : resource.vcores;
}

void ClusterBook::Open() {
  if (open_) return;
  open_ = true;
  unit_is_gpu_ = false;
  for (const auto& [id, node] : nodes_) unit_is_gpu_ = unit_is_gpu_ || node.capacity.gpus > 0;
  for (const auto& [id, node] : nodes_)
    usage_.Change(declared_at_, Use::kFree, Units(node.capacity));
}

void ClusterBook::DeclareNode(Instant now, const NodeDeclared& declared) {
  Node& node = nodes_[declared.node];
  if (open_) {
    const std::int64_t change = Units(declared.capacity) - Units(node.capacity);
    usage_.Change(now, node.up ? Use::kFree : Use::kDown, change);
  }
  if (!open_) declared_at_ = now;
  node.capacity = declared.capacity;
  node.rack = declared.rack;
}

void ClusterBook::Power(Instant now, const NodePower& power) {
  Open();
  Node& node = nodes_[power.node];
  if (node.up == power.up) return;
  std::int64_t held = 0;
  for (const ContainerId& container : node.containers) {
    const Held& entry = containers_.at(container);
    JobHolding& holding = jobs_.at(entry.job);
    const std::int64_t units = Units(entry.resource);
    held += units;
    holding.units += power.up ? units : -units;
    if (power.up) {
      usage_.Move(now, Use::kDown, holding.use, units);
    } else {
      usage_.Move(now, holding.use, Use::kDown, units);
    }
  }
  const std::int64_t idle = Units(node.capacity) - held;
  if (power.up) {
    usage_.Move(now, Use::kDown, Use::kFree, idle);
    if (timeline_.outages.size() < max_bars_) {
      timeline_.outages.push_back({.node = power.node.host, .begin = node.down_since, .end = now});
    } else {
      ++timeline_.left_out;
    }
  } else {
    usage_.Move(now, Use::kFree, Use::kDown, idle);
    node.down_since = now;
  }
  node.up = power.up;
}

void ClusterBook::Grant(Instant now, const ContainerGranted& granted) {
  Open();
  const auto at = nodes_.try_emplace(granted.node).first;
  Node& node = at->second;
  const bool is_new = containers_
                          .try_emplace(granted.container, Held{.job = granted.job,
                                                               .node = &*at,
                                                               .resource = granted.resource,
                                                               .since = now,
                                                               .am = granted.am,
                                                               .launched = false,
                                                               .task = {}})
                          .second;
  TF_CHECK(is_new);
  JobHolding& holding = jobs_[granted.job];
  holding.containers.insert(granted.container);
  node.containers.insert(granted.container);
  if (!node.up) return;
  holding.units += Units(granted.resource);
  usage_.Move(now, Use::kFree, holding.use, Units(granted.resource));
}

std::optional<ClusterBook::FreedContainer> ClusterBook::Free(Instant now,
                                                             const ContainerId& container) {
  const auto entry = containers_.find(container);
  if (entry == containers_.end()) return std::nullopt;
  const Held held = std::move(entry->second);
  containers_.erase(entry);
  const auto holding = jobs_.find(held.job);
  const Use use = holding->second.use;
  Node& node = held.node->second;
  if (node.up) holding->second.units -= Units(held.resource);
  holding->second.containers.erase(container);
  if (holding->second.containers.empty()) jobs_.erase(holding);
  node.containers.erase(container);
  if (node.up) usage_.Move(now, use, Use::kFree, Units(held.resource));
  AddBar(now, container, held);
  return FreedContainer{
      .job = held.job, .gpus = held.resource.gpus, .launched = held.launched && !held.am};
}

std::optional<JobIndex> ClusterBook::Launch(const ContainerId& container) {
  const auto entry = containers_.find(container);
  if (entry == containers_.end() || entry->second.launched) return std::nullopt;
  entry->second.launched = true;
  if (entry->second.am) return std::nullopt;
  return entry->second.job;
}

void ClusterBook::SetUse(Instant now, JobIndex job, Use use) {
  const auto holding = jobs_.find(job);
  if (holding == jobs_.end() || holding->second.use == use) return;
  usage_.Move(now, holding->second.use, use, holding->second.units);
  holding->second.use = use;
}

void ClusterBook::NameContainer(const ContainerId& container, const TaskId& task) {
  const auto held = containers_.find(container);
  if (held != containers_.end()) held->second.task = ToString(task);
}

UseIntegral ClusterBook::Until(Instant now) {
  Open();
  return usage_.Until(now);
}

UsageSeries::Points ClusterBook::TakePoints(Instant now) {
  Open();
  UsageSeries::Points points = usage_.TakePoints(now);
  points.gpus = unit_is_gpu_;
  return points;
}

void ClusterBook::FillTimeline(Instant now, Timeline& timeline) {
  for (const auto& [container, held] : containers_) AddBar(now, container, held);
  for (const auto& [id, node] : nodes_) {
    if (max_bars_ > 0) {
      timeline.nodes.push_back({.host = id.host,
                                .rack = node.rack,
                                .gpus = node.capacity.gpus,
                                .vcores = node.capacity.vcores});
    }
    if (node.up || max_bars_ == 0) continue;
    timeline_.outages.push_back({.node = id.host, .begin = node.down_since, .end = now});
  }
  timeline.bars = std::move(timeline_.bars);
  timeline.outages = std::move(timeline_.outages);
  timeline.left_out += timeline_.left_out;
}

void ClusterBook::AddBar(Instant now, const ContainerId& container, const Held& held) {
  if (timeline_.bars.size() >= max_bars_) {
    ++timeline_.left_out;
    return;
  }
  timeline_.bars.push_back({.node = held.node->first.host,
                            .container = container,
                            .job = held.job,
                            .task = held.am ? "am" : held.task,
                            .gpus = held.resource.gpus,
                            .begin = held.since,
                            .end = now});
}

}  // namespace tfyarn::trace
