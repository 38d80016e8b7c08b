// Writes text to a descriptor in a thread of its own, so that a reader who stands still (a pager, a
// stopped terminal, a full pipe) holds up the thread and not the run.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/model/time.h"

namespace tfyarn::local {

class LogWriter {
 public:
  /// `fd` stays the caller's and must outlive this.
  explicit LogWriter(int fd);
  /// Waits for nothing: what was not written yet is not, but for a write that the system has begun.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Never waits. The text comes after what was given before; the caller looks at waiting() to
  /// bound it. After an error of the system all text is dropped.
  void Write(std::string_view text);
  /// Bytes that are not written yet.
  [[nodiscard]] std::size_t waiting() const;
  /// Waits until all is written, or until nothing was written for `patience`; false then.
  [[nodiscard]] bool Drain(Duration patience) const;

 private:
  struct State;
  /// `lock` is held, but while the system writes.
  static void WriteGiven(State& state, std::unique_lock<std::mutex>& lock);
  static void Run(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  ///< The thread's too: it may never come back.
};

}  // namespace tfyarn::local
