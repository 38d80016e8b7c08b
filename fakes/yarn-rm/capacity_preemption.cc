#include "fakes/yarn-rm/capacity_preemption.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"

namespace tfyarn::fakes {

Resource CapacityPreemption::Starved(std::int32_t partition) const {
  Resource shortage;
  const auto add = [](std::int64_t entitled, std::int64_t used, std::int64_t pending) {
    return std::max<std::int64_t>(0, std::min(entitled - used, pending));
  };
  for (std::size_t q = 0; q < records_.queues.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    const Queue& queue = records_.queues[leaf];
    if (demand_[q].EmptyIn(partition)) continue;
    const Resource used = static_cast<std::size_t>(partition) < queue.used.size()
                              ? queue.used[static_cast<std::size_t>(partition)]
                              : Resource{};
    const Resource& entitled = queue.capacity[partition];
    const Resource& pending = queue.pending[partition];
    shortage += Resource{.memory_mb = add(entitled.memory_mb, used.memory_mb, pending.memory_mb),
                         .vcores = add(entitled.vcores, used.vcores, pending.vcores),
                         .gpus = add(entitled.gpus, used.gpus, pending.gpus),
                         .others = {}};
  }
  return IsZero(shortage) ? shortage
                          : shortage - records_.queues.Headroom(records_.queues.root(), partition);
}

void CapacityPreemption::Arm() {
  if (!records_.options.preemption || armed_) return;
  for (std::size_t p = 0; p < records_.partitions.size(); ++p) {
    if (!AnyPositive(Starved(static_cast<std::int32_t>(p)))) continue;
    armed_ = true;
    const auto rounds = records_.now.time_since_epoch() / records_.options.preemption_interval + 1;
    rm_.WakeScheduler(Instant(records_.options.preemption_interval * rounds));
    return;
  }
}

void CapacityPreemption::Monitor() {
  armed_ = false;
  for (std::size_t p = 0; p < records_.partitions.size(); ++p) {
    const auto partition = static_cast<std::int32_t>(p);
    Resource shortage = Starved(partition);
    for (const auto& [sequence, chosen] : records_.preempting) {
      const BookedContainer* container = records_.Find(chosen.container);
      if (container != nullptr && records_.nodes.At(container->node).partition_number == partition)
        shortage -= container->resource;
    }
    if (AnyPositive(shortage)) ChooseVictims(partition, shortage);
  }
  Arm();
}

void CapacityPreemption::ChooseVictims(std::int32_t partition, Resource& shortage) {
  struct Over {
    std::int64_t ratio;
    std::int32_t leaf;
  };
  std::vector<Over> over;
  for (std::size_t q = 0; q < records_.queues.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    if (!records_.queues[leaf].leaf) continue;
    const std::int64_t ratio = records_.queues.UsedRatio(leaf, partition);
    if (ratio > 1'000'000'000) over.push_back({ratio, leaf});
  }
  std::sort(over.begin(), over.end(), [](const Over& a, const Over& b) {
    return a.ratio != b.ratio ? a.ratio > b.ratio : a.leaf < b.leaf;
  });
  for (const Over& queue : over) {
    Resource beyond = records_.queues[queue.leaf].used[static_cast<std::size_t>(partition)] -
                      records_.queues[queue.leaf].capacity[partition];
    std::map<std::uint64_t, BookedContainer*, std::greater<>> newest;
    for (auto& [id, application] : records_.applications) {
      if (application->leaf != queue.leaf) continue;
      for (auto& [container_id, container] : application->containers) {
        if (container.am || records_.preempting.count(container.sequence) > 0) continue;
        if (records_.nodes.At(container.node).partition_number == partition)
          newest.emplace(container.sequence, &container);
      }
    }
    for (const auto& [sequence, container] : newest) {
      if (!AnyPositive(shortage) || !AnyPositive(beyond)) break;
      shortage -= container->resource;
      beyond -= container->resource;
      TF_PROBE("yarn/victim-chosen");
      rm_.GiveNotice(*container);
    }
  }
}

}  // namespace tfyarn::fakes
