#include "fakes/yarn-rm/asks.h"

#include <tuple>

#include "core/model/check.h"

namespace tfyarn::fakes {
namespace {

Resource SignedTimes(const Resource& r, std::int64_t times) {
  if (times >= 0) return Times(r, times);
  return Resource{} - Times(r, -times);
}

AskRow OneOf(AskRow row) {
  row.count = 1;
  return row;
}

void LowerPlace(AskEntry& entry, std::int32_t place, AskUpdate& taken) {
  const auto row = entry.places.find(place);
  if (row == entry.places.end()) return;
  taken.rows.emplace(place, OneOf(row->second));
  if (--row->second.count == 0) entry.places.erase(row);
}

}  // namespace

std::int32_t NameNumbers::Of(const std::string& name) {
  const auto next = static_cast<std::int32_t>(numbers_.size());
  return numbers_.try_emplace(name, next).first->second;
}

bool ShapeNumbers::Less::operator()(const Resource& a, const Resource& b) const {
  return std::tie(a.memory_mb, a.vcores, a.gpus, a.others) <
         std::tie(b.memory_mb, b.vcores, b.gpus, b.others);
}

std::int32_t ShapeNumbers::Of(const Resource& shape) {
  const auto next = static_cast<std::int32_t>(shapes_.size());
  const auto [entry, is_new] = numbers_.try_emplace(shape, next);
  if (is_new) shapes_.push_back(shape);
  return entry->second;
}

std::vector<PendingChange> UpdateAsk(AskTable& table, const AskKey& key, const AskUpdate& update,
                                     ShapeNumbers& shapes) {
  std::vector<PendingChange> changes;
  AskEntry& entry = table.try_emplace(key).first->second;
  entry.key = key;
  std::int64_t count_before = 0;
  std::int64_t count_now = 0;
  bool any_updated = false;
  for (const auto& [place, row] : update.rows) {
    if (place != kAnywhere) {
      entry.places.insert_or_assign(place, row);
      continue;
    }
    any_updated = true;
    count_now = row.count;
    if (entry.any) {
      count_before = entry.any->count;
      changes.push_back({entry.partition, SignedTimes(entry.any->capability, -count_before)});
    }
    changes.push_back({update.partition, SignedTimes(row.capability, count_now)});
    entry.any = row;
    entry.partition = update.partition;
    entry.shape = shapes.Of(row.capability);
  }
  if (any_updated && count_now <= 0 && count_before >= 0) table.erase(key);
  return changes;
}

AskUpdate LowerAsk(AskEntry& entry, Locality locality, std::int32_t host, std::int32_t rack) {
  TF_CHECK(entry.wanted() > 0);
  AskUpdate taken{.rows = {{kAnywhere, OneOf(*entry.any)}}, .partition = entry.partition};
  switch (locality) {
    case Locality::kNodeLocal:
      LowerPlace(entry, host, taken);
      LowerPlace(entry, rack, taken);
      entry.missed = 0;
      break;
    case Locality::kRackLocal:
      LowerPlace(entry, rack, taken);
      entry.missed = 0;
      break;
    case Locality::kOffSwitch:
      break;
  }
  if (--entry.any->count == 0) entry.any.reset();
  return taken;
}

void RaiseAsk(AskTable& table, const AskKey& key, const AskUpdate& taken, ShapeNumbers& shapes) {
  AskEntry& entry = table.try_emplace(key).first->second;
  entry.key = key;
  for (const auto& [place, row] : taken.rows) {
    if (place != kAnywhere) {
      const auto [known, is_new] = entry.places.try_emplace(place, row);
      if (!is_new) ++known->second.count;
    } else if (entry.any) {
      ++entry.any->count;
    } else {
      entry.any = row;
      entry.partition = taken.partition;
      entry.shape = shapes.Of(row.capability);
    }
  }
}

}  // namespace tfyarn::fakes
