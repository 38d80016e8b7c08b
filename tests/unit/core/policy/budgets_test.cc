#include "core/policy/budgets.h"

#include <gtest/gtest.h>

namespace tfyarn::policy::budgets_test {
namespace {

constexpr WallTime kStart{};
constexpr TaskIndex kTask(3);

TEST(BudgetsTest, OnlyPaymentsInsideTheWindowCount) {
  Budgets budgets;
  const Allowance allowance{.restarts = 2, .window = 1h};
  budgets.Pay(Budget::kUser, kStart);
  budgets.Pay(Budget::kUser, kStart + 30min);
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kUser, kTask, kStart + 59min));
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kUser, kTask, kStart + 60min));
}

TEST(BudgetsTest, BudgetsDoNotPayForEachOther) {
  Budgets budgets;
  const Allowance allowance{.restarts = 1};
  budgets.Pay(Budget::kInfrastructure, kStart);
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kUser, kTask, kStart));
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kInfrastructure, kTask, kStart));
}

TEST(BudgetsTest, NoLimitIsNeverUsedUpAndNoneAllowsNothing) {
  Budgets budgets;
  for (int i = 0; i < 100; ++i) budgets.Pay(Budget::kUser, kStart);
  EXPECT_TRUE(budgets.Allows({}, Budget::kUser, kTask, kStart));
  EXPECT_FALSE(budgets.Allows({.restarts = 0}, Budget::kInfrastructure, kTask, kStart));
}

TEST(BudgetsTest, AnAllowancePerTaskCountsThatTasksRestartsWhoeverPaid) {
  Budgets budgets;
  const Allowance allowance{.restarts = 1, .per_task = true};
  budgets.CountTask(kTask, kStart);
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kNone, kTask, kStart + 1h));
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kNone, TaskIndex(4), kStart + 1h));
}

// A clock that jumps back must not make what was paid look paid in another age.
TEST(BudgetsTest, APaymentFromTheFutureStillCounts) {
  Budgets budgets;
  budgets.Pay(Budget::kUser, kStart + 10h);
  EXPECT_FALSE(budgets.Allows({.restarts = 1, .window = 1h}, Budget::kUser, kTask, kStart));
}

}  // namespace
}  // namespace tfyarn::policy::budgets_test
