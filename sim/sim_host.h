// SimHost: one run of a simulation, from the first event to the verdict. It builds the world, lets
// jobs, faults and other futures come, and runs the kernel's events.
//
// The world around the machines, which turns their actions into messages, processes and files, and
// those into events, is world.h. Neither decides anything that a machine decides. One run, one
// thread, one object.
#pragma once

#include <cstdint>

#include "config/scenario.h"
#include "core/trace/record.h"
#include "sim/fault_effects.h"
#include "sim/run.h"
#include "sim/world.h"

namespace tfyarn::sim {

class SimHost {
 public:
  /// `scenario` must outlive it.
  SimHost(const config::Scenario& scenario, const RunOptions& options)
      : world_(scenario, options), fault_effects_(world_) {}
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  /// Once.
  [[nodiscard]] RunOutcome Run();

 private:
  void Start();
  void PlanFutures();
  /// Another future begins (RunOptions::future).
  void DrawAnew(std::uint64_t seed);
  /// Until nothing is left to happen, or something stops the run.
  [[nodiscard]] trace::StopReason RunEvents();
  void RunNext();
  void ReportProgress() const;
  [[nodiscard]] RunOutcome Finish(trace::StopReason reason);

  World world_;
  FaultEffects fault_effects_;
};

}  // namespace tfyarn::sim
