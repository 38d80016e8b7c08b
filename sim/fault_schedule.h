// The fault plan in time: when it is due it is asked, and what it orders is carried out.
//
// It uses the kernel and the plan, which picks its targets by a view of the cluster. What a fault
// does is in fault_effects.h; here it only has its time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/am.h"
#include "core/model/time.h"
#include "core/trace/record.h"
#include "sim/fault_plan.h"
#include "sim/kernel.h"
#include "sim/run_setup.h"

namespace tfyarn::sim {

/// Carries out what the plan orders.
class FaultCarrier {
 public:
  virtual void Carry(const FaultOrder& order) = 0;

 protected:
  ~FaultCarrier() = default;
};

/// Which faults of the scenario have reached something of what they name, by their position there.
struct FaultMarks {
  explicit FaultMarks(std::size_t faults) : struck(faults) {}

  std::vector<bool> struck;
};

class FaultSchedule {
 public:
  /// All must outlive it.
  FaultSchedule(Kernel& kernel, const RunSetup& setup, const ClusterView& cluster);
  FaultSchedule(const FaultSchedule&) = delete;
  FaultSchedule& operator=(const FaultSchedule&) = delete;

  /// From now on faults strike. `carrier` must outlive it.
  void Start(FaultCarrier& carrier);
  /// The next record of the trace.
  void Observe(const trace::TraceRecord& record);
  /// A job has come into this state.
  void JobStateSeen(std::string_view job, JobState state);
  /// The seed is another one.
  void DrawAnew();

 private:
  void Schedule();

  Kernel& kernel_;
  const RunSetup& setup_;
  FaultPlan plan_;
  FaultCarrier* carrier_ = nullptr;  ///< Set by Start.
  Instant scheduled_ = kNever;       ///< The earliest look at the plan that is an event.
};

}  // namespace tfyarn::sim
