#include "core/am/observe/heartbeat_watch.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::am {

HeartbeatWatch::HeartbeatWatch(Duration allowed_silence, std::size_t tasks)
    : allowed_silence_(allowed_silence), entries_(tasks) {
  TF_CHECK(allowed_silence > Duration::zero());
}

void HeartbeatWatch::Heard(Instant now, TaskIndex task, Incarnation incarnation) {
  Watched& entry = entries_.at(task.value);
  if (entry.watched && incarnation < entry.incarnation) return;
  Unschedule(task, entry);
  entry.vouched = entry.vouched && incarnation == entry.incarnation;
  entry.incarnation = incarnation;
  entry.last_heard = std::max(now, entry.watched ? entry.last_heard : now);
  entry.counts_from = std::max(entry.counts_from, entry.last_heard);
  entry.watched = true;
  entry.awake = false;
  Schedule(task, entry);
}

void HeartbeatWatch::Forget(TaskIndex task) {
  Watched& entry = entries_.at(task.value);
  Unschedule(task, entry);
  entry.watched = false;
}

void HeartbeatWatch::Vouch(TaskIndex task, Incarnation incarnation) {
  Watched& entry = entries_.at(task.value);
  if (entry.watched && incarnation != entry.incarnation) return;
  Unschedule(task, entry);
  entry.incarnation = incarnation;
  entry.vouched = true;
}

void HeartbeatWatch::Unvouch(TaskIndex task, Incarnation incarnation, Instant last) {
  Watched& entry = entries_.at(task.value);
  if (incarnation != entry.incarnation || !entry.vouched) return;
  entry.vouched = entry.awake = false;
  entry.last_heard = std::max(entry.last_heard, last);
  entry.counts_from = std::max(entry.counts_from, last);
  Schedule(task, entry);
}

std::vector<SilentAgent> HeartbeatWatch::TakeSilent(Instant now) {
  std::vector<SilentAgent> silent;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    const TaskIndex task = by_deadline_.begin()->second;
    Watched& entry = entries_.at(task.value);
    if (now < SilentAt(entry)) {
      Unschedule(task, entry);
      entry.awake = true;
      Schedule(task, entry);
      continue;
    }
    silent.push_back({task, entry.incarnation, entry.last_heard});
    Forget(task);
  }
  std::sort(silent.begin(), silent.end(), [](const SilentAgent& a, const SilentAgent& b) {
    return std::pair(a.last_heard, a.task) < std::pair(b.last_heard, b.task);
  });
  return silent;
}

std::optional<Instant> HeartbeatWatch::OverdueUntil(Instant now, TaskIndex task,
                                                    Duration usual) const {
  const Watched& entry = entries_.at(task.value);
  if (!entry.watched || entry.vouched || now - entry.last_heard <= usual) return std::nullopt;
  return SilentAt(entry);
}

std::optional<Instant> HeartbeatWatch::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

void HeartbeatWatch::Schedule(TaskIndex task, const Watched& entry) {
  if (entry.watched && !entry.vouched) by_deadline_.emplace(DeadlineOf(entry), task);
}

void HeartbeatWatch::Unschedule(TaskIndex task, const Watched& entry) {
  if (entry.watched && !entry.vouched) by_deadline_.erase({DeadlineOf(entry), task});
}

Instant HeartbeatWatch::SilentAt(const Watched& entry) const {
  return entry.counts_from + allowed_silence_;
}

Instant HeartbeatWatch::DeadlineOf(const Watched& entry) const {
  return SilentAt(entry) - (entry.awake ? Duration::zero() : allowed_silence_ / 5);
}

void HeartbeatWatch::Slept(Instant now) {
  by_deadline_.clear();
  woken_ = now;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Watched& entry = entries_[i];
    if (!entry.watched || entry.vouched) continue;
    entry.counts_from = now;
    entry.awake = false;
    Schedule(TaskIndex(static_cast<TaskIndex::rep>(i)), entry);
  }
}

}  // namespace tfyarn::am
