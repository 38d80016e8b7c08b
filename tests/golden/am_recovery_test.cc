// A new AM attempt takes over from a journal that ends anywhere: at every byte that the one before
// wrote.
//
// Ends between entries are what a crash leaves; ends inside an entry are a torn append; ends before
// entries on which something was already done are worse than storage promises, and even then the
// job must come to its end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/golden/am_world.h"

namespace tfyarn::am::am_recovery_test {
namespace {

const std::vector<std::string> kUpToSecondEpoch = {
    "submit chief=1 worker=2 retries.user=1",
    "grant",
    "register all",
    "running all",
    "exit worker:1 137",
    "stopped all",
    "running all",
};

const std::vector<std::string> kParameterServerRestarts = {
    "submit chief=1 worker=2 ps=1",
    "grant",
    "register all",
    "running all",
    "exit worker:1 137",
    "running worker:1",
    "complete worker:0 -100 Container released on a *lost* node",
    "stopped all",
    "grant",
};

const std::vector<std::string> kDraining = {
    "submit chief=1 worker=1 evaluator=1", "grant", "register all", "running all", "exit chief:0 0",
};

/// Lets the world do what a world does until the job is over; false when it does not end.
bool RunToTheEnd(AmWorld& world) {
  for (int round = 0; round < 40 && !world.over(); ++round) {
    for (const char* command :
         {"register all", "stopped all", "running all", "grant", "ended all", "advance 7s"}) {
      (void)world.Do(command);
      if (world.over()) return true;
    }
    if (round % 4 == 3 && world.runs({"chief", 0})) (void)world.Do("exit chief:0 0");
    if (round % 4 == 3 && world.runs({"evaluator", 0})) (void)world.Do("exit evaluator:0 0");
  }
  return world.over();
}

/// `must_succeed`: also where what is missing had been acted on.
void TakeOverAtEveryCut(const std::vector<std::string>& script, bool must_succeed) {
  std::size_t size = 0;
  {
    AmWorld world;
    for (const std::string& command : script) (void)world.Do(command);
    size = world.journal_size();
  }
  // Every byte of the last entries; further back a step that meets every place in an entry in some
  // of them.
  for (std::size_t cut = 0; cut <= size; cut += cut < 150 ? 1 : 13) {
    AmWorld world;
    for (const std::string& command : script) {
      (void)world.Do(command);
      EXPECT_TRUE(world.FoldsToItsLedger()) << command;
    }
    (void)world.Do("journal cut " + std::to_string(cut));
    (void)world.Do("am-restart");
    ASSERT_TRUE(RunToTheEnd(world)) << "with " << cut << " of " << size << " bytes cut:\n"
                                    << world.Do("state");
    ASSERT_TRUE(world.verdict().has_value());
    if (!must_succeed) continue;
    EXPECT_EQ(world.verdict()->status, JobStatus::kSucceeded)
        << "with " << cut << " bytes cut: " << world.verdict()->diagnostics;
  }
}

TEST(AmRecoveryTest, AfterAGangRestart) {
  TakeOverAtEveryCut(kUpToSecondEpoch, true);
}
TEST(AmRecoveryTest, AfterRestartsUnderParameterServer) {
  TakeOverAtEveryCut(kParameterServerRestarts, true);
}
// The chief's agent was ended because its success was durable: without that entry its end looks
// like a loss.
TEST(AmRecoveryTest, AfterTheVerdict) {
  TakeOverAtEveryCut(kDraining, false);
}

// The AM dies after every single event of a job's life, and is followed by another one.
TEST(AmRecoveryTest, AfterEveryCommand) {
  for (const auto& script : {kUpToSecondEpoch, kParameterServerRestarts, kDraining}) {
    for (std::size_t upto = 1; upto <= script.size(); ++upto) {
      AmWorld world;
      for (std::size_t i = 0; i < upto; ++i) (void)world.Do(script[i]);
      (void)world.Do("am-restart");
      ASSERT_TRUE(RunToTheEnd(world)) << "after '" << script[upto - 1] << "':\n"
                                      << world.Do("state");
      EXPECT_EQ(world.verdict()->status, JobStatus::kSucceeded)
          << "after '" << script[upto - 1] << "'";
    }
  }
}

}  // namespace
}  // namespace tfyarn::am::am_recovery_test
