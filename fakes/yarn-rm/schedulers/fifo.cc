// `fifo`: each free slot goes at once to the first submitted application that can use it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "core/model/probe.h"
#include "fakes/yarn-rm/immediate_scheduler.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::fakes {
namespace {

class FifoScheduler final : public ImmediateScheduler {
 public:
  using ImmediateScheduler::ImmediateScheduler;

 private:
  void Pass() override;
};

// Classes whose containers fit nowhere are left out for the rest of the pass, so that a long queue
// of equal asks costs one look.
void FifoScheduler::Pass() {
  std::set<const DemandClass*> full;
  std::set<DemandOrder> unlucky;
  while (true) {
    const DemandClass* chosen_class = nullptr;
    DemandOrder chosen_order;
    Demand chosen;
    for (std::size_t p = 0; p < records_.partitions.size(); ++p) {
      for (const DemandClass* demand_class : demand_.ClassesIn(static_cast<std::int32_t>(p))) {
        if (full.count(demand_class) > 0) continue;
        for (const auto& [order, demand] : demand_class->all) {
          if (chosen_class != nullptr && chosen_order < order) break;
          if (!unlucky.empty() && unlucky.count(order) > 0) continue;
          chosen_class = demand_class;
          chosen_order = order;
          chosen = demand;
          break;
        }
      }
    }
    if (chosen_class == nullptr) return;
    const Placement room = FindRoom(*chosen.application, *chosen.ask);
    if (room.node != nullptr) {
      GrantAt(chosen, room);
    } else if (chosen.ask->places.empty() && chosen.ask->any->relax &&
               chosen.application->blacklist.empty()) {
      TF_PROBE("yarn/no-room-for-a-shape");
      full.insert(chosen_class);
    } else {
      TF_PROBE("yarn/no-room-at-a-place");
      unlucky.insert(chosen_order);
    }
  }
}

}  // namespace

const SchedulerKind& FifoKind() {
  static constexpr SchedulerKind kKind{
      .name = "fifo", .text = "what is free goes to the first submitted job that can use it."};
  return kKind;
}

std::unique_ptr<Scheduler> MakeFifo(RmContext& rm, std::uint64_t) {
  return std::make_unique<FifoScheduler>(rm);
}

}  // namespace tfyarn::fakes
