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
#include "core/model/describe.h"
#include "core/model/time.h"
#include "core/trace/result.h"
#include "explore/document.h"
#include "sim/run.h"

namespace tfyarn::explore {

/// How a scenario is run: sim::RunScenario, or a test's stand-in.
using Simulate = std::function<sim::RunOutcome(const config::Scenario&, const sim::RunOptions&)>;

/// False: `tfsim run` refuses it, as its failure policies cannot judge it.
using Accepts = std::function<bool(const config::Scenario&)>;

struct Laboratory {
  Simulate simulate;
  Accepts accepts;  ///< Empty: all that validates.
};

/// Which second run the search compares with the plain one. Both must come to the same, whatever
/// the right outcome is.
enum class Relation {
  kNone,
  kEveryHeartbeat,  ///< Idle heartbeats carried, not skipped: same digest.
  kKeyOrder,        ///< Keys of the file's maps in another order: same digest.
  kUnusedNode,      ///< A node that no job can use, which crashes: same outcome of every job.
  kRepeatedMessage  ///< One message arrives twice: same outcome of every job.
};
BOOST_DESCRIBE_ENUM(Relation, kNone, kEveryHeartbeat, kKeyOrder, kUnusedNode, kRepeatedMessage)

struct Experiment {
  Node document;
  Relation relation = Relation::kNone;
  /// A run that takes more events is cut short; 0: one that is as long as a search waits for.
  std::uint64_t most_events = 0;
  bool put_together = false;  ///< From parts, which may not fit: that is no problem.
};

/// Something that is wrong.
struct Problem {
  /// Of two with one key the second is the first again: the sentence without numbers and names.
  std::string key;
  std::string sentence;  ///< One line: what broke, which id, what was expected.
  std::optional<Instant> at;
  bool expectation = false;  ///< Of the scenario, not an invariant.
  friend bool operator==(const Problem&, const Problem&) = default;
};

struct Trial {
  std::vector<Problem> problems;
  std::uint64_t records = 0;
  std::uint64_t events = 0;  ///< Of all its runs: what it cost.
  bool valid = true;         ///< The document is a scenario.
  bool cut_short = false;  ///< It was longer than a search can wait for; only invariants judge it.
};

/// Never throws. A run that goes round in circles is cut, and that is its problem. A document that
/// is no scenario is a Trial with the diagnostics as its problem; one that is not accepted has
/// none. `coverage` gets what the plain run reaches.
[[nodiscard]] Trial Try(const Experiment& experiment, const Laboratory& laboratory,
                        const std::atomic<bool>* interrupt = nullptr,
                        sim::Coverage* coverage = nullptr);

/// The document as the simulator reads it; nullopt: it is no scenario.
[[nodiscard]] std::optional<config::Scenario> ScenarioOf(const Node& document);

/// What is wrong with one run by itself: invariants, expectations.
[[nodiscard]] std::vector<Problem> ProblemsOf(const trace::Result& result);

/// A sentence without what differs from one occurrence to the next: numbers, ids, names of hosts.
[[nodiscard]] std::string Anonymous(std::string_view sentence);

}  // namespace tfyarn::explore
