#include "core/policy/success_eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/model/check.h"

namespace tfyarn::policy {
namespace {

constexpr std::string_view kTrackedName = "tracked";

/// Counters of a type, or the sums over all tracked types.
struct Counts {
  std::int32_t instances = 0;
  std::int32_t ok = 0;
  std::int32_t failed = 0;
  std::int32_t ended = 0;
};

Counts CountsOf(std::string_view name, const JobView& view) {
  Counts sum;
  for (const TypeCounts& type : view.types()) {
    if (name == kTrackedName ? !type.tracked() : type.name != name) continue;
    sum.instances += type.instances;
    sum.ok += type.ok;
    sum.failed += type.failed;
    sum.ended += type.ended();
  }
  return sum;
}

std::size_t PositionOf(std::string_view name, const std::vector<TypeCounts>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].name == name) return i;
  }
  return types.size();
}

SuccessValue OfOneTask(const SuccessExpr& expr, const JobView& view) {
  const std::size_t type = PositionOf(expr.task_type, view.types());
  TF_CHECK(type < view.types().size());
  const TaskFacts facts = view.FactsOf(type, *expr.index);
  if (!facts.ended) return SuccessValue::kOpen;
  return expr.op == SuccessOp::kDone || facts.ok ? SuccessValue::kTrue : SuccessValue::kNever;
}

/// Ignored tasks neither help nor harm; without a task that succeeded there is no success.
SuccessValue AllOk(const Counts& counts) {
  if (counts.failed > 0) return SuccessValue::kNever;
  if (counts.ended < counts.instances) return SuccessValue::kOpen;
  return counts.ok > 0 ? SuccessValue::kTrue : SuccessValue::kNever;
}

SuccessValue AtLeast(const Counts& counts, std::int32_t number) {
  if (counts.ok >= number) return SuccessValue::kTrue;
  return counts.ok + (counts.instances - counts.ended) >= number ? SuccessValue::kOpen
                                                                 : SuccessValue::kNever;
}

SuccessValue FailedBelow(const Counts& counts, std::int32_t number) {
  if (counts.failed >= number) return SuccessValue::kNever;
  return counts.ended == counts.instances ? SuccessValue::kTrue : SuccessValue::kHolds;
}

/// All of them: the weakest decides, but one truth among what holds makes the whole true.
SuccessValue And(const std::vector<SuccessExpr>& children, const JobView& view) {
  SuccessValue least = SuccessValue::kTrue;
  SuccessValue most = SuccessValue::kNever;
  for (const SuccessExpr& child : children) {
    const SuccessValue value = Evaluate(child, view);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return least == SuccessValue::kHolds ? most : least;
}

SuccessValue Or(const std::vector<SuccessExpr>& children, const JobView& view) {
  SuccessValue most = SuccessValue::kNever;
  for (const SuccessExpr& child : children) most = std::max(most, Evaluate(child, view));
  return most;
}

}  // namespace

SuccessValue Evaluate(const SuccessExpr& expr, const JobView& view) {
  switch (expr.op) {
    case SuccessOp::kAnd:
      return And(expr.children, view);
    case SuccessOp::kOr:
      return Or(expr.children, view);
    case SuccessOp::kOk:
      return expr.index ? OfOneTask(expr, view) : AllOk(CountsOf(expr.task_type, view));
    case SuccessOp::kAny:
      return AtLeast(CountsOf(expr.task_type, view), 1);
    case SuccessOp::kDone: {
      if (expr.index) return OfOneTask(expr, view);
      const Counts counts = CountsOf(expr.task_type, view);
      return counts.ended == counts.instances ? SuccessValue::kTrue : SuccessValue::kOpen;
    }
    case SuccessOp::kCountAtLeast:
      return AtLeast(CountsOf(expr.task_type, view), expr.number);
    case SuccessOp::kFailedBelow:
      return FailedBelow(CountsOf(expr.task_type, view), expr.number);
  }
  return SuccessValue::kNever;
}

Expected<void> CheckSuccess(const SuccessExpr& expr, const std::vector<TypeCounts>& types) {
  for (const SuccessExpr& child : expr.children) {
    if (auto checked = CheckSuccess(child, types); !checked) return checked;
  }
  if (expr.op == SuccessOp::kAnd || expr.op == SuccessOp::kOr) return {};
  if (expr.task_type == kTrackedName) {
    const bool any = std::any_of(types.begin(), types.end(), [](const TypeCounts& type) {
      return type.tracked() && type.instances > 0;
    });
    if (!any) {
      return Fail(ErrorCode::kInvalidArgument,
                  "nothing decides success: no task of the job is tracked; give a task type "
                  "`class: tracked`, or "
                  "write `success` over a task type");
    }
    if (expr.index) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("success: tracked:{} names no task", *expr.index));
    }
    return {};
  }
  const std::size_t type = PositionOf(expr.task_type, types);
  if (type == types.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("success: the job has no task type '{}'", expr.task_type));
  }
  const std::int32_t instances = types[type].instances;
  if (expr.index && *expr.index >= instances) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("success: {}:{} does not exist, {} has {} instances", expr.task_type,
                            *expr.index, expr.task_type, instances));
  }
  if (expr.op == SuccessOp::kCountAtLeast && expr.number > instances) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("success: count({}) >= {} can never be true with {} instances",
                            expr.task_type, expr.number, instances));
  }
  return {};
}

}  // namespace tfyarn::policy
