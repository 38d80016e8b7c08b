// One run that ends in any case: it is cut when it goes round in circles, or takes too long.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "config/scenario.h"
#include "explore/document.h"
#include "explore/run_record.h"
#include "sim/run.h"

namespace tfyarn::explore {

/// How a scenario is run: sim::RunScenario, or a test's stand-in.
using Simulate = std::function<sim::RunOutcome(const config::Scenario&, const sim::RunOptions&)>;

struct Loaded {
  std::optional<config::Scenario> scenario;
  std::string error;  ///< Where there is none: the first diagnostic.
};
[[nodiscard]] Loaded Load(const Node& document);

struct Ran {
  RunRecord record;
  std::string circles;  ///< Why it was cut; "" = it was not, or only for its length.
  bool too_long = false;
  [[nodiscard]] bool whole() const { return circles.empty() && !too_long; }
};

struct Guard {
  Simulate simulate;
  const std::atomic<bool>* interrupt = nullptr;
  /// A run that takes more events is cut short; 0: one that is as long as a search waits for.
  std::uint64_t most_events = 0;
  /// Of a job that fails by itself, whose containers go with its ApplicationMaster, or whose own
  /// deadlines and rows end it for what goes wrong, other runs rightly differ: only their
  /// invariants count.
  bool wild = false;
};

/// `options`: without sink, progress and interrupt. The reference model judges too. With
/// RunOptions::tally the record is whole, without it has the result alone.
[[nodiscard]] Ran GuardedRun(const config::Scenario& scenario, sim::RunOptions options,
                             const Guard& guard);

}  // namespace tfyarn::explore
