// What is explored: a job, which faults may strike it, and how far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/describe.h"
#include "core/model/job_spec.h"
#include "core/model/time.h"

namespace tfyarn::exhaustive {

/// One thing that goes wrong. Each strikes at any moment at which its target is there.
enum class Fault : std::uint8_t {
  kExit1,                ///< A process ends with 1.
  kExit0,                ///< A process ends with 0 before its work is done.
  kKilled,               ///< A process is killed by SIGKILL, not by us.
  kContainerLost,        ///< A container is gone, and the RM says so: -100.
  kPreempted,            ///< The RM takes a container without notice: -102.
  kPreemptedWithNotice,  ///< It says so first, and takes it 15 s later: -102.
  kAgentKilled,          ///< An agent is killed, and its container ends with 137.
  kNodeLost,             ///< A node is gone with all that it runs; the RM notices later.
  kAmKilled,             ///< The AM's process is gone; another attempt starts a second later.
  kAppendFails,          ///< An append is not stored, and the AM is told so.
  kAppendUnanswered,     ///< It is stored, and the AM is told that it is not.
  kMessageLost,          ///< Of a call to the RM or a NM: its answer.
  kMessageRepeated,
};
BOOST_DESCRIBE_ENUM(Fault, kExit1, kExit0, kKilled, kContainerLost, kPreempted,
                    kPreemptedWithNotice, kAgentKilled, kNodeLost, kAmKilled, kAppendFails,
                    kAppendUnanswered, kMessageLost, kMessageRepeated)
inline constexpr std::size_t kFaults = 13;

/// A set of kinds of faults.
struct FaultSet {
  std::uint32_t bits = 0;
  [[nodiscard]] bool Has(Fault fault) const {
    return (bits >> static_cast<unsigned>(fault) & 1U) != 0;
  }
  void Add(Fault fault) { bits |= 1U << static_cast<unsigned>(fault); }
  [[nodiscard]] static FaultSet All() { return {(1U << kFaults) - 1}; }
};
/// "exit1,am-killed", as the command line takes it; "all".
[[nodiscard]] std::string TextOf(FaultSet set);
/// nullopt: there is no such kind.
[[nodiscard]] std::optional<FaultSet> FaultSetFrom(std::string_view text);

struct Scope {
  std::string name;  ///< "default/multi-worker/worker-2", as the command line takes it.
  std::shared_ptr<const JobSpec> job;
  std::int32_t faults = 0;  ///< At most so many on one path.
  FaultSet kinds;
  /// A message, an answer or an append may take so long: time passes it by. Zero: it comes before
  /// time goes on.
  Duration latency{};
  /// Once the verdict is announced, moves are taken in one order only.
  bool drain_in_order = false;

  [[nodiscard]] bool LosesMail() const {
    return faults > 0 && (kinds.Has(Fault::kMessageLost) || kinds.Has(Fault::kMessageRepeated));
  }
  /// Whether it matters that an entry is stored and the AM does not know it yet.
  [[nodiscard]] bool StopsAppends() const {
    return kinds.Has(Fault::kAmKilled) || kinds.Has(Fault::kAppendFails) ||
           kinds.Has(Fault::kAppendUnanswered);
  }
};

/// The jobs that are explored, by name. Small times and budgets, so that they are used up.
[[nodiscard]] std::vector<std::string> JobNames();
/// nullptr: there is none of that name.
[[nodiscard]] std::shared_ptr<const JobSpec> JobNamed(std::string_view name);

/// How long a process works before it ends with 0, alone or since all that train together do.
inline constexpr Duration kWork = 100s;
/// Between two calls of an AM to the RM.
inline constexpr Duration kBeat = 1s;
/// From then on everything is quiet, and longer ago than `deadlines.blame`.
inline constexpr Duration kQuietAfter = 40s;
/// A process that cannot go on without a peer ends with 1 at once, or so much later.
inline constexpr Duration kVictimEnds = 10s;
/// From the RM's notice to the end of a container that it takes back.
inline constexpr Duration kNotice = 15s;
/// From a node's end until the RM gives it up.
inline constexpr Duration kNodeExpiry = 60s;
/// From an AM's end until the next attempt starts.
inline constexpr Duration kAmRestart = 1s;

}  // namespace tfyarn::exhaustive
