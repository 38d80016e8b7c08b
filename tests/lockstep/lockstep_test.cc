// The fake ResourceManager in lock-step with the model of the allocate contract, under sequences of
// operations that seeds draw (tests/fuzz/allocate_fuzz.cc searches for more).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/lockstep/hand_cluster.h"
#include "tests/lockstep/world.h"

namespace tfyarn::lockstep {
namespace {

std::uint64_t Number(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::stoull(value);
}

class LockstepTest : public ::testing::TestWithParam<fakes::SchedulerKind> {};

TEST_P(LockstepTest, TheFakeAnswersAsTheContractSays) {
  const std::uint64_t first = Number("TFYARN_LOCKSTEP_SEED", 1);
  const std::uint64_t last = first + Number("TFYARN_LOCKSTEP_SEQUENCES", 300);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const std::string bytes = BytesOf(seed, 4096);
    Draws draws(bytes);
    HandCluster cluster(GetParam());
    const Outcome outcome = RunSequence(cluster, draws, 200);
    ASSERT_TRUE(outcome.broken.empty()) << "seed " << seed << "\n" << ToText(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, LockstepTest,
                         ::testing::Values(fakes::SchedulerKind::kCapacity,
                                           fakes::SchedulerKind::kFifo,
                                           fakes::SchedulerKind::kUniform,
                                           fakes::SchedulerKind::kGang));

}  // namespace
}  // namespace tfyarn::lockstep
