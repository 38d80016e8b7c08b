// Taking containers back: by order, and by the capacity scheduler's own policy.
//
// Assumptions of the policy: it frees at once all that queues below their capacity want of it
// (YARN: a tenth of the cluster a round), takes the newest containers of the queue furthest above
// its capacity, and never AM containers.
//
// Source: ProportionalCapacityPreemptionPolicy.java, FiCaSchedulerApp.java (preemption messages),
// RMContainerImpl.java.
#include <algorithm>

#include "core/model/check.h"
#include "core/model/probe.h"
#include "fakes/yarn-rm/dominant.h"
#include "fakes/yarn-rm/rm_core.h"

namespace tfyarn::fakes {

void RmCore::On(const PreemptContainer& order) {
  BookedContainer* container = FindContainer(order.container);
  if (container == nullptr) {
    TF_PROBE("yarn/preempts-what-is-over");
    Note("preemption of a container that is over: " + ToString(order.container));
    return;
  }
  if (order.notice > Duration::zero()) {
    NoticePreemption(*container, order.notice, false);
  } else {
    PreemptNow({.container = order.container});
  }
}

void RmCore::NoticePreemption(BookedContainer& container, Duration notice, bool by_policy) {
  if (!preempting_
           .emplace(container.sequence,
                    Preempted{.container = container.id, .by_policy = by_policy})
           .second) {
    TF_PROBE("yarn/noticed-twice");
    return;
  }
  timers_.insert({.at = now_ + notice,
                  .kind = TimerKind::kPreemptKill,
                  .a = static_cast<std::int64_t>(container.sequence)});
  if (container.am) return;
  RmApplication& application = *FindApplication(container.id.application_attempt.application);
  (by_policy ? application.preempt_contract : application.preempt_strict).push_back(container.id);
  if (application.attempt.registered) NewsFor(application);
}

void RmCore::PreemptNow(const Preempted& chosen) {
  BookedContainer* container = FindContainer(chosen.container);
  if (container == nullptr) {
    TF_PROBE("yarn/ended-within-its-notice");
    return;
  }
  if (chosen.by_policy && !AnyPositive(Starved(NodeAt(container->node).partition_number))) {
    TF_PROBE("yarn/preemption-not-needed-any-more");
    return;
  }
  Complete(*FindApplication(chosen.container.application_attempt.application), *container,
           {.exit_status = -102, .diagnostics = "Container preempted by scheduler"});
}

Resource RmCore::Starved(std::int32_t partition) const {
  Resource shortage;
  const auto add = [](std::int64_t entitled, std::int64_t used, std::int64_t pending) {
    return std::max<std::int64_t>(0, std::min(entitled - used, pending));
  };
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    const Queue& queue = queues_[leaf];
    if (!queue.leaf || queue.demand.EmptyIn(partition)) continue;
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
  return IsZero(shortage) ? shortage : shortage - queues_.Headroom(queues_.root(), partition);
}

void RmCore::ArmMonitor() {
  if (!options_.preemption || monitor_armed_) return;
  for (std::size_t p = 0; p < partitions_.size(); ++p) {
    if (!AnyPositive(Starved(static_cast<std::int32_t>(p)))) continue;
    monitor_armed_ = true;
    const auto rounds = now_.time_since_epoch() / options_.preemption_interval + 1;
    timers_.insert({.at = Instant(options_.preemption_interval * rounds),
                    .kind = TimerKind::kPreemptionMonitor});
    return;
  }
}

void RmCore::MonitorQueues() {
  for (std::size_t p = 0; p < partitions_.size(); ++p) {
    const auto partition = static_cast<std::int32_t>(p);
    Resource shortage = Starved(partition);
    for (const auto& [sequence, chosen] : preempting_) {
      const BookedContainer* container = FindContainer(chosen.container);
      if (container != nullptr && NodeAt(container->node).partition_number == partition)
        shortage -= container->resource;
    }
    if (AnyPositive(shortage)) ChooseVictims(partition, shortage);
  }
  ArmMonitor();
}

void RmCore::ChooseVictims(std::int32_t partition, Resource& shortage) {
  struct Over {
    std::int64_t ratio;
    std::int32_t leaf;
  };
  std::vector<Over> over;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const auto leaf = static_cast<std::int32_t>(q);
    if (!queues_[leaf].leaf) continue;
    const std::int64_t ratio = queues_.UsedRatio(leaf, partition);
    if (ratio > 1'000'000'000) over.push_back({ratio, leaf});
  }
  std::sort(over.begin(), over.end(), [](const Over& a, const Over& b) {
    return a.ratio != b.ratio ? a.ratio > b.ratio : a.leaf < b.leaf;
  });
  for (const Over& queue : over) {
    Resource beyond = queues_[queue.leaf].used[static_cast<std::size_t>(partition)] -
                      queues_[queue.leaf].capacity[partition];
    std::map<std::uint64_t, BookedContainer*, std::greater<>> newest;
    for (auto& [id, application] : applications_) {
      if (application->leaf != queue.leaf) continue;
      for (auto& [container_id, container] : application->containers) {
        if (container.am || preempting_.count(container.sequence) > 0) continue;
        if (NodeAt(container.node).partition_number == partition)
          newest.emplace(container.sequence, &container);
      }
    }
    for (const auto& [sequence, container] : newest) {
      if (!AnyPositive(shortage) || !AnyPositive(beyond)) break;
      shortage -= container->resource;
      beyond -= container->resource;
      TF_PROBE("yarn/victim-chosen");
      NoticePreemption(*container, options_.preemption_notice, true);
    }
  }
}

}  // namespace tfyarn::fakes
