#include "fakes/yarn-rm/demand_index.h"

#include <algorithm>

#include "core/model/check.h"

namespace tfyarn::fakes {

DemandClass& DemandIndex::Add(std::int32_t partition, std::int32_t shape, std::int32_t user,
                              const DemandOrder& order, const Demand& demand) {
  auto& slot = classes_[{partition, shape, user}];
  if (slot == nullptr) {
    slot = std::make_unique<DemandClass>();
    slot->partition = partition;
    slot->shape = shape;
    slot->user = user;
  }
  if (slot->all.empty()) At(partition).classes.push_back(slot.get());
  TF_CHECK(slot->all.emplace(order, demand).second);
  return *slot;
}

void DemandIndex::Remove(DemandClass& demand_class, const DemandOrder& order) {
  TF_CHECK(demand_class.all.erase(order) == 1);
  demand_class.reservable.erase(order);
  if (!demand_class.all.empty()) return;
  auto& classes = At(demand_class.partition).classes;
  const auto at = std::find(classes.begin(), classes.end(), &demand_class);
  TF_CHECK(at != classes.end());
  *at = classes.back();
  classes.pop_back();
}

void DemandIndex::AddLocated(std::int32_t partition, const DemandOrder& order,
                             RmApplication& application) {
  At(partition).located.emplace(order, &application);
}

void DemandIndex::RemoveLocated(std::int32_t partition, const DemandOrder& order) {
  At(partition).located.erase(order);
}

const std::vector<DemandClass*>& DemandIndex::ClassesIn(std::int32_t partition) const {
  static const std::vector<DemandClass*> kNone;
  const auto index = static_cast<std::size_t>(partition);
  return index < partitions_.size() ? partitions_[index].classes : kNone;
}

const std::map<DemandOrder, RmApplication*>& DemandIndex::LocatedIn(std::int32_t partition) const {
  static const std::map<DemandOrder, RmApplication*> kNone;
  const auto index = static_cast<std::size_t>(partition);
  return index < partitions_.size() ? partitions_[index].located : kNone;
}

DemandIndex::Partition& DemandIndex::At(std::int32_t partition) {
  const auto index = static_cast<std::size_t>(partition);
  if (index >= partitions_.size()) partitions_.resize(index + 1);
  return partitions_[index];
}

}  // namespace tfyarn::fakes
