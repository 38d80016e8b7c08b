// What the policy says about an end, and who pays for the restart.
//
// Functions of what is stored and seen; they change nothing.
#pragma once

#include <string>

#include "core/am/am_core.h"
#include "core/model/task_index.h"
#include "core/policy/budgets.h"
#include "core/policy/decision.h"
#include "core/policy/diagnostics.h"

namespace tfyarn::am {

/// Of the decision and those that follow it the first that has a restart left for this end; the
/// last where none has.
[[nodiscard]] policy::Decision AskPolicy(const AmCore& core, const AttemptEnd& end);
/// The task, and how many it shares an allowance with.
[[nodiscard]] policy::Claimant ClaimantOf(const AmCore& core, TaskIndex task);
/// The decision's budget has a restart left for this end.
[[nodiscard]] bool MayPay(const AmCore& core, const policy::Decision& decision,
                          const AttemptEnd& end);
/// Where no restart is left the task is closed, and the job goes on.
[[nodiscard]] bool ClosesWhenSpent(const policy::Decision& decision);
[[nodiscard]] policy::Outcome OutcomeWhenSpent(const policy::Decision& decision);
/// For people: which limit allows no restart.
[[nodiscard]] std::string SpentText(const AmCore& core, const policy::Decision& decision,
                                    TaskIndex task);
[[nodiscard]] policy::Tried WhatWasTried(const policy::Decision& decision);

}  // namespace tfyarn::am
