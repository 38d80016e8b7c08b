// The part of spawner.h around fork: everything is prepared before it, because the child may
// neither allocate nor lock (another thread, Asio's resolver, may hold the allocator's lock at that
// moment).
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "core/model/error.h"
#include "hosts/agent/spawner.h"
#include "hosts/agent/unique_fd.h"

namespace tfyarn::agent_host {

/// What the child was doing when it failed.
enum class ChildStep : int { kSession, kDescriptors, kLimits, kCgroup, kDirectory, kExec };

/// What the child writes into its pipe; small enough to arrive in one piece.
struct ChildFailure {
  ChildStep step = ChildStep::kExec;
  int error = 0;  ///< errno.
  int index = 0;  ///< Of the limit, or of the candidate path.
};

/// Made by MakePlan; points into itself, so it stays where it is.
struct ChildPlan {
  SpawnSpec spec;
  std::vector<std::string> candidates;  ///< Paths to try, in order.
  std::vector<std::string> environment;
  std::vector<char*> argv;  ///< Into `spec`, ended by null.
  std::vector<char*> envp;  ///< Into `environment`, ended by null.
  std::string oom_score_adj;
  UniqueFd input;
  UniqueFd output;
  UniqueFd error;
  UniqueFd report;  ///< The child's end of the pipe.
  pid_t parent = 0;
};

/// A child between fork and exec.
struct Child {
  pid_t pid = 0;
  /// Readable when the child has decided: a ChildFailure, or the end when it runs its program.
  UniqueFd word;
};

/// Opens what the child needs. Errors: as Spawn.
[[nodiscard]] Expected<std::unique_ptr<ChildPlan>> MakePlan(SpawnSpec spec);
/// Errors: kUnavailable.
[[nodiscard]] Expected<Child> Fork(ChildPlan& plan);
/// In words for people, which name the path.
[[nodiscard]] Error Explain(const ChildPlan& plan, const ChildFailure& failure);

}  // namespace tfyarn::agent_host
