// What one task attempt's end means, from everything that was heard about it.
//
// Up to five sources speak about one end: our own orders, YARN's reasons for killing a container,
// the agent's report of its process, YARN's plain exit status, and silence. They disagree often (a
// process killed for its node's sake reports 137), so they are weighed by a fixed order. Not here:
// what to do about it (engine.h). The order is that of the predecessors' tables, see
// docs/policies.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/describe.h"
#include "core/model/exit.h"
#include "core/model/job_spec.h"

namespace tfyarn::policy {

/// Where the record of an end was taken from; the better source first.
enum class ExitSource {
  kOurOrder,  ///< We stopped the process or gave its container back.
  kPlatform,  ///< YARN names why it ended the container: preempted, node lost or bad, memory, logs.
  kAgent,     ///< The agent saw its process end, or could not start it.
  kDeadline,  ///< A deadline of ours ended it, and no report gave a reason.
  kYarnStatus,  ///< YARN's exit status alone.
  kSilence,     ///< Nothing was heard.
};
BOOST_DESCRIBE_ENUM(ExitSource, kOurOrder, kPlatform, kAgent, kDeadline, kYarnStatus, kSilence)

/// Everything heard about the end of one task attempt. At least one member is set.
struct ExitEvidence {
  std::optional<ProcessExit> process;     ///< From the right incarnation and attempt only.
  std::optional<std::int32_t> yarn_exit;  ///< ContainerStatus.exit_status.
  std::string
      diagnostics;  ///< ContainerStatus.diagnostics; tells a released -100 from a lost node.
  /// The stop or release was ordered for another reason than the end of this attempt (a peer's
  /// failure, the finish). Cleaning up after silence or after a deadline does not count.
  bool we_stopped = false;
  bool node_lost = false;  ///< The RM reported the node lost or unusable.
  bool marked = false;     ///< The RM announced to take its container, and we gave it back first.
  bool silent = false;     ///< Heartbeats stayed away too long.
  bool port_conflict = false;  ///< By the agent's report.
  std::string launch_error;    ///< By the agent or the NM; set when no process ever ran.
  bool timed_out = false;  ///< One of our deadlines (registration, start, progress) passed for it.
  bool am_lost = false;    ///< The agent ended because it found no AM that owns it.
  friend bool operator==(const ExitEvidence&, const ExitEvidence&) = default;
};
BOOST_DESCRIBE_STRUCT(ExitEvidence, (),
                      (process, yarn_exit, diagnostics, we_stopped, node_lost, marked, silent,
                       port_conflict, launch_error, timed_out, am_lost))

struct ExitRecord {
  ExitClass exit_class = ExitClass::kUnknown;
  std::optional<std::int32_t>
      exit;  ///< Process status (128 + signal) or YARN's code; nullopt when none is known.
  ExitSource source = ExitSource::kSilence;
  friend bool operator==(const ExitRecord&, const ExitRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(ExitRecord, (), (exit_class, exit, source))

/// Exit codes that mean "run me again": EX_TEMPFAIL, TFJob's 138, FrameworkLauncher's 154 and 193.
[[nodiscard]] const std::vector<std::int32_t>& DefaultRetryableCodes();

/// The class of a process status (0..255), with the given codes counted as user-retryable.
[[nodiscard]] ExitClass ClassOfStatus(std::int32_t status,
                                      const std::vector<std::int32_t>& retryable);

/// The one record of an end. Depends only on the evidence, not on the order in which it came.
[[nodiscard]] ExitRecord Classify(
    const ExitEvidence& evidence,
    const std::vector<std::int32_t>& retryable = DefaultRetryableCodes());

/// Whether a later account of the same end is a better one. Before anything is decided on it it is
/// the end; `decided` (tally, restart, verdict): only the attempt's record is corrected. A decided
/// ok is never amended: what befalls the container later is not the attempt's end.
[[nodiscard]] bool IsBetter(const ExitRecord& known, const ExitRecord& later, bool decided);

/// The budget that pays for a restart after an exit of this class, unless a rule says otherwise.
[[nodiscard]] Budget DefaultBudget(ExitClass exit_class);

/// True when a process may end so merely because a peer went away: the decision then waits for a
/// better cause (deadlines.blame). False for ok, our own stops, oom, timeout and what
/// infrastructure pays.
[[nodiscard]] bool PeerMayHaveCaused(ExitClass exit_class);

}  // namespace tfyarn::policy
