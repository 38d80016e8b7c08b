#include "sim/fault_schedule.h"

#include <algorithm>
#include <map>
#include <optional>

#include "config/traces.h"

namespace tfyarn::sim {
namespace {

/// The outages of every fault of kind `trace`, as the plan wants them.
std::map<std::uint32_t, std::vector<FaultPlan::Outage>> OutagesOf(
    const std::vector<config::FaultSpec>& faults) {
  std::map<std::uint32_t, std::vector<FaultPlan::Outage>> outages;
  for (std::uint32_t i = 0; i < faults.size(); ++i) {
    if (faults[i].outages == nullptr) continue;
    for (const config::NodeOutage& row : *faults[i].outages) {
      outages[i].push_back(
          {.source = row.node, .from = Instant{} + row.start, .to = Instant{} + row.end});
    }
  }
  return outages;
}

}  // namespace

FaultSchedule::FaultSchedule(Kernel& kernel, const RunSetup& setup, const ClusterView& cluster)
    : kernel_(kernel),
      setup_(setup),
      plan_(setup.scenario.faults, cluster, setup.seed, OutagesOf(setup.scenario.faults)) {}

void FaultSchedule::Start(FaultCarrier& carrier) {
  carrier_ = &carrier;
  Schedule();
}

void FaultSchedule::Observe(const trace::TraceRecord& record) {
  if (plan_.Observe(record)) Schedule();
}

void FaultSchedule::JobStateSeen(std::string_view job, JobState state) {
  if (!plan_.Watches(job)) return;
  plan_.OnJobState(kernel_.now(), job, state);
  Schedule();
}

void FaultSchedule::DrawAnew() {
  plan_.DrawAnew(setup_.seed, kernel_.now());
  Schedule();
}

void FaultSchedule::Schedule() {
  const std::optional<Instant> due = plan_.next_deadline();
  if (!due || scheduled_ <= *due || *due > setup_.horizon) return;
  scheduled_ = std::max(*due, kernel_.now());
  kernel_.At(scheduled_, [this, at = scheduled_] {
    if (scheduled_ != at) return;
    scheduled_ = kNever;
    for (const FaultOrder& order : plan_.Fire(kernel_.now())) carrier_->Carry(order);
    Schedule();
  });
}

}  // namespace tfyarn::sim
