#include "core/policy/budgets.h"

#include <gtest/gtest.h>

namespace tfyarn::policy::budgets_test {
namespace {

constexpr StoredTime kStart{};
constexpr TaskIndex kTask(3);
/// The type's tasks are 2, 3 and 4.
constexpr Claimant kClaimant{.task = kTask, .first_of_type = TaskIndex(2), .type_size = 3};

void Pay(Budgets& budgets, Budget budget, StoredTime at, TaskIndex cause = kTask) {
  budgets.Count({.paid = budget, .cause = cause, .tasks = {cause}, .at = at});
}

TEST(BudgetsTest, OnlyPaymentsInsideTheWindowCount) {
  Budgets budgets;
  const Allowance allowance{.restarts = 2, .window = 1h};
  Pay(budgets, Budget::kUser, kStart);
  Pay(budgets, Budget::kUser, kStart + 30min);
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kUser, kClaimant, kStart + 59min));
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kUser, kClaimant, kStart + 60min));
}

TEST(BudgetsTest, BudgetsDoNotPayForEachOther) {
  Budgets budgets;
  const Allowance allowance{.restarts = 1};
  Pay(budgets, Budget::kInfrastructure, kStart);
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kUser, kClaimant, kStart));
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kInfrastructure, kClaimant, kStart));
}

TEST(BudgetsTest, NoLimitIsNeverUsedUpAndNoneAllowsNothing) {
  Budgets budgets;
  for (int i = 0; i < 100; ++i) Pay(budgets, Budget::kUser, kStart);
  EXPECT_TRUE(budgets.Allows({}, Budget::kUser, kClaimant, kStart));
  EXPECT_FALSE(budgets.Allows({.restarts = 0}, Budget::kInfrastructure, kClaimant, kStart));
}

TEST(BudgetsTest, AnAllowanceOfATaskCountsThatTasksRestartsWhateverPaid) {
  Budgets budgets;
  const Allowance allowance{.restarts = 1, .counted = Counted::kOfTask};
  budgets.Count({.paid = Budget::kNone, .cause = TaskIndex(9), .tasks = {kTask}, .at = kStart});
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kNone, kClaimant, kStart + 1h));
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kNone, {.task = TaskIndex(4)}, kStart + 1h));
}

TEST(BudgetsTest, WhatIsPaidForATaskOrItsTypeCountsByTheTaskThatEnded) {
  Budgets budgets;
  const Allowance task{.restarts = 2, .counted = Counted::kPaidForTask};
  const Allowance type{.restarts = 2, .window = 6h, .counted = Counted::kPaidForType};
  Pay(budgets, Budget::kUser, kStart, TaskIndex(4));
  budgets.Count(
      {.paid = Budget::kUser, .cause = kTask, .tasks = {kTask, TaskIndex(0)}, .at = kStart});
  Pay(budgets, Budget::kUser, kStart, TaskIndex(1));  // Of the type before.
  Pay(budgets, Budget::kUser, kStart, TaskIndex(5));  // Of the type after.
  budgets.Count({.paid = Budget::kUser, .cause = {}, .tasks = {kTask}, .at = kStart});
  Pay(budgets, Budget::kInfrastructure, kStart);
  EXPECT_EQ(budgets.Used(task, Budget::kUser, kClaimant, kStart), 1);
  EXPECT_EQ(budgets.Used(type, Budget::kUser, kClaimant, kStart), 2);
  EXPECT_EQ(budgets.Used(type, Budget::kUser, kClaimant, kStart + 6h), 0);
  EXPECT_EQ(budgets.Used(task, Budget::kUser, {.task = TaskIndex(0)}, kStart), 0);
}

TEST(BudgetsTest, AnotherContainerBeginsItsOwnCount) {
  Budgets budgets;
  const Allowance allowance{.restarts = 2, .counted = Counted::kInContainer};
  Pay(budgets, Budget::kNone, kStart);
  Pay(budgets, Budget::kNone, kStart);
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kNone, kClaimant, kStart));
  budgets.TookContainer(TaskIndex(4));
  EXPECT_FALSE(budgets.Allows(allowance, Budget::kNone, kClaimant, kStart));
  budgets.TookContainer(kTask);
  EXPECT_TRUE(budgets.Allows(allowance, Budget::kNone, kClaimant, kStart));
  Pay(budgets, Budget::kNone, kStart);
  // For another's sake.
  budgets.Count({.paid = Budget::kNone, .cause = TaskIndex(4), .tasks = {kTask}, .at = kStart});
  EXPECT_EQ(budgets.Used(allowance, Budget::kNone, kClaimant, kStart), 1);
}

// A clock that jumps back must not make what was paid look paid in another age.
TEST(BudgetsTest, APaymentFromTheFutureStillCounts) {
  Budgets budgets;
  Pay(budgets, Budget::kUser, kStart + 10h);
  EXPECT_FALSE(budgets.Allows({.restarts = 1, .window = 1h}, Budget::kUser, kClaimant, kStart));
}

}  // namespace
}  // namespace tfyarn::policy::budgets_test
