// What counts as evidence of a want of memory, and a task that the kernel really kills for it.
#include "hosts/agent/oom_evidence.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::oom_evidence_test {
namespace {

constexpr OomCounters kBefore{.task = 1, .own = 1, .machine = 1};

TreeExit Killed() {
  return {.signal = SIGKILL};
}

TEST(OomEvidenceTest, WithoutARiseNothingIsEvidence) {
  EXPECT_FALSE(FindOomEvidence(kBefore, kBefore, Killed()));
  EXPECT_FALSE(FindOomEvidence({}, {.task = 1, .own = 1, .machine = 1}, Killed()));
  EXPECT_FALSE(FindOomEvidence(kBefore, {}, Killed()));
}

TEST(OomEvidenceTest, TheTasksOwnGroupIsProofHoweverItEnded) {
  const OomCounters after{.task = 2, .own = 1, .machine = 1};
  EXPECT_TRUE(FindOomEvidence(kBefore, after, Killed()));
  EXPECT_TRUE(FindOomEvidence(kBefore, after, {.code = 1})) << "its child was killed";
  EXPECT_FALSE(FindOomEvidence(kBefore, after, {.code = 0})) << "it got over it";
}

TEST(OomEvidenceTest, SharedCountersNeedAKillThatWasNotOurs) {
  for (const OomCounters& after : {OomCounters{.own = 2}, OomCounters{.machine = 2}}) {
    EXPECT_TRUE(FindOomEvidence(kBefore, after, Killed()));
    EXPECT_TRUE(FindOomEvidence(kBefore, after, {.code = 137})) << "a shell's word for it";
    EXPECT_FALSE(FindOomEvidence(kBefore, after, {.code = 1}));
    EXPECT_FALSE(FindOomEvidence(kBefore, after, {.signal = SIGSEGV}));
    EXPECT_FALSE(FindOomEvidence(kBefore, after, {.signal = SIGKILL, .killed_by_us = true}));
  }
}

// A third process sent SIGKILL to it, while another container ran out of memory.
TEST(OomEvidenceTest, WhereABetterCounterStandsStillAWorseOneIsNoEvidence) {
  EXPECT_FALSE(FindOomEvidence(kBefore, {.task = 1, .own = 2, .machine = 2}, Killed()));
  EXPECT_FALSE(FindOomEvidence(kBefore, {.own = 1, .machine = 2}, Killed()));
}

class RealOomTest : public ProcessRig {};

/// A version 1 group with 32 MiB, where the machine has them and lets us.
std::string SmallGroup() {
  const std::string own = FindOwnCgroups().memory_v1;
  if (own.empty()) return "";
  std::string path = own + "/tfyarn-test-" + std::to_string(::getpid());
  if (::mkdir(path.c_str(), 0755) != 0) return "";
  std::ofstream limit(path + "/memory.limit_in_bytes");
  if (limit << (32 << 20) << std::flush) return path;
  ::rmdir(path.c_str());
  return "";
}

TEST_F(RealOomTest, TheKernelsKillIsToldFromSomebodyElses) {
  const std::string group = SmallGroup();
  if (group.empty()) GTEST_SKIP() << "no memory group can be made here";
  SpawnSpec spec = Odd({"grow", "256"});
  spec.cgroup_procs = group + "/cgroup.procs";
  OomCounters before = ReadOomCounters(nullptr);
  Start(spec);
  TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  // A group of version 1 does not count for those below it, so only the machine tells of this one.
  EXPECT_TRUE(FindOomEvidence({.machine = before.machine},
                              {.machine = ReadOomCounters(nullptr).machine}, exit));
  EXPECT_EQ(Stdout(), "");

  before = ReadOomCounters(nullptr);
  before.machine.reset();  // This test may run in another build tree at the same time.
  Start({"grow", "1"});
  UntilSaid();
  ::kill(tree().root(), SIGKILL);
  exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_FALSE(FindOomEvidence(before, ReadOomCounters(nullptr), exit));
  EXPECT_EQ(::rmdir(group.c_str()), 0);
}

}  // namespace
}  // namespace tfyarn::agent_host::oom_evidence_test
