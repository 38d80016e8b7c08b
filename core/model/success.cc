#include "core/model/success.h"

#include <fmt/format.h>

#include <charconv>

namespace tfyarn {
namespace {

constexpr int kMaxDepth = 32;

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// Recursive descent over the grammar in the header. The first error stops it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  tl::expected<SuccessExpr, SuccessSyntaxError> Parse() {
    SuccessExpr expr = ParseAny(SuccessOp::kOr, 0);
    SkipBlanks();
    if (!failed_ && at_ != text_.size()) Fail("expected 'and', 'or' or the end");
    if (failed_) return tl::unexpected<SuccessSyntaxError>(error_);
    return expr;
  }

 private:
  // A chain of one operator: `or` of `and` of factors. A chain of one element is that element.
  SuccessExpr ParseAny(SuccessOp op, int depth) {
    const std::string_view word = op == SuccessOp::kOr ? "or" : "and";
    std::vector<SuccessExpr> parts;
    do {
      parts.push_back(op == SuccessOp::kOr ? ParseAny(SuccessOp::kAnd, depth) : ParseFactor(depth));
    } while (!failed_ && TakeWord(word));
    if (failed_) return {};
    if (parts.size() == 1) return std::move(parts.front());
    SuccessExpr chain;
    chain.op = op;
    chain.children = std::move(parts);
    return chain;
  }

  SuccessExpr ParseFactor(int depth) {
    if (depth > kMaxDepth) return Fail("nested deeper than 32");
    if (Take('(')) {
      SuccessExpr inner = ParseAny(SuccessOp::kOr, depth + 1);
      if (!failed_ && !Take(')')) return Fail("expected ')'");
      return inner;
    }
    SkipBlanks();
    const std::size_t start = at_;
    const std::string name = TakeName();
    SuccessExpr leaf;
    if (name == "ok") {
      leaf.op = SuccessOp::kOk;
    } else if (name == "any") {
      leaf.op = SuccessOp::kAny;
    } else if (name == "done") {
      leaf.op = SuccessOp::kDone;
    } else if (name == "count") {
      leaf.op = SuccessOp::kCountAtLeast;
    } else if (name == "failed") {
      leaf.op = SuccessOp::kFailedBelow;
    } else {
      at_ = start;
      return Fail("expected ok(...), any(...), done(...), count(...) >= N, failed(...) < N or '('");
    }
    if (!Take('(')) return Fail("expected '('");
    SkipBlanks();
    leaf.task_type = TakeName();
    if (leaf.task_type.empty()) return Fail("expected a task type or 'tracked'");
    if (leaf.op == SuccessOp::kOk || leaf.op == SuccessOp::kDone) {
      if (Take(':')) {
        leaf.index = TakeNumber();
        if (failed_) return {};
      }
    }
    if (!Take(')')) return Fail("expected ')'");
    if (leaf.op == SuccessOp::kCountAtLeast) return TakeBound(std::move(leaf), ">=");
    if (leaf.op == SuccessOp::kFailedBelow) return TakeBound(std::move(leaf), "<");
    return leaf;
  }

  SuccessExpr TakeBound(SuccessExpr leaf, std::string_view comparison) {
    SkipBlanks();
    if (text_.substr(at_, comparison.size()) != comparison)
      return Fail(fmt::format("expected '{}'", comparison));
    at_ += comparison.size();
    leaf.number = TakeNumber();
    return leaf;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (text_.substr(at_, word.size()) != word) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && IsNameChar(text_[end])) return false;
    at_ = end;
    return true;
  }
  std::string TakeName() {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }
  std::int32_t TakeNumber() {
    SkipBlanks();
    std::int32_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) {
      Fail("expected a number from 0");
      return 0;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  SuccessExpr Fail(std::string message) {
    if (!failed_) error_ = {.offset = at_, .message = std::move(message)};
    failed_ = true;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  SuccessSyntaxError error_;
};

}  // namespace

tl::expected<SuccessExpr, SuccessSyntaxError> ParseSuccess(std::string_view text) {
  return Parser(text).Parse();
}

std::string ToString(const SuccessExpr& expr) {
  const std::string task =
      expr.index ? fmt::format("{}:{}", expr.task_type, *expr.index) : expr.task_type;
  switch (expr.op) {
    case SuccessOp::kOk:
      return fmt::format("ok({})", task);
    case SuccessOp::kAny:
      return fmt::format("any({})", task);
    case SuccessOp::kDone:
      return fmt::format("done({})", task);
    case SuccessOp::kCountAtLeast:
      return fmt::format("count({}) >= {}", task, expr.number);
    case SuccessOp::kFailedBelow:
      return fmt::format("failed({}) < {}", task, expr.number);
    case SuccessOp::kAnd:
    case SuccessOp::kOr: {
      std::string out;
      for (const SuccessExpr& child : expr.children) {
        if (!out.empty()) out += expr.op == SuccessOp::kAnd ? " and " : " or ";
        // Only an `and` within an `or` binds by itself as it was meant; a chain within its like
        // would melt into it.
        const bool is_chain = child.op == SuccessOp::kAnd || child.op == SuccessOp::kOr;
        const bool parentheses =
            is_chain && !(expr.op == SuccessOp::kOr && child.op == SuccessOp::kAnd);
        out += parentheses ? "(" + ToString(child) + ")" : ToString(child);
      }
      return out;
    }
  }
  return {};
}

}  // namespace tfyarn
