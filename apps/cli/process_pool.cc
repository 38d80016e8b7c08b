#include "apps/cli/process_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "core/model/check.h"

namespace tfyarn::cli {
namespace {

constexpr int kTickMs = 200;

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  int words = -1;  ///< A file in memory; -1 = its stderr is ours.
  std::string bytes;
};

/// Never returns in the child. nullopt with errno: there is no room for another process now.
std::optional<Child> Start(const std::function<std::string(std::size_t)>& run, std::size_t index,
                           bool keep_words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const int words = keep_words ? ::memfd_create("stderr", MFD_CLOEXEC) : -1;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int reason = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    if (words >= 0) ::close(words);
    errno = reason;
    return std::nullopt;
  }
  if (pid > 0) {
    ::close(ends[1]);
    return Child{.pid = pid, .pipe = ends[0], .words = words, .bytes = {}};
  }
  // No process would read what a child without its parent computes.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(1);
  ::close(ends[0]);
  if (words >= 0) ::dup2(words, STDERR_FILENO);
  const std::string bytes = run(index);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(ends[1], bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno != EINTR) _exit(1);
    if (n > 0) written += static_cast<std::size_t>(n);
  }
  // No destructors, no flushing of what the parent had buffered: both belong to the parent.
  _exit(0);
}

std::string CrashOf(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("exit status {}", WEXITSTATUS(status));
  return "";
}

/// True when the child's pipe has ended.
bool ReadSome(Child& child) {
  std::array<char, 64 * 1024> buffer{};
  const ssize_t n = ::read(child.pipe, buffer.data(), buffer.size());
  if (n < 0) return errno != EINTR && errno != EAGAIN;
  child.bytes.append(buffer.data(), static_cast<std::size_t>(n));
  return n == 0;
}

std::string EndOf(int file) {
  constexpr off_t kKept = 4096;
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kKept)), '\0');
  const ssize_t n = ::pread(file, text.data(), text.size(), std::max<off_t>(size - kKept, 0));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

ChildOutcome Reap(Child& child) {
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0) TF_CHECK(errno == EINTR);
  ChildOutcome outcome{.bytes = std::move(child.bytes), .crash = CrashOf(status), .words = {}};
  if (!outcome.crash.empty()) outcome.bytes.clear();
  if (child.words >= 0) {
    if (!outcome.crash.empty()) outcome.words = EndOf(child.words);
    ::close(child.words);
  }
  return outcome;
}

}  // namespace

std::size_t ProcessesAtOnce(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

std::size_t RunInProcesses(std::size_t count, const PoolOptions& options,
                           const std::function<std::string(std::size_t)>& run,
                           const std::function<void(std::size_t, const ChildOutcome&)>& done) {
  TF_CHECK(options.at_once > 0);
  std::map<std::size_t, Child> running;
  std::map<std::size_t, ChildOutcome> waiting;  // ended before an earlier one
  std::size_t next = 0, reported = 0;
  bool told = false;
  while (true) {
    const bool stop = options.interrupt != nullptr && options.interrupt->load();
    // A terminal has sent its SIGINT to the children too; another signal does not end them at once.
    if (stop && !told) {
      for (const auto& [index, child] : running) ::kill(child.pid, SIGTERM);
      told = true;
    }
    while (!stop && next < count && running.size() < options.at_once &&
           (!options.ready || options.ready(next))) {
      auto child = Start(run, next, options.keep_words);
      if (!child && !running.empty()) break;  // one of these will make room
      if (child) {
        running.emplace(next, std::move(*child));
      } else {
        waiting.emplace(next, ChildOutcome{.bytes = {},
                                           .crash = fmt::format("no process could be started: {}",
                                                                std::strerror(errno)),
                                           .words = {}});
      }
      ++next;
    }
    if (running.empty() && waiting.empty()) break;
    std::vector<pollfd> polled;
    std::vector<std::size_t> indices;
    for (const auto& [index, child] : running) {
      polled.push_back({.fd = child.pipe, .events = POLLIN, .revents = 0});
      indices.push_back(index);
    }
    ::poll(polled.data(), polled.size(), kTickMs);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || !ReadSome(running.at(indices[i]))) continue;
      waiting.emplace(indices[i], Reap(running.at(indices[i])));
      running.erase(indices[i]);
    }
    while (!waiting.empty() && waiting.begin()->first == reported) {
      done(reported, waiting.begin()->second);
      waiting.erase(waiting.begin());
      ++reported;
    }
    if (options.tick) options.tick();
  }
  return reported;
}

}  // namespace tfyarn::cli
