// One scenario tried: run, judged, and compared with another run that must come to the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/scenario.h"
#include "explore/document.h"
#include "explore/guarded_run.h"
#include "explore/problem.h"
#include "explore/relation.h"

namespace tfyarn::explore {

/// False: `tfsim run` refuses it, as its failure policies cannot judge it.
using Accepts = std::function<bool(const config::Scenario&)>;

struct Laboratory {
  Simulate simulate;
  Accepts accepts;  ///< Empty: all that validates.
};

struct Experiment {
  Node document;
  /// With which other run the plain one is compared. Of a relation with many variants three
  /// are taken, by the scenario's seed.
  Relation relation = Relation::kNone;
  /// A run that takes more events is cut short; 0: one that is as long as a search waits for.
  std::uint64_t most_events = 0;
  bool wild = false;          ///< See Guard.
  bool put_together = false;  ///< From parts, which may not fit: that is no problem.
};

struct Trial {
  std::vector<Problem> problems;
  std::string digest;  ///< Of the plain run; "" where there was none.
  std::uint64_t records = 0;
  std::uint64_t events = 0;  ///< Of all its runs: what it cost.
  bool valid = true;         ///< The document is a scenario.
  bool cut_short = false;  ///< It was longer than a search can wait for; only invariants judge it.
  std::string skipped;     ///< Why the relation does not hold for it; "" = it does.
};

/// Never throws. A run that goes round in circles is cut, and that is its problem. A document that
/// is no scenario is a Trial with the diagnostics as its problem; one that is not accepted has
/// none. `coverage` gets what the plain run reaches.
[[nodiscard]] Trial Try(const Experiment& experiment, const Laboratory& laboratory,
                        const std::atomic<bool>* interrupt = nullptr,
                        sim::Coverage* coverage = nullptr);

/// The document as the simulator reads it; nullopt: it is no scenario.
[[nodiscard]] std::optional<config::Scenario> ScenarioOf(const Node& document);

}  // namespace tfyarn::explore
