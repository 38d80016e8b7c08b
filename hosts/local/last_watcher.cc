#include "hosts/local/last_watcher.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hosts/agent/family.h"

namespace tfyarn::hosts {
namespace {

using Clock = std::chrono::steady_clock;

/// AM and agents have got SIGTERM from the kernel; a task may take its `deadlines.stop`.
constexpr Duration kAgentsGrace = 90s;
constexpr Duration kKillPatience = 5s;
constexpr Duration kPause = 20ms;
constexpr const char* kName = "run-watcher";

/// An AM or an agent.
bool IsOurs(pid_t pid) {
  const auto name =
      agent_host::ReadSmallFile("/proc/" + std::to_string(pid) + "/comm", 64).value_or("");
  return name.starts_with("tfyarn-a");
}

void ReapAll() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

sigset_t Watched() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&watched, signal);
  // nohup has it ignored, here and in the child.
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&watched, SIGHUP);
  return watched;
}

/// The end of `child`, as wait tells it.
int Wait(pid_t child, const sigset_t& watched) {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    const int signal = ::sigwaitinfo(&watched, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
  }
}

[[noreturn]] void Work(const std::function<int()>& work, pid_t parent, const sigset_t& before) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(128 + SIGTERM);
  ::setpgid(0, 0);
  // What is not in the terminal's foreground may be stopped for writing to it (stty tostop).
  std::signal(SIGTTOU, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  std::exit(work());
}

}  // namespace

int RunWatched(const std::function<int()>& work) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t watched = Watched();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) Work(work, self, before);
  if (child < 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return work();
  }
  ::prctl(PR_SET_NAME, kName);
  const int status = Wait(child, watched);
  // From now on a signal ends this process.
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (WIFEXITED(status)) {
    EndDescendants({}, kKillPatience);
    return WEXITSTATUS(status);
  }
  EndDescendants(kAgentsGrace, kAgentsGrace + kKillPatience);
  return 128 + WTERMSIG(status);
}

void EndDescendants(Duration grace, Duration patience) {
  const Clock::time_point begin = Clock::now();
  const pid_t own = ::getpid();
  agent_host::Family family(
      own, [](pid_t) { return false; }, agent_host::SystemProc());
  while (true) {
    ReapAll();
    const agent_host::ProcessTable table = family.Read({own}, agent_host::Family::Orphans::kOfNow);
    std::vector<pid_t> tops;
    bool any = false;
    for (const auto& [pid, info] : table) {
      if (info.parent != own) continue;
      any = true;
      if (Clock::now() < begin + grace && IsOurs(pid)) continue;
      tops.push_back(pid);
    }
    if (!any || Clock::now() > begin + patience) return;
    for (const pid_t pid : agent_host::WithDescendants(table, tops)) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace tfyarn::hosts
