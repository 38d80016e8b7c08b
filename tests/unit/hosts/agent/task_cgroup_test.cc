// Control groups where they can be had; how they are found everywhere.
#include "hosts/agent/task_cgroup.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/files.h"
#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::task_cgroup_test {
namespace {

TEST(OwnCgroupsTest, VersionTwoAlone) {
  const OwnCgroups own =
      FindOwnCgroups("0::/user.slice/run-7.service\n",
                     "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(own.unified, "/sys/fs/cgroup/user.slice/run-7.service");
  EXPECT_EQ(own.memory_v1, "");
}

TEST(OwnCgroupsTest, BothVersionsSideBySide) {
  const OwnCgroups own =
      FindOwnCgroups("9:name=systemd:/\n4:cpu,memory:/yarn/c_01\n0::/\n",
                     "31 30 0:27 / /sys/fs/cgroup/cpu,memory rw - cgroup cgroup rw,cpu,memory\n"
                     "32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(own.unified, "/sys/fs/cgroup/unified");
  EXPECT_EQ(own.memory_v1, "/sys/fs/cgroup/cpu,memory/yarn/c_01");
}

TEST(OwnCgroupsTest, AMountThatShowsOnlyAPart) {
  const char* const mount = "31 30 0:27 /docker/abc /cg rw - cgroup2 cgroup rw\n";
  EXPECT_EQ(FindOwnCgroups("0::/docker/abc/task\n", mount).unified, "/cg/task");
  EXPECT_EQ(FindOwnCgroups("0::/elsewhere\n", mount).unified, "");
}

TEST(OwnCgroupsTest, NothingInSight) {
  EXPECT_EQ(FindOwnCgroups("", "").unified, "");
  EXPECT_EQ(FindOwnCgroups("nonsense\n:\n", "x\n - \n").unified, "");
}

TEST(CounterInTest, FindsWholeWordsAtTheStartOfALine) {
  const char* const text = "oom 3\noom_kill 17\noom_group_kill 4\nnot oom 5\n";
  EXPECT_EQ(CounterIn(text, "oom"), 3U);
  EXPECT_EQ(CounterIn(text, "oom_kill"), 17U);
  EXPECT_EQ(CounterIn(text, "kill"), std::nullopt);
  EXPECT_EQ(CounterIn("oom_kill", "oom_kill"), std::nullopt);
}

TEST(TaskCgroupCreateTest, WhereItIsNotAllowedItSaysWhy) {
  EXPECT_EQ(TaskCgroup::Create("").error().code, ErrorCode::kFailedPrecondition);
  const Error error = TaskCgroup::Create("/proc/self").error();
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(error.message, testing::HasSubstr("/proc/self"));
}

TEST(TaskCgroupCreateTest, AnOrdinaryDirectoryIsNoGroupAndIsLeftClean) {
  const TemporaryFolder parent;
  EXPECT_FALSE(TaskCgroup::Create(parent.path()));
  EXPECT_TRUE(std::filesystem::is_empty(parent.path()));
}

class TaskCgroupTest : public ProcessRig {
 protected:
  void SetUp() override {
    auto group = TaskCgroup::Create();
    if (!group) GTEST_SKIP() << group.error().message;
    group_ = std::make_unique<TaskCgroup>(std::move(*group));
  }

  void StartInside(std::vector<std::string> words) {
    SpawnSpec spec = Odd(std::move(words));
    spec.cgroup_procs = group_->procs_path();
    options_.cgroup = group_.get();
    Start(spec);
  }

  std::unique_ptr<TaskCgroup> group_;
};

TEST_F(TaskCgroupTest, HoldsWhatDescends) {
  StartInside({"children", "3"});
  UntilSaid();
  EXPECT_EQ(group_->Processes().size(), 4U);
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
  EXPECT_TRUE(group_->Processes().empty());
}

TEST_F(TaskCgroupTest, ADaemonInItIsAMemberEvenBesideAnotherTree) {
  SpawnSpec spec = Odd({});
  spec.argv = {"sh", "-c", OddTask() + " daemon 0; exec sleep 1000"};
  spec.cgroup_procs = group_->procs_path();
  options_.cgroup = group_.get();
  Start(spec);
  UntilSaid();
  const auto first = std::move(tree_);
  options_.cgroup = nullptr;
  Start({"sleep"});
  EXPECT_EQ(first->Members().size(), 2U);
  EXPECT_EQ(tree().Members().size(), 1U);
  tree().Kill();
  End();
  exit_.reset();
  first->Kill();
  End();
}

TEST_F(TaskCgroupTest, KillEndsEverybodyInIt) {
  StartInside({"ignore-term"});
  UntilSaid();
  if (!group_->Kill()) {
    tree().Kill();
    End();
    GTEST_SKIP() << "no cgroup.kill in this kernel";
  }
  const TreeExit exit = End();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_FALSE(exit.killed_by_us) << "not by way of the tree";
}

TEST_F(TaskCgroupTest, SessionsLeftBehindEndAndTheGroupIsEmpty) {
  StartInside({"sessions", "5", "2"});
  EXPECT_EQ(End().code, 2);
  EXPECT_TRUE(group_->Processes().empty());
}

TEST_F(TaskCgroupTest, IsRemovedWithItsObjectAndAfterADeadAgent) {
  const std::string directory = group_->directory();
  const std::string parent = std::filesystem::path(directory).parent_path();
  EXPECT_TRUE(std::filesystem::exists(directory));
  group_.reset();
  EXPECT_FALSE(std::filesystem::exists(directory));

  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const std::string old = parent + "/tfyarn-task-" + std::to_string(dead) + "-1";
  ASSERT_EQ(::mkdir(old.c_str(), 0755), 0);
  EXPECT_TRUE(TaskCgroup::Create(parent));
  EXPECT_FALSE(std::filesystem::exists(old));
}

TEST_F(TaskCgroupTest, AGroupThatCannotBeEnteredIsAnError) {
  SpawnSpec spec = Odd({"exit", "0"});
  spec.cgroup_procs = group_->directory() + "/gone/cgroup.procs";
  const auto spawned = Spawn(spec);
  ASSERT_FALSE(spawned);
  EXPECT_THAT(spawned.error().message, testing::HasSubstr("cannot enter the cgroup of"));
}

}  // namespace
}  // namespace tfyarn::agent_host::task_cgroup_test
