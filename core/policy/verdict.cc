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

void Add(const TypeCounts& type, TypeCounts& sum) {
  sum.instances += type.instances;
  sum.ok += type.ok;
  sum.failed += type.failed;
  sum.ignored += type.ignored;
}

/// Sums over the tracked types.
TypeCounts Tracked(const JobView& view) {
  TypeCounts sum;
  for (const TypeCounts& type : view.types()) {
    if (type.tracked()) Add(type, sum);
  }
  return sum;
}

}  // namespace

std::optional<Verdict> Engine::Judge(const JobView& view) const {
  if (success_) return JudgeByExpression(view);
  switch (table_->verdict) {
    case VerdictFunction::kExpression:
      break;
    case VerdictFunction::kTony:
      return JudgeTony(view);
    case VerdictFunction::kTfYarn:
      return JudgeTfYarn(view);
    case VerdictFunction::kTfJob:
      return JudgeTfJob(view);
  }
  TF_CHECK(false);  // A table without a function of its own has an expression since Make.
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

std::optional<Verdict> Engine::JudgeTony(const JobView& view) const {
  const TypeCounts tracked = Tracked(view);
  if (!tracked.all_ended()) {
    for (const TypeCounts& type : view.types()) {
      if (type.task_class == TaskClass::kService && type.failed > 0)
        return Failed("untracked-failed");
    }
    return std::nullopt;
  }
  if (tracked.failed > 0 && Option("fail_on_worker_failure") == "true")
    return Failed("worker-failure");
  if (tracked.ok == 0 && tracked.instances > 0) return Failed("all-failed");
  if (tracked.failed == 0) return Succeeded("all-ok");
  return Succeeded("some-failed");
}

std::optional<Verdict> Engine::JudgeTfYarn(const JobView& view) const {
  const TypeCounts tracked = Tracked(view);
  if (tracked.failed == 0) {
    if (!tracked.all_ended()) return std::nullopt;
    if (tracked.ok == 0 && tracked.instances > 0) return Failed("nothing-left");
    return Succeeded("services-ended");
  }
  for (const TypeCounts& type : view.types()) {
    if (type.tracked() && type.name != "evaluator" && !type.all_ended()) return std::nullopt;
  }
  return Failed("raised");
}

std::optional<Verdict> Engine::JudgeTfJob(const JobView& view) const {
  const bool dynamic = Option("enable_dynamic_worker") == "true";
  TypeCounts chiefs, workers;
  bool worker0_ok = false;
  bool failed = false;
  const std::vector<TypeCounts>& types = view.types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TypeCounts& type = types[i];
    if (IsChief({.type = type.name, .index = 0})) Add(type, chiefs);
    if (type.name == "worker" && type.instances > 0) {
      workers = type;
      worker0_ok = type.ok > 0 && view.FactsOf(i, 0).ok;
    }
    failed = failed || (type.tracked() && type.failed > 0 && !(dynamic && type.name == "worker"));
  }
  const TypeCounts tracked = Tracked(view);
  if (workers.instances == 0) workers = tracked;
  // What is ignored neither helps nor harms.
  const auto all_ok = [](const TypeCounts& counts) {
    return counts.ok > 0 && counts.ok + counts.ignored == counts.instances;
  };
  // Success first: of ends that come in one pass the chief's decides.
  if (has_chief_ && all_ok(chiefs)) return Succeeded("chief-succeeded");
  if (!has_chief_ && all_ok(workers)) return Succeeded("workers-succeeded");
  if (!has_chief_ && worker0_ok && Option("success_policy").empty())
    return Succeeded("worker0-succeeded");
  if (failed) return Failed("replica-failed");
  if (tracked.all_ended()) return Failed("nothing-left");
  return std::nullopt;
}

}  // namespace tfyarn::policy
