// What faults of real runs are made of: signals to exactly the processes that are meant, a program
// that has a task's port, and a file that leaves no room.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "hosts/agent/proc_table.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::hosts {

/// The process of the agent's task: its eldest child. nullopt when it has none.
[[nodiscard]] std::optional<agent_host::ProcessInfo> TaskProcessOf(pid_t agent);
/// Everything that descends from the agent.
[[nodiscard]] std::vector<agent_host::ProcessInfo> TaskTreeOf(pid_t agent);
/// Only to this process: its number may be another's by now. False: it is gone.
bool SignalExactly(const agent_host::ProcessInfo& process, int signal);

/// A listening socket on a port, as another program of the same user would have it: with
/// SO_REUSEPORT, since the port is held for a task. Closed with the descriptor. Errors:
/// kUnavailable.
[[nodiscard]] Expected<agent_host::UniqueFd> ListenOn(std::int32_t port);

/// A file that takes the room of its file system until it is destroyed.
class Ballast {
 public:
  /// Larger file systems are not filled: it takes long, and others need them.
  static constexpr std::uint64_t kLargest = std::uint64_t{2} << 30;

  /// Whether the file system of `directory` (or of what exists above it) may be filled. Errors:
  /// kFailedPrecondition.
  [[nodiscard]] static Expected<void> Check(const std::string& directory);
  /// Leaves `bytes` of room, or less by a block, in the file system of `directory`. Errors: those
  /// of Check; kUnavailable when it cannot be made.
  [[nodiscard]] static Expected<Ballast> Fill(const std::string& directory, std::uint64_t bytes);

  Ballast(Ballast&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Ballast& operator=(Ballast&&) = delete;
  ~Ballast();

 private:
  explicit Ballast(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tfyarn::hosts
