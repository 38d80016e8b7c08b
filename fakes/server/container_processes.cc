#include "fakes/server/container_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace tfyarn::fakes {
namespace {

constexpr char kShell[] = "/bin/bash";
constexpr int kFileMode = 0640;

/// posix_spawn with what it needs released.
class Spawn {
 public:
  Spawn() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  /// 0 or an errno.
  int Run(pid_t& pid, const std::string& script, const std::string& directory,
          const std::string& output) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, kFileMode);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
    // A daemon's sockets must not live on in what it started.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none;
    sigemptyset(&none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string shell = kShell;
    std::string file = script;
    std::array<char*, 3> argv = {shell.data(), file.data(), nullptr};
    std::array<char*, 1> environment = {nullptr};
    return posix_spawn(&pid, kShell, &actions_, &attributes_, argv.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

ContainerProcesses::ContainerProcesses(boost::asio::io_context& io, Ended ended)
    : io_(io), ended_(std::move(ended)) {}

ContainerProcesses::~ContainerProcesses() {
  *alive_ = false;
  for (const auto& [container, process] : running_) {
    kill(-process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
  }
}

Expected<void> ContainerProcesses::Start(const ContainerId& container, const std::string& script,
                                         const std::string& directory, const std::string& output) {
  const auto fail = [&](int number) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be started: {}",
                                                     ToString(container), std::strerror(number)));
  };
  pid_t pid = 0;
  if (const int failed = Spawn().Run(pid, script, directory, output); failed != 0)
    return fail(failed);
  const auto watch = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (watch < 0) {
    const int failed = errno;
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return fail(failed);
  }
  running_.emplace(container,
                   Process{.pid = pid, .watch = boost::asio::posix::stream_descriptor(io_, watch)});
  Wait(container);
  return {};
}

void ContainerProcesses::Wait(const ContainerId& container) {
  running_.at(container).watch.async_wait(
      boost::asio::posix::stream_descriptor::wait_read,
      [this, alive = alive_, container](const boost::system::error_code& failed) {
        if (*alive && !failed) Reap(container);
      });
}

void ContainerProcesses::Reap(const ContainerId& container) {
  const auto found = running_.find(container);
  if (found == running_.end()) return;
  int status = 0;
  waitpid(found->second.pid, &status, 0);
  running_.erase(found);
  constexpr int kSignalled = 128;
  ended_(container, WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status));
}

void ContainerProcesses::Signal(const ContainerId& container, int number) {
  const auto found = running_.find(container);
  if (found != running_.end()) kill(-found->second.pid, number);
}

}  // namespace tfyarn::fakes
