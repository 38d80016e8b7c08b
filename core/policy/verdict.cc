// When the job is decided: the success expression, or the verdict function of the policy.
#include <fmt/format.h>

#include <string_view>

#include "core/model/check.h"
#include "core/policy/engine.h"
#include "core/policy/success_eval.h"

namespace tfyarn::policy {
namespace {

const VerdictRow* FindRow(const Table& table, std::string_view name) {
  for (const VerdictRow& row : table.verdicts) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<Verdict> Engine::Judge(const JobView& view) const {
  return success_ ? JudgeByExpression(view) : table_->judge(*this, view);
}

Verdict Engine::Failed(std::string_view row) const {
  Verdict verdict = Succeeded(row);
  verdict.status = JobStatus::kFailed;
  if (table_->retry_instead_of_failing && user_limit().value_or(1) > 0) {
    verdict.retry = GangRetry{.pays = Budget::kUser, .allowance = AllowanceFor(Budget::kUser)};
  }
  return verdict;
}

Verdict Engine::Succeeded(std::string_view row) const {
  Verdict verdict;
  verdict.status = JobStatus::kSucceeded;
  verdict.rule = fmt::format("{}/{}", table_->name, row);
  if (const VerdictRow* text = FindRow(*table_, row); text != nullptr) {
    verdict.why = std::string(text->when);
    verdict.probe = &table_->ProbeOf(*text);
  }
  return verdict;
}

std::optional<Verdict> Engine::JudgeByExpression(const JobView& view) const {
  const bool all_ended = AllTrackedEnded(view);
  std::optional<Verdict> verdict;
  switch (Evaluate(*success_, view)) {
    case SuccessValue::kHolds:
      if (!all_ended) break;
      [[fallthrough]];
    case SuccessValue::kTrue:
      verdict = Succeeded("success");
      verdict->why = fmt::format("{} holds", ToString(*success_));
      break;
    case SuccessValue::kNever:
      verdict = Failed("success-impossible");
      verdict->why = fmt::format("{} can no longer hold", ToString(*success_));
      break;
    case SuccessValue::kOpen:
      if (!all_ended) break;
      verdict = Failed("tracked-ended");
      verdict->why =
          fmt::format("every tracked task has ended, and {} does not hold", ToString(*success_));
      break;
  }
  return verdict;
}

}  // namespace tfyarn::policy
