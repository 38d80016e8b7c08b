#include "fakes/yarn-rm/node_ring.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::fakes {

NodeRing::NodeRing(Duration period, Duration jitter)
    : period_(period),
      width_((period + Duration(kSlots - 1)) / kSlots),
      jitter_(jitter),
      slots_(kSlots) {
  TF_CHECK(period > Duration::zero());
}

void NodeRing::Heard(std::int32_t node, Instant at, bool shifted) {
  Place& place = PlaceOf(node);
  const Duration phase = at.time_since_epoch() % period_;
  bool regular = true;
  if (place.known && !shifted) {
    const Duration apart = phase >= place.phase ? phase - place.phase : place.phase - phase;
    regular = std::min(apart, period_ - apart) <= jitter_;
  }
  TakeOut(node, place);
  place.known = true;
  place.phase = phase;
  place.placed = regular;
  if (!regular) {
    AddUnplaced(node);
    return;
  }
  place.slot = static_cast<std::int32_t>(phase / width_);
  slots_[static_cast<std::size_t>(place.slot)].push_back(node);
}

void NodeRing::Forget(std::int32_t node) {
  Place& place = PlaceOf(node);
  TakeOut(node, place);
  place = Place{};
  AddUnplaced(node);
}

bool NodeRing::IsPlaced(std::int32_t node) const {
  const auto index = static_cast<std::size_t>(node);
  return index < places_.size() && places_[index].placed;
}

bool NodeRing::IsWithin(std::int32_t node, std::int64_t first, std::int64_t last) const {
  const std::int64_t slot = places_.at(static_cast<std::size_t>(node)).slot;
  const std::int64_t ahead = ((slot - first) % kSlots + kSlots) % kSlots;
  return ahead <= last - first;
}

std::int64_t NodeRing::SlotAt(Instant at) const {
  const Duration since = at.time_since_epoch();
  const std::int64_t lap = since / period_;
  return lap * kSlots + (since % period_) / width_;
}

Instant NodeRing::BeginOf(std::int64_t slot) const {
  return Instant(period_ * (slot / kSlots) + width_ * (slot % kSlots));
}

const std::vector<std::int32_t>& NodeRing::NodesIn(std::int64_t slot) const {
  return slots_[static_cast<std::size_t>(slot % kSlots)];
}

NodeRing::Place& NodeRing::PlaceOf(std::int32_t node) {
  const auto index = static_cast<std::size_t>(node);
  if (index >= places_.size()) places_.resize(index + 1);
  return places_[index];
}

void NodeRing::TakeOut(std::int32_t node, Place& place) {
  if (place.placed) {
    auto& slot = slots_[static_cast<std::size_t>(place.slot)];
    slot.erase(std::find(slot.begin(), slot.end(), node));
    place.placed = false;
  } else {
    RemoveUnplaced(node);
  }
}

void NodeRing::AddUnplaced(std::int32_t node) {
  const auto at = std::lower_bound(unplaced_.begin(), unplaced_.end(), node);
  if (at == unplaced_.end() || *at != node) unplaced_.insert(at, node);
}

void NodeRing::RemoveUnplaced(std::int32_t node) {
  const auto at = std::lower_bound(unplaced_.begin(), unplaced_.end(), node);
  if (at != unplaced_.end() && *at == node) unplaced_.erase(at);
}

}  // namespace tfyarn::fakes
