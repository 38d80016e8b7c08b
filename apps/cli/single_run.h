// One run: what it takes to make a Result whole, for any command.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "apps/cli/progress.h"
#include "apps/cli/simulator.h"
#include "config/scenario.h"
#include "core/trace/result.h"

namespace tfyarn::cli {

struct SingleRun {
  std::uint64_t seed = 1;
  bool elide = true;
  bool reference = false;
  bool tasks = false;
  bool alone = true;  ///< Not one of many: expectations about many are judged on this one.
  std::optional<sim::Future> future;
  std::function<void(const trace::TraceRecord&)> sink;
  ProgressLine* progress = nullptr;
  const std::atomic<bool>* interrupt = nullptr;
};

/// Runs, adds wall time, memory and version, and judges.
[[nodiscard]] trace::Result RunOnce(const config::Scenario& scenario, const SingleRun& run,
                                    const Simulator& simulator);

}  // namespace tfyarn::cli
