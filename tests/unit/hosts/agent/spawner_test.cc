// What a program finds when it starts, and what is said when it cannot.
#include "hosts/agent/spawner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "hosts/agent/proc_table.h"
#include "tests/unit/hosts/agent/process_rig.h"

namespace tfyarn::agent_host::spawner_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SpawnerTest : public ProcessRig {
 protected:
  /// The error of a start that must fail, and leaves no process.
  Error Refusal(const SpawnSpec& spec) {
    const auto spawned = Spawn(spec);
    EXPECT_FALSE(spawned);
    EXPECT_TRUE(Living().empty());
    return spawned ? Error{} : spawned.error();
  }

  std::string WriteScript(const std::string& name, const std::string& text, fs::perms perms) {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    fs::permissions(path, perms);
    return path;
  }
};

TEST_F(SpawnerTest, TheEnvironmentIsExactlyWhatWasGiven) {
  SpawnSpec spec = Odd({"environment"});
  spec.environment = {
      {"B", "with space, \"quotes\" and $(no shell)"}, {"A", ""}, {"C", "two\nlines"}};
  Start(spec);
  EXPECT_EQ(End().code, 0);
  EXPECT_EQ(Stdout(), "A=\nB=with space, \"quotes\" and $(no shell)\nC=two\nlines\n");
}

TEST_F(SpawnerTest, NoDescriptorOfOursIsInherited) {
  // One without close-on-exec, and a high one.
  const UniqueFd leak(::open("/dev/zero", O_RDONLY));
  const UniqueFd high(::fcntl(leak.get(), F_DUPFD, 200));
  EXPECT_EQ(Whole({"descriptors"}).code, 0);
  EXPECT_EQ(Stdout(), "0 /dev/null\n1 " + (directory_ / "stdout").string() + "\n2 " +
                          (directory_ / "stderr").string() + "\nstdin 0\n");
}

TEST_F(SpawnerTest, SignalsAreDefaultAndUnblockedAndTheSessionIsItsOwn) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  sigset_t blocked;
  sigset_t mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &blocked, &mask);
  EXPECT_EQ(Whole({"signals"}).code, 0);
  EXPECT_EQ(Stdout(), "session 1 group 1\n");
  sigset_t now;
  ::sigprocmask(SIG_SETMASK, &mask, &now);
  EXPECT_EQ(::sigismember(&now, SIGUSR2), 1) << "ours must stay as they were";
  EXPECT_EQ(::sigismember(&now, SIGTERM), 0);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(SpawnerTest, ItRunsInTheWorkDirectory) {
  fs::create_directory(directory_ / "work");
  SpawnSpec spec = Odd({"directory"});
  spec.directory = directory_ / "work";
  Start(spec);
  EXPECT_EQ(End().code, 0);
  EXPECT_EQ(Stdout(), (directory_ / "work").string() + "\n");
}

TEST_F(SpawnerTest, LimitsHoldAndTheKernelPrefersItWhenMemoryIsShort) {
  SpawnSpec spec = Odd({"limits"});
  spec.limits = {{.resource = RLIMIT_NOFILE, .limit = {.rlim_cur = 77, .rlim_max = 77}}};
  int own = 0;
  std::ifstream("/proc/self/oom_score_adj") >> own;
  Start(spec);
  EXPECT_EQ(End().code, 0);
  EXPECT_EQ(Stdout(),
            "nofile 77\noom_score_adj " + std::to_string(std::min(own + 100, 1000)) + "\n");
}

TEST_F(SpawnerTest, LogsAreAppendedToAndMayBeOneFile) {
  SpawnSpec spec = Odd({"exit", "0"});
  spec.argv = {"sh", "-c", "echo out; echo err >&2"};
  spec.stderr_path = spec.stdout_path;
  for (int i = 0; i < 2; ++i) {
    Start(spec);
    EXPECT_EQ(End().code, 0);
  }
  EXPECT_EQ(Stdout(), "out\nerr\nout\nerr\n");
}

TEST_F(SpawnerTest, TheProgramIsLookedUpInItsOwnPath) {
  const std::string path = WriteScript("found", "#!/bin/sh\nexit 9\n", fs::perms::owner_all);
  SpawnSpec spec = Odd({});
  spec.argv = {"found"};
  spec.environment["PATH"] = "/nowhere:" + directory_.string();
  Start(spec);
  EXPECT_EQ(End().code, 9);
  spec.environment["PATH"] = "/nowhere:";  // An empty word is the work directory.
  Start(spec);
  EXPECT_EQ(End().code, 9);
}

TEST_F(SpawnerTest, WithoutPathTheStandardFoldersAreSearched) {
  SpawnSpec spec = Odd({});
  spec.argv = {"true"};
  spec.environment.clear();
  Start(spec);
  EXPECT_EQ(End().code, 0);
}

TEST_F(SpawnerTest, WhatMayNotRunIsPassedOverForWhatMay) {
  fs::create_directory(directory_ / "first");
  WriteScript("first/tool", "#!/bin/sh\nexit 1\n", fs::perms::owner_read);
  WriteScript("tool", "#!/bin/sh\nexit 4\n", fs::perms::owner_all);
  SpawnSpec spec = Odd({});
  spec.argv = {"tool"};
  spec.environment["PATH"] = (directory_ / "first").string() + ":" + directory_.string();
  Start(spec);
  EXPECT_EQ(End().code, 4);
  fs::remove(directory_ / "tool");
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, AllOf(HasSubstr("first/tool"), HasSubstr("Permission denied")));
}

TEST_F(SpawnerTest, AMissingProgramIsNamed) {
  SpawnSpec spec = Odd({});
  spec.argv = {"pythn3", "train.py"};
  Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "cannot run \"pythn3\": not found in PATH=/usr/bin:/bin");
  spec.argv = {"./nothing"};
  error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr((directory_ / "./nothing").string()), HasSubstr("No such file")));
}

TEST_F(SpawnerTest, AFileThatMayNotRunIsNamed) {
  SpawnSpec spec = Odd({});
  spec.argv = {WriteScript("data", "#!/bin/sh\n", fs::perms::owner_read)};
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error.message, "cannot run " + spec.argv[0] + ": Permission denied");
}

TEST_F(SpawnerTest, AScriptWithoutInterpreterLineSaysWhatToDo) {
  SpawnSpec spec = Odd({});
  spec.argv = {WriteScript("script", "exit 0\n", fs::perms::owner_all)};
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, AllOf(HasSubstr("#!"), HasSubstr("[sh, " + spec.argv[0] + "]")));
}

TEST_F(SpawnerTest, AScriptWhoseInterpreterIsMissingNamesIt) {
  SpawnSpec spec = Odd({});
  spec.argv = {WriteScript("script", "#! /opt/no/python3 -u\n", fs::perms::owner_all)};
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr(spec.argv[0]), HasSubstr("\"/opt/no/python3\"")));
}

TEST_F(SpawnerTest, AMissingWorkDirectoryIsNamed) {
  SpawnSpec spec = Odd({"exit", "0"});
  spec.directory = directory_ / "nowhere";
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(error.message,
            "cannot enter the work directory " + spec.directory + ": No such file or directory");
}

TEST_F(SpawnerTest, ALogThatCannotBeOpenedIsNamed) {
  SpawnSpec spec = Odd({"exit", "0"});
  spec.stderr_path = directory_ / "no" / "stderr";
  const Error error = Refusal(spec);
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("cannot open the file for stderr " + spec.stderr_path));
}

TEST_F(SpawnerTest, TooLongACommandSaysSo) {
  SpawnSpec spec = Odd({"exit", "0", std::string(1 << 20, 'x')});
  EXPECT_THAT(Refusal(spec).message, HasSubstr("Argument list too long"));
}

TEST_F(SpawnerTest, NoWordsNoProgram) {
  SpawnSpec spec = Odd({});
  spec.argv.clear();
  EXPECT_EQ(Refusal(spec).code, ErrorCode::kInvalidArgument);
}

TEST_F(SpawnerTest, WhatIsNotStartedInTimeIsGivenUp) {
  // Opening a FIFO for its cgroup holds the child as a dead file system would.
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  SpawnSpec spec = Odd({"exit", "0"});
  spec.cgroup_procs = fifo;
  spec.exec_deadline = 1ms;  // It may not even have a session of its own by then.
  const auto spawned = Spawn(spec);
  ASSERT_FALSE(spawned);
  EXPECT_EQ(spawned.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(spawned.error().message, "the system did not start " + OddTask() + " within 1ms");
  Until([] { return Living().empty(); }, "its end");
  EXPECT_EQ(Whole({"exit", "0"}).code, 0);
}

TEST_F(SpawnerTest, AChildThatIsStillStartingIsNoOrphanOfAnotherTree) {
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  Start({"sleep"});
  UntilSaid();
  SpawnSpec spec = Odd({"exit", "3"});
  spec.cgroup_procs = fifo;
  std::optional<Expected<Spawned>> result;
  agent_host::Spawn(subreaper_, spec, [&](Expected<Spawned> s) { result = std::move(s); });
  std::vector<pid_t> living = Living();
  std::erase(living, tree().root());
  ASSERT_EQ(living.size(), 1U);
  Until([&] { return ReadProcess(living[0])->session == living[0]; }, "its own session");
  tree().Kill();
  EXPECT_EQ(End().signal, SIGKILL);
  const UniqueFd reader(::open(fifo.c_str(), O_RDONLY));
  Until([&] { return result.has_value(); }, "its start");
  ASSERT_TRUE(*result) << result->error().message;
  tree_ = std::make_unique<ProcessTree>(subreaper_, std::move(**result),
                                        [this](const TreeExit& exit) { exit_ = exit; });
  exit_.reset();
  EXPECT_EQ(End().code, 3);
}

TEST_F(SpawnerTest, ItDiesWithTheThreadThatStartedIt) {
  // A stand-in for the agent starts a program and is killed.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t agent = ::fork();
  if (agent == 0) {
    boost::asio::io_context io;
    Subreaper subreaper(io);
    agent_host::Spawn(subreaper, Odd({"ignore-term"}), [&](Expected<Spawned> spawned) {
      const pid_t pid = spawned ? spawned->pid : -1;
      (void)!::write(ends[1], &pid, sizeof pid);
    });
    io.run();
    ::_exit(0);
  }
  pid_t task = -1;
  ASSERT_EQ(::read(ends[0], &task, sizeof task), static_cast<ssize_t>(sizeof task));
  ASSERT_GT(task, 0);
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(task), &info, WEXITED), 0);  // Our orphan.
  EXPECT_EQ(info.si_status, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tfyarn::agent_host::spawner_test
