// Starts a program as the root of a task's process tree: what is between fork and the program's
// first instruction, and exactly what went wrong there.
//
// The program gets a session of its own (so that its group can be signalled without us, and no
// process of it can ever be taken for one of ours), default signal handling, stdin from /dev/null,
// no descriptor but 0, 1, 2 and perhaps a channel, and the environment that it was given and
// nothing else. It gets a signal when the thread that started it dies, so start programs from the
// thread that lives as long as the agent. Errors before its first instruction travel back through a
// pipe that exec closes, so that exit code 127 or 126 is always the program's own word. It does not
// wait for the program's end: process_tree.h does.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "core/model/time.h"
#include "hosts/agent/subreaper.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {

/// One resource limit of the program, as setrlimit takes it.
struct LimitSpec {
  __rlimit_resource_t resource = RLIMIT_CORE;
  rlimit limit{};
};

struct SpawnSpec {
  /// Not empty. A first word without a slash is looked up in PATH of `environment`, as execvp does;
  /// without PATH there, in /bin:/usr/bin.
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  ///< All of it; nothing of ours is added.
  std::string directory;                           ///< Working directory; must exist.
  std::string stdout_path;  ///< Appended to, made with mode 0644 when missing. Relative to ours.
  std::string stderr_path;  ///< The same; may be the same file.
  std::vector<LimitSpec> limits;
  /// Added to our own oom_score_adj (at most 1000 in all): when memory is short the kernel takes
  /// the program before the agent, who can then tell what happened.
  int oom_score_raise = 100;
  /// Comes when the thread that started it ends, whatever ended that. A program that ends its own
  /// children in good order is better asked by SIGTERM.
  int parent_death_signal = SIGKILL;
  int channel = -1;          ///< Becomes descriptor 3 of the program; -1: none. Stays the caller's.
  std::string cgroup_procs;  ///< cgroup.procs of the cgroup to start in; empty: ours.
  Duration exec_deadline =
      30s;  ///< Longest wait for exec: a dead file system can hold it for ever.
};

/// A program that runs, or has ended since; in either case it has not been reaped.
struct Spawned {
  pid_t pid = 0;                 ///< Leader of a session and a group of that number.
  UniqueFd pidfd;                ///< Readable when it has ended. None on kernels before 5.3.
  std::uint64_t start_time = 0;  ///< As in ProcessInfo.
};

using OnSpawned = std::function<void(Expected<Spawned>)>;

/// Starts the program and calls `on_spawned` once, from `subreaper`'s event loop, never from within
/// this call. The child is the subreaper's from the fork on: on success, make it a ProcessTree (or
/// end it, reap it and say Remove). After an error nothing is left running.
///
/// Errors of the command itself: kNotFound: the program or its interpreter is missing;
/// kInvalidArgument: there, but not executable, not a program, too many arguments, empty argv.
/// kUnavailable, of all else: no file, working directory, cgroup, limit, process or memory to be
/// had, or exec_deadline passed.
/// The message names the step, the path and the system's own words.
void Spawn(Subreaper& subreaper, SpawnSpec spec, OnSpawned on_spawned);

}  // namespace tfyarn::agent_host
