#include "fakes/yarn-rm/immediate_scheduler.h"

#include <cstddef>

#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {

void ImmediateScheduler::OnAttemptAdded(RmApplication& application) {
  application.activated = true;
  rm_.ReportChanged(application.id);  // What it waits for is another thing.
  OnAsksChanged(application);
}

void ImmediateScheduler::OnAsksChanged(RmApplication& application) {
  demand_.Remove(application);
  for (auto& [key, ask] : application.asks) {
    if (ask.wanted() > 0 && application.activated) demand_.Add(application, ask);
  }
  changed_ = true;
}

void ImmediateScheduler::OnChanged() {
  if (pass_wanted_) return;
  pass_wanted_ = true;
  rm_.WakeScheduler(records_.now);
}

void ImmediateScheduler::OnWake() {
  pass_wanted_ = false;
  if (!records_.scheduling_allowed()) return;
  Pass();
  changed_ = false;  // whatever changed in the pass was served in it
}

// ---------------------------------------------------------------- room

std::map<std::int64_t, std::set<std::int32_t>>& ImmediateScheduler::FreeGpus(
    std::int32_t partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (by_free_gpus_.size() <= index) by_free_gpus_.resize(index + 1);
  return by_free_gpus_[index];
}

void ImmediateScheduler::Rebucket(const RmNode& node) {
  changed_ = true;
  const auto index = static_cast<std::size_t>(node.index);
  if (buckets_.size() <= index) buckets_.resize(index + 1);
  std::optional<Bucket> now;
  if (node.schedulable) now = Bucket{.partition = node.partition_number, .gpus = node.free.gpus};
  std::optional<Bucket>& bucket = buckets_[index];
  if (bucket == now) return;
  if (bucket) FreeGpus(bucket->partition)[bucket->gpus].erase(node.index);
  if (now) FreeGpus(now->partition)[now->gpus].insert(node.index);
  bucket = now;
}

std::optional<Locality> ImmediateScheduler::MayUse(const AskEntry& ask, const RmNode& node) {
  const AskRow* host = ask.RowOf(node.host_place);
  const AskRow* rack = ask.RowOf(node.rack_place);
  if (host != nullptr && host->count > 0 && rack != nullptr && rack->count > 0)
    return Locality::kNodeLocal;
  if (rack != nullptr && rack->count > 0 && rack->relax) return Locality::kRackLocal;
  if (ask.any->relax) return Locality::kOffSwitch;
  return std::nullopt;
}

ImmediateScheduler::Placement ImmediateScheduler::FindRoom(const RmApplication& application,
                                                           const AskEntry& ask) {
  if (!ask.places.empty()) return FindNamedRoom(application, ask);
  if (!ask.any->relax) return {};
  const Resource& shape = ask.any->capability;
  auto& buckets = FreeGpus(ask.partition);
  for (auto bucket = buckets.lower_bound(shape.gpus); bucket != buckets.end(); ++bucket) {
    for (const std::int32_t index : bucket->second) {
      RmNode& node = records_.nodes.At(index);
      if (HasRoomFor(shape, node.free) && !IsBlacklisted(application, node)) return {.node = &node};
    }
  }
  return {};
}

ImmediateScheduler::Placement ImmediateScheduler::FindNamedRoom(const RmApplication& application,
                                                                const AskEntry& ask) {
  Placement best;
  for (RmNode& node : records_.nodes) {
    if (!node.schedulable || node.partition_number != ask.partition) continue;
    if (!HasRoomFor(ask.any->capability, node.free) || IsBlacklisted(application, node)) continue;
    const auto locality = MayUse(ask, node);
    if (!locality || (best.node != nullptr && best.locality <= *locality)) continue;
    best = {.node = &node, .locality = *locality};
    if (best.locality == Locality::kNodeLocal) break;
  }
  return best;
}

void ImmediateScheduler::GrantAt(const Demand& demand, const Placement& placement) {
  rm_.Grant(*demand.application, *demand.ask, *placement.node, placement.locality,
            demand.ask->any->capability);
}

}  // namespace tfyarn::fakes
