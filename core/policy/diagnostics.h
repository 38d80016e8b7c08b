// What a user reads when the job has ended: the cause, the rule that decided, and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/am.h"
#include "core/model/exit.h"

namespace tfyarn::policy {

/// What the job's rules had done, or would have done, about a failure: advice leaves it out.
struct Tried {
  /// A restart was due, and this limit did not allow it: "retries.user"; "" = one that no user
  /// sets.
  std::optional<std::string> unpaid;
  std::int32_t restarts = 0;  ///< So many it allows; 0: the job gives it none.
  bool most_memory = false;   ///< The task has as much memory as a container may have.
};

/// One paragraph for a FAILED verdict: cause (task, node, exit, class, the last line of its
/// stderr), why, rule, advice.
[[nodiscard]] std::string FailureText(const VerdictReached& verdict, const std::string& why,
                                      const Tried& tried = {});
[[nodiscard]] std::string SuccessText(const std::string& rule, const std::string& why);
/// What a user can do about the cause; one sentence.
[[nodiscard]] std::string AdviceFor(const Cause& cause, const Tried& tried);
/// "worker:1 on node-3 ended with 1 (user-permanent)".
[[nodiscard]] std::string CauseText(const Cause& cause);
/// What FailureText says beside cause and rule, for those who show these on their own: why and
/// advice. Another text is given back as it is, or "" where it is the cause's detail.
[[nodiscard]] std::string WhyAlone(const std::string& diagnostics,
                                   const std::optional<Cause>& cause, const std::string& rule);

}  // namespace tfyarn::policy
