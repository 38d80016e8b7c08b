#include "core/am/decide/payment.h"

#include <fmt/format.h>

#include <utility>

#include "core/am/decide/blame.h"
#include "core/model/check.h"
#include "core/model/probe.h"
#include "core/model/text.h"

namespace tfyarn::am {
namespace {

policy::Decision FirstThatMayPay(const AmCore& core, policy::Decision decision,
                                 const AttemptEnd& end) {
  while (!decision.next.empty() && !MayPay(core, decision, end)) {
    TF_PROBE("failover/spent-and-the-next-row-decides");
    policy::Decision next = std::move(decision.next.front());
    decision = std::move(next);
  }
  return decision;
}

}  // namespace

policy::Decision AskPolicy(const AmCore& core, const AttemptEnd& end) {
  TF_CHECK(core.policy.has_value());
  const TaskRecord& record = core.tasks.record(end.task);
  policy::Decision decision = core.policy->OnExit(
      {.task = core.tasks.id(end.task),
       .exit_class = end.record.exit_class,
       .exit = end.record.exit,
       .ever_registered = record.ever_registered,
       .stalled = record.stalled && end.record.exit_class == ExitClass::kTimeout,
       .peer_unreachable = UnreachedBy(core, end).has_value()},
      core.tasks);
  decision = FirstThatMayPay(core, std::move(decision), end);
  decision.probe->Pass();
  return decision;
}

policy::Claimant ClaimantOf(const AmCore& core, TaskIndex task) {
  const TaskTable& tasks = core.tasks;
  const auto [first, size] = tasks.RangeOf(tasks.record(task).type);
  return {.task = task, .first_of_type = TaskIndex(first), .type_size = size};
}

/// What never runs, and what hangs again and again, forgets none of its restarts: else a task that
/// fails each time after a long wait would be tried for ever.
bool MayPay(const AmCore& core, const policy::Decision& decision, const AttemptEnd& end) {
  const StoredTime at = core.StoredAt(core.now);
  const policy::Allowance& allowance = decision.allowance;
  if (allowance.window && allowance.restarts &&
      PaidInARow(core.ledger.of(end.task), *core.job, end.record.exit_class,
                 core.StoredAt(end.at) - core.ledger.of(end.task).ordered_at) >=
          *allowance.restarts)
    return false;
  return core.ledger.budgets.Allows(allowance, decision.pays, ClaimantOf(core, end.task), at);
}

bool ClosesWhenSpent(const policy::Decision& decision) {
  return decision.when_spent == ExitAction::kIgnore || decision.when_spent == ExitAction::kTally;
}

policy::Outcome OutcomeWhenSpent(const policy::Decision& decision) {
  return decision.when_spent == ExitAction::kIgnore ? policy::Outcome::kIgnored
                                                    : policy::Outcome::kFailed;
}

std::string SpentText(const AmCore& core, const policy::Decision& decision, TaskIndex task) {
  if (decision.allowance.restarts.value_or(0) == 0) {
    return fmt::format("{}; {} allows no restart for it", decision.why, decision.limited_by);
  }
  const std::int32_t restarts = *decision.allowance.restarts;
  // Too far apart to count otherwise.
  const bool in_a_row = core.ledger.budgets.Allows(decision.allowance, decision.pays,
                                                   ClaimantOf(core, task), core.StoredAt(core.now));
  std::string when;
  if (in_a_row) {
    when = " in a row, of which none ran or each hung,";
  } else if (decision.allowance.window) {
    when = " within " + ToString(*decision.allowance.window);
  }
  return fmt::format("{}; {} {}{} {} used up", decision.why, restarts,
                     restarts == 1 ? "restart" : "restarts", when, restarts == 1 ? "is" : "are");
}

policy::Tried WhatWasTried(const policy::Decision& decision) {
  return {.unpaid = decision.limited_by, .restarts = decision.allowance.restarts.value_or(0)};
}

}  // namespace tfyarn::am
