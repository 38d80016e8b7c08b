// Many independent runs in child processes, a few at a time.
//
// Processes rather than threads: a run's memory goes back to the system with its process, its peak
// is its own, and one that crashes takes no other with it. Children are forked from a parent that
// has read and checked everything, so they start in a millisecond. The parent must have no threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace tfyarn::cli {

/// How one child ended.
struct ChildOutcome {
  std::string bytes;  ///< What it gave; empty when it crashed before.
  std::string crash;  ///< "" = it ended well; else "signal 6 (Aborted)", "exit status 1".
  std::string words;  ///< Of one that crashed, with PoolOptions::keep_words: its stderr's end.
};

struct PoolOptions {
  std::size_t at_once = 1;  ///< > 0.
  /// No more runs are started once it is true; those under way are waited for (they see the same
  /// signal).
  const std::atomic<bool>* interrupt = nullptr;
  /// What children write to stderr is kept for those that crash, and not shown.
  bool keep_words = false;
  /// Set: run(i) starts once ready(i) holds, which must follow from runs before it being done.
  std::function<bool(std::size_t)> ready;
  /// Called several times a second while waiting.
  std::function<void()> tick;
};

/// `wanted`, or one for each processor where it is 0.
[[nodiscard]] std::size_t ProcessesAtOnce(std::size_t wanted);

/// Runs run(i) for i in [0, count) in children, and done(i, outcome) in this process in order of i,
/// whatever order they end in. Stops early only on interrupt. Returns how many were done.
std::size_t RunInProcesses(std::size_t count, const PoolOptions& options,
                           const std::function<std::string(std::size_t)>& run,
                           const std::function<void(std::size_t, const ChildOutcome&)>& done);

}  // namespace tfyarn::cli
