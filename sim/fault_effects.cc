#include "sim/fault_effects.h"

#include "sim/coverage.h"
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void FaultEffects::Carry(const FaultOrder& order) {
  reach_.Note(order);
  if (world_.setup.options.coverage != nullptr) Cover(order);
  Tell(order);
  switch (order.kind->id) {
#define TF_STRIKES(Name)                     \
  case FaultId::k##Name:                     \
    Strike<FaultId::k##Name>(world_, order); \
    break;
    TF_FAULTS_THAT_STRIKE(TF_STRIKES)
#undef TF_STRIKES
    case FaultId::kTrace:
      break;  // Its outages come as node_crash.
  }
  reach_.NoteDormant();
}

void FaultEffects::Cover(const FaultOrder& order) const {
  const std::uint64_t instance = (std::uint64_t{order.fault} << 32) | order.instance;
  if (!order.begins) return world_.setup.options.coverage->FaultEnds(instance);
  if (StrikesNobody(order)) return;
  std::vector<std::optional<Coverage::MetAm>> met;
  const auto meet = [&](const JobRecord& job) {
    if (job.am == nullptr) return met.push_back(std::nullopt);
    met.push_back(Coverage::MetAm{.state = job.am->state, .attempt = job.am->attempt.attempt});
  };
  for (const Struck& struck : order.struck) {
    if (const JobRecord* job = world_.cluster.JobNamed(struck.job)) meet(*job);
  }
  if (met.empty()) {
    for (const auto& [index, job] : world_.cluster.jobs) meet(*job);
  }
  world_.setup.options.coverage->FaultStrikes(world_.kernel.now(), order.kind->name, instance,
                                              order.lasts, met);
}

void FaultEffects::Tell(const FaultOrder& order) {
  if (order.begins) {
    world_.trace.Tell(trace::FaultBegan{.fault = order.fault,
                                        .instance = order.instance,
                                        .kind = order.kind->name,
                                        .target = DescribeStruck(order, world_.plan_view)});
  } else {
    world_.trace.Tell(trace::FaultEnded{.fault = order.fault, .instance = order.instance});
  }
}

}  // namespace tfyarn::sim
