#include "hosts/runtime/lifetime.h"

#include <gtest/gtest.h>

#include <memory>

namespace tfyarn::hosts::lifetime_test {
namespace {

TEST(LifetimeTest, AGuardedHandlerIsCalledOnlyWhileItsOwnerLives) {
  auto owner = std::make_unique<Lifetime>();
  int sum = 0;
  auto handler = owner->Guard([&sum](int value) { sum += value; });
  handler(1);
  EXPECT_EQ(sum, 1);
  owner.reset();
  handler(2);
  EXPECT_EQ(sum, 1);
}

}  // namespace
}  // namespace tfyarn::hosts::lifetime_test
