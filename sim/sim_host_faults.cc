// SimHost and faults: they are told and carried out as the plan orders. When and whom they strike
// is the plan's (fault_plan.h); what users may write is config/fault_kinds.h; what each kind does
// is in sim/faults.
#include "sim/coverage.h"
#include "sim/faults/effects.h"

namespace tfyarn::sim {

void SimHost::Carry(const FaultOrder& order) {
  NoteReach(order);
  CarryOut(order);
  NoteReachOfDormant();
}

/// RunOptions::coverage hears of it.
void SimHost::Cover(const FaultOrder& order) {
  const std::uint64_t instance = (std::uint64_t{order.fault} << 32) | order.instance;
  if (!order.begins) return setup_.options.coverage->FaultEnds(instance);
  if (StrikesNobody(order)) return;
  std::vector<std::optional<Coverage::MetAm>> met;
  const auto meet = [&](const JobRecord& job) {
    if (job.am == nullptr) return met.push_back(std::nullopt);
    met.push_back(Coverage::MetAm{.state = job.am->state, .attempt = job.am->attempt.attempt});
  };
  for (const Struck& struck : order.struck) {
    if (const JobRecord* job = cluster_.JobNamed(struck.job)) meet(*job);
  }
  if (met.empty()) {
    for (const auto& [index, job] : cluster_.jobs) meet(*job);
  }
  setup_.options.coverage->FaultStrikes(kernel_.now(), order.kind->name, instance, order.lasts,
                                        met);
}

void SimHost::CarryOut(const FaultOrder& order) {
  if (setup_.options.coverage != nullptr) Cover(order);
  if (order.begins) {
    trace_.Tell(trace::FaultBegan{.fault = order.fault,
                                  .instance = order.instance,
                                  .kind = order.kind->name,
                                  .target = DescribeStruck(order, plan_view_)});
  } else {
    trace_.Tell(trace::FaultEnded{.fault = order.fault, .instance = order.instance});
  }
  switch (order.kind->id) {
#define TF_STRIKES(Name) \
  case FaultId::k##Name: \
    return Strike<FaultId::k##Name>(order);
    TF_FAULTS_THAT_STRIKE(TF_STRIKES)
#undef TF_STRIKES
    case FaultId::kTrace:
      return;  // Its outages come as node_crash.
  }
}

}  // namespace tfyarn::sim
