// What the policy is asked and what it answers: an end of a process, the decision on it, the
// verdict on the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/am.h"
#include "core/model/exit.h"
#include "core/model/ids.h"
#include "core/model/job_spec.h"
#include "core/model/probe.h"
#include "core/model/time.h"

namespace tfyarn::policy {

/// One exit that asks for a decision. Ends of attempts that were stopped as part of a restart need
/// none, nor does any end once the job's verdict is decided.
struct ExitView {
  TaskId task;
  ExitClass exit_class = ExitClass::kUnknown;
  std::optional<std::int32_t> exit;
  bool ever_registered = true;  ///< An agent of this task has registered in this epoch or before.
  bool stalled =
      false;  ///< Ended by us for want of progress: `watch.do` decides, after the on_exit rows.
  /// By its last error it ended because it could not reach a peer: infrastructure pays what the
  /// user would.
  bool peer_unreachable = false;
};

/// Whether processes start again: the actions that need a budget.
[[nodiscard]] bool IsRestart(ExitAction action);

/// Which restarts an allowance counts.
enum class Counted {
  kPaid,         ///< All that the budget has paid.
  kPaidForTask,  ///< What the budget has paid for ends of this task.
  kPaidForType,  ///< What the budget has paid for ends of tasks of this type.
  kOfTask,       ///< Restarts of this task, also those for another task's end.
  /// Restarts of this task for its own ends, in the container that it has now, however long ago.
  kInContainer
};

/// How many restarts are allowed before the decision's `when_spent` takes their place.
struct Allowance {
  std::optional<std::int32_t> restarts;  ///< nullopt = no limit.
  std::optional<Duration> window;  ///< Only restarts in the last `window` count; nullopt = all.
  Counted counted = Counted::kPaid;
  friend bool operator==(const Allowance&, const Allowance&) = default;
};

struct Decision {
  ExitAction action = ExitAction::kTally;
  Budget pays = Budget::kNone;  ///< With a restart or raise.
  Allowance allowance;          ///< With a restart or raise: made while it has room.
  ExitAction when_spent =
      ExitAction::kFail;  ///< Instead of `action` when the allowance is used up.
  /// In place of `when_spent`: the decision of the row that comes next. One at most.
  std::vector<Decision> next;
  bool other_container = false;             ///< With a restart: the task leaves its container.
  std::int32_t raise_factor_percent = 150;  ///< With kRaiseMemory.
  std::int64_t raise_max_memory_mb = 0;     ///< With kRaiseMemory; 0 = the largest container.
  bool session = false;    ///< kRestartGang of a policy that tries whole sessions again: all that
                           ///< trains starts again, and what was counted as failed beside it.
  std::string rule;        ///< "default/restart-gang", "on_exit/0".
  std::string spent_rule;  ///< "default/user-permanent-exhausted"; for when_spent.
  /// What a user raises to allow more restarts: "retries.user", "max_retry_count"; "" = nothing.
  std::string limited_by;
  std::string why;             ///< The row's reason, for people.
  ProbeSite* probe = nullptr;  ///< Of what decided; the caller that obeys it passes it.
};

/// A whole-gang restart in place of a FAILED verdict (TonY's session retry).
struct GangRetry {
  Budget pays = Budget::kUser;
  Allowance allowance;
};

struct Verdict {
  JobStatus status = JobStatus::kUnfinished;  ///< kSucceeded or kFailed.
  std::string rule;                           ///< "default/success".
  std::string why;
  std::optional<GangRetry>
      retry;  ///< With kFailed: restart the gang instead while the allowance lasts.
  ProbeSite* probe = nullptr;  ///< Of what decided; the caller that obeys it passes it. Null: none.
};

}  // namespace tfyarn::policy
