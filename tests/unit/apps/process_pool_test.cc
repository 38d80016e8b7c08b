#include "apps/cli/process_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <vector>

namespace tfyarn::cli::process_pool_test {
namespace {

TEST(ProcessPoolTest, OutcomesComeInOrderWhateverOrderTheChildrenEndIn) {
  std::vector<std::size_t> order;
  const std::size_t done = RunInProcesses(
      20, {.at_once = 4},
      [](std::size_t i) {
        ::usleep(static_cast<useconds_t>((20 - i) * 500));
        return std::to_string(i);
      },
      [&](std::size_t i, const ChildOutcome& outcome) {
        EXPECT_EQ(outcome.bytes, std::to_string(i));
        EXPECT_EQ(outcome.crash, "");
        order.push_back(i);
      });
  EXPECT_EQ(done, 20U);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

TEST(ProcessPoolTest, MoreThanAPipeHoldsArrives) {
  RunInProcesses(
      2, {.at_once = 2}, [](std::size_t) { return std::string(3'000'000, 'z'); },
      [](std::size_t, const ChildOutcome& outcome) {
        EXPECT_EQ(outcome.bytes.size(), 3'000'000U);
      });
}

TEST(ProcessPoolTest, AChildThatCrashesTakesNoOtherWithIt) {
  std::vector<std::string> crashes;
  RunInProcesses(
      3, {.at_once = 1},
      [](std::size_t i) {
        if (i == 1) ::raise(SIGKILL);
        if (i == 2) ::_exit(7);
        return std::string("fine");
      },
      [&](std::size_t, const ChildOutcome& outcome) { crashes.push_back(outcome.crash); });
  EXPECT_EQ(crashes, (std::vector<std::string>{"", "signal 9 (Killed)", "exit status 7"}));
}

TEST(ProcessPoolTest, AnInterruptStartsNoMoreAndEndsTheRest) {
  std::atomic<bool> interrupt{false};
  PoolOptions options{.at_once = 2, .interrupt = &interrupt, .tick = [&] { interrupt = true; }};
  const std::size_t done = RunInProcesses(
      1000, options,
      [](std::size_t) {
        // Another test of this program may have caught signals.
        std::signal(SIGTERM, SIG_DFL);
        ::sleep(60);
        return std::string();
      },
      [](std::size_t, const ChildOutcome& outcome) {
        EXPECT_EQ(outcome.crash, "signal 15 (Terminated)");
      });
  EXPECT_EQ(done, 2U);
}

}  // namespace
}  // namespace tfyarn::cli::process_pool_test
