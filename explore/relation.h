// Relations between two runs that must come to the same, whatever the right outcome is.
//
// A relation changes a scenario, or the way in which it is run, in a way that must make no
// difference; each says for which scenarios that holds. Many have one variant; amnesia has one for
// each journal entry, a failed effect one for each action and way in which it goes wrong. Not here:
// running them (trial.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/scenario.h"
#include "core/model/describe.h"
#include "core/trace/result.h"
#include "explore/document.h"
#include "explore/run_record.h"
#include "sim/run.h"

namespace tfyarn::explore {

enum class Relation {
  kNone,
  kEveryHeartbeat,   ///< Idle heartbeats carried, not skipped: same digest.
  kKeyOrder,         ///< Keys of the file's maps in another order: same digest.
  kUnusedNode,       ///< A node that no job can use, which crashes: same outcome of every job.
  kRepeatedMessage,  ///< One message arrives twice: same outcome of every job.
  kShiftedPorts,     ///< Other ports are free on all nodes: same outcome of every job.
  kNodeOrder,        ///< The kinds of nodes in another order: same outcome where the same befell.
  kOtherSeed,        ///< Another seed where the file draws nothing: same outcome of every job.
  kLater,            ///< All that has a time comes an hour later: same outcome of every job.
  kAmnesia,          ///< An ApplicationMaster is killed at an append to its journal: same outcome.
  kFailedEffect,     ///< One effect of a machine fails or is lost: who succeeded succeeds.
};
BOOST_DESCRIBE_ENUM(Relation, kNone, kEveryHeartbeat, kKeyOrder, kUnusedNode, kRepeatedMessage,
                    kShiftedPorts, kNodeOrder, kOtherSeed, kLater, kAmnesia, kFailedEffect)

/// An AM may die by it: beside other faults, or under a job's own deadlines, that rightly comes to
/// something else.
[[nodiscard]] constexpr bool MayKillAnAm(Relation relation) {
  return relation == Relation::kAmnesia || relation == Relation::kFailedEffect;
}

/// What the second run must have in common with the first.
enum class Sameness {
  kDigest,        ///< Every record.
  kOutcome,       ///< Of each job: status, number of restarts, epochs.
  kAtOtherTimes,  ///< The same, where nodes beat at other instants.
  kUnderAnOldRm,  ///< The same, where the ResourceManager has run for long.
  kAfterBlows,    ///< Of each job that the same befell: status, number of restarts.
  kTally,         ///< Of each job: status, restarts by who paid, processes started, epochs.
  kSuccess,       ///< A job that succeeded does so.
};

/// One other way to run a scenario.
struct Variant {
  std::string name;  ///< "" where the relation has one only.
  Node document;
  sim::RunOptions options;  ///< Seed, and what is not in the document.
  Sameness same = Sameness::kOutcome;
  std::string job;  ///< Of this one alone; "": of all.
};

/// Why the relation does not hold for this scenario: one sentence.
struct Skipped {
  std::string why;
};

/// The ways in which `relation` runs the scenario, of which `plain` is the run.
[[nodiscard]] std::variant<std::vector<Variant>, Skipped> VariantsOf(Relation relation,
                                                                     const Node& document,
                                                                     const RunRecord& plain);

/// The document that the plain run of the relation has: for most the scenario itself.
[[nodiscard]] Node PlainOf(Relation relation, Node document);

/// The first difference between the two that must not be; "" when there is none.
[[nodiscard]] std::string DifferenceOf(const Variant& variant, const RunRecord& plain,
                                       const RunRecord& other);

}  // namespace tfyarn::explore
