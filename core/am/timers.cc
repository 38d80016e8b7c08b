#include "core/am/timers.h"

#include <algorithm>
#include <tuple>

#include "core/model/check.h"

namespace tfyarn::am {

static_assert(static_cast<std::size_t>(Timer::kLeaving) + 1 == kTimers);

void TimerTable::Arm(Timer timer, std::uint32_t key, Instant at) {
  TF_CHECK(at != kNever);
  std::vector<Instant>& of_timer = armed_[static_cast<std::size_t>(timer)];
  if (key >= of_timer.size()) of_timer.resize(key + std::size_t{1}, kNever);
  if (of_timer[key] == at) return;
  of_timer[key] = at;
  heap_.push_back({at, timer, key});
  std::push_heap(heap_.begin(), heap_.end(), Later);
  DropDead();
}

void TimerTable::Disarm(Timer timer, std::uint32_t key) {
  if (!IsArmed(timer, key)) return;
  armed_[static_cast<std::size_t>(timer)][key] = kNever;
  DropDead();
}

bool TimerTable::IsArmed(Timer timer, std::uint32_t key) const {
  return ArmedAt(timer, key) != kNever;
}

std::optional<TimerTable::Due> TimerTable::TakeDue(Instant now) {
  if (heap_.empty() || heap_.front().at > now) return std::nullopt;
  const Due due{heap_.front().timer, heap_.front().key};
  Disarm(due.timer, due.key);
  return due;
}

void TimerTable::PutOff(Instant now, Instant to) {
  std::vector<Due> put_off;
  while (const auto due = TakeDue(now)) put_off.push_back(*due);
  for (const Due& due : put_off) Arm(due.timer, due.key, to);
}

std::optional<Instant> TimerTable::next() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().at;
}

bool TimerTable::Later(const Entry& a, const Entry& b) {
  return std::tie(a.at, a.timer, a.key) > std::tie(b.at, b.timer, b.key);
}

Instant TimerTable::ArmedAt(Timer timer, std::uint32_t key) const {
  const std::vector<Instant>& of_timer = armed_[static_cast<std::size_t>(timer)];
  return key < of_timer.size() ? of_timer[key] : kNever;
}

void TimerTable::DropDead() {
  while (!heap_.empty() && ArmedAt(heap_.front().timer, heap_.front().key) != heap_.front().at) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }
}

}  // namespace tfyarn::am
