// Which of several processes is the one that hangs, and whether what is left of a collective can
// still save its work.
//
// Functions of what is stored and seen; they change nothing. What follows is Failover's business.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/am/decide/failure.h"
#include "core/model/agent.h"
#include "core/model/task_index.h"

namespace tfyarn::am {

/// The task's process hangs: an account to decide on, with what the policy says about it.
[[nodiscard]] Failure Hung(const AmCore& core, TaskIndex task, std::string detail);
/// "is stopped (state T)".
[[nodiscard]] const char* InWords(Standstill standstill);
/// The one that evidence accuses. Where the policy neither starts it again nor fails
/// the job for it: none.
[[nodiscard]] std::optional<Failure> FindAccused(const AmCore& core, const BlameWindow& window);
/// The only one that still runs, under the same condition. It was told to end and does not: under
/// parameter-server others run on in good health.
[[nodiscard]] std::optional<Failure> FindLastOne(const AmCore& core);
/// The only one that did not end before SIGKILL, although it had the time in which victims end;
/// under the same condition.
[[nodiscard]] std::optional<Failure> FindKilled(const AmCore& core, const BlameWindow& window);
/// The collective lacks a member that did not tell that it had saved: nothing can be saved in it.
[[nodiscard]] bool IsBroken(const AmCore& core, const Failure& failure);
[[nodiscard]] bool IsBroken(const AmCore& core, const std::vector<Failure>& failures);

}  // namespace tfyarn::am
