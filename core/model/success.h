// The success expression of a job: `ok(chief)`, `count(worker) >= 3 and not-more`, over how tasks
// ended.
//
// Grammar: expr = term { "or" term }; term = factor { "and" factor }; factor = "(" expr ")" | ok(T)
// | any(T) | done(T) | ok(T:INDEX) | done(T:INDEX) | count(T) >= N | failed(T) < N; T is a task
// type or `tracked`. Parsed once, evaluated by the ApplicationMaster on its table of tasks; used by
// the built-in policies and by users alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/describe.h"
#include "core/model/error.h"

namespace tfyarn {

enum class SuccessOp { kAnd, kOr, kOk, kAny, kDone, kCountAtLeast, kFailedBelow };
BOOST_DESCRIBE_ENUM(SuccessOp, kAnd, kOr, kOk, kAny, kDone, kCountAtLeast, kFailedBelow)

/// A node of the expression; kAnd and kOr have children and nothing else.
struct SuccessExpr {
  SuccessOp op = SuccessOp::kAnd;
  std::string task_type;              ///< A type or "tracked".
  std::optional<std::int32_t> index;  ///< With kOk and kDone: one task of the type.
  std::int32_t number = 0;            ///< With kCountAtLeast and kFailedBelow.
  std::vector<SuccessExpr> children;
};
BOOST_DESCRIBE_STRUCT(SuccessExpr, (), (op, task_type, index, number, children))

/// Where in the text parsing stopped, and why.
struct SuccessSyntaxError {
  std::size_t offset = 0;  ///< Bytes from the start.
  std::string message;
};

/// Depth is limited to 32.
[[nodiscard]] tl::expected<SuccessExpr, SuccessSyntaxError> ParseSuccess(std::string_view text);
/// The canonical text; ParseSuccess(ToString(e)) gives e again.
[[nodiscard]] std::string ToString(const SuccessExpr& expr);

}  // namespace tfyarn
