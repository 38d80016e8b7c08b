// What /proc shows of living processes.
#include "hosts/agent/signs_watch.h"

#include <gmock/gmock.h>
#include <signal.h>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::signs_watch_test {
namespace {

class SignsTest : public ProcessRig {
 protected:
  void UntilStopped(pid_t pid) {
    Until([pid] { return ReadProcess(pid)->state == 'T'; }, "the stop");
  }
};

TEST_F(SignsTest, AStoppedProcessShowsAndSigcontEndsThat) {
  Start({"stop-self"});
  UntilStopped(tree().root());
  SignsReader signs(tree().root());
  EXPECT_EQ(signs.Look().standstill, Standstill::kStopped);
  tree().Continue();
  Until([&] { return signs.Look().standstill == Standstill::kNone; }, "its going on");
  tree().Kill();
  End();
}

TEST_F(SignsTest, AStoppedChildOfAShellShowsToo) {
  if (!ChildrenAreListed()) GTEST_SKIP() << "a kernel without CONFIG_PROC_CHILDREN";
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " stop-self; exit 3"};
  Start(spec);
  UntilSaid();
  SignsReader signs(tree().root());
  Until([&] { return signs.Look().standstill == Standstill::kStopped; }, "the child's stop");
  EXPECT_NE(ReadProcess(tree().root())->state, 'T');
  // All of the tree are woken, and so the SIGTERM that waited is heard.
  tree().Terminate();
  tree().Continue();
  EXPECT_EQ(End().signal, SIGTERM);
}

// A parent in vfork() hears no signal (state D) until its child goes on, and does not run.
TEST_F(SignsTest, ACallThatHearsNoSignalShowsAtTheSecondLook) {
  Start({"vfork"});
  UntilSaid();
  Until([&] { return ReadProcess(tree().root())->state == 'D'; }, "the call");
  SignsReader signs(tree().root());
  EXPECT_EQ(signs.Look().standstill, Standstill::kNone) << "any read of a disk looks so once";
  EXPECT_EQ(signs.Look().standstill, Standstill::kUninterruptible);
  tree().Kill();
  End();
}

TEST_F(SignsTest, AHandlerForSigtermShowsAndIgnoringItIsNone) {
  Start({"on-term", "3"});
  UntilSaid();
  EXPECT_TRUE(SignsReader(tree().root()).Look().catches_term);
  tree().Kill();
  End();
  Start({"ignore-term"});
  UntilSaid();
  EXPECT_FALSE(SignsReader(tree().root()).Look().catches_term);
  tree().Kill();
  End();
}

TEST_F(SignsTest, ChangesAreToldOnce) {
  Start({"sleep"});
  UntilSaid();
  std::vector<Standstill> told;
  SignsWatch watch(
      io_, tree().root(), [&](const Signs& signs) { told.push_back(signs.standstill); }, 5ms);
  ::kill(tree().root(), SIGSTOP);
  Until([&] { return told.size() == 1; }, "the stop");
  ::kill(tree().root(), SIGCONT);
  Until([&] { return told.size() == 2; }, "its end");
  EXPECT_THAT(told, testing::ElementsAre(Standstill::kStopped, Standstill::kNone));
  tree().Kill();
  End();
}

TEST(StatusTest, FieldsAreReadByTheirNames) {
  const StatusSigns signs = ParseStatus(
      "Name:\tState: T\nUmask:\t0022\nState:\tD (disk sleep)\nSigCgt:\t0000000000004000\n"
      "voluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n");
  EXPECT_EQ(signs.state, 'D');
  EXPECT_EQ(signs.switches, 42U);
  EXPECT_TRUE(signs.catches_term);
  EXPECT_EQ(ParseStatus("").state, '?');
}

}  // namespace
}  // namespace tfyarn::agent_host::signs_watch_test
