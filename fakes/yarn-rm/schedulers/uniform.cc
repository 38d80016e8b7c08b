// `uniform`: each free slot goes at once to a random one of the applications that can use it.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/model/probe.h"
#include "core/model/random_stream.h"
#include "fakes/yarn-rm/immediate_scheduler.h"
#include "fakes/yarn-rm/schedulers.h"

namespace tfyarn::fakes {
namespace {

class UniformScheduler final : public ImmediateScheduler {
 public:
  UniformScheduler(RmContext& rm, std::uint64_t seed)
      : ImmediateScheduler(rm), random_(seed, "yarn-scheduler") {}

 private:
  void Pass() override;

  RandomStream random_;
};

// Every application with an ask that fits is equally likely to get the next slot: one that was
// drawn in vain only loses the ask that does not fit, and the draw is repeated.
void UniformScheduler::Pass() {
  std::set<DemandOrder> unlucky;
  while (true) {
    std::map<std::uint64_t, std::pair<DemandOrder, Demand>>
        first_asks;  // by the application's sequence
    for (std::size_t p = 0; p < records_.partitions.size(); ++p) {
      for (const DemandClass* demand_class : demand_.ClassesIn(static_cast<std::int32_t>(p))) {
        for (const auto& [order, demand] : demand_class->all) {
          if (unlucky.count(order) > 0) continue;
          const auto [entry, is_new] = first_asks.try_emplace(order.sequence, order, demand);
          if (!is_new && order < entry->second.first) entry->second = {order, demand};
        }
      }
    }
    if (first_asks.empty()) return;
    auto drawn = first_asks.begin();
    std::advance(drawn, static_cast<std::ptrdiff_t>(random_.Below(first_asks.size())));
    const auto& [order, demand] = drawn->second;
    const Placement room = FindRoom(*demand.application, *demand.ask);
    if (room.node != nullptr) {
      GrantAt(demand, room);
    } else {
      TF_PROBE("yarn/drawn-in-vain");
      unlucky.insert(order);
    }
  }
}

}  // namespace

const SchedulerKind& UniformKind() {
  static constexpr SchedulerKind kKind{.name = "uniform",
                                       .text = "what is free goes to a random job that can use it.",
                                       .draws = true};
  return kKind;
}

std::unique_ptr<Scheduler> MakeUniform(RmContext& rm, std::uint64_t seed) {
  return std::make_unique<UniformScheduler>(rm, seed);
}

}  // namespace tfyarn::fakes
