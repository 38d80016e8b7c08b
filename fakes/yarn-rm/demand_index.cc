#include "fakes/yarn-rm/demand_index.h"

#include <algorithm>

#include "core/model/check.h"
#include "fakes/yarn-rm/rm_records.h"

namespace tfyarn::fakes {

namespace {

DemandOrder OrderOf(const RmApplication& application, const AskEntry& ask) {
  return {.rank = application.rank, .sequence = application.sequence, .key = ask.key};
}

bool IsReservable(const AskEntry& ask) {
  return static_cast<std::int64_t>(ask.reserved.size()) < ask.wanted();
}

}  // namespace

void DemandIndex::Add(RmApplication& application, AskEntry& ask) {
  auto& slot = classes_[{ask.partition, ask.shape, application.user_number}];
  if (slot == nullptr) {
    slot = std::make_unique<DemandClass>();
    slot->partition = ask.partition;
    slot->shape = ask.shape;
    slot->user = application.user_number;
  }
  if (slot->all.empty()) At(ask.partition).classes.push_back(slot.get());
  const DemandOrder order = OrderOf(application, ask);
  const Demand demand{.application = &application, .ask = &ask};
  TF_CHECK(slot->all.emplace(order, demand).second);
  if (IsReservable(ask)) slot->reservable.emplace(order, demand);
  application.memberships.push_back({.demand_class = slot.get(), .order = order});
}

void DemandIndex::AddLocated(RmApplication& application, const AskEntry& ask) {
  const DemandOrder order = OrderOf(application, ask);
  At(ask.partition).located.emplace(order, &application);
  application.located.emplace_back(ask.partition, order);
}

void DemandIndex::Remove(RmApplication& application) {
  for (const DemandMembership& member : application.memberships)
    Remove(*member.demand_class, member.order);
  for (const auto& [partition, order] : application.located) At(partition).located.erase(order);
  application.memberships.clear();
  application.located.clear();
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

void DemandIndex::RefreshReservable(RmApplication& application, const AskEntry& ask) {
  for (const DemandMembership& member : application.memberships) {
    if (member.order.key != ask.key) continue;
    const auto known = member.demand_class->all.find(member.order);
    TF_CHECK(known != member.demand_class->all.end());
    if (IsReservable(ask)) {
      member.demand_class->reservable.emplace(member.order, known->second);
    } else {
      member.demand_class->reservable.erase(member.order);
    }
  }
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
