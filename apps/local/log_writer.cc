#include "apps/local/log_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tfyarn::local {
namespace {

/// So that a slow reader is seen to read.
constexpr std::size_t kAtOnce = std::size_t{16} << 10;

}  // namespace

struct LogWriter::State {
  int fd = -1;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::string given;      ///< What the thread has not taken yet.
  std::size_t taken = 0;  ///< Bytes that it has, and has not written.
  bool over = false;
  bool threaded = true;  ///< False: Write() waits.
};

LogWriter::LogWriter(int fd) : state_(std::make_shared<State>()) {
  state_->fd = fd;
  // Signals are for the thread of the run.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([state = state_] { Run(state); }).detach();
  } catch (const std::system_error&) {
    state_->threaded = false;  // The system gives no more.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogWriter::~LogWriter() {
  const std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->given.clear();
  state_->changed.notify_all();
}

void LogWriter::Write(std::string_view text) {
  std::unique_lock lock(state_->mutex);
  if (state_->over) return;
  state_->given += text;
  if (!state_->threaded) return WriteGiven(*state_, lock);
  state_->changed.notify_all();
}

std::size_t LogWriter::waiting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->given.size() + state_->taken;
}

bool LogWriter::Drain(Duration patience) const {
  std::unique_lock lock(state_->mutex);
  while (true) {
    const std::size_t before = state_->given.size() + state_->taken;
    if (before == 0) return true;
    const bool moved = state_->changed.wait_for(
        lock, patience, [&] { return state_->given.size() + state_->taken < before; });
    if (!moved) return false;
  }
}

void LogWriter::WriteGiven(State& state, std::unique_lock<std::mutex>& lock) {
  const std::string text = std::exchange(state.given, {});
  std::string_view left = text;
  state.taken = left.size();
  while (!left.empty() && !state.over) {
    lock.unlock();
    const ssize_t written = ::write(state.fd, left.data(), std::min(left.size(), kAtOnce));
    const int error = errno;
    lock.lock();
    if (written < 0 && error == EINTR) continue;
    if (written < 0) state.over = true;  // The verdict says when stdout is gone.
    left.remove_prefix(written < 0 ? left.size() : static_cast<std::size_t>(written));
    state.taken = left.size();
    state.changed.notify_all();
  }
  state.taken = 0;
}

void LogWriter::Run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->over) {
    state->changed.wait(lock, [&] { return state->over || !state->given.empty(); });
    WriteGiven(*state, lock);
  }
  state->given.clear();
  state->changed.notify_all();
}

}  // namespace tfyarn::local
