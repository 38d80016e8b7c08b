// What a hung task leaves in the run directory.
#include "hosts/agent/stacks.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::stacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StacksTest : public ProcessRig {};

TEST_F(StacksTest, WhoCatchesTheSignalIsAskedAndTheOthersSurvive) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " sleep >/dev/null & exec " + OddTask() + " usr1"};
  Start(spec);
  UntilSaid();
  Until([&] { return ReadProcess(tree().root())->state == 'S'; }, "its sleep");
  const auto dump = WriteStacksOf(tree().Members(), directory_ / "stacks");
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(dump->files.size(), 2U);
  EXPECT_THAT(dump->asked, ElementsAre(tree().root()));
  Until([&] { return Stderr() == "Current thread: train.py line 7\n"; }, "its own words");
  EXPECT_EQ(tree().Members().size(), 2U);
  const std::string text =
      ReadFile(directory_ / "stacks" / ("stack-" + std::to_string(tree().root()) + ".txt"));
  EXPECT_THAT(text, HasSubstr("was sent SIGUSR1"));
  EXPECT_THAT(text, HasSubstr("State:\tS (sleeping)"));
  EXPECT_THAT(text, HasSubstr("name: odd_task"));
  EXPECT_THAT(text, HasSubstr("syscall: "));
  tree().Kill();
  End();
}

TEST_F(StacksTest, AStoppedProcessIsDescribed) {
  Start({"stop-self"});
  Until([&] { return ReadProcess(tree().root())->state == 'T'; }, "the stop");
  const auto dump = WriteStacksOf(tree().Members(), directory_);
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->files.size(), 1U);
  EXPECT_THAT(ReadFile(dump->files[0]), HasSubstr("State:\tT (stopped)"));
  tree().Kill();
  End();
}

TEST_F(StacksTest, EveryThreadIsThere) {
  Start({"threads"});
  UntilSaid();
  std::optional<ProcessInfo> root;
  Until([&] { return (root = ReadProcess(tree().root()))->is_zombie(); }, "the first thread's end");
  const auto dump = WriteStacksOf({*root}, directory_);
  ASSERT_TRUE(dump);
  const std::string text = ReadFile(dump->files.at(0));
  EXPECT_NE(text.find("\nthread "), text.rfind("\nthread "));
  tree().Kill();
  End();
}

TEST_F(StacksTest, ProcessesThatAreGoneArePassedOver) {
  Whole({"exit", "0"});
  const auto dump = WriteStacksOf({{.pid = tree().root()}}, directory_);
  ASSERT_TRUE(dump);
  EXPECT_THAT(dump->files, IsEmpty());
}

TEST_F(StacksTest, ADirectoryThatCannotBeMadeIsAnError) {
  Start({"sleep"});
  std::ofstream(directory_ / "file") << "";
  const auto dump = WriteStacksOf(tree().Members(), directory_ / "file" / "below");
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().code, ErrorCode::kUnavailable);
  tree().Kill();
  End();
}

TEST(CatchesSignalTest, ReadsTheMask) {
  EXPECT_TRUE(CatchesSignal("Name:\tx\nSigCgt:\t0000000000000200\n", SIGUSR1));
  EXPECT_FALSE(CatchesSignal("Name:\tx\nSigCgt:\t0000000000000100\n", SIGUSR1));
  EXPECT_FALSE(CatchesSignal("SigIgn:\t0000000000000200\nSigCgt:\t0000000000000000\n", SIGUSR1));
  EXPECT_FALSE(CatchesSignal("", SIGUSR1));
}

}  // namespace
}  // namespace tfyarn::agent_host::stacks_test
