#include "fakes/server/call_fate.h"

#include <gtest/gtest.h>

namespace tfyarn::fakes::call_fate_test {
namespace {

constexpr CallFate kLost{.take_in = false};

ApplicationAttemptId Attempt(std::int32_t number) {
  return {.application = {.cluster_timestamp = 1, .id = 1}, .attempt = number};
}

TEST(FaultRulesTest, ARuleIsForItsCallsUntilTheyHaveCome) {
  FaultRules rules;
  rules.Add({.name = "allocate", .left = 2, .fate = kLost});
  EXPECT_TRUE(rules.Judge({.name = "getNewApplication"}).take_in);
  EXPECT_FALSE(rules.Judge({.name = "allocate"}).take_in);
  EXPECT_FALSE(rules.Judge({.name = "allocate"}).take_in);
  EXPECT_TRUE(rules.rules().empty());
  EXPECT_TRUE(rules.Judge({.name = "allocate"}).take_in);
}

TEST(FaultRulesTest, TheFirstThatIsForACallDecides) {
  FaultRules rules;
  rules.Add({.name = "allocate", .left = 1, .fate = {.answer = false}});
  rules.Add({.name = "allocate", .left = 1, .fate = kLost});
  EXPECT_FALSE(rules.Judge({.name = "allocate"}).answer);
  EXPECT_FALSE(rules.Judge({.name = "allocate"}).take_in);
}

TEST(FaultRulesTest, ARuleMayBeForAllCallsOfOneAttempt) {
  FaultRules rules;
  rules.Add({.attempt = Attempt(1), .left = -1, .fate = kLost});
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(rules.Judge({.name = "allocate", .attempt = Attempt(1)}).take_in);
  EXPECT_TRUE(rules.Judge({.name = "allocate", .attempt = Attempt(2)}).take_in);
  EXPECT_TRUE(rules.Judge({.name = "submitApplication", .attempt = {}}).take_in);
  rules.Clear();
  EXPECT_TRUE(rules.Judge({.name = "allocate", .attempt = Attempt(1)}).take_in);
}

}  // namespace
}  // namespace tfyarn::fakes::call_fate_test
