// A tree's true end, and that nothing of it is left.
#include "hosts/agent/process_tree.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::process_tree_test {
namespace {

class ProcessTreeTest : public ProcessRig {};

class ExitCodeTest : public ProcessRig, public testing::WithParamInterface<int> {};

TEST_P(ExitCodeTest, IsReportedAsItIs) {
  const TreeExit exit = Whole({"exit", std::to_string(GetParam())});
  EXPECT_EQ(exit.code, GetParam());
  EXPECT_EQ(exit.signal, std::nullopt);
  EXPECT_FALSE(exit.killed_by_us || exit.terminated_by_us || exit.core_dumped);
  EXPECT_TRUE(exit.left_behind.empty());
}
INSTANTIATE_TEST_SUITE_P(Codes, ExitCodeTest, testing::Values(0, 1, 75, 127, 137, 139, 143, 255));

class SignalTest : public ProcessRig, public testing::WithParamInterface<int> {};

TEST_P(SignalTest, IsReportedAsASignalAndNotAsACode) {
  SpawnSpec spec = Odd({"raise", std::to_string(GetParam())});
  spec.limits = {{.resource = RLIMIT_CORE, .limit = {.rlim_cur = 0, .rlim_max = 0}}};
  Start(spec);
  const TreeExit exit = End();
  EXPECT_EQ(exit.code, std::nullopt);
  EXPECT_EQ(exit.signal, GetParam());
  EXPECT_FALSE(exit.killed_by_us || exit.terminated_by_us);
}
INSTANTIATE_TEST_SUITE_P(Signals, SignalTest,
                         testing::Values(SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGBUS, SIGHUP));

TEST_F(ProcessTreeTest, ACoreFileIsReportedWhereItIsAllowed) {
  // A pattern that begins with | or / hands it to another program or directory.
  const std::string pattern = ReadFile("/proc/sys/kernel/core_pattern");
  rlimit ours{};
  ::getrlimit(RLIMIT_CORE, &ours);
  if (pattern.starts_with('|') || pattern.starts_with('/') || (ours.rlim_max == 0 && ::geteuid())) {
    GTEST_SKIP() << "core files are not ours to allow here";
  }
  for (const rlim_t limit : {rlim_t{1} << 30, rlim_t{0}}) {
    SpawnSpec spec = Odd({"abort"});
    spec.limits = {{.resource = RLIMIT_CORE, .limit = {.rlim_cur = limit, .rlim_max = limit}}};
    Start(spec);
    const TreeExit exit = End();
    EXPECT_EQ(exit.signal, SIGABRT);
    EXPECT_EQ(exit.core_dumped, limit > 0);
  }
}

TEST_F(ProcessTreeTest, SomebodyElsesKillIsNotOurs) {
  Start({"sleep"});
  UntilSaid();
  ::kill(tree().root(), SIGKILL);
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_FALSE(exit.killed_by_us);
}

TEST_F(ProcessTreeTest, TermLetsTheProgramEndAsItLikes) {
  Start({"on-term", "75"});
  UntilSaid();
  tree().Terminate();
  const TreeExit exit = End();
  EXPECT_EQ(exit.code, 75);
  EXPECT_TRUE(exit.terminated_by_us);
  EXPECT_FALSE(exit.killed_by_us);
}

TEST_F(ProcessTreeTest, WhoIgnoresTermIsKilledAfterTheGrace) {
  Start({"ignore-term"});
  UntilSaid();
  tree().Stop(20ms);
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.terminated_by_us && exit.killed_by_us);
}

TEST_F(ProcessTreeTest, WithinTheGraceNobodyIsKilled) {
  Start({"on-term", "0"});
  UntilSaid();
  tree().Stop(1min);
  const TreeExit exit = End();
  EXPECT_EQ(exit.code, 0);
  EXPECT_FALSE(exit.killed_by_us);
}

TEST_F(ProcessTreeTest, AShorterGraceReplacesALongerOne) {
  Start({"ignore-term"});
  UntilSaid();
  tree().Stop(1h);
  tree().Stop(10ms);
  EXPECT_EQ(End().signal, SIGKILL);
}

/// A program that `on_term` has a handler for, behind a shell and beside the other end of a pipe,
/// which have none.
std::string BehindAShell(const std::string& on_term) {
  return "(trap '" + on_term + "' TERM; echo ready; while :; do sleep 0.02; done) | cat; true";
}
constexpr char kSaves[] = "echo saving; sleep 0.2; echo saved; exit 75";

SpawnSpec InShell(SpawnSpec spec, const std::string& line) {
  spec.argv = {"/bin/sh", "-c", line};
  return spec;
}

TEST_F(ProcessTreeTest, AProgramSavesThoughItsShellEndsAtOnce) {
  Start(InShell(Odd({}), BehindAShell(kSaves)));
  UntilSaid();
  tree().Terminate();
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_TRUE(exit.terminated_by_us);
  EXPECT_FALSE(exit.killed_by_us);
  EXPECT_THAT(Stdout(), testing::HasSubstr("saved"));
}

TEST_F(ProcessTreeTest, AProgramBehindAShellSavesWithinTheGrace) {
  Start(InShell(Odd({}), BehindAShell(kSaves)));
  UntilSaid();
  tree().Stop(1min);
  EXPECT_EQ(End().signal, SIGTERM);
  EXPECT_THAT(Stdout(), testing::HasSubstr("saved"));
}

TEST_F(ProcessTreeTest, AProgramBehindAShellThatStaysIsKilledAfterTheGrace) {
  Start(InShell(Odd({}), BehindAShell("echo heard")));
  UntilSaid();
  tree().Stop(50ms);
  EXPECT_EQ(End().signal, SIGTERM);
}

TEST_F(ProcessTreeTest, AProgramMayOutliveItsShellOnlySoLong) {
  options_.saving = 50ms;
  Start(InShell(Odd({}), BehindAShell("echo heard")));
  UntilSaid();
  tree().Terminate();
  EXPECT_EQ(End().signal, SIGTERM);
}

TEST_F(ProcessTreeTest, AProgramInAGroupOfItsOwnSavesToo) {
  const std::string line = std::string("timeout 300 sh -c \"trap '") + kSaves +
                           "' TERM; echo ready; while :; do sleep 0.02; done\" | cat; true";
  Start(InShell(Odd({}), line));
  UntilSaid();
  tree().Terminate();
  EXPECT_EQ(End().signal, SIGTERM);
  EXPECT_THAT(Stdout(), testing::HasSubstr("saved"));
}

TEST_F(ProcessTreeTest, AStoppedProcessIsNotWokenByTermButKilledAfterTheGrace) {
  Start({"sleep"});
  UntilSaid();
  ::kill(tree().root(), SIGSTOP);
  // Signals that wait together come in the order of their numbers: it must stand still first.
  Until([&] { return ReadProcess(tree().root())->state == 'T'; }, "the stop");
  tree().Stop(50ms);
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.killed_by_us);
}

TEST_F(ProcessTreeTest, AStoppedProcessCanBeKilled) {
  Start({"stop-self"});
  Until([&] { return ReadProcess(tree().root())->state == 'T'; }, "the stop");
  tree().Kill();
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_TRUE(exit.killed_by_us);
}

TEST_F(ProcessTreeTest, ChildrenEndWithTheRoot) {
  Start({"children", "20"});
  UntilSaid();
  EXPECT_EQ(tree().Members().size(), 21U);
  ::kill(tree().root(), SIGKILL);  // The root alone.
  EXPECT_EQ(End().signal, SIGKILL);
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, ChildrenInTheirOwnSessionsEndToo) {
  const TreeExit exit = Whole({"sessions", "20", "5"});
  EXPECT_EQ(exit.code, 5);
  EXPECT_FALSE(exit.killed_by_us) << "what was left was killed, not the root";
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, ADaemonThatForkedTwiceEndsToo) {
  EXPECT_EQ(Whole({"daemon", "0"}).code, 0);
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, ADaemonOfALivingRootIsAMember) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " daemon 0; exec sleep 1000"};
  Start(spec);
  UntilSaid();
  Until([&] { return tree().Members().size() == 2; }, "the daemon as our orphan");
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
}

TEST_F(ProcessTreeTest, AChainThatForksFromSessionToSessionIsCaught) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(Whole({"respawn", i % 2 == 0 ? "1" : "5", "3"}).code, 3);
    ASSERT_TRUE(Living().empty()) << "round " << i;
  }
}

TEST_F(ProcessTreeTest, AStormOfChildrenIsNoTrouble) {
  EXPECT_EQ(Whole({"storm", "10000", "6"}).code, 6);
}

TEST_F(ProcessTreeTest, OrphansThatEndAreReapedWhileTheRootRuns) {
  Start({"orphans", "100"});
  UntilSaid();
  Until([] { return Living().size() == 1; }, "no zombie");
  EXPECT_FALSE(ended());
  tree().Kill();
  End();
}

TEST_F(ProcessTreeTest, AProcessWhoseFirstThreadEndedStillLives) {
  Start({"threads"});
  UntilSaid();
  Until([&] { return ReadProcess(tree().root())->is_zombie(); }, "the first thread's end");
  EXPECT_FALSE(ended());
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
}

TEST_F(ProcessTreeTest, AnOrphanWhoseFirstThreadEndedIsFoundAndKilled) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " threads & until grep -q ready stdout; do :; done; exit 8"};
  Start(spec);
  EXPECT_EQ(End().code, 8);
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, ChildrenOfOthersInThisProcessAreLeftAlone) {
  const pid_t other = ::fork();
  if (other == 0) ::_exit(42);
  std::FILE* sleeper = ::popen("read line; exit 7", "w");
  ASSERT_NE(sleeper, nullptr);
  EXPECT_EQ(Whole({"sessions", "3", "0"}).code, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other) << "the tree reaped it";
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(WEXITSTATUS(::pclose(sleeper)), 7);
}

TEST_F(ProcessTreeTest, TheEndOfOneTreeSparesTheOrphansOfAnother) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " daemon 0; exec sleep 1000"};
  Start(spec);
  UntilSaid();
  const auto first = std::move(tree_);
  Start({"exit", "4"});
  EXPECT_EQ(End().code, 4);
  std::vector<pid_t> living = Living();
  std::erase_if(living, [](pid_t pid) { return ReadProcess(pid)->is_zombie(); });
  EXPECT_EQ(living.size(), 2U) << "the first root and its daemon";
  exit_.reset();
  first->Kill();
  EXPECT_EQ(End().signal, SIGKILL);
}

TEST_F(ProcessTreeTest, AKillAfterTheRootsEndDoesNotChangeWhatItWas) {
  Start({"sessions", "5", "6"});
  // Not by the event loop, so that the tree does not know of the end yet.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tree().root()), &info, WEXITED | WNOWAIT), 0);
  tree().Kill();
  const auto root = ReadProcess(tree().root());
  ASSERT_TRUE(root) << "its number must stay taken";
  EXPECT_TRUE(root->is_zombie());
  const TreeExit exit = End();
  EXPECT_EQ(exit.code, 6);
  EXPECT_FALSE(exit.killed_by_us);
}

/// A version 1 group whose frozen members not even SIGKILL ends, where we may have one.
std::string Freezer() {
  std::string path = "/sys/fs/cgroup/freezer/tfyarn-test-" + std::to_string(::getpid());
  return ::mkdir(path.c_str(), 0755) == 0 ? path : "";
}

TEST_F(ProcessTreeTest, WhatCannotBeKilledIsGivenUpAndNamed) {
  const std::string freezer = Freezer();
  if (freezer.empty()) GTEST_SKIP() << "no freezer here";
  SpawnSpec spec = Odd({"sleep"});
  spec.cgroup_procs = freezer + "/cgroup.procs";
  options_.give_up = 20ms;
  Start(spec);
  UntilSaid();
  std::ofstream(freezer + "/freezer.state") << "FROZEN" << std::flush;
  Until([&] { return ReadFile(freezer + "/freezer.state") == "FROZEN\n"; }, "the frost");
  tree().Kill();
  TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_THAT(exit.left_behind, testing::ElementsAre(tree().root()));
  std::ofstream(freezer + "/freezer.state") << "THAWED" << std::flush;
  EXPECT_EQ(Whole({"exit", "0"}).code, 0) << "and the next tree reaps it";
  EXPECT_EQ(::rmdir(freezer.c_str()), 0);
}

/// Many trees in one process, as `tfyarn run` has a tree for each container.
class ManyTreesTest : public ProcessRig {
 protected:
  static constexpr int kTrees = 12;

  void SetUp() override {
    if (!ChildrenAreListed()) GTEST_SKIP() << "this kernel lists no children";
    for (int i = 0; i < kTrees; ++i) {
      std::filesystem::remove(directory_ / "stdout");
      Start({"children", "2"});
      UntilSaid();
      trees_.push_back(std::move(tree_));
    }
  }
  void TearDown() override {
    for (const auto& tree : trees_) {
      exit_.reset();
      if (!tree) continue;
      // The end of those whose Start() was followed by another one is told into the same place.
      tree->Kill();
      End();
    }
    trees_.clear();
    ProcessRig::TearDown();
  }
  /// Until the looks that follow a start are over.
  void UntilQuiet() {
    int before = -1;
    Until(
        [&] {
          const int now = proc_.processes + proc_.lists;
          const bool quiet = now == before;
          before = now;
          if (!quiet) Pause();
          return quiet;
        },
        "no more looks");
  }
  void Pause() {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(600));
  }

  std::vector<std::unique_ptr<ProcessTree>> trees_;
};

TEST_F(ManyTreesTest, ALookAtOneReadsItsOwnProcessesAndTheListOfOurChildren) {
  proc_.Forget();
  EXPECT_EQ(trees_[0]->Members().size(), 3U);
  EXPECT_EQ(proc_.tables, 0);
  EXPECT_EQ(proc_.processes, 3) << "the root and its two children";
  EXPECT_LE(proc_.lists, 4) << "theirs, and ours";
}

TEST_F(ManyTreesTest, TheListOfOurChildrenIsSharedByThoseWhoLookTogether) {
  proc_.Forget();
  for (const auto& tree : trees_) EXPECT_EQ(tree->Members().size(), 3U);
  EXPECT_EQ(proc_.processes, 3 * kTrees);
  EXPECT_LT(proc_.lists, 3 * kTrees + kTrees / 2) << "theirs, and ours now and then";
}

TEST_F(ManyTreesTest, WhileNothingEndsNothingIsRead) {
  UntilQuiet();
  proc_.Forget();
  Pause();
  EXPECT_EQ(proc_.processes + proc_.lists + proc_.tables, 0);
}

TEST_F(ManyTreesTest, TheEndOfOneMakesNoOtherLook) {
  UntilQuiet();
  proc_.Forget();
  exit_.reset();
  ::kill(trees_[0]->root(), SIGKILL);
  End();
  trees_[0].reset();
  Pause();
  EXPECT_EQ(proc_.tables, 0);
  // Its two children are killed and reaped in a few looks of a few readings; each of the others
  // would read three processes.
  EXPECT_LT(proc_.processes, 3 * kTrees);
}

TEST_F(ProcessTreeTest, WithoutListsOfChildrenTheWholeTableServes) {
  proc_.may_list = false;
  Start({"children", "20"});
  UntilSaid();
  Until([&] { return tree().Members().size() == 21; }, "all of them");
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
  EXPECT_EQ(Whole({"daemon", "0"}).code, 0);
  EXPECT_TRUE(Living().empty());
  EXPECT_GT(proc_.tables, 0);
  EXPECT_EQ(proc_.lists, 0);
}

TEST_F(ProcessTreeTest, AChildOfAThreadIsAMember) {
  Start({"thread-child"});
  UntilSaid();
  EXPECT_EQ(tree().Members().size(), 2U);
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
}

TEST_F(ProcessTreeTest, TheCallbackMayDestroyTheTreeAndStartTheNext) {
  auto spawned = Spawn(Odd({"exit", "1"}));
  ASSERT_TRUE(spawned);
  tree_ = std::make_unique<ProcessTree>(subreaper_, std::move(*spawned), [this](const TreeExit&) {
    tree_.reset();
    Start({"exit", "2"});
  });
  EXPECT_EQ(End().code, 2);
}

TEST_F(ProcessTreeTest, ATreeThatIsDroppedIsKilledAndReapedByTheNext) {
  Start({"children", "3"});
  UntilSaid();
  tree_.reset();
  EXPECT_EQ(Whole({"exit", "0"}).code, 0);
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, OrdersAfterTheEndAreHarmless) {
  Whole({"exit", "0"});
  tree().Terminate();
  tree().Kill();
  tree().Stop(1ms);
  EXPECT_TRUE(Living().empty());
}

TEST_F(ProcessTreeTest, SixtyFourMegabytesOfOutputStopNobody) {
  EXPECT_EQ(Whole({"flood", std::to_string(64 << 20)}).code, 0);
  EXPECT_EQ(std::filesystem::file_size(directory_ / "stdout"), 64U << 20);
}

}  // namespace
}  // namespace tfyarn::agent_host::process_tree_test
