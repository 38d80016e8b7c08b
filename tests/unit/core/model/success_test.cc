#include "core/model/success.h"

#include <gtest/gtest.h>

namespace tfyarn::success_test {
namespace {

std::string Canonical(std::string_view text) {
  const auto parsed = ParseSuccess(text);
  return parsed
             ? ToString(*parsed)
             : "error at " + std::to_string(parsed.error().offset) + ": " + parsed.error().message;
}

TEST(SuccessTest, EveryFormIsUnderstood) {
  for (const char* text :
       {"ok(chief)", "any(worker)", "done(tracked)", "ok(worker:0)", "done(worker:3)",
        "count(worker) >= 3", "failed(worker) < 2", "ok(a) and ok(b)", "ok(a) or ok(b)",
        "ok(a) and ok(b) or ok(c)", "ok(a) and (ok(b) or ok(c))", "(ok(a) and ok(b)) and ok(c)",
        "(ok(a) or ok(b)) or ok(c)", "ok(my-type_2)"}) {
    EXPECT_EQ(Canonical(text), text);
  }
}

TEST(SuccessTest, BlanksAndSuperfluousParenthesesDoNotMatter) {
  EXPECT_EQ(Canonical("  ok ( chief )and\n( (any(worker)) ) "), "ok(chief) and any(worker)");
  EXPECT_EQ(Canonical("count(worker)>=3"), "count(worker) >= 3");
  EXPECT_EQ(Canonical("ok( worker : 1 )"), "ok(worker:1)");
}

TEST(SuccessTest, AndBindsTighterThanOr) {
  const auto expr = ParseSuccess("ok(a) or ok(b) and ok(c)");
  ASSERT_TRUE(expr.has_value());
  EXPECT_EQ(expr->op, SuccessOp::kOr);
  ASSERT_EQ(expr->children.size(), 2U);
  EXPECT_EQ(expr->children[1].op, SuccessOp::kAnd);
}

// A chain within a chain of the same kind keeps its parentheses: the text stands for exactly that
// tree.
TEST(SuccessTest, TheCanonicalTextGivesTheSameTreeAgain) {
  for (const char* text : {"(ok(a) and ok(b)) and ok(c)", "ok(a) or (ok(b) or ok(c))",
                           "(ok(a) and (ok(b) or ok(c) and ok(d))) or failed(w) < 1"}) {
    const auto expr = ParseSuccess(text);
    ASSERT_TRUE(expr.has_value()) << text;
    const auto again = ParseSuccess(ToString(*expr));
    ASSERT_TRUE(again.has_value()) << ToString(*expr);
    EXPECT_EQ(again->op, expr->op);
    EXPECT_EQ(again->children.size(), expr->children.size());
    EXPECT_EQ(ToString(*again), ToString(*expr));
  }
}

TEST(SuccessTest, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(
      Canonical(""),
      "error at 0: expected ok(...), any(...), done(...), count(...) >= N, failed(...) < N or '('");
  EXPECT_EQ(Canonical("ok(chief) ok(b)"), "error at 10: expected 'and', 'or' or the end");
  EXPECT_EQ(Canonical("ok(chief) andok(b)"), "error at 10: expected 'and', 'or' or the end");
  EXPECT_EQ(Canonical("ok chief"), "error at 3: expected '('");
  EXPECT_EQ(Canonical("ok()"), "error at 3: expected a task type or 'tracked'");
  EXPECT_EQ(Canonical("ok(chief"), "error at 8: expected ')'");
  EXPECT_EQ(Canonical("(ok(chief)"), "error at 10: expected ')'");
  EXPECT_EQ(Canonical("count(worker)"), "error at 13: expected '>='");
  EXPECT_EQ(Canonical("count(worker) < 3"), "error at 14: expected '>='");
  EXPECT_EQ(Canonical("failed(worker) < -1"), "error at 17: expected a number from 0");
  EXPECT_EQ(Canonical("failed(worker) < 99999999999"), "error at 17: expected a number from 0");
  EXPECT_EQ(Canonical("any(worker:1)"), "error at 10: expected ')'");
  EXPECT_EQ(Canonical("ok(worker:x)"), "error at 10: expected a number from 0");
}

TEST(SuccessTest, ThirtyTwoParenthesesAreEnough) {
  const std::string open(32, '(');
  const std::string close(32, ')');
  EXPECT_EQ(Canonical(open + "ok(a)" + close), "ok(a)");
  EXPECT_NE(Canonical("(" + open + "ok(a)" + close + ")").find("nested deeper than 32"),
            std::string::npos);
  EXPECT_NE(Canonical(std::string(1'000'000, '(')).find("nested deeper"), std::string::npos);
}

}  // namespace
}  // namespace tfyarn::success_test
