#include "hosts/local/fault_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "hosts/agent/listeners.h"
#include "hosts/agent/port_lease.h"

namespace tfyarn::hosts::fault_effects_test {
namespace {

/// A child of this process that waits for a signal.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Its next change: "stopped", "continued" or the signal that ended it.
  [[nodiscard]] std::string Change() const {
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED | WCONTINUED);
    if (WIFSTOPPED(status)) return "stopped";
    if (WIFCONTINUED(status)) return "continued";
    return std::to_string(WTERMSIG(status));
  }

 private:
  pid_t pid_;
};

TEST(FaultEffectsTest, ASignalReachesThatProcessOnly) {
  const Child child;
  auto process = agent_host::ReadProcess(child.pid());
  ASSERT_TRUE(process);
  EXPECT_TRUE(SignalExactly(*process, SIGSTOP));
  EXPECT_EQ(child.Change(), "stopped");
  EXPECT_TRUE(SignalExactly(*process, SIGCONT));
  EXPECT_EQ(child.Change(), "continued");
  ++process->start_time;  // Another one of that number.
  EXPECT_FALSE(SignalExactly(*process, SIGKILL));
}

TEST(FaultEffectsTest, TheTasksProcessIsTheEldestChild) {
  const Child first;
  const Child second;
  const auto eldest = TaskProcessOf(::getpid());
  ASSERT_TRUE(eldest);
  EXPECT_EQ(eldest->pid, first.pid());
  std::vector<pid_t> tree;
  for (const auto& process : TaskTreeOf(::getpid())) tree.push_back(process.pid);
  EXPECT_THAT(tree, testing::UnorderedElementsAre(first.pid(), second.pid()));
  EXPECT_EQ(TaskProcessOf(first.pid()), std::nullopt);
}

TEST(FaultEffectsTest, APortThatIsHeldForATaskCanBeTakenAllTheSame) {
  auto lease = agent_host::Lease::Take();
  ASSERT_TRUE(lease);
  const auto thief = ListenOn(lease->port());
  ASSERT_TRUE(thief) << thief.error().message;
  const auto none = [] { return std::vector<pid_t>{}; };
  EXPECT_EQ(agent_host::WhoListens(lease->port(), none), agent_host::Listener::kStranger);
}

TEST(FaultEffectsTest, OnlyASmallFileSystemIsFilled) {
  struct statvfs room {};
  ASSERT_EQ(::statvfs(testing::TempDir().c_str(), &room), 0);
  const bool small = std::uint64_t{room.f_blocks} * room.f_frsize < Ballast::kLargest;
  const auto may = Ballast::Check(testing::TempDir() + "/not/there/yet");
  EXPECT_EQ(may.has_value(), small);
  if (small) return;
  EXPECT_THAT(may.error().message, testing::HasSubstr("only one of less than 2048 MiB is filled"));
  EXPECT_FALSE(Ballast::Fill(testing::TempDir(), 0));
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "/ballast"));
}

}  // namespace
}  // namespace tfyarn::hosts::fault_effects_test
