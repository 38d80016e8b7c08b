// A control group (version 2) of one task's processes, where we are allowed to make one.
//
// With it the kernel knows who belongs to the task, ends all of them in one stroke that no fork
// escapes, and counts those that it killed for want of memory. It needs a cgroup of our own in
// which we may write: a systemd unit with Delegate=yes, or root. YARN's container-executor and most
// containers give none; then everything works without, from /proc. No controller is switched on:
// that would need moving the agent itself, so memory is counted only where the parent already does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/error.h"

namespace tfyarn::agent_host {

/// Directories of the control groups that this process is in; empty where there is none in sight.
struct OwnCgroups {
  std::string unified;    ///< Version 2.
  std::string memory_v1;  ///< Version 1, of the memory controller.
};
/// `cgroup` and `mountinfo`: texts of /proc/self/cgroup and /proc/self/mountinfo.
[[nodiscard]] OwnCgroups FindOwnCgroups(std::string_view cgroup, std::string_view mountinfo);
[[nodiscard]] OwnCgroups FindOwnCgroups();

class TaskCgroup {
 public:
  /// A new, empty group in `parent`. Its name holds our pid; groups of agents that are gone are
  /// removed. Errors: kFailedPrecondition: not allowed here, or no control groups; the message says
  /// which, for a note.
  [[nodiscard]] static Expected<TaskCgroup> Create(const std::string& parent);
  /// In our own group.
  [[nodiscard]] static Expected<TaskCgroup> Create() { return Create(FindOwnCgroups().unified); }
  /// Removes the group, which must be empty by then; else it stays.
  ~TaskCgroup();
  TaskCgroup(TaskCgroup&& other) noexcept;
  TaskCgroup& operator=(TaskCgroup&&) = delete;

  /// For SpawnSpec::cgroup_procs.
  [[nodiscard]] std::string procs_path() const { return directory_ + "/cgroup.procs"; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// All processes in it, groups below it included, zombies not.
  [[nodiscard]] std::vector<pid_t> Processes() const;
  /// SIGKILL to every process in it. False where the kernel cannot (before 5.14).
  bool Kill() const;
  /// How often the kernel killed one of its processes for want of memory; nullopt where the memory
  /// controller is not on for it.
  [[nodiscard]] std::optional<std::uint64_t> OomKills() const;

 private:
  explicit TaskCgroup(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;  ///< Empty after a move.
};

/// The number after `name` and a space at the start of a line of `text`.
[[nodiscard]] std::optional<std::uint64_t> CounterIn(std::string_view text, std::string_view name);

}  // namespace tfyarn::agent_host
